# docker build -t labeltrick .
# docker run --rm -v "$PWD:/data" labeltrick fit --edges edges.csv --nodes nodes.csv --target y --out run
FROM python:3.12-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY labeltrick ./labeltrick
RUN pip install --no-cache-dir --prefix=/installed ".[excel]"

FROM python:3.12-slim
# LightGBM needs OpenMP.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libgomp1 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 labeltrick
COPY --from=build /installed /usr/local
USER labeltrick
ENV NUMBA_CACHE_DIR=/home/labeltrick/.cache/labeltrick
WORKDIR /data
ENTRYPOINT ["labeltrick"]
CMD ["--help"]

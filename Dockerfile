# docker build -t labeltrick .
# docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/data" labeltrick fit --edges edges.csv --nodes nodes.csv --target y --out run
FROM python:3.12-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY labeltrick ./labeltrick
# hadolint ignore=DL3013
RUN pip install --no-cache-dir --prefix=/installed ".[excel]"

FROM python:3.12-slim
# LightGBM needs OpenMP. Kernels are kept where any user may write.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libgomp1 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 labeltrick \
    && install --directory --owner=1000 --mode=777 /var/cache/labeltrick
COPY --from=build /installed /usr/local
# By number: a cluster that refuses root cannot look up a name.
USER 1000
ENV NUMBA_CACHE_DIR=/var/cache/labeltrick
# A container is thrown away after its command. Without this, each of them would compile. Folders must
# be writable for whoever runs it: numba uses no others.
RUN labeltrick doctor --warm && chmod --recursive a+rwX "$NUMBA_CACHE_DIR"
WORKDIR /data
ENTRYPOINT ["labeltrick"]
CMD ["--help"]

"""Coverage-guided fuzzing of the readers of archives, documents and models, with atheris.

Started by `fuzz`. It changes one file of a seed, led by which lines of the library and of the
readers that it uses are reached. Errors that are not clean are
printed once for each place, with the file that made them; a signal ends the run, and libFuzzer
keeps its input beside them.
"""

from __future__ import annotations

import sys

import atheris

LIBRARIES = ["labeltrick", "zipfile", "json", "pickle", "numpy.lib", "scipy.sparse"]
# Numba compiles the bytecode of these, and knows nothing of atheris'.
KERNELS = [
    "labeltrick.graph.bucket_kernels",
    "labeltrick.graph.csr_kernels",
    "labeltrick.propagation.diagonal.push_kernels",
    "labeltrick.propagation.engine.block_kernels",
    "labeltrick.propagation.engine.fused_step",
]
# Before anything else imports them.
with atheris.instrument_imports(include=LIBRARIES, exclude=KERNELS):
    import json
    import shutil
    import tempfile
    from pathlib import Path
    from typing import Any

    import labeltrick.graph.stored
    import labeltrick.io.datasets.npz
    import labeltrick.io.datasets.planetoid
    import labeltrick.io.model_files.writing
    import labeltrick.io.tables  # noqa: F401

    from .arrays import pack, unpack
    from .child import TARGETS, _fault, _where
    from .fuzz import FAULT, FUZZED
    from .mutations import contents, fix_checksums, write
    from .pool import make_seeds
    from .target import Target

BETWEEN = b"--- next member ---"


class Fuzzed:
    """One file among others that stay as they are, with checksums that fit."""

    def __init__(self, target: Target, seed: Path, name: str, out: Path) -> None:
        self.target, self.out = target, out
        self.folder = Path(tempfile.mkdtemp(prefix="fuzz-")) / "case"
        shutil.copytree(seed, self.folder)
        self.path = self.folder / name
        self.before = contents(self.folder)
        self.members: list[str] = []
        if self.path.suffix == ".npz":
            self.members = list(unpack(self.path.read_bytes()))
        self.seen: set[tuple[str, str]] = set()

    def once(self, data: bytes) -> None:
        for path, whole in self.before.items():
            if path.suffix == ".json" and path != self.path:  # it gets the new checksums
                write(path, whole)
        if self.members:
            parts = zip(self.members, data.split(BETWEEN), strict=False)
            write(self.path, pack(dict(parts)))
        else:
            write(self.path, data)
        fix_checksums(self.folder, self.before)
        loaded = False
        try:
            thing = self.target.load(self.folder)
            loaded = True
            json.dumps(self.target.use(thing), default=str)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt | SystemExit):
                raise
            self._note(error, data, loaded)

    def _note(self, error: BaseException, data: bytes, loaded: bool) -> None:
        wrong = _fault(error, self.folder, named=not loaded)
        place = (type(error).__name__, _where(error))
        if wrong is None or place in self.seen:
            return
        self.seen.add(place)
        file = self.out / f"{place[0]}-{len(self.seen)}{self.path.suffix}"
        file.write_bytes(data)
        print(f"{FAULT}{place[0]} ({wrong}) at {place[1]}: {str(error)[:200]} — {file}", flush=True)


def start(path: Path) -> bytes:
    """What the fuzzer begins with."""
    data = path.read_bytes()
    return BETWEEN.join(unpack(data).values()) if path.suffix == ".npz" else data


def fuzz(name: str, seconds: int) -> None:
    kind, variant, file = FUZZED[name]
    out = Path(tempfile.mkdtemp(prefix=f"fuzz-{name}-"))
    make_seeds(out / "seeds", [kind])
    seed = out / "seeds" / kind / variant
    fuzzed = Fuzzed(TARGETS[kind], seed, file, out)
    corpus = out / "corpus"
    corpus.mkdir()
    (corpus / "seed").write_bytes(start(seed / file))
    fuzzed.once(start(seed / file))  # compiles what is needed
    if fuzzed.seen:
        raise SystemExit("the seed itself is not read")
    options: list[Any] = [
        sys.argv[0], corpus, f"-max_total_time={seconds}", "-timeout=30",
        "-rss_limit_mb=6000", "-print_final_stats=1", "-max_len=20000", f"-artifact_prefix={out}/",
    ]  # fmt: skip
    atheris.Setup([str(option) for option in options], fuzzed.once)
    atheris.Fuzz()


if __name__ == "__main__":
    fuzz(sys.argv[1], int(sys.argv[2]))

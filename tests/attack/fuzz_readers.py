"""Coverage-guided fuzzing of the readers of archives, documents and models, with atheris.

``python -m tests.attack.fuzz_readers TARGET [SECONDS]`` changes one file of a seed, led by which
lines of the library and of the readers that it uses are reached. Errors that are not clean are
printed once for each place, with the file that made them; a signal ends the run, and libFuzzer
keeps its input beside them.
"""

from __future__ import annotations

import sys

import atheris

LIBRARIES = ["labeltrick", "zipfile", "json", "pickle", "numpy.lib", "scipy.sparse"]
# Numba compiles the bytecode of these, and knows nothing of atheris'.
KERNELS = [f"labeltrick.{name}" for name in ("_kernels", "_gather", "_csr", "_push", "_buckets")]
# Before anything else imports them.
with atheris.instrument_imports(include=LIBRARIES, exclude=KERNELS):
    import json
    import shutil
    import subprocess
    import tempfile
    from pathlib import Path
    from typing import Any

    import labeltrick.datasets._npz
    import labeltrick.datasets._planetoid
    import labeltrick.model_file
    import labeltrick.stored
    import labeltrick.tables  # noqa: F401

    from .arrays import pack, unpack
    from .child import TARGETS, _fault, _where
    from .mutations import contents, fix_checksums, write
    from .pool import environment, make_seeds
    from .target import Target

BETWEEN = b"--- next member ---"
FAULT = "fault: "

# TARGET: (format, variant, the file whose bytes are changed). Of an archive it is the members that
# are changed: with bytes of the archive itself, hardly anything gets past its checksums.
FUZZED = {
    "npz-scipy": ("npz-scipy", "csr", "graph.npz"),
    "npz-benchmark": ("npz-benchmark", "plain", "graph.npz"),
    "graphml": ("graphml", "undirected", "graph.graphml"),
    "planetoid": ("planetoid", "protocol-2", "ind.toy.allx"),
    "model-index": ("model", "labels", "model/model.json"),
    "model-arrays": ("model", "labels", "model/arrays.npz"),
    "model-trees": ("model", "trees", "model/trees-0.txt"),
    "graph-folder": ("graph", "weighted", "graph.lt/meta.json"),
}


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


def watch(arguments: list[str]) -> int:
    """Run the fuzzer, which ends its process by itself, and say whether it found anything."""
    command = [sys.executable, "-W", "ignore", "-m", "tests.attack.fuzz_readers", *arguments]
    running = subprocess.Popen(
        [*command, "--here"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment()
    )
    assert running.stdout is not None
    faults = 0
    for line in running.stdout:
        text = line.decode(errors="replace").rstrip()
        faults += text.startswith(FAULT)
        if text.startswith((FAULT, "stat::number", "SUMMARY", "artifact", "the seed")):
            print(f"{arguments[0]}: {text[:400]}", flush=True)
    return running.wait() or int(faults > 0)


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
    if sys.argv[-1] != "--here":
        sys.exit(watch(sys.argv[1:]))
    fuzz(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 3 else 120)

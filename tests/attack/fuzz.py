"""``python -m tests.attack.fuzz [SECONDS [TARGET …]]``: fuzzing that is led by coverage."""

from __future__ import annotations

import subprocess
import sys

from .pool import environment

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


def watch(name: str, seconds: str) -> int:
    """Run the fuzzer, which ends its process by itself, and say whether it found anything."""
    command = [sys.executable, "-W", "ignore", "-m", "tests.attack.fuzz_readers", name, seconds]
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment()
    )
    assert running.stdout is not None
    faults = 0
    for line in running.stdout:
        text = line.decode(errors="replace").rstrip()
        faults += text.startswith(FAULT)
        if text.startswith((FAULT, "stat::number", "SUMMARY", "artifact", "the seed")):
            print(f"{name}: {text[:400]}", flush=True)
    return running.wait() or int(faults > 0)


if __name__ == "__main__":
    seconds, targets = (sys.argv[1:2] or ["120"])[0], sys.argv[2:] or list(FUZZED)
    # One that ends by a signal must not keep the others from being run.
    sys.exit(max([watch(name, seconds) != 0 for name in targets]))

"""Children that run cases, watched from outside: one that dies or hangs is seen and replaced."""

from __future__ import annotations

import json
import os
import queue
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
START_SECONDS = 300
RENEW = 10_000  # cases of one child
FAULTS = ("tracebacks", "signals", "hangs", "leftovers", "changed answers")
COLUMNS = ("cases", "accepted", "refused", *FAULTS)

Case = tuple[str, int]


@dataclass
class Finding:
    """A case that went wrong; ``before`` ran in the same process, and may have spoiled it."""

    case: Case
    fault: str
    what: str
    text: str
    where: str = ""
    trace: str = ""
    before: list[Case] = field(default_factory=list)

    @property
    def command(self) -> str:
        return f"python -m tests.attack --format {self.case[0]} --seed {self.case[1]} --show"


@dataclass
class Result:
    counts: dict[str, Counter[str]] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def clean(self) -> bool:
        return not self.findings


def environment() -> dict[str, str]:
    """Of processes that import this package, and the library beside it."""
    paths = [str(HERE.parent.parent), os.environ.get("PYTHONPATH", "")]
    more = {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "PYTHONHASHSEED": "0"}
    threads = dict.fromkeys(("OMP_NUM_THREADS", "POLARS_MAX_THREADS"), "1")
    return {**os.environ, **threads, **more}


def make_seeds(folder: Path, formats: Iterable[str]) -> None:
    subprocess.run(
        [sys.executable, "-m", "tests.attack.seeds", str(folder), *formats],
        check=True,
        env=environment(),
        capture_output=True,
    )


class Died(Exception):
    """The child ended (a signal's number, or an exit code above 0), or did not answer (None)."""

    def __init__(self, code: int | None) -> None:
        super().__init__(code)
        self.code = code


class Process:
    """One child, and its folder."""

    def __init__(self, seeds: Path) -> None:
        self.work = Path(tempfile.mkdtemp(prefix="attack-"))
        self.errors = (self.work.parent / f"{self.work.name}.log").open("w+b")
        self.pipe = subprocess.Popen(
            [sys.executable, "-m", "tests.attack.child", str(seeds), str(self.work)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env={**environment(), "HOME": str(self.work), "TMPDIR": str(self.work / "tmp")},
        )
        self.recent: deque[Case] = deque(maxlen=5)
        self.count = 0
        self._rest = b""

    def _line(self, seconds: float) -> Any:
        """The next answer."""
        assert self.pipe.stdout is not None
        end = time.monotonic() + seconds
        while b"\n" not in self._rest:
            ready, _, _ = select.select([self.pipe.stdout], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise Died(None)
            block = os.read(self.pipe.stdout.fileno(), 1 << 16)
            if not block:
                raise Died(self.pipe.wait(10))
            self._rest += block
        line, _, self._rest = self._rest.partition(b"\n")
        return json.loads(line)

    def run(self, case: Case) -> tuple[str, dict[str, Any]]:
        """(what the case is, outcome)."""
        assert self.pipe.stdin is not None
        self.count += 1
        what, seconds = "", START_SECONDS
        try:
            asked = {"format": case[0], "number": case[1]}
            self.pipe.stdin.write(json.dumps(asked).encode() + b"\n")
            self.pipe.stdin.flush()
            while True:
                answer = self._line(seconds)
                if "outcome" in answer:
                    self.recent.append(case)
                    return what, answer
                what, seconds = answer["what"], answer["seconds"]
        except (Died, BrokenPipeError) as error:
            code = error.code if isinstance(error, Died) else self.pipe.wait(10)
            if not what:
                raise RuntimeError(f"no case is made: {self.last_words(2000)}") from None
            if code is None:
                return what, {"outcome": "hang", "text": f"no answer in {seconds} s"}
            name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
            return what, {"outcome": "signal", "text": f"{name}: {self.last_words()}"}

    def last_words(self, most: int = 300) -> str:
        size = self.errors.seek(0, os.SEEK_END)
        self.errors.seek(max(0, size - most))
        return self.errors.read().decode(errors="replace").strip()

    def close(self) -> None:
        self.pipe.kill()
        self.pipe.wait()
        for end in (self.pipe.stdin, self.pipe.stdout, self.errors):
            if end is not None:
                end.close()
        Path(self.errors.name).unlink(missing_ok=True)
        shutil.rmtree(self.work, ignore_errors=True)


def run_cases(
    seeds: Path,
    cases: Iterable[Case],
    formats: list[str],
    jobs: int = 1,
    tick: Callable[[], None] = lambda: None,
) -> Result:
    """All cases in ``jobs`` children at a time."""
    waiting: queue.SimpleQueue[Case] = queue.SimpleQueue()
    for case in cases:
        waiting.put(case)
    result = Result({name: Counter() for name in formats})
    lock, faults = threading.Lock(), []

    def work() -> None:
        child = Process(seeds)
        try:
            while True:
                try:
                    case = waiting.get_nowait()
                except queue.Empty:
                    return
                what, found = child.run(case)
                with lock:
                    note(result, case, what, found, list(child.recent))
                    tick()
                if found["outcome"] in ("signal", "hang") or child.count >= RENEW:
                    child.close()
                    child = Process(seeds)
        except Exception as error:
            faults.append(error)
        finally:
            child.close()

    begin = time.monotonic()
    threads = [threading.Thread(target=work, daemon=True) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise faults[0]
    result.seconds = time.monotonic() - begin
    return result


def note(result: Result, case: Case, what: str, found: dict[str, Any], before: list[Case]) -> None:
    """Count an outcome, and keep what went wrong."""
    if found["outcome"] == "broken":
        raise RuntimeError(f"the attack itself failed at {case}: {found['text']}")
    counts = result.counts[case[0]]
    counts["cases"] += 1
    names = {"traceback": "tracebacks", "signal": "signals", "hang": "hangs"}
    counts[names.get(found["outcome"], found["outcome"])] += 1
    texts = {}
    if found["outcome"] in names:
        texts[names[found["outcome"]]] = found.get("text", "")
    if found.get("leftovers"):
        texts["leftovers"] = ", ".join(found["leftovers"])
        counts["leftovers"] += 1
    if found.get("changed"):
        refusal = found.get("text", "")
        texts["changed answers"] = f"refused: {refusal}" if refusal else "another answer"
        counts["changed answers"] += 1
    for fault, text in texts.items():
        where, trace = found.get("where", ""), found.get("trace", "")
        result.findings.append(Finding(case, fault, what, text, where, trace, before))

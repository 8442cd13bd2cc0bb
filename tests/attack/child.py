"""A process that runs cases, one after the other, as its standard input names them.

It answers each with two lines of JSON: what the case is, before anything is read, and the outcome.
A case that kills the process is therefore known to the one that reads the answers.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import traceback
import warnings
from pathlib import Path
from typing import Any

from . import folders, graph_files, other_tables, seeds, tables
from .target import ANY, SAME, Change, Target

TARGETS: dict[str, Target] = {
    **tables.TARGETS, **other_tables.TARGETS, **graph_files.TARGETS, **folders.TARGETS,
}  # fmt: skip
CLEAN = (ValueError, TypeError, OSError, ImportError)  # OSError: of files that are not as needed
ROOM = 4 << 30  # bytes that any case may take beside what the process has
BY_COMMAND = 500  # the last of so many cases is run by the command line
SECONDS = {False: 30, True: 120}  # that a case may take; a command has to start first
LONGEST = 5000  # characters of an error


class Child:
    """Cases in a folder of their own, next to which nothing may appear."""

    def __init__(self, seeds_folder: Path, work: Path) -> None:
        self.seeds, self.work = seeds_folder, work
        self._answers: dict[Path, str] = {}

    def make(self, name: str, number: int) -> tuple[Path, Path, Change, random.Random]:
        """(seed, changed copy, what was changed, randomness) of a case."""
        rng = random.Random(f"{name} {number}")
        seed = rng.choice(seeds.variants(self.seeds / name))
        for part in ("case", "cwd", "tmp"):
            shutil.rmtree(self.work / part, ignore_errors=True)
        for part in ("cwd", "tmp"):
            (self.work / part).mkdir()
        folder = seeds.copy(seed, self.work / "case")
        change = TARGETS[name].change(rng, folder)
        return seed, folder, Change(f"{seed.name}: {change.what}", change.allowed), rng

    def run(self, name: str, number: int, say: Any) -> dict[str, Any]:
        target = TARGETS[name]
        seed, folder, change, rng = self.make(name, number)
        if seed not in self._answers:  # also imports and compiles what is needed, untimed
            self._answers[seed] = json.dumps(target.use(target.load(seed)), default=str)
        limit_memory()
        by_command = number % BY_COMMAND == BY_COMMAND - 1 and target.command is not None
        say({"what": change.what, "seconds": SECONDS[by_command]})
        before = _listing(self.work)
        os.chdir(self.work / "cwd")
        if by_command:
            found = self._by_command(target.command(rng, folder))
        else:
            found = _read_and_use(target, folder)
            self._compare(found, seed, change)
        os.chdir("/")
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
        found["leftovers"] = _new(before, _listing(self.work), found.pop("made", ()))
        return found

    def _compare(self, found: dict[str, Any], seed: Path, change: Change) -> None:
        answer = found.pop("answer", None)
        if change.allowed == ANY:
            return
        if found["outcome"] == "refused":
            found["changed"] = change.allowed == SAME
        elif found["outcome"] == "accepted":
            found["changed"] = answer != self._answers[seed]

    def _by_command(self, arguments: list[Any]) -> dict[str, Any]:
        """Exit code 0, or 2 (1: something of the machine) with one line that says why."""
        words = [str(argument) for argument in arguments]
        made = subprocess.run(
            [sys.executable, "-m", "labeltrick", *words],
            capture_output=True,
            env={**os.environ, "TMPDIR": str(self.work / "tmp")},
        )
        errors = made.stderr.decode(errors="replace")
        text = f"{' '.join(words[:2])}: exit code {made.returncode}: {errors[-LONGEST:]}"
        last = errors.strip().splitlines()[-1:] or [""]
        if made.returncode < 0:
            return {"outcome": "signal", "text": text}
        unclean = "Traceback" in errors or "panicked" in errors
        if made.returncode not in (0, 1, 2) or unclean:
            return {"outcome": "traceback", "text": text}
        if made.returncode and not last[0].startswith("labeltrick: "):
            return {"outcome": "traceback", "text": f"no line of ours: {text}"}
        outs = ("cwd/out", "cwd/out.csv", "cwd/next.csv") if made.returncode == 0 else ()
        outcome = "refused" if made.returncode else "accepted"
        return {"outcome": outcome, "text": text, "made": outs}


def _read_and_use(target: Target, folder: Path) -> dict[str, Any]:
    loaded = False
    try:
        thing = target.load(folder)
        loaded = True
        answer = json.dumps(target.use(thing), default=str)
    except BaseException as error:  # polars panics with a BaseException
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        step = "in use" if loaded else "on reading"
        wrong = _fault(error, folder, named=not loaded)
        if wrong is None:
            return {"outcome": "refused", "text": f"{type(error).__name__}: {error}"}
        trace = "".join(traceback.format_exception(error))[-3000:]
        text = f"{step}, {type(error).__name__} ({wrong}): {str(error)[:300]}"
        return {"outcome": "traceback", "text": text, "trace": trace, "where": _where(error)}
    return {"outcome": "accepted", "answer": answer}


def _fault(error: BaseException, folder: Path, *, named: bool) -> str | None:
    """What is wrong with an error as an answer to a bad file; None: nothing. It is checked as the
    command line shows it, which writes control characters as escapes."""
    from labeltrick._utils.escaping import visible

    if not isinstance(error, CLEAN):
        return "of a kind that is not caught"
    text = visible(error)
    if not text.strip() or len(text) > LONGEST:
        return "no message" if not text.strip() else "a message of pages"
    if "\\n" in text and "This error occurred" in text:
        return "another library's explanation of many lines"
    names = {path.name for path in folder.rglob("*")} | {str(folder)}
    if named and not any(name in text for name in names):
        return "no file is named"
    return None


def _where(error: BaseException) -> str:
    """The deepest line of the library itself: errors of one cause have it in common."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/labeltrick/" in frame.filename.replace(os.sep, "/")]
    at = (ours or list(frames))[-1]
    return f"{at.filename.rsplit('labeltrick' + os.sep)[-1]}:{at.lineno} {at.name}"


def _listing(work: Path) -> dict[str, Any]:
    found = {}
    for path in work.rglob("*"):
        info = path.lstat()
        found[str(path.relative_to(work))] = (info.st_size, info.st_mtime_ns) * path.is_file()
    return found


def _new(before: dict[str, Any], after: dict[str, Any], allowed: Any) -> list[str]:
    """Paths that appeared, vanished or changed."""
    paths = {*before, *after}
    found = sorted(path for path in paths if before.get(path) != after.get(path))
    return [path for path in found if not any(path.startswith(start) for start in allowed)]


def limit_memory() -> None:
    """So that a file that asks for all memory fails here alone, at the same size everywhere."""
    with contextlib.suppress(OSError), open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + ROOM, resource.RLIM_INFINITY))


def main() -> None:
    seeds_folder, work = sys.argv[1:]
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # whatever prints must not stand among the answers

    def say(value: Any) -> None:
        answers.write(json.dumps(value, default=str) + "\n")

    warnings.simplefilter("ignore")
    child = Child(Path(seeds_folder), Path(work))
    tempfile.tempdir = str(child.work / "tmp")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            say(child.run(asked["format"], asked["number"], say))
        except Exception as error:  # a fault of the attack itself
            trace = "".join(traceback.format_exception(error))
            say({"outcome": "broken", "text": trace[-3000:]})


if __name__ == "__main__":
    main()

"""``labeltrick doctor``: what to send with a bug report."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from . import options as o

EXAMPLE = o.examples("labeltrick doctor", "labeltrick doctor --warm", "labeltrick doctor --json")


@o.command()
def doctor(
    speaker: o.Speaker,
    warm: Annotated[
        bool,
        typer.Option(
            "--warm", help="Compile the kernels of all commands now (one or two minutes)."
        ),
    ] = False,
) -> None:
    """Describe this installation and test it, for bug reports.

    Shows versions, CPUs, threads, the cache of compiled kernels and the extras that were found, and
    compares a propagation and its self-exclusion with dense formulas, and loads the library of
    boosted trees. The exit code is 1 if something is broken.
    """
    from ..doctor.environment import examine

    if warm:
        from ..doctor.warming import warm_kernels

        seconds = warm_kernels(speaker.progress)
        speaker.say(f"Kernels are compiled ({seconds:.0f} s).")
    found = examine()
    speaker.result(found)
    _tell(found, speaker)
    if found["problems"]:
        raise typer.Exit(1)


def _tell(found: dict[str, Any], speaker: o.Speaker) -> None:
    cpus, cache = found["cpus"], found["cache"]
    quota = "no quota" if cpus["quota"] is None else f"a quota of {cpus['quota']:g}"
    kept = f"{cache['variants']} variants of {cache['kernels']} kernels"
    if not cache["kernels"]:
        kept = "nothing yet; labeltrick doctor --warm compiles all kernels"
    rows = [
        ["labeltrick", found["labeltrick"]],
        ["Python", found["python"]],
        ["platform", found["platform"]],
        ["CPUs", f"{cpus['used']} of {cpus['machine']} ({cpus['allowed']} allowed, {quota})"],
        ["threads", str(found["threads"] or "see below")],
        ["cache of kernels", cache["folder"] or "no place to write: every process compiles"],
        ["compiled", kept],
    ]
    speaker.table("Installation", ["", ""], rows)
    rows = [[name, version or "missing"] for name, version in found["dependencies"].items()]
    speaker.table("Dependencies", ["", ""], rows)
    rows = []
    for name, extra in found["extras"].items():
        packages = [f"{key} {version or '–'}" for key, version in extra["packages"].items()]
        rows.append([name, ", ".join(packages), extra["install"] or ""])
    speaker.table("Extras", ["", "found", "to install"], rows)
    for name, result in found["self_test"].items():
        speaker.say(f"Self-test, {name}: {result}")
    for problem in found["problems"]:
        speaker.say(("problem:", "bold red"), f" {problem}")
    if not found["problems"]:
        speaker.say("Nothing is broken.")

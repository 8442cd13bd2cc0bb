"""The options of every command as a page, written from the program itself at each build."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

PAGE = """# Command-line options

Every command with its options, as `labeltrick COMMAND --help` prints them. The
[guide to the command line](../../guides/cli.md) shows how they are used.
"""


def text(value: str | None) -> str:
    """Help for a Markdown page: without terminal styles, and with what Markdown would read as
    something else escaped."""
    plain = re.sub(r"\[/?(?:bold|dim|italic|cyan|green|red|yellow)\]", "", value or "")
    plain = plain.replace(chr(92) + "[", "[")
    return re.sub(r"([<>*_|$\[\]])", r"\\\1", plain)


def row(parameter: Any) -> str:
    """Line of the table: the option's names, then what it does."""
    names = ", ".join(f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts])
    if not parameter.opts[0].startswith("-"):
        names = f"`{parameter.name.upper()}`"
    said = text(getattr(parameter, "help", "")).replace("\n", " ")
    given = parameter.default
    if parameter.required:
        said += " (required)"
    elif given is not None and given is not False and given != () and not callable(given):
        said += f" (default: `{given}`)"
    return f"| {names} | {said} |"


def sections(command: Any, path: str) -> list[str]:
    """The Markdown of a command and, below it, of its own commands."""
    inner = getattr(command, "commands", {})
    found = [f"## {path}", text(command.help)] if path != "labeltrick" else []
    shown = [row(p) for p in command.params if not getattr(p, "hidden", False)]
    if shown and not inner:
        found.append("\n".join(["| option | meaning |", "|---|---|", *shown]))
    if command.epilog:
        example = re.sub(r"\[/?bold\]|^Examples?: ", "", command.epilog)
        found.append(f"```bash\n{example}\n```")
    for name, below in inner.items():
        found += sections(below, f"{path} {name}")
    return found


def write(app: Any) -> None:
    from typer.main import get_command

    from labeltrick.app.cli import app as commands

    page = Path(app.srcdir) / "reference" / "generated" / "command-line.md"
    page.parent.mkdir(exist_ok=True)
    made = "\n\n".join([PAGE, *sections(get_command(commands), "labeltrick")]) + "\n"
    if not page.exists() or page.read_text(encoding="utf-8") != made:
        page.write_text(made, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    # Before the pages are looked for.
    app.connect("builder-inited", write, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

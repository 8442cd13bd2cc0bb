"""The tutorials: what they begin and end with, and that their commands print what they show."""

import re

import pytest

from experiments.tutorial_figures import PAGES, SHELL, run_blocks, run_command

TUTORIALS = sorted(page for page in PAGES.glob("*.md") if page.stem != "index")


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_says_what_it_gives_and_where_to_go_next(page):
    text = page.read_text(encoding="utf-8")
    first = text.split("\n\n")[1]
    assert first.startswith("**At the end**")
    assert "**Time:**" in first
    assert text.split("\n## ")[-1].startswith("Where to go next\n")
    assert "](../figures/" in text


def test_every_command_shows_its_output():
    text = (PAGES / "two-tables.md").read_text(encoding="utf-8")
    commands = re.findall(r"^labeltrick .*$", text, flags=re.M)
    shown = SHELL.findall(text)
    assert [command for command, _ in shown] == commands
    assert all(output.strip() for _, output in shown)


@pytest.mark.slow
def test_the_commands_print_what_the_page_shows():
    """Apart from times, and from the width of their columns."""

    def without_times(text):
        return re.sub(r"([━─ ])+", r"\1", re.sub(r"[\d.]+ s\b", "… s", text))

    page = PAGES / "two-tables.md"
    folder = run_blocks(page)["folder"]
    for command, output in SHELL.findall(page.read_text(encoding="utf-8")):
        assert without_times(run_command(command, folder)) == without_times(output), command

import io
import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from sklearn.base import clone

from labeltrick import CorrectAndSmooth
from labeltrick._utils import progress
from labeltrick._utils.escaping import visible
from labeltrick._utils.progress import ProgressBar, ProgressLines, notice, waiting


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def no_delay(monkeypatch):
    monkeypatch.setattr(progress, "_DELAY", -1.0)


def advance_all(progress):
    with ProgressBar(3, "working", progress) as bar:
        for _ in range(3):
            bar.advance()


def test_a_bar_appears_on_a_terminal_only(no_delay, monkeypatch):
    for stream, shown in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr("sys.stderr", stream)
        advance_all(None)
        assert ("working" in stream.getvalue()) == shown


def test_true_forces_and_false_forbids(no_delay, monkeypatch):
    forced, forbidden = io.StringIO(), Terminal()
    monkeypatch.setattr("sys.stderr", forced)
    advance_all(True)
    assert "working" in forced.getvalue()
    monkeypatch.setattr("sys.stderr", forbidden)
    advance_all(False)
    assert forbidden.getvalue() == ""


def test_many_threads_share_one_bar(no_delay, monkeypatch):
    monkeypatch.setattr("sys.stderr", Terminal())
    shown = []
    show = ProgressBar._show
    monkeypatch.setattr(ProgressBar, "_show", lambda bar, note: (shown.append(1), show(bar, note)))
    with ProgressBar(4000, "working", True) as bar, ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: bar.advance(), range(4000)))
    assert bar.done == 4000
    assert len(shown) == 1


def test_short_work_stays_silent(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    advance_all(None)
    assert stream.getvalue() == ""


def test_an_error_inside_still_closes_the_bar(no_delay, monkeypatch):
    monkeypatch.setattr("sys.stderr", Terminal())
    with pytest.raises(RuntimeError, match="inside"), ProgressBar(2, "working", True) as bar:
        bar.advance()
        raise RuntimeError("inside")
    assert bar._bar.finished is False
    assert not bar._bar.live.is_started


MARKUP = ["[/bold]", "[red]x[/red]", "[link=https://example.org]y[/link]", ":smile:", "[", "\\[x]"]


def test_bars_and_notices(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(progress, "_DELAY", -1.0)
    for word in [*MARKUP, "\x1b]0;x\x07"]:
        stream = Terminal()
        monkeypatch.setattr("sys.stderr", stream)
        with ProgressBar(2, f"fits {word}", True) as bar:
            bar.advance(note=word)
        with waiting(word):
            pass
        notice(word, True)
        said = stream.getvalue()
        assert said.count(visible(word)) >= 3
        assert "\x1b]0;" not in said


def test_programs_get_lines_of_json_with_what_is_being_tried(no_delay):
    stream = io.StringIO()
    with ProgressBar(2, "learning", ProgressLines(stream)) as bar:
        bar.advance(0, "in words", {"trying": "trees"})
        bar.advance()
    first, second = (json.loads(line)["progress"] for line in stream.getvalue().splitlines())
    assert first == {"what": "learning", "done": 0, "total": 2, "trying": "trees"}
    assert second == {"what": "learning", "done": 1, "total": 2}


def test_at_most_one_line_per_second_and_none_for_short_work():
    stream, times = io.StringIO(), iter([0.0, 0.5, 1.2, 1.9, 2.3])
    lines = ProgressLines(stream, lambda: next(times))
    for done in range(4):
        lines(done, 4)
    told = [json.loads(line)["progress"]["done"] for line in stream.getvalue().splitlines()]
    assert told == [1, 3]


def test_clones_of_estimators_share_the_stream():
    lines = ProgressLines(io.StringIO())
    model = clone(CorrectAndSmooth(progress=lines))
    assert model.progress is lines


def test_a_state_without_work_does_not_call_back():
    seen = []
    with ProgressBar(2, "steps", lambda *counts: seen.append(counts)) as bar:
        bar.advance(0, "starting")
        bar.advance()
    assert seen == [(1, 2)]

"""Temporary folders: swept when their process is dead, left alone when it lives or they are not
ours; what was moved aside comes back."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from labeltrick import Graph, open_graph, save_graph
from labeltrick._utils.temporary_folders import Temporary, is_temporary, sweep
from labeltrick._utils.whole_files import replacing

fcntl = pytest.importorskip("fcntl", reason="no locks of this kind on this system")
NAME = ".labeltrick-tmp-0123456789abcdef"


def in_another_process(code, *arguments):
    """Run code that ends by SIGKILL, or prints and waits to be ended."""
    head = "import os, signal, sys, time\nfrom pathlib import Path\n"
    return subprocess.Popen(
        [sys.executable, "-c", head + code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
    )


KILLED = """
from labeltrick._utils.temporary_folders import Temporary
temporary = Temporary(Path(sys.argv[1]) / "a.txt")
(temporary.path / "deep").mkdir()
(temporary.path / "deep" / "half").write_text("half of it")
print("ready", flush=True)
if sys.argv[2] == "dies":
    os.kill(os.getpid(), signal.SIGKILL)
time.sleep(60)
"""


def test_what_a_killed_process_left_is_swept_by_the_next_write(tmp_path):
    (tmp_path / "mine.txt").write_text("keep")
    process = in_another_process(KILLED, tmp_path, "dies")
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 2
    with replacing(tmp_path / "b.txt") as file:
        file.write_text("whole")
    assert sorted(os.listdir(tmp_path)) == ["b.txt", "mine.txt"]


def test_what_a_living_process_uses_is_left_alone(tmp_path):
    process = in_another_process(KILLED, tmp_path, "lives")
    try:
        assert process.stdout.readline() == "ready\n"
        sweep(tmp_path)
        [path] = tmp_path.iterdir()
        assert (path / "deep" / "half").read_text() == "half of it"
    finally:
        process.kill()
        process.communicate(timeout=60)
    sweep(tmp_path)
    assert os.listdir(tmp_path) == []


def marker(**changes):
    import platform

    described = {"format": "labeltrick temporary folder", "place": "a", "machine": platform.node()}
    return json.dumps({**described, "boot": "", **changes})


NOT_OURS = {
    "no owner": {"file.txt": "keep"},
    "an owner of another format": {"owner": marker(format="another"), "file.txt": "keep"},
    "an owner that cannot be read": {"owner": "somebody", "file.txt": "keep"},
    "an empty owner beside others": {"owner": "", "file.txt": "keep"},
    "another machine": {"owner": marker(machine="far away"), "file.txt": "keep"},
    "a place elsewhere": {"owner": marker(place="../a"), "file.txt": "keep"},
}


@pytest.mark.parametrize("case", NOT_OURS)
def test_what_only_looks_like_ours_is_left_alone(tmp_path, case):
    (tmp_path / NAME).mkdir()
    for name, text in NOT_OURS[case].items():
        (tmp_path / NAME / name).write_text(text)
    sweep(tmp_path)
    assert (tmp_path / NAME / "file.txt").read_text() == "keep"


def test_other_names_links_and_files_are_left_alone(tmp_path):
    others = (".labeltrick-tmp-0123", f"{NAME}0", f"x{NAME}", ".g.lt-abcdefgh")
    for name in others:
        (tmp_path / name).mkdir()
        (tmp_path / name / "owner").write_text(marker())
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "owner").write_text(marker())
    (tmp_path / NAME).symlink_to(elsewhere)
    (tmp_path / NAME.replace("0", "1")).write_text("a file")
    before = sorted(os.listdir(tmp_path))
    sweep(tmp_path)
    assert sorted(os.listdir(tmp_path)) == before
    assert (elsewhere / "owner").exists()


def test_what_is_ours_and_dead_goes_wherever_the_kill_fell(tmp_path):
    for k, files in enumerate([{}, {"owner": ""}, {"owner": marker(), "new": "half"}]):
        path = tmp_path / f"{NAME[:-1]}{k}"
        path.mkdir()
        assert is_temporary(path)
        for name, text in files.items():
            (path / name).write_text(text)
    sweep(tmp_path)
    assert os.listdir(tmp_path) == []
    sweep(tmp_path / "missing")


# -- folders that are replaced -----------------------------------------------------------------
def line(n):
    return Graph.from_edges(range(n - 1), range(1, n))


REPLACED = """
from labeltrick import Graph, save_graph
from labeltrick._utils import temporary_folders
rename, moves = Path.rename, []
def counted(self, target):
    if len(moves) == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
    moves.append(target)
    return rename(self, target)
Path.rename = counted
temporary_folders.shutil.rmtree = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
save_graph(Graph.from_edges([0, 1, 2], [1, 2, 3]), sys.argv[1], overwrite=True)
"""


@pytest.mark.parametrize("moves", [0, 1, 2])
@pytest.mark.parametrize("then", ["open", "save"])
def test_a_kill_while_a_folder_is_replaced_loses_nothing(tmp_path, moves, then):
    folder = save_graph(line(3), tmp_path / "g.lt")
    process = in_another_process(REPLACED, folder, moves)
    process.communicate(timeout=120)
    assert process.returncode == -signal.SIGKILL
    assert folder.exists() == (moves != 1)  # moved aside, and the new one not yet there
    if then == "open":
        assert open_graph(folder).n_nodes == (4 if moves == 2 else 3)
    with pytest.raises(FileExistsError, match="--overwrite"):
        save_graph(line(5), folder)  # it is there again
    save_graph(line(5), folder, overwrite=True)
    assert open_graph(folder, verify=True).n_nodes == 5
    assert os.listdir(tmp_path) == ["g.lt"]


def test_the_old_folder_stays_where_somebody_else_took_its_place(tmp_path):
    path = tmp_path / NAME
    for name in ("old", "new"):
        (path / name).mkdir(parents=True)
        (path / name / "file.txt").write_text(name)
    (path / "owner").write_text(marker(place="g"))
    (tmp_path / "g").mkdir()
    sweep(tmp_path)
    assert (path / "old" / "file.txt").read_text() == "old"
    (tmp_path / "g").rmdir()
    sweep(tmp_path)
    assert (tmp_path / "g" / "file.txt").read_text() == "old"
    assert os.listdir(tmp_path) == ["g"]


def test_a_place_that_was_taken_meanwhile_is_not_replaced(tmp_path, monkeypatch):
    taken = line(3)

    def faster(self):
        made = real(self)
        monkeypatch.undo()
        save_graph(taken, tmp_path / "g.lt")
        return made

    real = Temporary.new_folder
    monkeypatch.setattr(Temporary, "new_folder", faster)
    with pytest.raises(FileExistsError, match="must be new or empty"):
        save_graph(line(5), tmp_path / "g.lt")
    assert open_graph(tmp_path / "g.lt") == taken
    assert os.listdir(tmp_path) == ["g.lt"]


def test_a_folder_with_files_of_others_is_not_replaced(tmp_path):
    folder = save_graph(line(3), tmp_path / "g.lt")
    (folder / "notes.txt").write_text("keep")
    with pytest.raises(FileExistsError, match=r"it also holds 'notes.txt'"):
        save_graph(line(5), folder, overwrite=True)
    assert (folder / "notes.txt").read_text() == "keep"
    assert open_graph(folder) == line(3)


MANY = """
from labeltrick._utils.temporary_folders import Temporary
for k in range(150):
    with Temporary(Path(sys.argv[1]) / "deep" / sys.argv[2]) as place:
        (place / "file").write_text("a")
        assert (place / "file").read_text() == "a"
    if k % 10 == 0:
        os.system("true")  # a child, which must not keep the lock
"""


def test_processes_side_by_side_do_not_disturb_each_other(tmp_path):
    running = [in_another_process(MANY, tmp_path, k) for k in range(4)]
    for process in running:
        process.communicate(timeout=120)
        assert process.returncode == 0
    assert os.listdir(tmp_path / "deep") == []


def test_two_builds_side_by_side_both_succeed(tmp_path):
    text = "src,dst\n" + "".join(f"{k},{(7 * k) % 20_000}\n" for k in range(20_000))
    (tmp_path / "e.csv").write_text(text)
    command = [sys.executable, "-m", "labeltrick", "graph", "build", str(tmp_path / "e.csv")]
    running = [
        subprocess.Popen([*command, str(tmp_path / name), "--max-memory", "2MB", "--quiet"])
        for name in ("a.lt", "b.lt")
    ]
    assert [process.wait(timeout=120) for process in running] == [0, 0]
    assert sorted(os.listdir(tmp_path)) == ["a.lt", "b.lt", "e.csv"]
    assert open_graph(tmp_path / "a.lt", verify=True) == open_graph(tmp_path / "b.lt", verify=True)


def test_a_file_in_the_way_of_a_folder_is_reported_by_the_command(tmp_path):
    (tmp_path / "e.csv").write_text("src,dst\n0,1\n")
    command = [sys.executable, "-m", "labeltrick", "graph", "build", tmp_path / "e.csv"]
    done = subprocess.run(
        [*map(str, command), str(tmp_path / "e.csv" / "g.lt")], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stderr.endswith("must be in a folder; a file is in the way. Correct the path\n")
    assert (tmp_path / "e.csv").read_text() == "src,dst\n0,1\n"


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_folder_one_may_not_write_to_is_reported_by_the_command(tmp_path):
    (tmp_path / "e.csv").write_text("src,dst\n0,1\n")
    place = tmp_path / "closed"
    place.mkdir(mode=0o500)
    command = [sys.executable, "-m", "labeltrick", "graph", "build", tmp_path / "e.csv"]
    done = subprocess.run([*map(str, command), str(place / "g.lt")], capture_output=True, text=True)
    assert done.returncode == 2
    assert f"you may not write to '{place}'" in done.stderr


def test_temporaries_go_with_their_last_user(tmp_path):
    temporary = Temporary(tmp_path / "a")
    path = temporary.path
    assert path.is_dir()
    del temporary
    time.sleep(0)
    assert not Path(path).exists()

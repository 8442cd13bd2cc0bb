"""Fetching datasets: resumed, verified, nothing half-written; from a server of the test's own."""

import contextlib
import errno
import hashlib
import io
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
import trustme

from labeltrick.io import datasets
from labeltrick.io.datasets import download, registry
from labeltrick.io.datasets.download import Remote, fetch, part_of
from tests.io.datasets.test_unpack import archive
from tests.support.people import invoke

BODY = bytes(range(256)) * 4000


@pytest.fixture(scope="session")
def authority(tmp_path_factory):
    """A certificate authority of our own, and the file that has others trust it."""
    made = trustme.CA()
    file = tmp_path_factory.mktemp("authority") / "ca.pem"
    made.cert_pem.write_to_path(file)
    return made, file


@pytest.fixture
def serving(authority, monkeypatch):
    """Starts servers on this machine; their certificates are trusted as the system's are."""
    made, file = authority
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    certificate = made.issue_cert("127.0.0.1")

    @contextlib.contextmanager
    def start(bodies, *, secure=True, **options):
        server = Server(bodies, certificate if secure else None, **options)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            server.server_close()
            thread.join()

    return start


class Server(ThreadingHTTPServer):
    """Serves bodies by path, or redirects to a text; ``cut`` breaks the first answer off after so
    many bytes; ``silent`` does not say how long an answer is."""

    def __init__(self, bodies, certificate, cut=None, ranges=True, silent=False):
        self.bodies, self.cut, self.ranges, self.asked = bodies, cut, ranges, []
        self.silent, self.secure = silent, certificate is not None
        super().__init__(("127.0.0.1", 0), _Handler)
        if certificate is not None:
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            certificate.configure_cert(context)
            self.socket = context.wrap_socket(self.socket, server_side=True)

    def url(self, name):
        kind = "https" if self.secure else "http"
        return f"{kind}://127.0.0.1:{self.server_address[1]}/{name}"

    def handle_error(self, *_):
        """Clients that break off are what is tested."""


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        body = self.server.bodies.get(self.path[1:])
        if body is None:
            self.send_error(404)
            return
        if isinstance(body, str):
            self.send_response(302)
            self.send_header("Location", body)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        asked = self.headers.get("Range")
        self.server.asked.append(asked)
        first = int(asked[6:-1]) if asked and self.server.ranges else 0
        if first >= len(body):
            self.send_error(416)
            return
        self.send_response(206 if first else 200)
        if not self.server.silent:
            self.send_header("Content-Length", str(len(body) - first))
        self.end_headers()
        cut, self.server.cut = self.server.cut, None
        with contextlib.suppress(OSError):
            self.wfile.write(body[first : len(body) if cut is None else cut])

    def log_message(self, *_):
        pass


def digest(body):
    return hashlib.sha256(body).hexdigest()


def test_a_file_comes_whole_and_leaves_no_part(serving, tmp_path):
    seen = []
    with serving({"a": BODY}) as server:
        remote = Remote(server.url("a"), "b.bin", digest(BODY))
        fetch(remote, tmp_path / "new", progress=lambda done, total: seen.append((done, total)))
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["b.bin"]
    assert (tmp_path / "new" / "b.bin").read_bytes() == BODY
    assert seen[-1][0] == seen[-1][1]


@pytest.mark.parametrize("ranges", [True, False])
def test_a_broken_download_goes_on_where_it_stopped(serving, tmp_path, ranges):
    with serving({"a": BODY}, cut=300_000, ranges=ranges) as server:
        remote = Remote(server.url("a"), "b.bin", digest(BODY))
        with pytest.raises(ConnectionError, match="Run it again|must last"):
            fetch(remote, tmp_path)
        assert [path.name for path in tmp_path.iterdir()] == [".b.bin.labeltrick-part"]
        fetch(remote, tmp_path)
        assert server.asked[-1] == "bytes=300000-"
    assert (tmp_path / "b.bin").read_bytes() == BODY


def test_another_file_than_expected_is_removed(serving, tmp_path):
    with serving({"a": BODY[:-1] + b"x"}) as server, pytest.raises(ValueError, match="SHA-256"):
        fetch(Remote(server.url("a"), "b.bin", digest(BODY)), tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("silent", [False, True])
def test_downloads_are_capped(serving, tmp_path, silent):
    """Whether or not the server says how much it sends."""
    with serving({"a": BODY * 3}, silent=silent) as server:
        remote = Remote(server.url("a"), "b.bin", most=2)
        with pytest.raises(ValueError, match="must be at most 2 MB; the download is larger"):
            fetch(remote, tmp_path / "new")
    assert not list(tmp_path.rglob("*.*"))


def test_http_is_refused(serving, tmp_path):
    with serving({"a": BODY}, secure=False) as server:
        with pytest.raises(ValueError, match="`http://.* must be an https address"):
            fetch(Remote(server.url("a"), "b.bin", digest(BODY)), tmp_path)
        assert not server.asked
    for url in ("ftp://127.0.0.1/a", "file:///etc/passwd", "data:,x"):
        with pytest.raises(ValueError, match="must be an https address"):
            fetch(Remote(url, "b.bin"), tmp_path)
    assert not list(tmp_path.iterdir())


def test_redirections_are_followed_to_https_alone(serving, tmp_path):
    with serving({"a": BODY}, secure=False) as plain, serving({}) as server:
        server.bodies |= {"good": server.url("end"), "end": BODY, "bad": plain.url("a")}
        server.bodies |= {"hop": server.url("bad"), "file": "file:///etc/passwd"}
        fetch(Remote(server.url("good"), "b.bin", digest(BODY)), tmp_path)
        for name in ("bad", "hop", "file"):
            with pytest.raises((ValueError, ConnectionError), match="https address|not allowed"):
                fetch(Remote(server.url(name), "c.bin", digest(BODY)), tmp_path)
        assert not plain.asked
    assert [path.name for path in tmp_path.iterdir()] == ["b.bin"]


def test_certificates_are_checked(serving, tmp_path, monkeypatch):
    with serving({"a": BODY}) as server:
        monkeypatch.delenv("SSL_CERT_FILE")
        with pytest.raises(ConnectionError, match="certificate"):
            fetch(Remote(server.url("a"), "b.bin", digest(BODY)), tmp_path)
    assert not list(tmp_path.iterdir())


def test_no_network_and_no_such_file(serving, tmp_path):
    with serving({}) as server:
        address = server.url("a")
        with pytest.raises(ConnectionError, match="404"):
            fetch(Remote(address, "b.bin"), tmp_path / "new")
    with pytest.raises(ConnectionError, match="Check the network"):
        fetch(Remote(address, "b.bin"), tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_full_disk_gives_its_room_back(serving, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with serving({"a": BODY}) as server:
        monkeypatch.setattr(download, "_copy", full)
        with pytest.raises(OSError, match="the disk is full") as caught:
            fetch(Remote(server.url("a"), "b.bin"), tmp_path)
    assert caught.value.errno == errno.ENOSPC
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", ["zip", "tgz"])
def test_archives_are_unpacked_below_their_folder_alone(serving, tmp_path, kind):
    files = {"root/raw/a.txt": b"1", "root/b.txt": b"2", "other/c.txt": b"3"}
    folder = tmp_path / "data"
    (folder / "raw").mkdir(parents=True)
    (folder / "raw" / "kept.txt").write_text("mine")
    with serving({"a": archive(kind, files)}) as server:
        fetch(Remote(server.url("a"), f"x.{kind}", unpack="root"), folder)
    found = {str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file()}
    assert found == {"data/raw/a.txt", "data/b.txt", "data/raw/kept.txt"}


def damaged_zip():
    body = bytearray(archive("zip", {"root/a.txt": b"12345" * 400}))
    body[40:60] = b"?" * 20
    return bytes(body)


@pytest.mark.parametrize(
    "body", [b"no archive at all" * 50, archive("zip", {"x/y": b""}), damaged_zip()]
)
def test_an_archive_that_is_none(serving, tmp_path, body):
    with (
        serving({"a": body}) as server,
        pytest.raises(ValueError, match="must be an archive"),
    ):
        fetch(Remote(server.url("a"), "x.zip", unpack="root"), tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.fixture
def toy(monkeypatch):
    """minesweeper's entry with a toy file behind it."""
    masks = np.zeros((1, 6), bool)
    rng = np.random.default_rng(0)
    made = io.BytesIO()
    edges = np.array([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]])
    np.savez(made, node_features=rng.normal(size=(6, 2)), node_labels=np.arange(6) % 2, edges=edges,
             train_masks=masks, val_masks=masks, test_masks=masks)  # fmt: skip
    entry = registry.ENTRIES["minesweeper"]
    counts = registry.Counts(6, 5, 2, 2)

    def install(server, sha256=None):
        remote = Remote(server.url("a"), "minesweeper.npz", sha256)
        changed = {**entry.__dict__, "counts": counts, "files": (remote,)}
        monkeypatch.setitem(registry.ENTRIES, "minesweeper", registry.Entry(**changed))

    return install, made.getvalue()


def test_get_fetches_once_and_asserts_the_counts(serving, toy, tmp_path):
    install, body = toy
    with serving({"a": body}) as server:
        install(server, digest(body))
        assert not datasets.info("minesweeper", tmp_path)["here"]
        assert datasets.get("minesweeper", tmp_path).n_nodes == 6
        assert datasets.get("minesweeper", tmp_path).n_nodes == 6
        assert len(server.asked) == 1
        said = invoke("datasets", "get", "minesweeper", "--data-dir", tmp_path, "--overwrite")
        assert "6 nodes" in said
        assert len(server.asked) == 2
    assert datasets.info("minesweeper", tmp_path)["here"]


def test_a_corrupted_download_is_reported_and_fetched_again(serving, toy, tmp_path):
    install, body = toy
    with serving({"a": body[:200]}) as server:
        install(server)
        with pytest.raises(ValueError, match=r"minesweeper\.npz"):
            datasets.get("minesweeper", tmp_path)
        server.bodies["a"] = body
        with pytest.raises(ValueError, match=r"minesweeper\.npz.* pass --overwrite"):
            datasets.get("minesweeper", tmp_path)  # it may be a file of somebody else
        assert datasets.get("minesweeper", tmp_path, overwrite=True).n_nodes == 6


def test_a_corrupted_file_in_the_cache_is_fetched_again(serving, toy, tmp_path, monkeypatch):
    install, body = toy
    monkeypatch.delenv("LABELTRICK_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with serving({"a": body[:200]}) as server:
        install(server)
        with pytest.raises(ValueError, match=r"minesweeper\.npz"):
            datasets.get("minesweeper")
        server.bodies["a"] = body
        assert datasets.get("minesweeper").n_nodes == 6


def test_an_archive_replaces_no_file_of_others(serving, tmp_path):
    packed = archive("zip", {"root/a.txt": b"new", "root/b.txt": b"same"})
    (tmp_path / "a.txt").write_text("mine")
    (tmp_path / "b.txt").write_text("same")
    with serving({"a": packed}) as server:
        remote = Remote(server.url("a"), "x.zip", unpack="root", holds="c.txt")
        with pytest.raises(FileExistsError, match=r"a.txt` must be the file of the dataset"):
            fetch(remote, tmp_path)
        assert (tmp_path / "a.txt").read_text() == "mine"
        assert not (tmp_path / "c.txt").exists()
        fetch(remote, tmp_path, overwrite=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "b.txt"]
    assert (tmp_path / "a.txt").read_text() == "new"


def test_two_downloads_do_not_write_to_one_file(serving, tmp_path):
    part = part_of(tmp_path / "b.bin")
    with serving({"a": BODY}) as server, part.open("ab") as file:
        fcntl = pytest.importorskip("fcntl", reason="no locks of this kind on this system")
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(FileExistsError, match="another process is downloading"):
            fetch(Remote(server.url("a"), "b.bin", digest(BODY)), tmp_path)


def test_an_unfinished_archive_is_not_a_dataset(tmp_path):
    folder = tmp_path / "ogbn-arxiv"
    folder.mkdir()
    (folder / ".arxiv.zip.labeltrick-part").write_bytes(b"x")
    assert not datasets.info("ogbn-arxiv", tmp_path)["here"]


def test_a_part_of_another_file_is_no_start(serving, tmp_path):
    (tmp_path / ".b.bin.labeltrick-part").write_bytes(b"y" * (len(BODY) + 5))
    with serving({"a": BODY}) as server:
        fetch(Remote(server.url("a"), "b.bin"), tmp_path)
    assert (tmp_path / "b.bin").read_bytes() == BODY


def test_the_cache_is_the_last_resort(serving, toy, tmp_path, monkeypatch):
    install, body = toy
    monkeypatch.delenv("LABELTRICK_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="datasets get"):
        datasets.load("minesweeper")
    with serving({"a": body}) as server:
        install(server)
        datasets.get("minesweeper")
    assert datasets.load("minesweeper").n_nodes == 6


def test_what_has_to_be_put_in_place_by_hand(tmp_path):
    with pytest.raises(ValueError, match="Take its files from https"):
        datasets.get("vk", tmp_path)
    assert not list(tmp_path.iterdir())


def test_random_splits_are_those_of_the_seed(serving, toy, tmp_path):
    install, body = toy
    with serving({"a": body}) as server:
        install(server)
        data = datasets.get("minesweeper", tmp_path)
    first, again, other = (data.random_split(seed) for seed in (0, 0, 3))
    np.testing.assert_array_equal(first.train, again.train)
    parts = np.concatenate([other.train, other.val, other.test])
    assert sorted(parts) == list(range(6))

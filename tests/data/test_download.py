"""A download is done once, resumed where it stopped, and refused where its checksum is wrong."""

import hashlib
import http.server
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

import pytest

from samovar.core.progress import silent
from samovar.data.download import download
from samovar.data.sources.base import Download
from samovar.errors import DataError

CONTENT = bytes(range(256)) * 5000


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves CONTENT; `/cut` breaks off midway, `/norange` ignores ranges, `/missing` is a 404."""

    requests: ClassVar[list[str | None]] = []

    def do_GET(self):
        type(self).requests.append(self.headers.get("Range"))
        if self.path == "/missing.bin":
            self.send_error(404)
            return
        start = 0
        if self.headers.get("Range") and not self.path.startswith("/norange"):
            start = int(self.headers["Range"].removeprefix("bytes=").rstrip("-"))
            if start >= len(CONTENT):
                self.send_error(416)
                return
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(CONTENT) - start))
        self.end_headers()
        body = CONTENT[start:]
        self.wfile.write(body[: len(body) // 2] if self.path.startswith("/cut") else body)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    Handler.requests = []
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as service:
        thread = threading.Thread(target=service.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{service.server_port}"
        service.shutdown()
        thread.join()


def file_at(address: str, content: bytes = CONTENT) -> Download:
    return Download(address, hashlib.md5(content).hexdigest())


def test_whole_download_is_done_once(server, tmp_path):
    shares = []
    file = file_at(f"{server}/data.bin")
    path = download(file, tmp_path, "", lambda _, share: shares.append(share))
    assert path.read_bytes() == CONTENT
    assert shares[-1] == 1
    download(file, tmp_path, "", silent)
    assert len(Handler.requests) == 1
    assert [path.name for path in tmp_path.glob("[!.]*")] == ["data.bin"]


def test_two_at_once_fetch_once(server, tmp_path):
    file = file_at(f"{server}/data.bin")
    with ThreadPoolExecutor(4) as pool:
        paths = list(pool.map(lambda _: download(file, tmp_path, "", silent), range(4)))
    assert {path.read_bytes() for path in paths} == {CONTENT}
    assert len(Handler.requests) == 1


@pytest.mark.parametrize("kind", ["data", "norange"])
def test_resumed_where_the_server_can_and_begun_again_where_not(server, tmp_path, kind):
    (tmp_path / f"{kind}.bin.part").write_bytes(CONTENT[:1000])
    assert download(file_at(f"{server}/{kind}.bin"), tmp_path, "", silent).read_bytes() == CONTENT
    assert Handler.requests == ["bytes=1000-"]


def test_broken_connection_keeps_the_part_for_the_next_attempt(server, tmp_path):
    with pytest.raises(DataError, match="What was received so far is kept"):
        download(file_at(f"{server}/cut.bin"), tmp_path, "Put it there.", silent)
    part = tmp_path / "cut.bin.part"
    assert part.read_bytes() == CONTENT[: len(CONTENT) // 2]
    part.rename(tmp_path / "data.bin.part")
    download(file_at(f"{server}/data.bin"), tmp_path, "", silent)
    assert Handler.requests[-1] == f"bytes={len(CONTENT) // 2}-"


def test_whole_part_needs_nothing_more(server, tmp_path):
    (tmp_path / "data.bin.part").write_bytes(CONTENT)
    assert download(file_at(f"{server}/data.bin"), tmp_path, "", silent).read_bytes() == CONTENT


def test_wrong_checksum_is_refused_and_removed(server, tmp_path):
    with pytest.raises(DataError, match="checksum"):
        download(file_at(f"{server}/data.bin", b"other"), tmp_path, "", silent)
    assert not list(tmp_path.glob("[!.]*"))


def test_no_network_says_what_to_put_where(tmp_path):
    with pytest.raises(DataError, match=r"--root. Put it there\."):
        download(file_at("http://127.0.0.1:9/data.bin"), tmp_path, "Put it there.", silent)


def test_missing_file(server, tmp_path):
    with pytest.raises(DataError, match="404"):
        download(file_at(f"{server}/missing.bin"), tmp_path, "", silent)

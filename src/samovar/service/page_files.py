"""The page: a few files that come with the package, the same for everyone.

They are read once, and served by name from memory, so no path from a client reaches the disk. They
hold nothing that is secret: whatever the page shows it asks for, with the token if there is one.
"""

from functools import cache
from pathlib import Path

from fastapi import APIRouter, Response

from samovar.service.problems import Problem

FOLDER = Path(__file__).parent / "page"
INDEX = "index.html"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}

page = APIRouter(include_in_schema=False)


@cache
def page_files() -> dict[str, tuple[bytes, str]]:
    """Return the content and the media type of each file, by name."""
    files = {}
    for path in sorted(FOLDER.iterdir()):
        if path.suffix in TYPES:
            files[path.name] = (path.read_bytes(), TYPES[path.suffix])
    return files


def _response(name: str) -> Response:
    if name not in page_files():
        raise Problem(404, "There is no such page.")
    content, media_type = page_files()[name]
    # Always asked for again, so that a new version is seen at once.
    return Response(content, headers={"Content-Type": media_type, "Cache-Control": "no-cache"})


@page.get("/")
async def index() -> Response:
    """Return the page."""
    return _response(INDEX)


@page.get("/page/{name}")
async def page_file(name: str) -> Response:
    """Return a file of the page."""
    return _response(name)

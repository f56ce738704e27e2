"""The page is served from memory, loads nothing from elsewhere, and never makes markup of text."""

import re

import pytest
from helpers_service import problem

from samovar.service.page_files import page_files

SCRIPTS = [name for name in page_files() if name.endswith(".js")]


def text_of(name: str) -> str:
    return page_files()[name][0].decode()


def test_the_page_and_its_files_are_served(client):
    page = client.get("/")
    assert page.headers["content-type"].startswith("text/html")
    for name in re.findall(r'(?:src|href)="(/page/[^"]+)"', page.text):
        assert client.get(name).status_code == 200


@pytest.mark.parametrize(
    "name", ["nothing.js", "..%2fapp.py", "../app.py", "%2e%2e/app.py", "index.html%00", "a/b"]
)
def test_no_other_file_is_served(client, name):
    problem(client.get(f"/page/{name}"), 404)


def test_nothing_is_loaded_from_elsewhere():
    for name in page_files():
        for address in re.findall(r"https?://[^\s\"'`]*", text_of(name)):
            assert address.startswith("http://www.w3.org/"), f"{name}: {address}"
        assert "@import" not in text_of(name)


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_import_what_is_there_and_never_make_markup(name):
    for imported in re.findall(r'from "\./([^"]+)"', text_of(name)):
        assert imported in page_files()
    for sink in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert sink not in text_of(name)


def test_the_page_has_no_inline_script_or_style():
    text = text_of("index.html")
    assert not re.search(r"\son\w+=", text)
    assert "style=" not in text
    assert "<style" not in text
    for script in re.findall(r"<script[^>]*>", text):
        assert "src=" in script


def test_what_can_be_typed_into_has_a_label():
    text = text_of("index.html")
    labelled = set(re.findall(r'for="([^"]+)"', text))
    for tag in re.findall(r"<(?:input|select)[^>]*>", text):
        identifier = re.search(r'id="([^"]+)"', tag)
        assert identifier is not None
        wrapped = re.search(rf"<label[^>]*>[^<]*{re.escape(tag)}", text)
        assert identifier[1] in labelled or wrapped

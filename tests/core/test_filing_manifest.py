"""The manifest says what was done and what was about to be, and a hostile one can do no harm."""

import json

import pytest
from helpers_filing import write_photos

from samovar.core.filing import Filing
from samovar.core.filing_manifest import NAME, FilingManifest, is_text, remove_manifest
from samovar.core.stored_json import seal
from samovar.errors import DataError


@pytest.fixture
def filings(tmp_path) -> tuple[Filing, ...]:
    paths = write_photos(tmp_path / "heap", ["1.jpg", "2.jpg", "3.jpg"])
    return tuple(Filing.of(path, f"cat/{path.name}", "copy") for path in paths)


def test_it_is_read_as_it_was_written_with_what_is_pending(tmp_path, filings):
    manifest = FilingManifest().extended(filings[:1], tmp_path).finished()
    grown = manifest.extended(filings[1:], tmp_path)
    grown.write(tmp_path)
    again = FilingManifest.read(tmp_path)
    assert again == grown
    assert again.pending == filings[1:]
    assert again.finished({filings[1]}).filings == (filings[0], filings[2])
    assert again.folders == ("cat",)
    assert FilingManifest.read(tmp_path / "elsewhere") == FilingManifest()


def test_only_empty_folders_that_were_made_for_it_are_removed(tmp_path, filings):
    (tmp_path / "mine").mkdir()
    manifest = FilingManifest().extended(filings, tmp_path)
    manifest.write(tmp_path)
    write_photos(tmp_path / "cat", ["4.jpg"])
    remove_manifest(tmp_path, manifest)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cat", "heap", "mine"]
    (tmp_path / "cat" / "4.jpg").unlink()
    remove_manifest(tmp_path, manifest)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["heap", "mine"]


@pytest.mark.parametrize(
    "change",
    [
        {"target": "../x.jpg"},
        {"target": "/etc/x.jpg"},
        {"target": "cat/./1.jpg"},
        {"target": "cat/../../1.jpg"},
        {"source": "heap/1.jpg"},
        {"source": "/home/me/.bashrc", "target": "cat/bashrc"},
        {"source": "/home/me/run.sh"},
        {"source": "/home/../me/1.jpg"},
        {"by": "delete"},
        {"size": "large"},
    ],
)
def test_a_manifest_that_is_not_ours_is_refused_by_name(change, tmp_path, filings):
    FilingManifest().extended(filings, tmp_path).write(tmp_path)
    content = json.loads((tmp_path / NAME).read_text())
    content["filings"][1] |= change
    (tmp_path / NAME).write_text(json.dumps(content | {"seal": seal(content)}))
    with pytest.raises(DataError, match=NAME):
        FilingManifest.read(tmp_path)


@pytest.mark.parametrize(
    "change", [{"folders": [".."]}, {"done": 9}, {"done": -1}, {"format": 2}, {"filings": 3}]
)
def test_a_manifest_with_absurd_facts_is_refused(change, tmp_path, filings):
    FilingManifest().extended(filings, tmp_path).write(tmp_path)
    content = json.loads((tmp_path / NAME).read_text()) | change
    (tmp_path / NAME).write_text(json.dumps(content | {"seal": seal(content)}))
    with pytest.raises(DataError, match="Nothing was changed"):
        FilingManifest.read(tmp_path)


def test_damage_is_noticed_wherever_it_is(tmp_path, filings):
    FilingManifest().extended(filings, tmp_path).write(tmp_path)
    content = (tmp_path / NAME).read_bytes()
    place = content.index(b"heap/1.jpg")
    (tmp_path / NAME).write_bytes(content[:place] + b"help" + content[place + 4 :])
    with pytest.raises(DataError, match="damaged"):
        FilingManifest.read(tmp_path)


def test_names_that_are_no_text_are_told_apart(tmp_path):
    assert is_text(tmp_path / "über.jpg")
    assert not is_text(tmp_path / "\udcff.jpg")

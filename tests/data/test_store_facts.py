"""A store.json of any content is read, or refused in a sentence; it never spoils other stores."""

import json

import pytest
from helpers import make_store
from hypothesis import given, settings
from hypothesis import strategies as st

from samovar.cli.main import main
from samovar.core.stored_json import seal
from samovar.data.preparation import list_stores
from samovar.data.store import Store
from samovar.data.store_facts import StoreFacts, read_facts
from samovar.errors import DataError, UnreadableError
from samovar.reporting.data_tables import StoreSummary, data_table, store_line

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)


def rewrite(store: Store, changes: dict) -> None:
    """Change store.json as somebody would who knows of the seal."""
    facts = dict(store.facts)
    for name, value in changes.items():
        if value is ...:
            del facts[name]
        else:
            facts[name] = value
    facts["seal"] = seal(facts)
    (store.folder / "store.json").write_text(json.dumps(facts))


def test_what_was_written_is_read(tmp_path):
    store = make_store(tmp_path, [3, 4])
    facts, raw = read_facts(store.folder / "store.json")
    assert isinstance(facts, StoreFacts)
    assert [entry.count for entry in facts.classes] == [3, 4]
    assert raw == store.facts


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"format": 2}, "its format is 2, but this version of samovar reads format 1"),
        ({"format": ...}, "its format is None"),
        ({"name": 3}, "name must be text, but is a whole number"),
        ({"classes": "all"}, "classes must be a list, but is text"),
        ({"classes": []}, "classes are not distinct"),
        ({"classes": [{"name": "a", "count": 7}] * 2}, "classes are not distinct"),
        ({"classes": [{"name": "a", "count": -7}]}, "class without images"),
        ({"classes": [{"name": "a"}]}, r"classes\[0\] has no 'count'"),
        ({"classes": [{"name": "a", "count": 1e300}]}, "must be a whole number"),
        ({"shape": []}, r"images have the shape \[\]"),
        ({"shape": [0, 8, 3]}, "images have the shape"),
        ({"shape": "wide"}, "shape must be a list"),
        ({"dtype": "object"}, "dtype cannot be 'object'"),
        ({"mean": [0.5]}, "do not fit its images"),
        ({"std": [1.0, -1.0, 1.0]}, "do not fit its images"),
        ({"std": [1.0, None, 1.0]}, r"std\[1\] must be a number, but is null"),
        ({"splits": {}}, "not divided into train"),
        ({"splits": {"own": {"train": ["nobody"]}}}, "lists 'nobody'"),
        ({"splits": {"own": ["train"]}}, r"must be a table"),
        ({"checksum": ...}, "it has no 'checksum'"),
        ({"partial": 3}, "partial must be text or null"),
        ({"options": [1]}, "options must be a table"),
        ({"encoder": "clip"}, "encoder must be a table or null"),
        ({"resampling": "magic"}, "resampling cannot be 'magic'"),
        ({"title": ["a"]}, "title must be text"),
    ],
)
def test_other_contents_are_refused_with_the_folder_and_the_remedy(tmp_path, changes, words):
    store = make_store(tmp_path, [3, 4])
    rewrite(store, changes)
    with pytest.raises(DataError, match=words) as error:
        Store(store.folder)
    assert str(store.folder) in str(error.value)
    assert "samovar data prepare" in str(error.value)


@given(name=st.sampled_from(sorted(StoreFacts.__dataclass_fields__)), value=JSON)
@settings(max_examples=150)
def test_any_content_is_listed_or_refused(tmp_path_factory, name, value):
    store = make_store(tmp_path_factory.mktemp("data"), [3, 4])
    rewrite(store, {name: value})
    try:
        opened = Store(store.folder)
    except DataError:
        return
    json.dumps(StoreSummary.of(opened).to_json())
    assert store_line(opened)
    assert data_table({"a": opened}).row_count


def test_a_bad_store_does_not_spoil_the_list(data_folder, capsys):
    make_store(data_folder, [3, 4])
    for name, content in {
        "list": b"[]",
        "bytes": b"\xff\xfe",
        "deep": b"[" * 100_000,
        "huge": b'{"format": 1' + b"0" * 400 + b"}",
        "empty": b"",
    }.items():
        (data_folder / name).mkdir()
        (data_folder / name / "store.json").write_bytes(content)
    stores = list_stores()
    assert [name for name, store in stores.items() if isinstance(store, Store)] == ["toy"]
    assert main(["data", "list"]) == 0
    assert "prepared: 7 images" in capsys.readouterr().out
    assert main(["data", "list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["prepared"]
    assert listed["toy"]["images"] == 7
    assert "nested more than 50 deep" in listed["deep"]["error"]


def test_a_store_file_that_is_no_npy_file_is_named(tmp_path):
    store = make_store(tmp_path, [3, 4])
    (store.folder / "data.npy").write_bytes(b"PK\x05\x06" + bytes(18))  # an empty zip
    with pytest.raises(DataError, match="not an npy file"):
        Store(store.folder)
    with pytest.raises(UnreadableError, match="is not a file"):
        read_facts(store.folder)

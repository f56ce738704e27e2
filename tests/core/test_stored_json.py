"""JSON files are read whole and typed, or refused: too large, too deep, or not JSON."""

import json
import os

import pytest

from samovar.core.stored_json import DEEPEST, parse_json, read_bytes, read_json, seal
from samovar.errors import UnreadableError


def nested(levels: int) -> str:
    return "[" * levels + "]" * levels


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff", "not JSON"),
        (b'"\xff"', "not JSON"),
        (b"[NaN]", "not JSON"),
        (b"[1e999]", "too large"),
        (b"1" + b"0" * 400, "too large"),
        (b"[[-1" + b"0" * 5000 + b"]]", "not JSON"),
        (nested(DEEPEST + 1).encode(), "nested more than 50 deep"),
        (nested(1_000_000).encode(), "nested more than 50 deep"),
        (b"[3]", "must be a table, but is a list"),
    ],
)
def test_what_nothing_of_ours_can_use_is_refused(content, words):
    with pytest.raises(UnreadableError, match=words):
        parse_json(content, dict)


def test_what_is_within_the_limits_is_read():
    assert parse_json(nested(DEEPEST), list)
    assert parse_json(b'{"a": 9223372036854775807, "b": "\xc3\xbc"}', dict) == {
        "a": 2**63 - 1,
        "b": "\u00fc",
    }


def test_numbers_are_read_to_the_last_bit():
    values = [0.1, 1 / 3, 5e-324, 1.7976931348623157e308, -2.2250738585072014e-308]
    assert parse_json(json.dumps(values), list[float]) == values


def test_files_are_bounded_and_regular(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"shot": 5}')
    assert read_json(path, dict[str, int]) == {"shot": 5}
    with pytest.raises(UnreadableError, match=r"a\.json has 11 bytes; at most 5 are read$"):
        read_bytes(path, 5)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UnreadableError, match="pipe is not a file"):
        read_bytes(tmp_path / "pipe")
    with pytest.raises(UnreadableError, match="is not a file"):
        read_bytes(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_bytes(tmp_path / "nothing")


def test_a_seal_is_of_everything_but_itself():
    facts = {"a": 1, "b": [2]}
    assert seal(facts) == seal({"b": [2], "a": 1, "seal": "old"})
    assert seal(facts) != seal(facts | {"a": 2})

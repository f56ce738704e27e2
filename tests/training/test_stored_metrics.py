"""Damaged lines of metrics.jsonl are left out and counted; all others are read."""

import os

import pytest

from samovar.errors import RunError
from samovar.training import stored_metrics
from samovar.training.stored_metrics import StoredMetrics, read_metrics


def test_damage_costs_a_line_and_not_those_after_it(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(
        b'{"update": 1, "loss": 0.5}\n[1]\n\xff\n{"update": 2, "loss": "low"}\n{"update": 1e999}\n'
        b'{"update": 3, "loss": NaN}\n{"loss": 1}\n{"update": 4}'
    )
    stored = StoredMetrics.read(path)
    assert stored.lines == [{"update": 1, "loss": 0.5}, {"update": 3}, {"update": 4}]
    assert stored.damaged == [2, 3, 4, 5, 7]
    assert stored.complaints == [
        "5 lines of metrics.jsonl are damaged and were removed; the first was line 2"
    ]
    assert read_metrics(path) == stored.lines


def test_lines_are_kept_as_they_were_written(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(b'{"update": 1, "loss": NaN}\n{"update":2}\n{"update": 3}\n{"update')
    stored = StoredMetrics.read(path)
    assert stored.until(2) == b'{"update": 1, "loss": NaN}\n{"update":2}\n'
    assert stored.complaints == [], "half a line at the end is what a kill leaves"


def test_a_line_without_an_end_does_not_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(stored_metrics, "LONGEST_LINE", 20)
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(b'{"update": 1}\n' + b"9" * 50 + b'\n{"update": 2}\n')
    assert [line["update"] for line in read_metrics(path)] == [1, 2]


def test_there_may_be_none_but_no_pipe(tmp_path):
    assert read_metrics(tmp_path / "metrics.jsonl") == []
    os.mkfifo(tmp_path / "metrics.jsonl")
    with pytest.raises(RunError, match=r"metrics\.jsonl is not a file"):
        read_metrics(tmp_path / "metrics.jsonl")


def test_a_terabyte_is_not_read(tmp_path):
    (tmp_path / "metrics.jsonl").touch()
    os.truncate(tmp_path / "metrics.jsonl", 2**40)
    with pytest.raises(RunError, match="at most 200,000,000 are read"):
        StoredMetrics.read(tmp_path / "metrics.jsonl")

"""A folder is followed: photos are sorted when they are whole, and each once."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from helpers_images import glyph
from helpers_photos import draw_photos, small_regression

from samovar.classifier.answer import AnswerParameters
from samovar.classifier.fitted_regression import fit_regression
from samovar.classifier.heap_sorter import HeapSorter
from samovar.classifier.sets import SetRequest, predict_sets
from samovar.classifier.sorting import Folders
from samovar.cli.sort_heap import HeapAtHand, seconds
from samovar.core.interrupts import StopRequests


@pytest.fixture
def at_hand(tmp_path) -> HeapAtHand:
    saved = small_regression(rejection=False)
    folder = draw_photos(tmp_path / "support", {"disc": 3, "bars": 3}, side=40)
    paths = sorted(folder.glob("*/*.jpg"))
    vectors = saved.open_encoder().encode(paths)
    fitted = fit_regression(
        saved, list(torch.from_numpy(vectors)), [path.parent.name for path in paths]
    )
    (tmp_path / "sorted").mkdir()
    sorter = HeapSorter(tmp_path / "sorted", Folders.of(["bars", "disc"], "none"), "move", 0.0)
    heap = tmp_path / "heap"
    heap.mkdir()
    return HeapAtHand([heap], sorter, fitted, AnswerParameters(), "of a test", cache=False)


def test_photos_are_sorted_once_they_have_stopped_growing(at_hand, tmp_path):
    heap = tmp_path / "heap"
    drawn = draw_photos(tmp_path / "more", {"disc": 2}, first=10, side=40)
    whole = (drawn / "disc" / "10.jpg").read_bytes()

    def rounds() -> Iterator[None]:
        yield  # nothing is there yet
        (heap / "1.jpg").write_bytes(whole[:500])
        yield  # it has come
        (heap / "1.jpg").write_bytes(whole)
        yield  # it has grown
        assert (heap / "1.jpg").exists(), "half a photo was sorted"
        yield  # it is as it was
        assert not (heap / "1.jpg").exists()
        (heap / "1.jpg").write_bytes((drawn / "disc" / "11.jpg").read_bytes())
        yield  # another photo of the same name
        yield

    photos = list(at_hand.watched(rounds()))
    assert [photo.filing.target.rpartition("/")[2] for photo in photos] == ["1.jpg", "1 (2).jpg"]
    assert len(list((tmp_path / "sorted").rglob("*.jpg"))) == 2
    assert at_hand.report() == 0


def test_a_photo_that_cannot_be_read_is_named_once(at_hand, tmp_path, capsys):
    (tmp_path / "heap" / "bad.jpg").write_bytes(b"not a photo")
    assert list(at_hand.watched(iter([None] * 5))) == []
    assert capsys.readouterr().err.count("bad.jpg") == 1
    assert at_hand.report() == 1


def test_only_new_photos_are_answered(at_hand, tmp_path):
    glyph(100, 1).save(tmp_path / "heap" / "a.png")
    first = at_hand.planned()
    assert [photo.image.name for photo in first] == ["a.png"]
    assert at_hand.apply(first) == []
    glyph(100, 2).save(tmp_path / "heap" / "b.png")
    assert [photo.image.name for photo in at_hand.planned()] == ["b.png"]


def test_a_place_that_was_taken_is_reported(at_hand, tmp_path, capsys):
    glyph(100, 1).save(tmp_path / "heap" / "a.png")
    (photo,) = at_hand.planned()
    target = tmp_path / "sorted" / photo.filing.target
    target.parent.mkdir(parents=True)
    target.write_text("somebody else's")
    assert at_hand.apply([photo]) == [photo]
    assert at_hand.report() == 1
    assert "a.png was left where it is" in capsys.readouterr().err
    assert Path(photo.image).exists()
    assert target.read_text() == "somebody else's"


def test_the_rounds_end_when_the_user_asks(monkeypatch):
    monkeypatch.setattr("samovar.cli.sort_heap.time.sleep", lambda _: None)
    with StopRequests("Stopping.") as requests:
        rounds = seconds(requests)
        next(rounds)
        os.kill(os.getpid(), signal.SIGINT)
        assert list(rounds) == []


def test_prediction_sets_decide_where_they_are_asked_for(at_hand, tmp_path):
    drawn = draw_photos(tmp_path / "more", {"disc": 2}, first=10, side=40)
    for path in (drawn / "disc").iterdir():
        (tmp_path / "heap" / path.name).write_bytes(path.read_bytes())
    at_hand.sets = SetRequest(0.8)
    inputs = list(
        torch.from_numpy(
            at_hand.fitted.saved.open_encoder().encode(sorted((tmp_path / "heap").iterdir()))
        )
    )
    answer = at_hand.fitted.answer(inputs, at_hand.parameters)
    sets = predict_sets(
        at_hand.fitted, inputs, answer.probabilities, at_hand.sets, at_hand.parameters
    )
    expected = at_hand.sorter.folders.chosen(answer, 0.0, sets.members)
    assert [photo.folder for photo in at_hand.planned()] == expected

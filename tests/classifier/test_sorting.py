"""Folders are named after classes, safely, and chosen by the answer."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from samovar.classifier.answer import Answer, Uncertainty
from samovar.classifier.sorting import Folders, folder_name


def answer_with(probabilities: list[list[float]], rejected: list[bool]) -> Answer:
    table = np.array(probabilities)
    labels = np.array(["cat", "dog"])[table.argmax(1)]
    return Answer(
        labels, table, Uncertainty(np.zeros(len(table)), None), np.array(rejected), table[:, 0]
    )


def test_rejected_and_improbable_photos_have_folders_of_their_own():
    folders = Folders.of(["cat", "dog"], "none of these")
    answer = answer_with(
        [[0.9, 0.1], [0.45, 0.55], [0.2, 0.8], [0.99, 0.01]], [False, False, False, True]
    )
    chosen = folders.chosen(answer, 0.6)
    assert chosen == ["cat", "unsure", "dog", "none of these"]
    assert folders.chosen(answer, 0)[1] == "dog"


def test_a_set_of_several_classes_is_unsure_and_an_empty_one_none_of_these():
    folders = Folders.of(["cat", "dog"], "none of these")
    answer = answer_with([[0.9, 0.1], [0.9, 0.1], [0.9, 0.1]], [False, False, False])
    sets = np.array([[True, False], [True, True], [False, False]])
    assert folders.chosen(answer, 0, sets) == ["cat", "unsure", "none of these"]


@given(st.lists(st.text(max_size=300), max_size=6), st.text(max_size=20))
def test_no_class_leads_out_of_the_folder_and_no_two_share_one(labels, none):
    labels = list(dict.fromkeys(labels))
    names = Folders.of(labels, none).all
    assert len({name.casefold() for name in names}) == len(names) == len(labels) + 2
    for name in names:
        assert name
        assert name == name.strip()
        assert "/" not in name
        assert "\\" not in name
        assert not name.startswith(".")
        assert len(name.encode()) <= 255


def test_names_in_any_script_stay_as_they_are():
    assert folder_name("薔薇") == "薔薇"
    assert folder_name("Grüße 2") == "Grüße 2"

"""Pictures are drawn from the data alone, also with gaps and with methods that are new."""

import numpy as np
from helpers_images import drawn
from matplotlib.figure import Figure

from samovar.experiments.figures import (
    accuracy_figure,
    column,
    distinct,
    label_rows,
    matching,
    method_color,
    method_marker,
)


def test_methods_differ_in_colour_and_new_ones_have_one_too():
    methods = ("samovar", "versa", "separate", "prototypes", "new")
    assert len({method_color(method) for method in methods}) == len(methods)
    assert len({method_marker(method) for method in methods}) == len(methods)


def test_entries_are_listed_from_top_to_bottom():
    panel = Figure().subplots()
    label_rows(
        panel, [{"row": "versa", "column": "5-shot"}, {"row": "samovar", "column": "5-shot"}]
    )
    labels = [label.get_text() for label in panel.get_yticklabels()]
    assert labels == ["versa, 5-shot", "samovar, 5-shot"]
    bottom, top = panel.get_ylim()
    assert bottom > top


def test_a_table_is_drawn_with_what_it_has():
    """Measured and published, only measured, only published."""
    ours = {"mean": 0.5, "ci95": 0.01}
    entries = [
        {"row": "a", "column": "x", "ours": ours, "published": 0.5},
        {"row": "b", "column": "x", "ours": ours, "published": None},
        {"row": "c", "column": "x", "ours": None, "published": 0.4},
    ]
    pictures = []
    for count in (1, 2, 3):
        data = {"name": "table1", "scale": "cpu", "cells": entries[:count]}
        pictures.append(drawn(accuracy_figure(data)))
    heights = [len(picture) for picture in pictures]
    assert np.diff(heights).tolist() == [0.36 * 200] * 2, "a line for each entry"


def test_rows_are_read_by_column_and_value():
    rows = [{"shot": 5, "bias": 0.1}, {"shot": 1, "bias": None}, {"shot": 5, "bias": 0.3}]
    assert column(rows, "bias", 100) == [10, None, 30]
    assert distinct(rows, "shot") == [1, 5]
    assert matching(rows, "shot", 5) == [rows[0], rows[2]]


def test_quoted_rows_are_drawn_below_ours():
    ours = {"row": "a", "column": "x", "ours": {"mean": 0.5, "ci95": 0.01}, "published": None}
    data = {"name": "table4", "scale": "cpu", "cells": [ours]}
    alone = drawn(accuracy_figure(data))
    row = {"method": "TADAM", "features": "ResNet-12", "five_shot": 56.1, "one_shot": 40.1}
    together = drawn(accuracy_figure(data | {"quoted": [row]}))
    assert len(together) - len(alone) == 2 * 0.36 * 200, "a line for each accuracy"

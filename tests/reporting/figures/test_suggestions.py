"""The contact sheet shows the suggested images in order."""

import numpy as np
from helpers_images import drawn

from samovar.reporting.answers import AnswerRow
from samovar.reporting.figures import suggestions as module
from samovar.reporting.figures.suggestions import COLUMNS, suggestions_figure
from samovar.reporting.suggestion_files import SuggestedImage


def suggested(number: int) -> SuggestedImage:
    row = AnswerRow(f"heap/{number}.jpg", "c$t", "c$t", {"c$t": 0.6}, 0.5, None, number == 1, 1.0)
    return SuggestedImage(row, 0.5)


def test_a_line_of_images_has_five_and_there_is_a_most(monkeypatch):
    monkeypatch.setattr(module, "MOST_IMAGES", COLUMNS + 1)
    images = [np.full((20, 30, 3), 40, np.uint8)] * 20
    heights = []
    for count in (COLUMNS, COLUMNS + 1, 20):
        picture = drawn(suggestions_figure(images[:count], [suggested(n) for n in range(count)]))
        heights.append(picture.shape[0])
    assert heights[0] < heights[1] == heights[2]

"""Table 2 has a cell for every row, method and shot."""

import pytest

from samovar.experiments.paper.table2 import EXPERIMENT


@pytest.mark.parametrize("scale", ["cpu", "paper"])
def test_every_addition_is_tried_with_both_methods_at_both_shots(scale):
    cells = EXPERIMENT.cells(scale)
    assert len({(cell.row, cell.column) for cell in cells}) == 32
    for cell in cells:
        model = cell.settings.model
        assert ("TEN" in cell.row) == model.task_embedding
        assert ("AT" in cell.row) == (model.auxiliary_classes > 0)
        assert (cell.method == "tadam") == (model.method == "prototypes")
        assert cell.protocol.pooled_queries
        assert cell.protocol.shot == cell.settings.episodes.shot

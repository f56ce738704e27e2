"""Markdown says at which scale numbers were measured, and tables have all their cells."""

from dataclasses import replace

from samovar.experiments.markdown import calibration, grid, heading


def test_the_heading_says_what_cpu_scale_means(cells):
    assert heading("table1", "paper", cells) == ["# table1 (paper scale)", ""]
    assert "smaller data" in " ".join(heading("table1", "cpu", cells))
    only_gpus = [replace(cell, needs_gpu=True) for cell in cells]
    assert "needs GPUs" in " ".join(heading("table3", "cpu", only_gpus))


def test_a_grid_has_every_cell_in_its_place_and_gaps_where_there_is_none():
    lines = grid(["a", "b"], ["x", "y"], {("a", "y"): "1", ("b", "x"): "2"})
    assert lines == ["| | x | y |", "|---|---|---|", "| a | | 1 |", "| b | 2 | |"]


def test_a_calibration_error_is_shown_with_its_sign():
    assert calibration(0.041, -0.0405) == "0.041 (-0.041)"
    assert calibration(0.075, 0.075, 0.0123) == "0.075 ± 0.012 (+0.075)"

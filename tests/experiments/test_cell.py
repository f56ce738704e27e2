"""A cell has all its protocols, and cells of one name are one run."""

from dataclasses import replace

from samovar.experiments.cell import unique_runs


def test_protocols_are_the_cells_own_and_the_others(cells):
    assert [protocol.shot for protocol in cells[0].protocols] == [1, 2]


def test_cells_that_share_a_run_are_trained_once(cells):
    same_run = replace(cells[0], row="another table")
    assert unique_runs([cells[0], cells[1], same_run]) == cells[:2]

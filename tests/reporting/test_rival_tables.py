"""The tables show the model and every rival, and what there is nothing to say of is left out."""

import io

from helpers_evaluation import make_results, make_rivals
from rich.console import Console

from samovar.evaluation.predictors import RIVALS
from samovar.reporting.rival_tables import rival_tables


def test_there_are_no_tables_without_rivals():
    assert rival_tables(make_results()) == []


def test_every_method_has_a_row_and_differences_are_the_models_minus_the_rivals():
    results = make_results(rivals=make_rivals())
    metrics, differences, wrong, outside = rival_tables(results)
    names = [row[0] for row in metrics.rows]
    assert names[:4] == ["the model", "↳ tempered", "↳ calibrated", "logistic regression"]
    assert names[3:] == [row[0] for row in differences.rows]
    assert len(names) == 3 + 2 * len(RIVALS)
    difference = results.rivals.differences[RIVALS[0]].accuracy
    assert differences.rows[0][1] == f"{100 * difference.mean:+.2f} ± {100 * difference.ci95:.2f}"
    for table in (wrong, outside):
        assert table.columns[1:] == ["probability", "energy", "mutual inf.", "distance"]
        assert table.rows[3][3] == "-", "a rival has one classifier, which agrees with itself"
        assert all(len(row) == len(table.columns) for row in table.rows)
    console = Console(width=80, file=io.StringIO())
    console.print(metrics.for_terminal())
    lines = [line for line in console.file.getvalue().splitlines() if "↳ tempered" in line]
    assert len(lines) == 1 + len(RIVALS)
    assert all("±" in line for line in lines), "a row fits into 80 columns"


def test_without_queries_from_outside_nothing_is_said_of_them():
    tables = rival_tables(make_results(rivals=make_rivals(outside=False)))
    assert not any("none of these" in table.title for table in tables)

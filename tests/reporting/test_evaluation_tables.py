"""Tables show every metric of every predictor, and leave out what no predictor has."""

import io
import subprocess
import sys

import numpy as np
from helpers import keep_evaluation
from helpers_evaluation import make_results
from rich.console import Console

from samovar.evaluation.comparison import compare
from samovar.evaluation.metrics import Estimate
from samovar.evaluation.predictors import Predictor
from samovar.reporting.evaluation_tables import (
    NONE,
    comparison_table,
    evaluation_table,
    metric_rows,
    percent,
)


def printed(table) -> str:
    console = Console(width=200, file=io.StringIO())
    console.print(table)
    return console.file.getvalue()


def test_rows_have_a_cell_for_each_predictor():
    results = make_results()
    rows = dict(metric_rows(results))
    assert all(len(cells) == 5 for cells in rows.values())
    accuracy = results.predictive.accuracy
    first = f"{100 * accuracy.mean:.2f} ± {100 * accuracy.ci95:.2f}"
    assert rows["accuracy, %"][0] == first
    assert rows["temperature"] == [NONE, NONE, "1.500", "1.500", NONE]


def test_what_no_predictor_has_is_left_out():
    rows = dict(metric_rows(make_results(predictors=(Predictor.PREDICTIVE,))))
    assert "temperature" not in rows
    assert "AUROC wrong answers: entropy" in rows
    assert "AUROC wrong answers: mutual information" not in rows
    assert not any("none of these" in label for label in rows), "there are no queries from outside"


def test_an_evaluation_is_titled_by_data_and_protocol():
    text = printed(evaluation_table(make_results(data="toy [bold](test, 4 classes)")))
    assert "toy [bold](test, 4 classes)" in text, "names are not markup"
    assert "running norm" in text
    assert "at the mean, tempered" in text


def test_a_comparison_of_two_models_says_what_it_does_not_know(tmp_path):
    first = keep_evaluation(tmp_path / "a", np.array([0.5, 0.75]))
    second = keep_evaluation(tmp_path / "b", np.array([0.5, 0.5]))
    text = printed(comparison_table(compare(first, second)))
    assert "+12.50 ± 24.50" in text
    assert "needs two seeds of each" in text
    assert "these two models" in text


def test_a_comparison_of_seeds_shows_their_deviation(tmp_path):
    values = np.random.default_rng(0).random((4, 9))
    folders = [keep_evaluation(tmp_path / str(i), row) for i, row in enumerate(values)]
    text = printed(comparison_table(compare(folders[:2], folders[2:])))
    assert "(std " in text
    assert "these 2 and 2 models" in text
    assert "needs two seeds" not in text


def test_tables_and_the_html_report_load_no_plotting():
    program = "import sys, samovar.reporting.html; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_the_interval_of_one_task_is_said_to_be_missing(tmp_path):
    folders = [keep_evaluation(tmp_path / name, np.array([0.6])) for name in "ab"]
    text = printed(comparison_table(compare(*folders)))
    assert "+0.00 (no interval)" in text
    assert "±" not in text
    assert "A single task has no intervals." in text
    assert percent(Estimate(0.5, None)) == "50.00 (no interval)"

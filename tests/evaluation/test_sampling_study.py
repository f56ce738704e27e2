"""The sampling study finds errors that fall with the number of samples."""

from samovar.evaluation.evaluator import Evaluator, training_dataset
from samovar.evaluation.sampling_study import Ladder, sampling_study
from samovar.reporting.figures.evaluation import sampling_figure
from samovar.settings.tasks import Protocol

SMALL = Protocol(3, 2, 4, episodes=45, samples=20)


def test_the_sampling_study_finds_errors_that_fall_with_the_number_of_samples(trained):
    evaluator = Evaluator(trained, training_dataset(trained, "test")).runner(SMALL)
    study = sampling_study(
        evaluator, SMALL, Ladder(plain=(1, 10, 100, 1000), quasi=(16, 128), repeats=4)
    )
    errors = {(row["kind"], row["samples"]): row["error"] for row in study["results"]}
    assert errors["plain", 1] > 2 * errors["plain", 10] > 4 * errors["plain", 100]
    assert errors["quasi", 128] < errors["plain", 100]
    assert all(len(row["accuracy"]) == 4 for row in study["results"])
    enough = [count for count in (16, 128) if errors["quasi", count] <= errors["plain", 1000]]
    assert study["quasi_equal_to_1000"] == (min(enough) if enough else None)
    assert sampling_figure(study, study).startswith(b"\x89PNG")

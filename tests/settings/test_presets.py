"""Every preset has the fields of appendix B, and of VERSA and TADAM where it refers to them."""

import pytest

from samovar.settings.presets import PRESETS

PAPER = [name for name in PRESETS if name.startswith("table")]


def test_a_preset_for_every_trained_cell():
    tables = [name.split("-")[0] for name in PAPER]
    assert {table: tables.count(table) for table in set(tables)} == {
        "table1": 6, "table2": 32, "table3": 2, "table4": 2, "table5": 2,
    }  # fmt: skip
    assert all(
        (PRESETS[name].published is not None) == name.startswith("table") for name in PRESETS
    )
    assert PRESETS["table2-samovar-sc-at-ten-5shot"].published.accuracy == 77.5
    assert PRESETS["table1-separate-1shot"].published.accuracy == 50.8
    assert PRESETS["table5-cifar_fs-1shot"].published.accuracy == 72.5


# name: updates, drops, weight decays of extractor, auxiliary head and inference network,
# beta, alpha, clip, tasks x queries
APPENDIX = {
    "table1-samovar-5shot": (100_000, (), 0, 0, 0, 0.0586, None, 0, (4, 15)),
    "table1-samovar-1shot": (50_000, (), 0, 0, 0, 0.1172, None, 0, (8, 15)),
    "table1-versa-5shot": (100_000, (), 0, 0, 0, None, None, 0, (4, 15)),
    "table2-samovar-base-5shot": (
        60_000,
        (30_000, 32_500, 35_000),
        5e-4,
        1e-5,
        1e-5,
        0.0125,
        None,
        0.1,
        (2, 32),
    ),
    "table2-samovar-base-1shot": (
        60_000,
        (30_000, 32_500, 35_000),
        5e-4,
        1e-5,
        5e-4,
        0.025,
        None,
        0.1,
        (5, 12),
    ),
    "table2-samovar-sc-at-5shot": (
        30_000,
        (15_000, 17_500, 20_000),
        5e-4,
        1e-5,
        1e-5,
        0.0125,
        25,
        0.1,
        (2, 32),
    ),
    "table2-samovar-sc-at-ten-1shot": (
        30_000,
        (15_000, 17_500, 20_000),
        5e-4,
        1e-5,
        5e-4,
        0.0125,
        25,
        0.1,
        (5, 12),
    ),
    "table2-tadam-sc-ten-5shot": (
        60_000,
        (30_000, 32_500, 35_000),
        5e-4,
        1e-5,
        None,
        None,
        7.5,
        0.1,
        (2, 32),
    ),
    "table2-tadam-at-5shot": (
        30_000,
        (15_000, 17_500, 20_000),
        5e-4,
        1e-5,
        None,
        None,
        1,
        0.1,
        (2, 32),
    ),
    "table3-miniimagenet-5shot": (
        40_000,
        (20_000, 25_000, 30_000),
        5e-4,
        1e-5,
        1e-5,
        0.0125,
        50,
        0.1,
        (2, 32),
    ),
    "table4-fc100-1shot": (
        30_000,
        (15_000, 20_000, 25_000),
        5e-4,
        5e-4,
        5e-4,
        0.0125,
        50,
        0.1,
        (5, 12),
    ),
    "table5-cifar_fs-5shot": (
        30_000,
        (15_000, 20_000, 25_000),
        5e-4,
        5e-4,
        5e-5,
        0.0125,
        50,
        0.1,
        (2, 32),
    ),
}


@pytest.mark.parametrize("name", APPENDIX)
def test_fields_are_those_of_the_appendix(name):
    updates, drops, extractor, auxiliary, inference, beta, alpha, clip, shape = APPENDIX[name]
    s = PRESETS[name].settings
    o = s.optimizer
    assert (s.updates, o.drops, o.decay_extractor, o.clip, o.clip_by) == (
        updates,
        drops,
        extractor,
        clip,
        "tensor",
    )
    assert (s.tasks, s.episodes.queries) == shape
    assert s.episodes.way == 5
    for expected, value in (
        (auxiliary, o.decay_auxiliary),
        (inference, o.decay_inference),
        (beta, s.model.beta),
        (alpha, s.model.alpha),
    ):
        assert expected is None or value == expected
    if name.startswith("table1"):
        assert (o.kind, o.schedule, s.model.norm, s.model.dropout) == (
            "adam",
            "constant",
            "episode",
            0.5,
        )
        assert o.learning_rate == (1e-4 if "5shot" in name else 2.5e-4)
        assert not s.episodes.pooled_queries
    else:
        assert (o.kind, o.learning_rate, o.momentum, o.schedule) == ("sgd", 0.1, 0.9, "drops")
        assert s.model.norm == "running"
        assert s.episodes.pooled_queries
        assert (o.decay_task_embedding, o.decay_multipliers) == (5e-4, 0.01)
    assert (s.augmentation.flip, s.augmentation.jitter) == (
        (True, 0.4) if name[5] in "345" else (False, 0.0)
    )


def test_auxiliary_classes_are_all_training_classes():
    assert PRESETS["table4-fc100-5shot"].settings.model.auxiliary_classes == 60
    assert PRESETS["table5-cifar_fs-5shot"].settings.model.auxiliary_classes == 64
    assert PRESETS["table2-samovar-sc-5shot"].settings.model.auxiliary_classes == 0

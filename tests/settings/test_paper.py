"""The published numbers are where the paper has them."""

from samovar.settings.paper import (
    AUGMENTED,
    FULL,
    SHOTS,
    TABLE_1,
    TABLE_2,
    TABLE_2_COLUMNS,
    Ablation,
)


def test_a_pair_knows_its_shots():
    assert TABLE_1["versa"].at(5).accuracy == 68.0
    assert TABLE_1["versa"].at(1).accuracy == 52.5
    assert AUGMENTED["fc100"].at(1).table == "4"


def test_table_2_has_every_combination_of_additions_once():
    rows = {row.ablation: row for row in TABLE_2}
    assert len(rows) == 8
    assert rows[FULL].published("samovar", 5).accuracy == 77.5
    assert rows[Ablation()].published("tadam", 1).accuracy == 58.2
    assert rows[Ablation(scaled=True, embedding=True)].ablation.parts == ["sc", "ten"]


def test_table_2_has_a_column_for_each_method_and_shot():
    assert len({(column.method, column.shot) for column in TABLE_2_COLUMNS}) == 4


def test_samovar_is_ahead_of_tadam_in_every_row_as_the_paper_says():
    for row in TABLE_2:
        for shot in SHOTS:
            assert row.published("samovar", shot).accuracy > row.published("tadam", shot).accuracy

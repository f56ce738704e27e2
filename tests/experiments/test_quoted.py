"""The quoted rows are whole, and are those of the paper's tables."""

import pytest

from samovar.experiments.quoted import quoted_lines, quoted_rows


@pytest.mark.parametrize(("table", "count"), [("table3", 20), ("table4", 6), ("table5", 6)])
def test_every_table_has_its_rows(table, count):
    rows = quoted_rows(table)
    assert len(rows) == count
    for row in rows:
        assert 30 < row.one_shot < row.five_shot < 90
        assert row.source


def test_a_row_is_printed_with_its_source_and_interval():
    text = "\n".join(quoted_lines(quoted_rows("table4")))
    assert "| TADAM | Oreshkin et al. 2018 | ResNet-12 | 56.1 ± 0.4 | 40.1 ± 0.4 |" in text
    assert "None was run here" in text


def test_other_tables_quote_nobody():
    assert quoted_rows("table1") == []

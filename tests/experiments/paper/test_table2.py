"""Methods are compared within their group in every layout."""

from dataclasses import replace

from samovar.experiments import tables
from samovar.experiments.reproduce import Workplace, reproduce


def test_methods_are_compared_within_their_group_in_every_layout(cells, tmp_path):
    """Table 2 has the method in its columns, Tables 4 and 5 compare with and without augmentation."""
    place = Workplace(tmp_path / "runs", tmp_path / "out")
    reproduce([cells[0], cells[2]], place, lambda _: None, measure_only=False)
    for first, second in (("samovar", "tadam"), ("augmented", "plain")):
        layout = [
            replace(cells[0], row="SC", column=f"{first} 1-shot", method=first, group="SC, 1-shot"),
            replace(
                cells[2], row="SC", column=f"{second} 1-shot", method=second, group="SC, 1-shot"
            ),
        ]
        written = tables.table("table2", "cpu", layout, place)
        assert f"- SC, 1-shot: {first} - {second}: " in written.text
        assert "paper +10.0" in written.text

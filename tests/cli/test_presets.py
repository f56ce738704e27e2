"""`samovar presets` lists every preset: as a table with published accuracies, or as JSON."""

import json

from samovar.cli.main import main
from samovar.settings.presets import PRESETS
from samovar.settings.stored import to_dict


def test_json_has_all_settings_of_all_presets(capsys):
    assert main(["presets", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert list(listed) == list(PRESETS)
    for name, preset in PRESETS.items():
        assert listed[name] == json.loads(json.dumps(to_dict(preset)))


def test_the_table_names_every_preset_and_its_published_accuracy(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    assert main(["presets"]) == 0
    rows = capsys.readouterr().out.splitlines()
    for preset in PRESETS.values():
        (row,) = [row for row in rows if f"│ {preset.name} " in row]
        published = preset.published
        if published is not None:
            assert f"{published.accuracy} ± {published.ci95}" in row

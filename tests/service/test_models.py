"""Clients choose among the models that are there, and cannot make the server look elsewhere."""

import shutil

import pytest

from samovar.artifacts.locate import SHIPPED
from samovar.errors import SettingsError
from samovar.service.models import Models, parameters_of
from samovar.service.problems import Problem


@pytest.mark.parametrize("name", ["/etc", "../x", "owner/model", "photo", "x" * 5000, "\x00"])
def test_names_that_are_not_ours_are_refused(name):
    with pytest.raises(Problem, match="There is no model") as refused:
        Models("photos").ready(name)
    assert refused.value.status == 422


def test_a_model_folder_is_known_by_its_own_name(tmp_path):
    folder = shutil.copytree(SHIPPED / "glyphs", tmp_path / "mine")
    models = Models(str(folder))
    assert models.default == "mine"
    assert models.ready(None).identity == models.ready("glyphs").identity
    assert models.name_of(str(folder)) == "mine"
    assert models.name_of("/somewhere/else") is None


def test_a_model_without_thresholds_rejects_nothing_unless_asked():
    saved = Models("photos").ready(None)
    assert parameters_of(saved, None).reject == 0.05
    assert parameters_of(saved, "never").reject is None
    assert parameters_of(saved, "0.2").reject == 0.2
    with pytest.raises(SettingsError):
        parameters_of(saved, "nan")
    with pytest.raises(Problem, match="takes a share"):
        parameters_of(saved, "5%")

"""Flags of `samovar fit` are understood or refused before any work is done."""

import pytest

from samovar.cli.fit_choices import Choices, check_target
from samovar.errors import OutputError, SettingsError

NOTHING = Choices(None, None, None, None, None, None)


@pytest.mark.parametrize(
    ("text", "rate"), [(None, "auto"), ("never", "never"), ("0.2", 0.2), ("AUTO", "auto")]
)
def test_rates_are_words_or_shares(text, rate):
    assert Choices(None, None, None, text, None, None).rate() == rate


@pytest.mark.parametrize(
    ("text", "advice"), [("5%", "Write --reject 0.05"), ("12.5%", "0.125"), ("often", "0.05")]
)
def test_a_percentage_is_explained(text, advice):
    with pytest.raises(SettingsError, match=f"takes a share such as 0.05 .*{advice}"):
        Choices(None, None, None, text, None, None).rate()


def test_an_addition_may_name_nothing_but_where_its_encoder_is():
    Choices(None, "moved.onnx", None, None, None, None).check_addition(overwrite=False)
    with pytest.raises(SettingsError, match="--model and --seed cannot be changed"):
        Choices("glyphs", None, None, None, None, 0).check_addition(overwrite=False)
    with pytest.raises(SettingsError, match="one of --add and --overwrite"):
        NOTHING.check_addition(overwrite=True)


def test_a_task_that_exists_is_kept_unless_the_user_says_otherwise(tmp_path):
    task = tmp_path / "t.safetensors"
    check_target(task, add=False, overwrite=False)
    with pytest.raises(SettingsError, match="to add to"):
        check_target(task, add=True, overwrite=False)
    task.write_bytes(b"")
    with pytest.raises(SettingsError, match="exists already"):
        check_target(task, add=False, overwrite=False)
    check_target(task, add=True, overwrite=False)
    check_target(task, add=False, overwrite=True)
    with pytest.raises(OutputError, match="there is a folder"):
        check_target(tmp_path, add=False, overwrite=True)

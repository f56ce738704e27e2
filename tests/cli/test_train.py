"""`samovar train` refuses impossible settings with the flag to change."""

from dataclasses import replace

import pytest
from helpers_training import TINY, command

from samovar.cli.main import main
from samovar.cli.train import TrainCommand, given_flags, validated_as_trained

pytestmark = pytest.mark.usefixtures("toy_data")


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--optimizer.clip", "-1"], "--optimizer.clip must be finite and not negative"),
        (["--optimizer.learning-rate", "-1"], "--optimizer.learning-rate must be positive"),
        (["--optimizer.momentum", "1.5"], "--optimizer.momentum must be at least 0"),
        (["--model.alpha", "nan"], "--model.alpha must be a finite number"),
        (["--model.beta", "nan"], "--model.beta must be a finite number"),
        (["--episodes.way", "1"], "--episodes.way must be at least 2"),
        (["--validation.way", "1"], "--validation.way must be at least 2"),
        (["--augmentation.jitter", "2"], "--augmentation.jitter must be from 0 to 1"),
        (["--validation.test-tasks", "0"], "--validation.test-tasks must be at least 1"),
        (["--model.backbone", "conv5", "--model.size", "28"], "needs images of at least 32 pixels"),
        (["--model.auxiliary-classes", "3"], "Use --model.auxiliary-classes 6"),
        (["--devices", "0"], "--devices and --nodes must be at least 1"),
        (["--accelerator", "abacus"], "cpu, cuda, mps or auto"),
    ],
)
def test_impossible_settings_are_refused_with_the_flag_to_change(flags, words, tmp_path, capsys):
    arguments = command(TINY, tmp_path / "run", *flags)
    try:
        assert main(arguments[arguments.index("train") :]) == 2
    except SystemExit as stopped:  # the parser's own way
        assert stopped.code == 2  # noqa: PT017
    assert words in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "run" / "config.json").exists()


def test_unknown_preset_and_misplaced_root(tmp_path, capsys):
    assert main(["train", "nonsense"]) == 2
    assert "samovar presets" in capsys.readouterr().err
    assert main(["train", "glyphs", "--root", str(tmp_path)]) == 2
    assert main(["presets"]) == 0
    assert "table5-cifar_fs-1shot" in capsys.readouterr().out


def test_the_flags_that_were_given_are_known_in_every_spelling():
    arguments = ["--episodes.shot", "5", "--model.size=32", "--augmentation.no-flip", "-h"]
    assert given_flags(arguments) == {"episodes.shot", "model.size", "augmentation.no_flip"}


def test_validation_is_at_the_shot_that_is_trained_unless_asked_otherwise():
    settings = replace(TINY, episodes=replace(TINY.episodes, shot=5))
    command_of = TrainCommand(settings)
    trained = validated_as_trained(command_of, frozenset({"episodes.shot"}))
    assert trained.settings.validation.shot == 5
    asked = validated_as_trained(command_of, frozenset({"episodes.shot", "validation.shot"}))
    assert asked.settings == settings
    preset = validated_as_trained(command_of, frozenset({"updates"}))
    assert preset.settings == settings, "a preset stays as it is"


def test_what_is_missing_is_said_before_anything_is_prepared(tmp_path, capsys):
    assert main(["train", "folder", "--root", str(tmp_path / "none")]) == 2
    assert "There is no file or folder" in capsys.readouterr().err
    assert main(["train", "glyphs", "--init", "cifar-fs", "--out", str(tmp_path / "run")]) == 2
    assert "no model 'cifar-fs'" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_a_shipped_model_is_a_start_by_its_name(tmp_path, capsys):
    arguments = command(replace(TINY, updates=1), tmp_path / "run", "--init", "cifar_fs")
    assert main(arguments[arguments.index("train") :]) == 2
    assert "The feature extractor of cifar_fs does not fit" in capsys.readouterr().err
    arguments = command(replace(TINY, updates=1), tmp_path / "run", "--init", "none")
    assert main(arguments[arguments.index("train") :]) == 0


def test_a_preset_that_is_nearly_right_is_recognised(capsys):
    assert main(["train", "glyph"]) == 2
    assert "Did you mean glyphs?" in capsys.readouterr().err

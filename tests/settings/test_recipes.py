"""Recipes differ where their arguments say so."""

from dataclasses import replace

from samovar.settings.paper import FULL, RIVALS, Ablation
from samovar.settings.recipes import (
    conv4_cifar_fs,
    conv4_omniglot,
    conv5_miniimagenet,
    resnet12,
)
from samovar.settings.stored import differences


def changed(first, second) -> set[str]:
    return {".".join(difference.path) for difference in differences(first, second)}


def test_rivals_of_table_1_differ_in_the_model_only():
    for recipe in (conv4_cifar_fs, conv5_miniimagenet):
        samovar = recipe("samovar", 5)
        assert changed(samovar, recipe("versa", 5)) == {"model.method"}
        assert changed(samovar, recipe("separate", 5)) == {"model.shared"}
    for rival in RIVALS:
        assert replace(conv4_cifar_fs(rival, 1), model=conv4_cifar_fs("samovar", 1).model) == (
            conv4_cifar_fs("samovar", 1)
        )


def test_additions_of_table_2_change_what_they_are_named_after():
    base = resnet12("miniimagenet", 5, "samovar", Ablation())
    scaled = resnet12("miniimagenet", 5, "samovar", Ablation(scaled=True))
    embedded = resnet12("miniimagenet", 5, "samovar", Ablation(embedding=True))
    auxiliary = resnet12("miniimagenet", 5, "samovar", Ablation(auxiliary=True))
    assert changed(base, scaled) == {"model.classifier"}
    assert changed(base, embedded) == {"model.task_embedding"}
    # With AT there are half as many few-shot updates, so the step size drops earlier.
    assert changed(base, auxiliary) == {"model.auxiliary_classes", "updates", "optimizer.drops"}


def test_the_step_size_drops_three_times_within_the_updates():
    for augmented in (False, True):
        settings = resnet12("cifar_fs", 1, "samovar", FULL, augmented=augmented)
        drops = settings.optimizer.drops
        assert len(drops) == 3
        assert settings.updates // 2 == drops[0] < drops[1] < drops[2] < settings.updates


def test_omniglot_is_validated_on_as_many_classes_as_it_is_trained_on():
    assert conv4_omniglot(20, 1).validation.way == 20

"""The cells that several experiments share.

Experiment files do not import each other. A run that two of them need is made here, so that both
get the same cell under the same name: SAMOVAR-base of Table 1 is also a row of Table 3 and a point
of the beta figure, and the full model of Table 2 is also a row of Tables 3 and 5 and the subject of
the sampling study.
"""

from dataclasses import replace

from samovar.experiments.cell import Cell, Scale
from samovar.settings.paper import (
    FULL,
    RIVALS,
    SHOTS,
    TABLE_1,
    TABLE_2,
    Ablation,
    Benchmark,
    Method,
    Rival,
    Shot,
    Table2Row,
)
from samovar.settings.presets import PRESETS
from samovar.settings.recipes import conv4_cifar_fs, resnet12
from samovar.settings.tasks import Protocol, named_protocol
from samovar.settings.training import OptimizerSettings, TrainSettings, ValidationSettings

SEEDS = 3
"""Training seeds of Table 1, and of some rows of Table 2, at CPU scale."""
CONV_UPDATES = 2500
NARROW_WIDTH = 16
"""Filters of the first block of ResNet-12 at CPU scale, a quarter of the paper's 64."""
TEST_SHOTS = (1, 2, 5, 10, 20)
"""Shots at which the models of Table 1 are tested at CPU scale."""


def preset_cell(preset_name: str, *, row: str, column: str, protocol: Protocol) -> Cell:
    """Return the cell of a preset of the paper."""
    preset = PRESETS[preset_name]
    return Cell(
        name=preset_name,
        row=row,
        column=column,
        settings=preset.settings,
        protocol=protocol,
        published=preset.published,
        preset=preset_name,
    )


def table1_cells(scale: Scale) -> list[Cell]:
    """Return VERSA, SAMOVAR-base and separate networks, on 5-shot and 1-shot tasks.

    At CPU scale they are trained on CIFAR-FS with three seeds each, and Prototypical Networks
    beside them.
    """
    cells = []
    if scale == "paper":
        for rival in TABLE_1:
            cells += [conv5_cell(rival, shot) for shot in SHOTS]
        return cells
    for seed in range(SEEDS):
        for shot in SHOTS:
            cells += [conv4_cell(rival, shot, seed) for rival in RIVALS]
    return cells


def conv5_cell(rival: Rival, shot: Shot) -> Cell:
    """Return a cell of Table 1 at the paper's scale.

    Its own batch norm is that of each episode, which is transductive. So it is measured a second
    time with running averages, where an answer does not depend on the other queries.
    """
    column = f"{shot}-shot"
    protocol = named_protocol("paper", shot)
    cell = preset_cell(f"table1-{rival}-{shot}shot", row=rival, column=column, protocol=protocol)
    inductive = replace(protocol, norm="running")
    return replace(cell, method=rival, group=column, other_protocols=(inductive,))


def conv4_cell(rival: Rival, shot: Shot, seed: int = 0, updates: int = CONV_UPDATES) -> Cell:
    """Return a cell of Table 1 at CPU scale: CONV-4 on CIFAR-FS, tested at other shots too."""
    published = None
    if rival in TABLE_1:
        published = TABLE_1[rival].at(shot)
    # Runs of the usual length keep their short names.
    budget = ""
    if updates != CONV_UPDATES:
        budget = f"-{updates}"
    other_shots = [test_shot for test_shot in TEST_SHOTS if test_shot != shot]
    return Cell(
        name=f"cifar_fs-conv4-{rival}-{shot}shot{budget}-seed{seed}",
        row=rival,
        column=f"{shot}-shot",
        settings=replace(conv4_cifar_fs(rival, shot, updates), seed=seed),
        protocol=named_protocol("paper", shot),
        published=published,
        other_protocols=tuple(named_protocol("paper", test_shot) for test_shot in other_shots),
        method=rival,
        group=f"{shot}-shot",
    )


def ablation_cell(scale: Scale, row: Table2Row, method: Method, shot: Shot, seed: int = 0) -> Cell:
    """Return a cell of Table 2; at CPU scale a narrow ResNet-12 on CIFAR-FS."""
    parts = row.ablation.parts
    label = " + ".join(parts).upper() or "none"
    column = f"{method} {shot}-shot"
    group = f"{label}, {shot}-shot"
    model_name = "-".join([method, *(parts or ["base"]), f"{shot}shot"])
    protocol = named_protocol("tadam", shot)
    if scale == "paper":
        cell = preset_cell(f"table2-{model_name}", row=label, column=column, protocol=protocol)
        return replace(cell, method=method, group=group)
    other_protocols: tuple[Protocol, ...] = ()
    if row.ablation == FULL and method == "samovar":
        # This run is a row of Table 5 too, which has the paper's own protocol.
        other_protocols = (named_protocol("paper", shot),)
    # The first seed keeps the short name.
    repetition = ""
    if seed:
        repetition = f"-seed{seed}"
    return Cell(
        name=f"cifar_fs-narrow-{model_name}{repetition}",
        row=label,
        column=column,
        settings=replace(narrow_resnet12("cifar_fs", shot, method, row.ablation), seed=seed),
        protocol=protocol,
        published=row.published(method, shot),
        other_protocols=other_protocols,
        method=method,
        group=group,
    )


def full_model_cell(scale: Scale, shot: Shot) -> Cell:
    """Return SAMOVAR-SC-AT-TEN of Table 2."""
    return ablation_cell(scale, table2_row(FULL), "samovar", shot)


def table2_row(ablation: Ablation) -> Table2Row:
    """Return the row of Table 2 with these additions."""
    (row,) = [row for row in TABLE_2 if row.ablation == ablation]
    return row


def narrow_resnet12(
    data: Benchmark,
    shot: Shot,
    method: Method,
    ablation: Ablation,
    *,
    augmented: bool = False,
    updates: int = 3000,
) -> TrainSettings:
    """Return the recipe of ResNet-12 at a quarter of its width, which two cores manage.

    It is trained by Adam with one cycle. The settings keep the paper's model, episodes and
    co-training, but not its updates (twice as many there without AT), weight decays, clipping and
    step sizes. beta keeps its ratio to M / (N d): vectors are as much shorter as the network is
    narrower.
    """
    paper = resnet12(data, shot, method, ablation, augmented=augmented)
    beta = None
    if shot == 1 and method == "samovar" and paper.model.beta is not None:
        beta = paper.model.beta * paper.model.width / NARROW_WIDTH
    sixth = max(1, updates // 6)
    return replace(
        paper,
        model=replace(paper.model, width=NARROW_WIDTH, beta=beta),
        updates=updates,
        optimizer=OptimizerSettings(learning_rate=1e-3, clip=0.0),
        validation=ValidationSettings(every=sixth, shot=shot),
        checkpoint_every=sixth,
    )

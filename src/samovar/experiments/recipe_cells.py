"""Other recipes for a cell: the same model and budget with another step size, ways or alpha.

`recipes` tries them on validation classes, and `tuned` measures the chosen ones on test classes.
Every function takes a cell of a table and returns one that is trained otherwise, on as many images;
where nothing is changed, it is the table's own run.
"""

from dataclasses import replace

from samovar.experiments.cell import Cell
from samovar.experiments.shared_cells import ablation_cell, conv4_cell, table2_row
from samovar.settings.paper import Ablation, Method, Rival, Shot
from samovar.settings.training import TrainSettings

PLAIN = Ablation()
"""The row of Table 2 without the paper's additions, on which step sizes are tried."""
SCALED = Ablation(scaled=True)
SCALED_AUXILIARY = Ablation(scaled=True, auxiliary=True)
SCALED_ROWS = (SCALED, SCALED_AUXILIARY)
"""The rows of Table 2 on which alpha is tried."""
BEST_ALPHA: dict[tuple[Ablation, Shot], float] = {
    (SCALED, 5): 10.0,
    (SCALED, 1): 25.0,
    (SCALED_AUXILIARY, 5): 10.0,
    (SCALED_AUXILIARY, 1): 10.0,
}
"""SAMOVAR's best alpha on validation classes; TADAM's is 1, which is its row without SC."""
PLAIN_RATE: dict[Method, float] = {"samovar": 3e-3, "tadam": 1e-3}
"""The best step size without the paper's additions, on validation classes in 5-shot."""
MANY_WAYS = 20
"""Classes of a task that has as many images as the four usual tasks of an update together."""
MANY_WAYS_ARE_BETTER: dict[tuple[Rival, Shot], float] = {
    ("samovar", 5): 3e-3,
    ("versa", 5): 3e-3,
    ("versa", 1): 3e-3,
    ("prototypes", 5): 3e-2,
    ("prototypes", 1): 1e-2,
}
"""The best step size of those for whom training on 20 classes was best on validation classes."""


def chosen_conv4(rival: Rival, shot: Shot, seed: int = 0) -> Cell:
    """Return a method of Table 1 by the recipe that was best on validation classes."""
    cell = conv4_cell(rival, shot, seed)
    if (rival, shot) in MANY_WAYS_ARE_BETTER:
        return with_many_ways(cell, MANY_WAYS_ARE_BETTER[rival, shot])
    # Of the other recipes that have been tried, that of Table 1 is the best.
    return replace(cell, column=_at_step_size(cell.settings))


def chosen_resnet12(method: Method, ablation: Ablation, shot: Shot, seed: int = 0) -> Cell:
    """Return a method of Table 2 by the alpha or step size that was best on validation classes."""
    if ablation == PLAIN:
        return with_rate(
            ablation_cell("cpu", table2_row(PLAIN), method, shot, seed), PLAIN_RATE[method]
        )
    if method == "tadam":
        return unscaled_tadam(ablation, shot, seed)
    cell = ablation_cell("cpu", table2_row(ablation), method, shot, seed)
    return with_alpha(cell, BEST_ALPHA[ablation, shot])


def unscaled_tadam(ablation: Ablation, shot: Shot, seed: int = 0) -> Cell:
    """Return TADAM with an alpha of 1, which is its row of Table 2 that has everything but SC."""
    row = table2_row(replace(ablation, scaled=False))
    return replace(ablation_cell("cpu", row, "tadam", shot, seed), column="alpha 1")


def with_rate(cell: Cell, rate: float) -> Cell:
    """Return the cell with another step size."""
    settings = _at_rate(cell.settings, rate)
    return _recipe(cell, f"rate{rate:g}", _at_step_size(settings), settings)


def with_many_ways(cell: Cell, rate: float) -> Cell:
    """Return the cell trained on one task of 20 classes an update instead of four of 5."""
    settings = _at_rate(cell.settings, rate)
    episodes = replace(settings.episodes, way=MANY_WAYS)
    settings = replace(settings, episodes=episodes, tasks=1)
    text = f"{MANY_WAYS} ways, {_at_step_size(settings)}"
    return _recipe(cell, f"{MANY_WAYS}way-rate{rate:g}", text, settings)


def with_small_updates(cell: Cell, rate: float) -> Cell:
    """Return the cell trained on one task an update, with as many more updates."""
    settings = _at_rate(cell.settings, rate)
    every = settings.tasks * settings.validation.every
    settings = replace(
        settings,
        tasks=1,
        updates=settings.tasks * settings.updates,
        validation=replace(settings.validation, every=every),
        checkpoint_every=every,
    )
    text = f"one task an update, {_at_step_size(settings)}"
    return _recipe(cell, f"1task-rate{rate:g}", text, settings)


def with_alpha(cell: Cell, alpha: float) -> Cell:
    """Return the cell with another factor before its logits."""
    settings = replace(cell.settings, model=replace(cell.settings.model, alpha=alpha))
    return _recipe(cell, f"alpha{alpha:g}", f"alpha {alpha:g}", settings)


def _at_rate(settings: TrainSettings, rate: float) -> TrainSettings:
    return replace(settings, optimizer=replace(settings.optimizer, learning_rate=rate))


def _at_step_size(settings: TrainSettings) -> str:
    return f"step size {settings.optimizer.learning_rate:g}"


def _recipe(cell: Cell, name: str, text: str, settings: TrainSettings) -> Cell:
    if settings == cell.settings:
        return replace(cell, column=text)
    return Cell(
        name=f"{cell.name}-{name}",
        row=cell.row,
        column=text,
        settings=settings,
        protocol=cell.protocol,
    )

"""Models that were read from their folders a moment ago, for the next fit in the same process.

A folder may be written again while the process lives, so a model is kept together with the times
and sizes of its files. Whoever gets a model must not change it: take a copy.
"""

import threading
from collections import OrderedDict
from pathlib import Path

from samovar.artifacts.locate import CONFIG, WEIGHTS
from samovar.artifacts.saved_model import SavedModel, load_model
from samovar.artifacts.saved_regression import SavedRegression

State = tuple[tuple[int, ...], ...]
"""What tells whether files have been written again."""


class LoadedModels:
    """The models that were asked for last; any number of threads may ask."""

    def __init__(self, most: int = 4) -> None:
        self.most = most
        self._models: OrderedDict[Path, tuple[State, SavedModel | SavedRegression]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, folder: Path) -> SavedModel | SavedRegression:
        """Return the model in a folder, read anew only if its files have changed."""
        folder = folder.resolve()
        with self._lock:  # a second thread waits instead of reading the same files
            state = _state(folder)
            known = self._models.pop(folder, None)
            if known is None or state is None or known[0] != state:
                model = load_model(folder)  # says what is wrong with a folder that is no model
            else:
                model = known[1]
            if state is not None:
                self._models[folder] = (state, model)
            while len(self._models) > self.most:
                self._models.popitem(last=False)
            return model

    def clear(self) -> None:
        """Forget all models."""
        with self._lock:
            self._models.clear()


def _state(folder: Path) -> State | None:
    """Return the state of a model's files; None if they cannot be found."""
    state = []
    try:
        for name in (CONFIG, WEIGHTS):
            entry = (folder / name).stat()
            state.append((entry.st_mtime_ns, entry.st_size, entry.st_ino))
    except OSError:
        return None
    return tuple(state)


LOADED_MODELS = LoadedModels()
"""The models of this process."""

"""Compares a model that was trained on a user's own data with the best fitting shipped model.

Training is worth it only if the result is better than what comes with the package. Both are
measured on the same tasks: those of the validation, by which the trained model was chosen, and
those of the test. Photographs are given to `photos` as they lie in the user's folder, small images
to the network that was trained on images of such a kind.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from samovar.artifacts.locate import locate_model
from samovar.artifacts.saved_model import load_model, load_network
from samovar.artifacts.saved_regression import SavedRegression
from samovar.core.progress import Progress, silent
from samovar.data.dataset import Dataset
from samovar.data.images.conversion import Conversion, convert
from samovar.data.images.decode import shorter_side
from samovar.data.images.looks import Looks, looks_of_store
from samovar.data.images.user_images import array_picture, conversion_of
from samovar.data.replaced_dataset import ReplacedDataset, image_indices
from samovar.data.sources.folder import image_files
from samovar.data.store import Store, fingerprint
from samovar.encoders.encoder_facts import encoder_of
from samovar.encoders.vector_cache import VectorCache
from samovar.errors import DataError
from samovar.evaluation.accuracy import Accuracy, measure_accuracy
from samovar.evaluation.metrics import Estimate, with_interval
from samovar.evaluation.regression_runner import RegressionRunner
from samovar.evaluation.runner import Runner
from samovar.evaluation.task_runner import TaskRunner
from samovar.models.few_shot_model import channels_last
from samovar.settings.tasks import Protocol
from samovar.training.run import Run

PHOTOS = "photos"
SMALL_PHOTOS = "cifar_fs"
DRAWN = "omniglot"
SMALL = 48
"""Images whose shorter side is below this number of pixels are not photographs at real size."""


@dataclass(frozen=True)
class PairedAccuracy:
    """The accuracies of two models on the same tasks, and own - shipped with its interval."""

    tasks: int
    own: Estimate
    shipped: Estimate
    difference: Estimate

    @classmethod
    def of(cls, own: Accuracy, shipped: Accuracy) -> "PairedAccuracy":
        """Pair the accuracies of each task."""
        difference = Estimate.of(own.tasks - shipped.tasks)
        return cls(
            len(own.tasks),
            Estimate(own.mean, own.ci95),
            Estimate(shipped.mean, shipped.ci95),
            difference,
        )

    @property
    def is_clear(self) -> bool:
        """Whether the interval of the difference excludes zero."""
        return self.difference.excludes_zero

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "tasks": self.tasks,
            "own": self.own.to_json(),
            "shipped": self.shipped.to_json(),
            "difference": self.difference.to_json(),
        }


@dataclass(frozen=True)
class ShippedComparison:
    """A trained model beside a shipped one."""

    model: str
    """The shipped model."""
    shape: str
    """The shape of the tasks, such as 5-way 1-shot."""
    validation: PairedAccuracy
    test: PairedAccuracy

    @property
    def disagree(self) -> bool:
        """Whether validation and test clearly say the opposite.

        The trained model was chosen by the validation tasks, and there may be few classes: what
        holds there alone is not called better.
        """
        opposite = self.validation.difference.mean * self.test.difference.mean < 0
        return opposite and self.validation.is_clear and self.test.is_clear

    @property
    def better(self) -> Literal["own", "shipped"] | None:
        """Which is better on the validation tasks, beyond the interval; None if neither is."""
        if not self.validation.is_clear or self.disagree:
            return None
        if self.validation.difference.mean < 0:
            return "shipped"
        return "own"

    @property
    def recommended(self) -> Literal["own", "shipped"]:
        """The better one; if neither is, that with more right answers on the test tasks."""
        if self.better is not None:
            return self.better
        if self.test.difference.mean < 0:
            return "shipped"
        return "own"

    def sentence(self) -> str:
        """Say which is better on the validation tasks, and the difference on the test tasks."""
        paired = self.validation
        numbers = (
            f"On the same {paired.tasks} validation tasks ({self.shape}) your model is right in "
            f"{100 * paired.own.mean:.1f} % and the shipped model {self.model} in "
            f"{100 * paired.shipped.mean:.1f} %"
        )
        test = f"{_points(self.test.difference)} on {self.test.tasks} test tasks"
        difference = f"{_points(paired.difference)}; {test}"
        verdict = "neither is clearly better"
        if self.better == "own":
            verdict = "your model is better"
        elif self.better == "shipped":
            verdict = f"{self.model} is better"
        elif self.disagree:
            verdict = "the test tasks say the opposite, so neither is clearly better"
        return f"{numbers}: {verdict} ({difference})."

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "format": 1,
            "model": self.model,
            "validation": self.validation.to_json(),
            "test": self.test.to_json(),
        }


def _points(difference: Estimate) -> str:
    mean = f"{100 * difference.mean:+.1f}"
    return f"{with_interval(mean, difference.ci95, 100, 1)} points"


def compare_with_shipped(
    run: Run, cache: VectorCache | None = None, progress: Progress = silent
) -> ShippedComparison:
    """Measure the model of a run and the best fitting shipped one; refuse where none fits."""
    test = run.test_runner.dataset
    if test.rotations:
        raise DataError("the classes of this run are rotated images")
    validation = test.part("val")
    shipped = _Shipped(test.store, run, cache, progress)
    settings = run.settings
    protocol = settings.validation.protocol(settings.seed)
    own_runner = TaskRunner(
        run.model.model, validation, run.model.normalisation, run.test_runner.device
    )
    own = measure_accuracy(own_runner, protocol)
    return ShippedComparison(
        shipped.name,
        f"{protocol.way}-way {protocol.shot}-shot",
        PairedAccuracy.of(own, shipped.accuracy(validation, protocol)),
        PairedAccuracy.of(
            run.test, shipped.accuracy(test, settings.validation.protocol(settings.seed, test=True))
        ),
    )


class _Shipped:
    """The shipped model that fits a store best, and what it takes in place of the stored images."""

    def __init__(
        self, store: Store, run: Run, cache: VectorCache | None, progress: Progress
    ) -> None:
        self.store = store
        self.device = run.test_runner.device
        self.cache = cache
        self.progress = progress
        self.looks = looks_of_store(store)
        self.files = original_files(store)
        self.name = best_shipped(store, self.looks, self.files)

    def accuracy(self, dataset: Dataset, protocol: Protocol) -> Accuracy:
        """Measure it on the tasks of a split."""
        return measure_accuracy(self._runner(dataset), protocol)

    def _runner(self, dataset: Dataset) -> Runner[Any]:
        if self.name != PHOTOS:
            return self._network_runner(dataset)
        saved = load_model(locate_model(PHOTOS))
        assert isinstance(saved, SavedRegression)
        if len(self.store.facts["shape"]) == 3:
            dataset = ReplacedDataset(dataset, self._vectors(dataset, saved))
        return RegressionRunner(saved.model, dataset, self.device)

    def _network_runner(self, dataset: Dataset) -> Runner[Any]:
        saved = load_network(locate_model(self.name))
        assert saved.conversion is not None  # the shipped networks take images
        if conversion_of(self.store) != saved.conversion:
            dataset = ReplacedDataset(dataset, self._converted(dataset, saved.conversion))
        model = channels_last(saved.model.to(self.device))
        return TaskRunner(model, dataset, saved.normalisation, self.device)

    def _vectors(self, dataset: Dataset, saved: SavedRegression) -> NDArray[np.float32]:
        """Encode the images of a split: the user's files, or what is stored of them."""
        indices = image_indices(dataset)
        images: list[Any] = list(self.store.array[indices])
        if self.files is not None:
            images = [self.files[index] for index in indices]
        encoder = saved.open_encoder()
        return encoder.encode(images, cache=self.cache, progress=self.progress)

    def _converted(self, dataset: Dataset, conversion: Conversion) -> NDArray[np.uint8]:
        """Convert the stored images of a split to the size and the colours of the network."""
        # A network of characters knows bright ink on black.
        inverted = conversion.inverted and self.looks is not None and self.looks.bright
        wanted = replace(conversion, inverted=inverted)
        converted = []
        for position, index in enumerate(image_indices(dataset)):
            picture = array_picture(np.asarray(self.store.array[index]), position)
            converted.append(convert(picture, wanted))
        return np.stack(converted)


def best_shipped(store: Store, looks: Looks | None, files: list[Path] | None) -> str:
    """Return the shipped model that fits a store best; refuse vectors that none can take.

    `looks` is what its images look like, None for vectors; `files` are the images that it was made
    from, in its order, if they are known.
    """
    if looks is None:
        if encoder_of(store) is None:
            raise DataError("no shipped model takes vectors of an unknown encoder")
        return PHOTOS
    if looks.drawn and not looks.coloured:
        return DRAWN
    side = store.facts["shape"][0]
    if files is not None:
        firsts = [files[start] for start in store.starts[:-1]]
        side = float(np.median([shorter_side(path) for path in firsts]))
    if side < SMALL:
        return SMALL_PHOTOS
    return PHOTOS


def original_files(store: Store) -> list[Path] | None:
    """Return the files that a store was made from; None if they are unknown or have changed."""
    options = store.facts["options"]
    root = options.get("root")
    if store.facts.get("source_name") != "folder" or not isinstance(root, str):
        return None
    try:
        files = image_files(Path(root))
        unchanged = fingerprint(files)["fingerprint"] == options.get("fingerprint")
    except (DataError, OSError):
        return None
    if not unchanged or len(files) != len(store.array):
        return None
    return files

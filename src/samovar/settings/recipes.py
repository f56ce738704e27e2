"""Training recipes: functions that return the settings of one family of runs.

A row of a table differs from its neighbours in one or two arguments of its recipe. Updates, drops
of the step size, weight decays and beta are those of appendix B, and of VERSA and TADAM where the
paper follows them (docs/training.md). `presets.py` gives the results names; the experiments take
some recipes at a smaller scale.
"""

from dataclasses import replace
from typing import Literal

from samovar.settings.data import AugmentationSettings, DataSettings
from samovar.settings.model import ModelSettings, balanced_beta
from samovar.settings.paper import Ablation, Benchmark, Method, Rival, Shot
from samovar.settings.tasks import EpisodeSettings
from samovar.settings.training import OptimizerSettings, TrainSettings, ValidationSettings

CONV4_FEATURES = 256
"""The length d of CONV-4's feature vectors, for images of 28 and of 32 pixels."""
FIRST_LOG_VARIANCE = -4.0
"""Where the variance of ResNet-12's classifier weights starts: our reading of a silent place.

At 0 the sampled weights are mostly noise, and the features shrink to escape it before they have
learned anything. docs/method.md tells how this value was chosen on validation classes.
"""


def conv5_miniimagenet(rival: Rival, shot: Shot) -> TrainSettings:
    """Return Table 1's recipe: CONV-5 on miniImageNet as VERSA trains it.

    That is Adam, batch norm by each episode's own statistics, dropout 0.5, and images from 0 to 1.
    """
    method: Literal["versa", "samovar"] = "samovar"
    if rival == "versa":
        method = "versa"
    model = ModelSettings(
        method=method,
        backbone="conv5",
        size=84,
        dropout=0.5,
        norm="episode",
        shared=rival != "separate",
        beta=0.0586,
    )
    settings = TrainSettings(
        data=DataSettings("miniimagenet", normalisation="unit"),
        model=model,
        episodes=EpisodeSettings(5, shot, 15),
        tasks=4,
        updates=100_000,
        optimizer=OptimizerSettings(learning_rate=1e-4, schedule="constant"),
        validation=ValidationSettings(every=1000, tasks=600, shot=shot),
        checkpoint_every=1000,
        trace_every=250,
    )
    if shot == 5:
        return settings
    return replace(
        settings,
        model=replace(model, beta=0.1172),
        tasks=8,
        updates=50_000,
        optimizer=OptimizerSettings(learning_rate=2.5e-4, schedule="constant"),
    )


def resnet12(
    data: Benchmark, shot: Shot, method: Method, ablation: Ablation, *, augmented: bool = False
) -> TrainSettings:
    """Return the recipe of Tables 2 to 5: ResNet-12 as appendix B trains it."""
    updates = _resnet_updates(data, ablation, augmented=augmented)
    tasks = 2
    queries = 32
    if shot == 1:
        tasks = 5
        queries = 12
    return TrainSettings(
        data=DataSettings(data),
        model=_resnet_model(data, shot, method, ablation, augmented=augmented),
        episodes=EpisodeSettings(5, shot, queries, pooled_queries=True),
        tasks=tasks,
        updates=updates,
        optimizer=_resnet_optimizer(data, shot, updates, augmented=augmented),
        augmentation=_resnet_augmentation(data, augmented=augmented),
        validation=ValidationSettings(every=500, tasks=600, shot=shot),
        checkpoint_every=500,
        trace_every=50,
    )


def _resnet_model(
    data: Benchmark, shot: Shot, method: Method, ablation: Ablation, *, augmented: bool
) -> ModelSettings:
    # The auxiliary task is to tell all training classes apart.
    auxiliary_classes = 0
    if ablation.auxiliary:
        auxiliary_classes = _training_classes(data)
    model = ModelSettings(
        backbone="resnet12",
        size=84 if data == "miniimagenet" else 32,
        task_embedding=ablation.embedding,
        auxiliary_classes=auxiliary_classes,
        beta=0.025 if shot == 1 and not ablation.auxiliary else 0.0125,
    )
    if method == "tadam":
        alpha = 7.5 if ablation.scaled else 1.0
        return replace(model, method="prototypes", classifier="euclidean", alpha=alpha)
    classifier: Literal["cosine", "linear"] = "linear"
    if ablation.scaled:
        classifier = "cosine"
    alpha = 50.0 if augmented else 25.0
    return replace(
        model,
        method="samovar",
        classifier=classifier,
        alpha=alpha,
        first_log_variance=FIRST_LOG_VARIANCE,
    )


def _training_classes(data: Benchmark) -> int:
    if data == "fc100":
        return 60
    return 64


def _resnet_updates(data: Benchmark, ablation: Ablation, *, augmented: bool) -> int:
    # Few-shot updates, by appendix B; those of the auxiliary task come on top.
    if augmented and data == "miniimagenet":
        return 40_000
    if augmented or ablation.auxiliary:
        return 30_000
    return 60_000


def _resnet_optimizer(
    data: Benchmark, shot: Shot, updates: int, *, augmented: bool
) -> OptimizerSettings:
    # The step size drops three times from the middle on, faster without augmentation (as in TADAM).
    pause = 5000 if augmented else 2500
    middle = updates // 2
    large_images = data == "miniimagenet"
    decay_inference = 1e-5 if large_images else 5e-5
    if shot == 1:
        decay_inference = 5e-4
    return OptimizerSettings(
        kind="sgd",
        learning_rate=0.1,
        schedule="drops",
        drops=(middle, middle + pause, middle + 2 * pause),
        clip=0.1,
        decay_extractor=5e-4,
        decay_task_embedding=5e-4,
        decay_multipliers=0.01,
        decay_auxiliary=1e-5 if large_images else 5e-4,
        decay_inference=decay_inference,
    )


def _resnet_augmentation(data: Benchmark, *, augmented: bool) -> AugmentationSettings:
    if not augmented:
        return AugmentationSettings()
    padding = 8 if data == "miniimagenet" else 4
    return AugmentationSettings(flip=True, crop_padding=padding, jitter=0.4)


def quick(
    data: DataSettings, model: ModelSettings, episodes: EpisodeSettings, tasks: int, updates: int
) -> TrainSettings:
    """Return a recipe that two CPU cores manage: Adam with one cycle, validated eight times."""
    eighth = max(1, updates // 8)
    return TrainSettings(
        data=data,
        model=model,
        episodes=episodes,
        tasks=tasks,
        updates=updates,
        optimizer=OptimizerSettings(learning_rate=2e-3),
        validation=ValidationSettings(every=eighth, shot=episodes.shot),
        checkpoint_every=eighth,
    )


def conv4_cifar_fs(rival: Rival, shot: Shot, updates: int = 2500) -> TrainSettings:
    """Return Table 1's recipe at CPU scale: CONV-4 on CIFAR-FS, also for Prototypical Networks.

    In 1-shot, beta is twice M / (N d), as it is in the paper's recipe for CONV-5.
    """
    episodes = EpisodeSettings(5, shot, 8)
    model = ModelSettings(alpha=1.0)
    if shot == 1 and rival in ("samovar", "separate"):
        balanced = balanced_beta(episodes.way * episodes.queries, episodes.way, CONV4_FEATURES)
        model = replace(model, beta=2 * balanced)
    if rival == "separate":
        model = replace(model, shared=False)
    elif rival == "prototypes":
        model = replace(model, method="prototypes", classifier="squared")
    else:
        model = replace(model, method=rival)
    settings = quick(DataSettings("cifar_fs"), model, episodes, 4, updates)
    return replace(
        settings,
        optimizer=OptimizerSettings(learning_rate=3e-3),
        augmentation=AugmentationSettings(flip=True),
    )


def any_shot_cifar_fs() -> TrainSettings:
    """Return the recipe of the shipped `cifar_fs`, one model for every shot and way.

    SAMOVAR-SC-AT on ResNet-12 at a quarter of its width, whose inference networks see how many
    images a class mean is taken over (docs/calibration.md tells why), on tasks of many shapes.
    """
    model = ModelSettings(
        backbone="resnet12",
        width=16,
        classifier="cosine",
        auxiliary_classes=_training_classes("cifar_fs"),
        count_input=True,
        first_log_variance=FIRST_LOG_VARIANCE,
    )
    episodes = EpisodeSettings(5, 1, 40, pooled_queries=True, most_way=10, most_shot=10)
    settings = quick(DataSettings("cifar_fs"), model, episodes, 2, 10_000)
    return replace(
        settings,
        optimizer=OptimizerSettings(learning_rate=1e-3),
        augmentation=AugmentationSettings(flip=True, crop_padding=4),
        validation=replace(settings.validation, shot=5),
        precision="bf16-mixed",
    )


def conv4_omniglot(way: int, shot: int) -> TrainSettings:
    """Return our recipe for Omniglot: scaled cosine and small shifts.

    Both were better on validation characters than the linear classifier and no shifts. beta is a
    quarter of M / (N d): tasks of characters are easy, and the variance that M / (N d) asks for is
    too large for them (after 500 updates, on 20-way 1-shot validation tasks, the NLL is 0.22
    instead of 0.25 at the same accuracy). Characters are split as VERSA splits them, at random over
    all alphabets, because ours are printed beside VERSA's accuracies. On the list of Vinyals et
    al., where alphabets are new at test, the same training comes out two points lower.
    """
    queries = 5
    beta = balanced_beta(way * queries, way, CONV4_FEATURES) / 4
    model = ModelSettings(channels=1, size=28, classifier="cosine", beta=beta)
    data = DataSettings("omniglot", scheme="versa", rotations=True)
    settings = quick(data, model, EpisodeSettings(way, shot, queries), 4, 8000)
    # Validated on as many classes as it is trained on: among 5 classes all models are nearly
    # perfect.
    validation = replace(settings.validation, way=way)
    return replace(
        settings,
        optimizer=OptimizerSettings(learning_rate=4e-3),
        augmentation=AugmentationSettings(crop_padding=2),
        validation=validation,
    )


def conv4_glyphs() -> TrainSettings:
    """Return the recipe of the default preset, which trains in minutes on a laptop."""
    model = ModelSettings(channels=1, size=28, classifier="cosine")
    settings = quick(DataSettings("glyphs"), model, EpisodeSettings(20, 1, 5), 2, 700)
    return replace(settings, optimizer=OptimizerSettings(learning_rate=4e-3))


def own_features() -> TrainSettings:
    """Return the recipe for ready-made feature vectors."""
    model = ModelSettings(backbone="identity", size=512, classifier="cosine")
    return quick(DataSettings("features"), model, EpisodeSettings(5, 5, 10), 8, 1000)


def own_folder() -> TrainSettings:
    """Return the recipe for a folder of the user's own images."""
    model = ModelSettings(size=84, classifier="cosine")
    return quick(DataSettings("folder"), model, EpisodeSettings(5, 1, 5), 4, 1000)

"""From files to stores, from stores to few-shot tasks, and from tasks to batches.

This is the door for researchers: `from samovar.data import Source, register_source, prepare,
Dataset, EpisodeSampler`. Names load on first use, so that preparing and listing data needs no
torch.
"""

from typing import TYPE_CHECKING

from samovar.core.lazy import lazy_exports

if TYPE_CHECKING:
    from samovar.data.augmentation import augment as augment
    from samovar.data.augmentation import augmentation_noise as augmentation_noise
    from samovar.data.batches import AuxiliaryBatch as AuxiliaryBatch
    from samovar.data.batches import BatchSource as BatchSource
    from samovar.data.batches import TaskBatch as TaskBatch
    from samovar.data.dataset import Dataset as Dataset
    from samovar.data.episodes import Episodes as Episodes
    from samovar.data.episodes import EpisodeSampler as EpisodeSampler
    from samovar.data.images.conversion import Conversion as Conversion
    from samovar.data.normalization import Normalization as Normalization
    from samovar.data.normalization import network_input as network_input
    from samovar.data.preparation import list_stores as list_stores
    from samovar.data.preparation import prepare as prepare
    from samovar.data.sources.base import Download as Download
    from samovar.data.sources.base import Source as Source
    from samovar.data.sources.registry import register_source as register_source
    from samovar.data.store import ClassEntry as ClassEntry
    from samovar.data.store import Contents as Contents
    from samovar.data.store import Store as Store
    from samovar.data.store import open_store as open_store
    from samovar.settings.data import AugmentationSettings as AugmentationSettings
    from samovar.settings.data import PrepareSettings as PrepareSettings
    from samovar.settings.tasks import EpisodeSettings as EpisodeSettings

__all__ = [
    "AugmentationSettings",
    "AuxiliaryBatch",
    "BatchSource",
    "ClassEntry",
    "Contents",
    "Conversion",
    "Dataset",
    "Download",
    "EpisodeSampler",
    "EpisodeSettings",
    "Episodes",
    "Normalization",
    "PrepareSettings",
    "Source",
    "Store",
    "TaskBatch",
    "augment",
    "augmentation_noise",
    "list_stores",
    "network_input",
    "open_store",
    "prepare",
    "register_source",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "AugmentationSettings": "samovar.settings.data",
        "AuxiliaryBatch": "samovar.data.batches",
        "BatchSource": "samovar.data.batches",
        "ClassEntry": "samovar.data.store",
        "Contents": "samovar.data.store",
        "Conversion": "samovar.data.images.conversion",
        "Dataset": "samovar.data.dataset",
        "Download": "samovar.data.sources.base",
        "EpisodeSampler": "samovar.data.episodes",
        "EpisodeSettings": "samovar.settings.tasks",
        "Episodes": "samovar.data.episodes",
        "Normalization": "samovar.data.normalization",
        "PrepareSettings": "samovar.settings.data",
        "Source": "samovar.data.sources.base",
        "Store": "samovar.data.store",
        "TaskBatch": "samovar.data.batches",
        "augment": "samovar.data.augmentation",
        "augmentation_noise": "samovar.data.augmentation",
        "list_stores": "samovar.data.preparation",
        "network_input": "samovar.data.normalization",
        "open_store": "samovar.data.store",
        "prepare": "samovar.data.preparation",
        "register_source": "samovar.data.sources.registry",
    },
)

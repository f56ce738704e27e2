"""Where data comes from: one file per source, each behind the same interface.

A source has a name, a licence and a citation, may have official files to download, and opens what the user has
(`--root`) as `Contents`. `REGISTRY` is the list of them.
"""

from samovar.data.sources.base import Source
from samovar.data.sources.cifar import CIFAR_FS, FC100
from samovar.data.sources.features import FEATURES
from samovar.data.sources.folder import FOLDER
from samovar.data.sources.glyphs import GLYPHS
from samovar.data.sources.miniimagenet import MINIIMAGENET
from samovar.data.sources.omniglot import OMNIGLOT

REGISTRY: dict[str, Source] = {
    source.name: source
    for source in (GLYPHS, OMNIGLOT, CIFAR_FS, FC100, MINIIMAGENET, FOLDER, FEATURES)
}

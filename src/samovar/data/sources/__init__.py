"""Where data comes from: one file per source, each behind the same interface.

A source has a name, a licence and a citation, may have official files to download, and opens what
the user has (`--root`) as `Contents`. A new source is one new file and one line here; code outside
the package calls `register_source` itself.
"""

from samovar.data.sources.cifar import CIFAR_FS, FC100
from samovar.data.sources.features import FEATURES
from samovar.data.sources.folder import FOLDER
from samovar.data.sources.glyphs import GLYPHS
from samovar.data.sources.miniimagenet import MINIIMAGENET
from samovar.data.sources.omniglot import OMNIGLOT
from samovar.data.sources.registry import REGISTRY, register_source

__all__ = ["REGISTRY", "register_source"]

register_source(GLYPHS)
register_source(OMNIGLOT)
register_source(CIFAR_FS)
register_source(FC100)
register_source(MINIIMAGENET)
register_source(FOLDER)
register_source(FEATURES)

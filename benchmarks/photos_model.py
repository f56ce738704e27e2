"""Make the model `photos`: train the closed form on collections of vectors, measure its thresholds.

    python benchmarks/photos_model.py --vectors caltech.npz cub.npz ... --out FOLDER

The files are made by `samovar embed FOLDER --encoder efficientnet_lite0 --out FILE.npz`. FOLDER is
then a model folder that `samovar fit --model FOLDER` takes; the shipped model is one. For another
encoder, embed the collections with it and name it with `--encoder`.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import tyro

from samovar.artifacts.saved_regression import regression_on
from samovar.data.collections import VectorCollection
from samovar.encoders.registry import find_encoder
from samovar.encoders.vector_file import read_facts
from samovar.evaluation.regression_thresholds import measure_regression_rejection
from samovar.evaluation.transferred_quantiles import measure_regression_quantiles
from samovar.reporting.progress_bar import progress_bar
from samovar.training.closed_form import ClosedFormSettings, train_closed_form


@dataclass(frozen=True)
class Arguments:
    """What to train on, and where the model goes."""

    vectors: tuple[Path, ...]
    """Files of vectors, one for each collection."""
    out: Path
    """The model folder to write."""
    names: tuple[str, ...] = ()
    """What the model card calls the collections; the names of the files if not given."""
    licence: str = "unknown"
    """The licences of the collections, for the model card."""
    encoder: str = "efficientnet_lite0"
    """The encoder that made the vectors: a name, or an ONNX file with its JSON beside it."""
    updates: int = 500
    seed: int = 0


def check_encoder(arguments: Arguments) -> None:
    """Refuse vectors of another encoder, as far as the files say which one made them."""
    encoder = find_encoder(arguments.encoder)
    for path in arguments.vectors:
        known = read_facts(path)
        if known is not None and known[0].encoder["identity"] != encoder.identity:
            name = known[0].encoder["name"]
            raise SystemExit(f"{path} was made by the encoder {name}, not by {encoder.name}.")


def main() -> None:
    """Train, measure and write."""
    arguments = tyro.cli(Arguments, description=__doc__)
    check_encoder(arguments)
    collections = [VectorCollection.read(path) for path in arguments.vectors]
    if arguments.names:
        pairs = zip(collections, arguments.names, strict=True)
        collections = [replace(collection, name=name) for collection, name in pairs]
    settings = ClosedFormSettings(updates=arguments.updates, seed=arguments.seed)
    with progress_bar("training") as progress:
        model = train_closed_form(collections, settings, progress)
    names = ", ".join(collection.name for collection in collections)
    training = {"data": f"vectors of {names}", "licence": arguments.licence}
    saved = regression_on(arguments.encoder, model, training)
    rejection = measure_regression_rejection(model, collections, arguments.seed)
    quantiles = measure_regression_quantiles(model, collections, arguments.seed)
    measured = replace(saved, rejection=rejection, set_quantiles=quantiles)
    print(measured.save_pretrained(arguments.out))
    for name, value in model.state_dict().items():
        print(name, value.tolist())


if __name__ == "__main__":
    main()

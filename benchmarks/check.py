"""Measure what `samovar check` finds, beside confident learning, and its false alarms; prints JSON.

    python benchmarks/check.py labels --vectors A.npz B.npz       wrong labels that were planted
    python benchmarks/check.py honesty --vectors A.npz B.npz      how honest the probabilities are
    python benchmarks/check.py duplicates --images A.zip B        duplicates that were planted
    python benchmarks/check.py camera --images A.zip B            new photos of a changed camera

labels: tasks of several shapes, in which a share of the images has the label of another class,
chosen at random. Precision and recall are over all images of all tasks; with a share of 0 there are
only false alarms, counted in images. Rivals have the same tasks: confident learning (cleanlab's
find_label_issues with its defaults) on the left-out probabilities of `photos`, and on those of
scikit-learn's logistic regression by cross-validation on the same vectors; and every image that
leave-one-out answers otherwise.

honesty: over the same tasks with wrong labels, what was said of the labels (the mean probability
that they are wrong) beside the share that was wrong, in steps of the probability.

duplicates: each picture with copies that were made smaller, compressed, cropped by 5 % at each
side, made brighter or mirrored. Pairs that are found without being planted are counted, too: they
may be duplicates that the collection has by itself.

camera: tasks with labelled photos of each of five classes, and as many new ones (half of the class,
at most ten): as they are, with a yellow cast, darker, blurred, or at a third of the size.
"""

import io
import itertools
import json
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
import tyro
from cleanlab.filter import find_label_issues
from PIL import Image, ImageEnhance, ImageFilter
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from torch import Tensor

from samovar.classifier.answer import AnswerParameters
from samovar.classifier.check_report import check_camera
from samovar.classifier.fitted_regression import FittedRegression, fit_regression
from samovar.classifier.loading import ready_model
from samovar.classifier.support_judgement import judge_support
from samovar.core.randomness import generator
from samovar.data.collections import VectorCollection
from samovar.data.images.grey_looks import grey_looks
from samovar.data.images.pictures import decode_picture
from samovar.encoders.image_list import labelled_images
from samovar.models.closed_form import unit_features
from samovar.prediction.near_duplicates import near_duplicates

SHARES = (0.0, 0.05, 0.1, 0.2)
SHAPES = ((5, 10), (10, 10), (20, 15))
STEPS = (0.0, 0.05, 0.2, 0.5, 0.8, 0.95, 1.01)
PARAMETERS = AnswerParameters()


@dataclass(frozen=True)
class Labels:
    """Plant wrong labels."""

    vectors: tuple[Path, ...]
    tasks: int = 30


@dataclass(frozen=True)
class Honesty:
    """Compare the probabilities that labels are wrong with how many are."""

    vectors: tuple[Path, ...]
    tasks: int = 8


@dataclass(frozen=True)
class Duplicates:
    """Plant duplicates."""

    images: tuple[Path, ...]
    pictures: int = 100


@dataclass(frozen=True)
class Camera:
    """Change the camera."""

    images: tuple[Path, ...]
    tasks: int = 40


def photos() -> Any:
    """Return the model that is measured."""
    return ready_model("photos", torch.device("cpu"))


def planted(
    collection: VectorCollection, shape: tuple[int, int], share: float, number: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Return vectors, given labels, and which labels are wrong."""
    way, shot = shape
    noise = generator(0, f"check benchmark {collection.name} {way} {shot} {share}", number)
    usable = [images for images in collection.classes if len(images) >= shot]
    vectors = []
    for position in noise.permutation(len(usable))[:way]:
        chosen = noise.permutation(len(usable[position]))[:shot]
        vectors.append(usable[position][torch.from_numpy(chosen)])
    truth = torch.arange(way).repeat_interleave(shot)
    labels = truth.clone()
    for position in noise.permutation(len(labels))[: round(share * len(labels))]:
        labels[position] = (int(labels[position]) + 1 + int(noise.integers(way - 1))) % way
    return torch.cat(vectors), labels, labels != truth


def found_by_each(fitted: FittedRegression) -> dict[str, Tensor]:
    """Return which labels each method takes for wrong."""
    labels = fitted.task.numbers
    everything = torch.ones(len(labels), dtype=torch.bool)
    left_out = fitted.judged_by(everything, PARAMETERS).double()
    left_out = left_out / left_out.sum(1, keepdim=True)
    features = unit_features(fitted.task.vectors, 0.5).numpy()
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    validated = cross_val_predict(
        LogisticRegression(C=10, max_iter=200),
        features,
        labels.numpy(),
        cv=folds,
        method="predict_proba",
    )
    return {
        "samovar check": judge_support(fitted, PARAMETERS).suspected,
        "confident learning, photos": torch.from_numpy(
            find_label_issues(labels.numpy(), left_out.numpy())
        ),
        "confident learning, logistic regression": torch.from_numpy(
            find_label_issues(labels.numpy(), validated)
        ),
        "leave-one-out answers otherwise": left_out.argmax(1) != labels,
    }


def measure_labels(arguments: Labels) -> Iterator[dict[str, Any]]:
    """Plant wrong labels and count what is found."""
    saved = photos()
    for path in arguments.vectors:
        collection = VectorCollection.read(path)
        for shape in SHAPES:
            for share in SHARES:
                if sum(len(images) >= shape[1] for images in collection.classes) >= shape[0]:
                    yield _labels_row(saved, collection, shape, share, arguments.tasks)


def _labels_row(
    saved: Any, collection: VectorCollection, shape: tuple[int, int], share: float, tasks: int
) -> dict[str, Any]:
    hits: dict[str, int] = {}
    alarms: dict[str, int] = {}
    wrong_labels = 0
    images = 0
    for number in range(tasks):
        vectors, labels, wrong = planted(collection, shape, share, number)
        fitted = fit_regression(saved, list(vectors), labels.tolist())
        wrong_labels += int(wrong.sum())
        images += len(labels)
        for name, found in found_by_each(fitted).items():
            hits[name] = hits.get(name, 0) + int((found & wrong).sum())
            alarms[name] = alarms.get(name, 0) + int((found & ~wrong).sum())
    methods = {}
    for name in hits:
        found = hits[name] + alarms[name]
        precision = round(hits[name] / found, 3) if found else None
        recall = round(hits[name] / wrong_labels, 3) if wrong_labels else None
        methods[name] = {
            "precision": precision,
            "recall": recall,
            "found": hits[name],
            "false alarms": alarms[name],
        }
    row = {"collection": collection.name, "way": shape[0], "images of each": shape[1]}
    return (
        row
        | {"share wrong": share, "tasks": tasks, "images": images, "wrong labels": wrong_labels}
        | {"methods": methods}
    )


def measure_honesty(arguments: Honesty) -> Iterator[dict[str, Any]]:
    """Sort labels by the probability that they are wrong, and count those that are."""
    saved = photos()
    said = []
    was = []
    for path in arguments.vectors:
        collection = VectorCollection.read(path)
        for shape in SHAPES:
            for share in SHARES[1:]:
                for number in range(arguments.tasks):
                    vectors, labels, wrong = planted(collection, shape, share, number)
                    fitted = fit_regression(saved, list(vectors), labels.tolist())
                    said.append(judge_support(fitted, PARAMETERS).wrong)
                    was.append(wrong)
    probabilities = torch.cat(said)
    wrongs = torch.cat(was).double()
    for least, most in itertools.pairwise(STEPS):
        inside = (probabilities >= least) & (probabilities < most)
        row: dict[str, Any] = {"from": least, "to": most, "images": int(inside.sum())}
        row["said"] = round(float(probabilities[inside].mean()), 3)
        row["was"] = round(float(wrongs[inside].mean()), 3)
        yield row


def smaller(picture: Image.Image) -> Image.Image:
    """Return the picture at half its size."""
    half = (max(1, picture.width // 2), max(1, picture.height // 2))
    return picture.resize(half, Image.Resampling.LANCZOS)


def compressed(picture: Image.Image) -> Image.Image:
    """Return the picture after a JPEG of low quality."""
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=50)
    return Image.open(buffer).convert("RGB")


def cropped(picture: Image.Image) -> Image.Image:
    """Return the picture without 5 % at each side."""
    left = picture.width // 20
    top = picture.height // 20
    return picture.crop((left, top, picture.width - left, picture.height - top))


def brighter(picture: Image.Image) -> Image.Image:
    """Return the picture with a fifth more light."""
    return ImageEnhance.Brightness(picture).enhance(1.2)


def mirrored(picture: Image.Image) -> Image.Image:
    """Return the picture with left and right exchanged."""
    return picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT)


COPIES = (smaller, compressed, cropped, brighter, mirrored)


def pictures_of(place: Path) -> list[tuple[Image.Image, str]]:
    """Return the pictures of class folders, with their classes."""
    found = []
    for image in labelled_images(place).images:
        found.append((decode_picture(image.file.read(), image.name, 512), image.label))
    return found


def measure_duplicates(arguments: Duplicates) -> Iterator[dict[str, Any]]:
    """Plant duplicates and count what is found."""
    encoder = photos().open_encoder()
    for place in arguments.images:
        all_pictures = [picture for picture, _ in pictures_of(place)]
        order = generator(0, "check benchmark, duplicates").permutation(len(all_pictures))
        pictures = [all_pictures[position] for position in order[: arguments.pictures]]
        row: dict[str, Any] = {"images": str(place.name), "pictures": len(pictures)}
        for change in COPIES:
            both = pictures + [change(picture) for picture in pictures]
            features = unit_features(torch.from_numpy(encoder.encode(both)), 0.5)
            groups = near_duplicates(features, grey_looks(both))
            by_vectors = near_duplicates(features)
            row[change.__name__] = {
                "found": _share_found(groups, len(pictures)),
                "found by vectors alone": _share_found(by_vectors, len(pictures)),
            }
        features = unit_features(torch.from_numpy(encoder.encode(all_pictures)), 0.5)
        groups = near_duplicates(features, grey_looks(all_pictures))
        row["all pictures"] = len(all_pictures)
        row["in groups without planting"] = sum(len(group) for group in groups)
        yield row


def _share_found(groups: list[tuple[int, ...]], count: int) -> float:
    """Return the share of pictures that share a group with their own copy."""
    found = 0
    for group in groups:
        members = set(group)
        found += sum(position < count and position + count in members for position in group)
    return round(found / count, 3)


def yellow(picture: Image.Image) -> Image.Image:
    """Return the picture under warm light."""
    red, green, blue = picture.split()
    return Image.merge("RGB", (red, green, blue.point(lambda value: value * 0.7)))


def darker(picture: Image.Image) -> Image.Image:
    """Return the picture with half the light."""
    return ImageEnhance.Brightness(picture).enhance(0.5)


def blurred(picture: Image.Image) -> Image.Image:
    """Return the picture out of focus."""
    return picture.filter(ImageFilter.GaussianBlur(picture.width / 150))


def third(picture: Image.Image) -> Image.Image:
    """Return the picture at a third of its size."""
    size = (max(1, picture.width // 3), max(1, picture.height // 3))
    return picture.resize(size, Image.Resampling.BILINEAR)


def unchanged(picture: Image.Image) -> Image.Image:
    """Return the picture."""
    return picture


CAMERAS = (unchanged, yellow, darker, blurred, third)


def measure_cameras(arguments: Camera) -> Iterator[dict[str, Any]]:
    """Change the camera of new photos and count how often it is noticed."""
    saved = photos()
    encoder = saved.open_encoder()
    for place in arguments.images:
        pictures = pictures_of(place)
        labels = np.array([label for _, label in pictures])
        vectors = {}
        for camera in CAMERAS:
            changed = [camera(picture) for picture, _ in pictures]
            vectors[camera.__name__] = torch.from_numpy(encoder.encode(changed))
        row: dict[str, Any] = {"images": place.name, "tasks": arguments.tasks}
        for camera in CAMERAS:
            counts = _camera_counts(saved, vectors, labels, camera.__name__, arguments.tasks)
            row[camera.__name__] = counts
        yield row


def _camera_counts(
    saved: Any, vectors: dict[str, Tensor], labels: Any, camera: str, tasks: int
) -> dict[str, float]:
    noticed = 0
    right = []
    for number in range(tasks):
        noise = generator(0, "check benchmark, camera", number)
        names = np.unique(labels)
        old: list[int] = []
        new: list[int] = []
        for name in noise.permutation(names)[:5]:
            members = noise.permutation(np.flatnonzero(labels == name)).tolist()
            half = min(10, len(members) // 2)
            old += members[:half]
            new += members[half : 2 * half]
        usual = vectors[unchanged.__name__]
        fitted = fit_regression(saved, list(usual[old]), labels[old].tolist())
        inputs = list(vectors[camera][new])
        change = check_camera(fitted, inputs, PARAMETERS)
        noticed += change is not None and change.changed
        answers = fitted.answer(inputs, PARAMETERS).labels
        right.append(float(np.mean(answers == labels[new])))
    return {"noticed": noticed / tasks, "accuracy of the answers": round(float(np.mean(right)), 3)}


def main() -> None:
    """Measure what is asked for."""
    arguments = tyro.cli(
        Annotated[Labels, tyro.conf.subcommand("labels")]
        | Annotated[Honesty, tyro.conf.subcommand("honesty")]
        | Annotated[Duplicates, tyro.conf.subcommand("duplicates")]
        | Annotated[Camera, tyro.conf.subcommand("camera")],
        description=__doc__,
    )
    warnings.filterwarnings("ignore")
    if isinstance(arguments, Labels):
        rows = measure_labels(arguments)
    elif isinstance(arguments, Honesty):
        rows = measure_honesty(arguments)
    elif isinstance(arguments, Duplicates):
        rows = measure_duplicates(arguments)
    else:
        rows = measure_cameras(arguments)
    for row in rows:
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()

"""Any Python function from images to vectors, as an encoder."""

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from samovar.encoders.base import Encoder, identity_of
from samovar.encoders.preprocessing import Preprocessing, cropped
from samovar.errors import ModelError, SettingsError


class CallableEncoder(Encoder):
    """An encoder made of a function of the user.

    With a size the function takes an array (n, size, size, 3) uint8, the centres of the images.
    Without one it takes a list of upright RGB PIL images of any size. It returns (n, length), and
    is called by one thread at a time. The name stands for the function wherever vectors are kept:
    give another name to another function.

    >>> def mean_colour(images):
    ...     return images.mean((1, 2))
    >>> encoder = CallableEncoder(mean_colour, "mean colour", size=32)
    >>> encoder.encode([Image.new("RGB", (50, 40), "red")])
    array([[255.,   0.,   0.]], dtype=float32)
    """

    def __init__(
        self,
        function: Callable[[Any], Any],
        name: str,
        size: int | None = None,
        *,
        resize: int | None = None,
        batch: int = 32,
    ) -> None:
        if not name:
            raise SettingsError("An encoder needs a name, under which its vectors are kept.")
        if batch < 1:
            raise SettingsError(f"A batch has at least one image, but {batch} were asked for.")
        self.name = name
        self.preprocessing = None
        if size is not None:
            zeros = (0.0, 0.0, 0.0)
            ones = (1.0, 1.0, 1.0)
            self.preprocessing = Preprocessing(size, resize or size, zeros, ones, scale=1.0)
        self.batch = batch
        self._function = function
        self._turn = threading.Lock()
        preprocessing = None
        if self.preprocessing is not None:
            preprocessing = self.preprocessing.to_json()
        self.identity = identity_of(callable=name, preprocessing=preprocessing)
        self.length = self._find_length()

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel to another process as the function, if that can."""
        size = None
        resize = None
        if self.preprocessing is not None:
            size = self.preprocessing.size
            resize = self.preprocessing.resize
        build = partial(CallableEncoder, resize=resize, batch=self.batch)
        return build, (self._function, self.name, size)

    def prepare(self, picture: Image.Image) -> Any:
        """Return the picture, or its pixels (size, size, 3)."""
        if self.preprocessing is None:
            return picture
        return np.asarray(cropped(picture, self.preprocessing))

    def run(self, prepared: Sequence[Any]) -> NDArray[Any]:
        """Return the vectors (n, length) as the function gives them."""
        images: Any = list(prepared)
        if self.preprocessing is not None:
            images = np.stack(images)
        with self._turn:
            vectors = self._function(images)
        if hasattr(vectors, "detach"):  # a torch tensor, perhaps on a GPU
            vectors = vectors.detach().cpu().numpy()
        return np.asarray(vectors)

    def _find_length(self) -> int:
        """Return the length of the vector of a grey picture."""
        vectors = self.run([self.prepare(Image.new("RGB", (64, 64), "grey"))])
        if vectors.ndim != 2 or len(vectors) != 1 or vectors.dtype.kind not in "fiu":
            raise ModelError(
                f"The encoder {self.name} must return an array (n, length) of numbers, but for one "
                f"image it returned {vectors.dtype} of the shape {vectors.shape}."
            )
        return vectors.shape[1]

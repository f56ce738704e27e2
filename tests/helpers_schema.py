"""Real images, archives and class names for Schemathesis, which loads this file as its hooks.

By itself it sends random bytes as files, and would hardly ever see a task.
"""

import io
import zipfile

import numpy as np
import schemathesis
from hypothesis import strategies as st
from PIL import Image


def picture(seed: int, kind: str = "PNG") -> bytes:
    """A small picture of two colours."""
    noise = np.random.default_rng(seed)
    pixels = np.repeat(noise.integers(0, 256, (2, 1, 3), np.uint8), 12, 0).repeat(24, 1)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, kind)
    return buffer.getvalue()


def archive(seed: int) -> bytes:
    """A zip archive of two class folders."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("cat/1.png", picture(seed))
        file.writestr("dog/1.png", picture(seed + 1))
    return buffer.getvalue()


pictures = [picture(seed) for seed in range(6)] + [picture(9, "JPEG"), picture(10, "GIF")]
damaged = [pictures[0][:40], b"", b"no image", b"\xff\xd8\xff\xe0", b"GIF89a"]
images = st.one_of(st.sampled_from(pictures), st.sampled_from(pictures), st.sampled_from(damaged))
archives = st.sampled_from([archive(1), archive(2), archive(3)[:100], b"PK\x05\x06" + bytes(18)])
for media_type in ("image/jpeg", "image/png", "image/webp", "image/bmp", "image/gif", "image/tiff"):
    schemathesis.openapi.media_type(media_type, images)
schemathesis.openapi.media_type("application/zip", archives)

LABELS = st.sampled_from(["cat", "dog", "<b>bird</b>", "鳥"])
FORMS = {
    "createTask": st.fixed_dictionaries(
        {"files": st.lists(st.sampled_from(pictures), min_size=1, max_size=3)},
        optional={"reject": st.sampled_from(["auto", "never", "0.1"])},
    ),
    "addExamples": st.fixed_dictionaries({"files": st.lists(images, min_size=1, max_size=3)}),
    "predict": st.fixed_dictionaries({"files": st.lists(images, min_size=1, max_size=3)}),
    "suggestNext": st.fixed_dictionaries({"files": st.lists(images, min_size=1, max_size=3)}),
}
"""Forms that make sense, by operation; those of examples get a label for all their files."""


@schemathesis.hook
def flatmap_body(context, body):
    """Let every second form be one that makes sense, so that there are tasks to go on with."""
    operation = context.operation.definition.raw.get("operationId")
    if operation not in FORMS:
        return st.just(body)
    form = FORMS[operation]
    if operation in ("createTask", "addExamples"):
        form = st.builds(lambda fields, label: fields | {"labels": [label]}, form, LABELS)
    return st.one_of(st.just(body), form)

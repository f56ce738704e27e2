"""The form (multipart/form-data) that a request sends: files and a few texts.

Which fields a route takes is said once, and used to read the form as well as to describe it in
OpenAPI. Nothing of a form is believed: kinds, numbers and lengths of the fields are checked.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request

from samovar.service.problems import Problem
from samovar.service.settings import Limits

FORM = "multipart/form-data"
LONGEST_TEXT = 2000
"""Bytes of a text field."""
OTHER_FIELDS = 10
"""Text fields besides the labels, of which there may be as many as files."""


@dataclass(frozen=True)
class Field:
    """A field of a form."""

    description: str
    is_file: bool = False
    many: bool = False
    media_types: str = "application/octet-stream"
    """The types of a file, for OpenAPI."""

    def schema(self) -> dict[str, Any]:
        """Describe the field in OpenAPI."""
        one: dict[str, Any] = {"type": "string", "description": self.description}
        if self.is_file:
            one["format"] = "binary"
        if not self.many:
            return one
        return {"type": "array", "items": one, "minItems": 1, "description": self.description}


IMAGE_TYPES = "image/jpeg, image/png, image/webp, image/bmp, image/gif, image/tiff"
FILES = Field("Image files.", is_file=True, many=True, media_types=IMAGE_TYPES)
LABELS = Field("The class of each file, in the same order, or one class for all files.", many=True)
ARCHIVE = Field(
    "A zip archive of class folders, instead of files and labels.",
    is_file=True,
    media_types="application/zip",
)
Fields = Mapping[str, Field]


def form_body(fields: Fields, required: Sequence[str] = ()) -> dict[str, Any]:
    """Describe a form as the body of a request in OpenAPI."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: field.schema() for name, field in fields.items()},
        "additionalProperties": False,
    }
    if required:
        schema["required"] = list(required)
    encoding = {}
    for name, field in fields.items():
        if field.is_file:
            encoding[name] = {"contentType": field.media_types}
    content = {FORM: {"schema": schema, "encoding": encoding}}
    return {"requestBody": {"required": True, "content": content}}


class Form:
    """A form whose fields are of the right kinds."""

    def __init__(self, data: FormData, fields: Fields) -> None:
        self._data = data
        for name, value in data.multi_items():
            if name not in fields:
                known = ", ".join(fields)
                raise Problem(422, f"There is no field {name[:100]!r}. The fields are: {known}.")
            if isinstance(value, UploadFile) != fields[name].is_file:
                kind = "a file" if fields[name].is_file else "a text"
                raise Problem(422, f"The field {name} must be {kind}.")
        for name, field in fields.items():
            if not field.many and len(data.getlist(name)) > 1:
                raise Problem(422, f"The field {name} was sent more than once.")

    def files(self, name: str) -> list[UploadFile]:
        """Return the files of a field."""
        return [value for value in self._data.getlist(name) if isinstance(value, UploadFile)]

    def file(self, name: str) -> UploadFile | None:
        """Return the file of a field, if it was sent."""
        files = self.files(name)
        return files[0] if files else None

    def texts(self, name: str) -> list[str]:
        """Return the texts of a field."""
        return [value for value in self._data.getlist(name) if isinstance(value, str)]

    def text(self, name: str) -> str | None:
        """Return the text of a field, if it was sent and is not empty."""
        texts = self.texts(name)
        return texts[0].strip() or None if texts else None


@asynccontextmanager
async def read_form(request: Request, fields: Fields, limits: Limits) -> AsyncIterator[Form]:
    """Read the form of a request; its files can be read until the block ends."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != FORM:
        raise Problem(415, f"Send the files as {FORM}, as `curl --form files=@PHOTO` does.")
    try:
        data = await request.form(
            max_files=limits.files,
            max_fields=limits.files + OTHER_FIELDS,
            max_part_size=LONGEST_TEXT,
        )
    except HTTPException as error:
        raise _unreadable(error, limits) from None
    try:
        yield Form(data, fields)
    finally:
        await data.close()


def _unreadable(error: HTTPException, limits: Limits) -> Problem:
    if error.detail.startswith("Too many"):
        return Problem(
            413, f"At most {limits.files:,} files are taken at once. Send the rest next."
        )
    if "maximum size" in error.detail:
        return Problem(413, f"A text of the form has more than {LONGEST_TEXT:,} bytes.")
    return Problem(422, f"The form cannot be read ({error.detail}).")

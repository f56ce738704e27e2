"""What goes wrong, as problem documents (RFC 9457) with a sentence that helps.

`Problem` is raised wherever a request cannot be answered. Errors of our own that come from below
are turned into problems here, so that a client never sees a traceback.
"""

import http
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from samovar.core.text import message
from samovar.errors import SamovarError

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER = {"Retry-After": "1"}
LOG = logging.getLogger("samovar.service")


class SkippedFile(BaseModel):
    """A file that could not be used."""

    name: str
    reason: str


class ProblemDocument(BaseModel):
    """What went wrong with a request."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str = Field(description="What is wrong, and what to do about it.")
    skipped: list[SkippedFile] = Field(
        default_factory=list, description="The files that could not be used, if that is the reason."
    )


class Problem(Exception):  # noqa: N818 - the name that the standard has for it
    """A request that cannot be answered."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        skipped: Sequence[SkippedFile] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.skipped = skipped
        self.headers = headers

    def response(self) -> JSONResponse:
        """Return the problem as a response."""
        document = ProblemDocument(
            title=http.HTTPStatus(self.status).phrase,
            status=self.status,
            detail=message(self.detail),
            skipped=list(self.skipped),
        )
        return JSONResponse(
            document.model_dump(),
            status_code=self.status,
            headers=self.headers,
            media_type=MEDIA_TYPE,
        )


def problem_of(error: Exception) -> Problem:
    """Return the problem that an error of our own, or of the framework, is to a client."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, OSError):  # an OutputError, or the operating system's own
        LOG.error("%s", error)
        return Problem(507, "The server cannot write to its disk. Tell whoever runs it.")
    if isinstance(error, SamovarError):
        return Problem(422, str(error))
    if isinstance(error, RequestValidationError):
        return Problem(422, _what_is_invalid(error))
    if isinstance(error, HTTPException):
        return Problem(error.status_code, f"{error.detail}.", headers=error.headers)
    if isinstance(error, MemoryError):
        detail = "The server has too little memory for this now. Send less, or try again later."
        return Problem(503, detail, headers=RETRY_AFTER)
    LOG.error("A request failed by a mistake of ours.", exc_info=error)
    return Problem(500, "The server made a mistake. Its log says which.")


def _what_is_invalid(error: RequestValidationError) -> str:
    first: dict[str, Any] = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place} is not as it should be: {first['msg']}."


def explain_errors(app: FastAPI) -> None:
    """Let an application answer every error by a problem document."""

    async def answer(_: Request, error: Exception) -> JSONResponse:
        return problem_of(error).response()

    kinds = (Problem, SamovarError, RequestValidationError, HTTPException, MemoryError, OSError)
    for kind in (*kinds, Exception):
        app.add_exception_handler(kind, answer)


def problem_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Describe problems for OpenAPI, by their status codes."""
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDocument"}}}
    described: dict[int | str, dict[str, Any]] = {}
    for status in statuses:
        described[status] = {"description": http.HTTPStatus(status).phrase, "content": content}
    return described

"""The application: routes, and around them the guards that every request passes.

From outside to inside: a request is measured, gets security headers, must name us and come from our
own page, and is read up to the limit. Only then is the token asked for, and only then is the form
read.
"""

import os
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import torch
from fastapi import Depends, FastAPI, Request, Response
from fastapi.openapi.utils import get_openapi

from samovar.core.version import VERSION
from samovar.service.access import token_required
from samovar.service.body_limit import BodyLimit
from samovar.service.health import health, watched
from samovar.service.metrics import Measured, Metrics
from samovar.service.page_files import page
from samovar.service.problems import LOG, ProblemDocument, explain_errors, problem_responses
from samovar.service.request_origin import RequestOrigin
from samovar.service.routes import router
from samovar.service.security_headers import SecurityHeaders
from samovar.service.service import Service
from samovar.service.settings import VARIABLE, ServiceSettings
from samovar.service.work import DroppedError, Work

LEFT = 499
"""The status of a request whose client has left, in logs and metrics; nobody receives it."""


def create_app(settings: ServiceSettings) -> FastAPI:
    """Return the application."""
    # Set once: requests are worked on by several threads already.
    torch.set_num_threads(1)
    app = FastAPI(
        title="samovar",
        version=VERSION,
        summary="Few-shot image classification with honest probabilities.",
        lifespan=_lifespan,
        docs_url=None,  # they load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
    )
    metrics = Metrics()
    app.state.metrics = metrics
    app.state.service = Service(settings)
    app.state.work = Work(settings.threads, settings.queue, metrics)
    app.state.ready = threading.Event()
    _include_routes(app, settings.token)
    explain_errors(app)
    app.add_exception_handler(DroppedError, _nobody_listens)
    # The one that is added last is the outermost.
    app.add_middleware(BodyLimit, limits=settings.limits)
    app.add_middleware(RequestOrigin, hosts=settings.hosts)
    app.add_middleware(SecurityHeaders)
    app.add_middleware(Measured, metrics=metrics)
    app.openapi = lambda: _described(app)  # type: ignore[method-assign]
    return app


def from_environment() -> FastAPI:
    """Return the application of a worker process, whose settings are in the environment."""
    return create_app(ServiceSettings.from_json(os.environ[VARIABLE]))


def _include_routes(app: FastAPI, token: str | None) -> None:
    guarded: dict[str, Any] = {}
    if token is not None:
        guarded = {
            "dependencies": [Depends(token_required(token))],
            "responses": problem_responses(401),
        }
    app.include_router(router, **guarded)
    app.include_router(watched, **guarded)
    app.include_router(health)
    app.include_router(page)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Load the model beside the first requests, and end the threads after the last one."""

    def load() -> None:
        app.state.service.models.warm_up()
        app.state.ready.set()
        LOG.info("The model is loaded.")

    threading.Thread(target=load, name="samovar-load", daemon=True).start()
    yield
    app.state.work.close()


async def _nobody_listens(_: Request, error: Exception) -> Response:
    del error
    return Response(status_code=LEFT)


def _described(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document, with the form of problems."""
    if app.openapi_schema is None:
        schema = get_openapi(
            title=app.title, version=app.version, summary=app.summary, routes=app.routes
        )
        schemas = schema.setdefault("components", {}).setdefault("schemas", {})
        template = "#/components/schemas/{model}"
        document = ProblemDocument.model_json_schema(ref_template=template)
        schemas |= document.pop("$defs", {})
        schemas["ProblemDocument"] = document
        # Wrong parameters are problems like all others, and not FastAPI's own form.
        for name in ("HTTPValidationError", "ValidationError"):
            schemas.pop(name, None)
        app.openapi_schema = schema
    return app.openapi_schema

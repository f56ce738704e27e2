"""The routes for those who run the service: is it there, is it ready, what does it do?"""

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST

from samovar.service.documents import Health
from samovar.service.problems import RETRY_AFTER, Problem, problem_responses

health = APIRouter(tags=["health"])
"""Open to everyone: it tells nothing about tasks."""
watched = APIRouter(tags=["health"])
"""For those who have the token."""


@health.get("/healthz", operation_id="healthz")
async def healthz() -> Health:
    """Say that the server is there."""
    return Health(status="ok")


@health.get("/readyz", operation_id="readyz", responses=problem_responses(503))
async def readyz(request: Request) -> Health:
    """Say whether the model is loaded, so that requests are answered without delay."""
    if not request.app.state.ready.is_set():
        raise Problem(503, "The model is being loaded.", headers=RETRY_AFTER)
    return Health(status="ready")


@watched.get(
    "/metrics",
    operation_id="metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {}}}},
)
async def metrics(request: Request) -> Response:
    """Return counts and times in the form of Prometheus."""
    return Response(request.app.state.metrics.text(), media_type=CONTENT_TYPE_LATEST)

"""The routes of the service: tasks as resources, with what can be done to them."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response

from samovar.service.documents import Answers, ChangedTask, MapDocument, TaskDocument, TaskSummary
from samovar.service.forms import ARCHIVE, FILES, LABELS, Field, form_body, read_form
from samovar.service.problems import problem_responses
from samovar.service.service import Service
from samovar.service.stored_task import ID
from samovar.service.work import Work

TASK_TYPE = "application/octet-stream"
TaskId = Annotated[str, Path(pattern=ID, description="The id of a task.")]
ExampleId = Annotated[str, Path(pattern=ID, description="The id of an example.")]
ClassId = Annotated[str, Path(alias="class", pattern=ID, description="The id of a class.")]

EXAMPLE_FIELDS = {"files": FILES, "labels": LABELS, "archive": ARCHIVE}
NEW_FIELDS = EXAMPLE_FIELDS | {
    "task": Field("A task file that `samovar fit` or this service has written.", is_file=True),
    "model": Field("The model: photos, unless another is named."),
    "reject": Field("The share of images that may be rejected by mistake, or auto, or never."),
}
NEXT_FIELDS = {"files": FILES, "count": Field("How many images to choose; 1 if not given.")}

READ = problem_responses(404, 409, 422, 503)
SEND = problem_responses(404, 408, 409, 413, 415, 422, 503, 507)

router = APIRouter(prefix="/v1/tasks", tags=["tasks"])


def _of(request: Request) -> tuple[Service, Work]:
    return request.app.state.service, request.app.state.work


def _links(*operations: str) -> dict[str, Any]:
    """Tell in OpenAPI that the id of a new task leads to these operations."""
    links = {}
    for operation in operations:
        parameters = {"task": "$response.body#/id"}
        links[operation] = {"operationId": operation, "parameters": parameters}
    return links


@router.get("", operation_id="listTasks", responses=problem_responses(503))
async def list_tasks(request: Request) -> list[TaskSummary]:
    """List all tasks, the last changed first."""
    service, work = _of(request)
    return await work.do(request, lambda _: service.listed())


@router.post(
    "",
    operation_id="createTask",
    status_code=201,
    openapi_extra=form_body(NEW_FIELDS),
    responses={
        201: {"links": _links("getTask", "deleteTask", "addExamples", "predict", "getTaskFile")},
        **problem_responses(408, 409, 413, 415, 422, 503, 507),
    },
)
async def create_task(request: Request, response: Response) -> ChangedTask:
    """Make a task: from files with labels, from a zip archive of class folders, or from its file.

    Files that cannot be read are named in `skipped`, and the rest is used.
    """
    service, work = _of(request)
    async with read_form(request, NEW_FIELDS, service.limits) as form:
        task = await work.do(request, lambda progress: service.created(form, progress))
    response.headers["Location"] = f"/v1/tasks/{task.id}"
    return task


@router.get("/{task}", operation_id="getTask", responses=READ)
async def get_task(request: Request, task: TaskId) -> TaskDocument:
    """Return a task: its classes, its examples, and how well they are answered by each other."""
    service, work = _of(request)
    return await work.do(request, lambda _: service.described(task))


@router.delete("/{task}", operation_id="deleteTask", status_code=204, responses=READ)
async def delete_task(request: Request, task: TaskId) -> None:
    """Delete a task and everything that was kept of it."""
    service, work = _of(request)
    await work.do(request, lambda _: service.tasks.delete(task))


@router.post(
    "/{task}/examples",
    operation_id="addExamples",
    openapi_extra=form_body(EXAMPLE_FIELDS),
    responses=SEND,
)
async def add_examples(request: Request, task: TaskId) -> ChangedTask:
    """Add examples or whole classes to a task, as if they had been there from the start."""
    service, work = _of(request)
    async with read_form(request, EXAMPLE_FIELDS, service.limits) as form:
        return await work.do(request, lambda progress: service.grown(task, form, progress))


@router.delete("/{task}/examples/{example}", operation_id="deleteExample", responses=READ)
async def delete_example(request: Request, task: TaskId, example: ExampleId) -> TaskDocument:
    """Delete an example; the rest is as if it had never been there."""
    service, work = _of(request)
    return await work.do(request, lambda _: service.without_example(task, example))


@router.delete("/{task}/classes/{class}", operation_id="deleteClass", responses=READ)
async def delete_class(request: Request, task: TaskId, class_id: ClassId) -> TaskDocument:
    """Delete a class with all its examples."""
    service, work = _of(request)
    return await work.do(request, lambda _: service.without_class(task, class_id))


@router.post(
    "/{task}/predict",
    operation_id="predict",
    openapi_extra=form_body({"files": FILES}, ["files"]),
    responses=SEND,
)
async def predict(request: Request, task: TaskId) -> Answers:
    """Answer one or many images: label, probabilities, uncertainty, and none of these."""
    service, work = _of(request)
    async with read_form(request, {"files": FILES}, service.limits) as form:
        return await work.do(request, lambda progress: service.answered(task, form, progress))


@router.post(
    "/{task}/next",
    operation_id="suggestNext",
    openapi_extra=form_body(NEXT_FIELDS, ["files"]),
    responses=SEND,
)
async def suggest_next(request: Request, task: TaskId) -> Answers:
    """Choose which of these unlabelled images to label next, the most useful first."""
    service, work = _of(request)
    async with read_form(request, NEXT_FIELDS, service.limits) as form:
        return await work.do(request, lambda progress: service.suggested(task, form, progress))


@router.get("/{task}/map", operation_id="getMap", responses=READ)
async def get_map(request: Request, task: TaskId) -> MapDocument:
    """Return a map of the examples, with those that look out of place."""
    service, work = _of(request)
    return await work.do(request, lambda _: service.mapped(task))


@router.get(
    "/{task}/file",
    operation_id="getTaskFile",
    response_class=Response,
    responses={200: {"content": {TASK_TYPE: {}}}, **READ},
)
async def get_task_file(request: Request, task: TaskId) -> Response:
    """Return the task file, which `samovar predict` takes. It has vectors and names, no images."""
    service, work = _of(request)
    content = await work.do(request, lambda _: service.tasks.content(task))
    name = f'attachment; filename="samovar-{task}.safetensors"'
    return Response(content, media_type=TASK_TYPE, headers={"Content-Disposition": name})


@router.get(
    "/{task}/examples/{example}/thumbnail",
    operation_id="getThumbnail",
    response_class=Response,
    responses={200: {"content": {"image/jpeg": {}}}, **READ},
)
async def get_thumbnail(request: Request, task: TaskId, example: ExampleId) -> Response:
    """Return a small picture of an example."""
    service, work = _of(request)
    content = await work.do(request, lambda _: service.thumbnail(task, example))
    return Response(content, media_type="image/jpeg")


@router.get(
    "/{task}/examples/{example}/image",
    operation_id="getImage",
    response_class=Response,
    responses={200: {"content": {"image/*": {}}}, **READ},
)
async def get_image(request: Request, task: TaskId, example: ExampleId) -> Response:
    """Return the image of an example as it was sent, if the server keeps images."""
    service, work = _of(request)
    content, media_type = await work.do(request, lambda _: service.original(task, example))
    return Response(content, media_type=media_type)

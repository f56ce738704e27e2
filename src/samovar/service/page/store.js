// What the page knows: the task that is shown, and classes that have a name but no photos yet.
// Changes are made one after another, and everyone who listens is told of each.

import { get, getBlob, hasToken, post, remove } from "./api.js";
import { byId, counted, make, percent } from "./dom.js";
import { inBatches } from "./files.js";

export const state = { task: null, tasks: [], pending: [] };
const listeners = [];
let queue = Promise.resolve();

export const onChange = (listener) => listeners.push(listener);

function tell() {
  for (const listener of listeners) listener(state);
}

export function say(text) {
  byId("status").textContent = text;
}

/** Name what went wrong, file by file; the rest goes on. */
export function complain(texts) {
  const list = byId("trouble");
  list.replaceChildren(...texts.map((text) => make("li", {}, text)));
  if (texts.length > 0) list.scrollIntoView({ block: "nearest" });
}

/** Do something after all that was begun before; troubles are shown, and nothing is lost. */
export function inTurn(doing, action) {
  queue = queue.then(async () => {
    say(doing);
    document.body.classList.add("busy");
    try {
      await action();
    } catch (error) {
      say("");
      const skipped = (error.skipped ?? []).map((file) => file.reason);
      complain(skipped.length > 0 ? skipped : [error.message]);
      if (error.status === 404) await loadTasks();
    } finally {
      document.body.classList.remove("busy");
    }
  });
  return queue;
}

const taskPath = () => `/v1/tasks/${state.task.id}`;
export { taskPath };

function show(task) {
  state.task = task;
  const hash = new URLSearchParams(location.hash.slice(1));
  if (task === null) hash.delete("task");
  else hash.set("task", task.id);
  history.replaceState(null, "", `#${hash}`);
  if (task !== null) {
    const named = new Set(task.classes.map((entry) => entry.name));
    state.pending = state.pending.filter((name) => !named.has(name));
  }
  tell();
}

export async function loadTasks() {
  state.tasks = await get("/v1/tasks");
  const wanted = new URLSearchParams(location.hash.slice(1)).get("task");
  const known = state.tasks.find((task) => task.id === wanted) ?? state.tasks[0];
  show(known === undefined ? null : await get(`/v1/tasks/${known.id}`));
  summarize();
}

export function openTask(id) {
  return inTurn("Opening…", async () => {
    state.pending = [];
    show(await get(`/v1/tasks/${id}`));
    summarize();
  });
}

export function newTask() {
  state.pending = [];
  show(null);
  say("A new task: name its first class.");
}

export function addPending(name) {
  if (!state.pending.includes(name)) state.pending.push(name);
  tell();
}

export function dropPending(name) {
  state.pending = state.pending.filter((other) => other !== name);
  tell();
}

/** Add photos with a label each, to the task or as the beginning of a new one. */
export function teach(files, labels) {
  const label = new Map(files.map((file, place) => [file, labels[place]]));
  let last = queue;
  for (const batch of inBatches(files)) {
    const fields = batch.flatMap((file) => [["files", file], ["labels", label.get(file)]]);
    last = grow(`Learning ${counted(batch.length, "photo")}…`, fields);
  }
  return last;
}

export const teachArchive = (archive) => grow("Learning the archive…", [["archive", archive]]);

function grow(doing, fields) {
  return inTurn(doing, async () => {
    const path = state.task === null ? "/v1/tasks" : `${taskPath()}/examples`;
    await changed(await post(path, fields));
  });
}

export function openTaskFile(file) {
  return inTurn("Reading the task…", async () => changed(await post("/v1/tasks", [["task", file]])));
}

async function changed(task) {
  complain([...task.skipped.map((file) => file.reason), ...task.notes]);
  state.tasks = await get("/v1/tasks");
  show(task);
  summarize();
}

export function forget(kind, id) {
  return inTurn("Deleting…", async () => {
    const task = await remove(`${taskPath()}/${kind}/${id}`);
    state.tasks = await get("/v1/tasks");
    show(task);
    complain([]);
    summarize();
  });
}

export function deleteTask() {
  return inTurn("Deleting…", async () => {
    await remove(taskPath());
    await loadTasks();
    say("The task is deleted.");
  });
}

export function summarize() {
  const task = state.task;
  if (task === null) {
    say("");
    return;
  }
  const photos = task.examples.length || task.classes.reduce((sum, entry) => sum + entry.examples, 0);
  let text = `${counted(photos, "photo")} in ${task.classes.length === 1 ? "1 class" : `${task.classes.length} classes`}.`;
  if (task.leave_one_out !== null) {
    text += ` Each answered by the others: ${percent(task.leave_one_out.accuracy)} right.`;
  }
  say(text);
}

/** Show the thumbnail of an example in an image element, of the page or of a drawing. */
export async function showThumbnail(image, example) {
  if (!example.thumbnail) return;
  const attribute = image instanceof SVGElement ? "href" : "src";
  const path = `${taskPath()}/examples/${example.id}/thumbnail`;
  if (!hasToken()) {
    image.setAttribute(attribute, path);
    return;
  }
  // An image element cannot send a token.
  const url = URL.createObjectURL(await getBlob(path));
  image.addEventListener("load", () => URL.revokeObjectURL(url));
  image.setAttribute(attribute, url);
}

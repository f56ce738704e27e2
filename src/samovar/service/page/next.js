// Which photo should I label next? A heap of photos, of which the most useful is asked about.

import { post } from "./api.js";
import { bars } from "./answers.js";
import { button, byId, classColor, counted, make } from "./dom.js";
import { dropZone, inBatches, isImage } from "./files.js";
import { complain, inTurn, onChange, say, state, taskPath, teach } from "./store.js";

const AT_ONCE = 5;
let heap = [];
let suggested = [];

export function startNext() {
  byId("next-zone").replaceChildren(
    dropZone("Drop a heap of unlabelled photos, or choose", "Unlabelled photos", (files) => {
      heap.push(...files.filter(isImage));
      suggested = [];
      choose();
    }),
  );
  onChange(follow);
}

let shownTask = null;
let shownClasses = "";

/** Another task begins with an empty heap; another class needs another button. */
function follow() {
  const id = state.task?.id ?? null;
  const classes = (state.task?.classes ?? []).map((entry) => entry.name).join("\n");
  if (id !== shownTask) {
    heap = [];
    suggested = [];
    byId("next-photo").replaceChildren();
  } else if (classes !== shownClasses && suggested.length > 0) {
    render();
  }
  shownTask = id;
  shownClasses = classes;
}

function choose() {
  if (state.task === null) {
    complain(["Teach it at least one class first."]);
    return;
  }
  if (heap.length === 0) return;
  inTurn(`Looking for the photo that teaches the most among ${heap.length}…`, async () => {
    // A very large heap is looked at in parts.
    const asked = inBatches(heap)[0];
    const fields = asked.map((file) => ["files", file]);
    const result = await post(`${taskPath()}/next`, [...fields, ["count", String(AT_ONCE)]]);
    const bad = new Set(result.skipped.map((file) => file.name));
    complain(result.skipped.map((file) => file.reason));
    heap = heap.filter((file) => !bad.has(file.path ?? file.name));
    suggested = result.answers.map((answer) => ({ answer, file: asked[answer.position] }));
    say("This photo teaches the most.");
    render();
  });
}

function render() {
  const place = byId("next-photo");
  if (suggested.length === 0) {
    place.replaceChildren(make("p", { class: "hint" }, heap.length === 0 ? "The heap is empty." : ""));
    return;
  }
  const { answer, file } = suggested[0];
  const image = make("img", { alt: file.name });
  const url = URL.createObjectURL(file);
  image.onload = () => URL.revokeObjectURL(url);
  image.src = url;
  place.replaceChildren(
    make(
      "article",
      { class: "next", "aria-label": `Which class is ${file.name}?` },
      image,
      make(
        "div",
        { class: "words" },
        make("p", { class: "label" }, "What is this?"),
        make("p", { class: "sure" }, `${counted(heap.length, "photo")} in the heap`),
        make("div", { class: "choices" }, ...state.task.classes.map(choice), other()),
        bars(answer),
      ),
    ),
  );
}

function choice(entry, place) {
  return button(entry.name, () => label(entry.name), { class: "chip", color: classColor(place) });
}

function other() {
  const input = make("input", { placeholder: "new class", "aria-label": "Name of a new class", maxlength: "100" });
  const submit = (event) => {
    event.preventDefault();
    if (input.value.trim() !== "") label(input.value.trim());
  };
  return make("form", { class: "row", onsubmit: submit }, input, button("Skip", () => done(), { class: "quiet" }));
}

function label(name) {
  const { file } = suggested[0];
  teach([file], [name]);
  done();
}

/** Go on with the next photo; when those that were chosen are used up, choose again. */
function done() {
  const { file } = suggested.shift();
  heap = heap.filter((other) => other !== file);
  if (suggested.length > 0 || heap.length === 0) render();
  else choose();
}

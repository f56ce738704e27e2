// Asking: each photo with what it is taken for, how sure that is, and what else it might be.

import { post } from "./api.js";
import { byId, classColor, counted, make, percent } from "./dom.js";
import { dropZone, inBatches, isImage } from "./files.js";
import { complain, inTurn, onChange, say, state, taskPath, teach } from "./store.js";

const SHOWN = 5;
const MOST = 60;
let asked = [];
let askedOf = null;

export function startAnswers() {
  byId("ask-zone").replaceChildren(dropZone("Drop photos to ask about, or choose", "Photos to ask about", ask));
  onChange(() => {
    const id = state.task?.id ?? null;
    document.body.classList.toggle("untaught", id === null);
    if (id !== askedOf) forgetPhotos();
    askedOf = id;
    // What was taught since may change what was answered before.
    if (asked.length > 0) refresh();
  });
}

function forgetPhotos() {
  for (const photo of asked) URL.revokeObjectURL(photo.url);
  asked = [];
  byId("answers").replaceChildren();
}

export function ask(files) {
  const photos = files.filter(isImage);
  if (state.task === null) {
    complain(["Teach it at least one class first."]);
    return Promise.resolve();
  }
  complain(files.filter((file) => !isImage(file)).map((file) => `${file.name} is not a photo.`));
  const added = photos.map((file) => ({ file, url: URL.createObjectURL(file), answer: null }));
  asked = [...added, ...asked].slice(0, MOST);
  return refresh();
}

let waiting = false;

/** Ask about all photos again, once, however often this is called meanwhile. */
function refresh() {
  if (waiting) return Promise.resolve();
  waiting = true;
  return inTurn(`Looking at ${counted(asked.length, "photo")}…`, async () => {
    waiting = false;
    if (asked.length === 0 || state.task === null) return;
    const photos = [...asked];
    const reasons = [];
    for (const batch of inBatches(photos.map((photo) => photo.file))) {
      const result = await post(`${taskPath()}/predict`, batch.map((file) => ["files", file]));
      for (const answer of result.answers) {
        photos.find((photo) => photo.file === batch[answer.position]).answer = answer;
      }
      reasons.push(...result.skipped.map((file) => file.reason));
    }
    asked = photos.filter((photo) => photo.answer !== null);
    if (reasons.length > 0) complain(reasons);
    render();
    summarize();
  });
}

function summarize() {
  const none = asked.filter((photo) => photo.answer.rejected).length;
  const rest = none === 0 ? "" : ` ${none === 1 ? "1 is" : `${none} are`} none of these.`;
  say(`${counted(asked.length, "photo")} answered.${rest}`);
}

function render() {
  byId("answers").replaceChildren(...asked.map(card));
}

export const placeOf = (name) => state.task.classes.findIndex((entry) => entry.name === name);

function card(photo) {
  const answer = photo.answer;
  const sure = answer.rejected
    ? `nearest: ${answer.best}`
    : `${percent(answer.probabilities[answer.best])} sure`;
  return make(
    "article",
    {
      class: answer.rejected ? "answer rejected" : "answer",
      color: classColor(placeOf(answer.best)),
      "aria-label": `${answer.name}: ${answer.label}`,
    },
    make("img", { src: photo.url, alt: answer.name }),
    make(
      "div",
      { class: "words" },
      make("p", { class: "label" }, answer.label),
      make("p", { class: "sure" }, sure),
      bars(answer),
      predictionSet(answer),
      teacher(photo),
    ),
  );
}

/** Bars of the most probable classes; the thin line is the spread over the sampled classifiers. */
export function bars(answer) {
  const names = Object.keys(answer.probabilities);
  names.sort((first, second) => answer.probabilities[second] - answer.probabilities[first]);
  const rows = names.slice(0, SHOWN).map((name) => {
    const share = answer.probabilities[name];
    const spread = answer.spread?.[name] ?? 0;
    const described = answer.spread === null ? "" : `, give or take ${percent(spread)}`;
    return make(
      "li",
      { color: classColor(placeOf(name)), title: `${name}: ${percent(share)}${described}` },
      make("span", { class: "name" }, name),
      make(
        "span",
        { class: "bar", "aria-hidden": "true" },
        make("span", { class: "fill", share }),
        spread > 0.005
          ? make("span", { class: "spread", from: Math.max(0, share - spread), to: Math.min(1, share + spread) })
          : null,
      ),
      make("span", { class: "share" }, percent(share)),
    );
  });
  return make("ul", { class: "bars" }, ...rows);
}

function predictionSet(answer) {
  const set = answer.prediction_set;
  if (set === null || answer.rejected) return null;
  if (set.length === 0) return make("p", { class: "set" }, "Perhaps none of these");
  if (set.length === 1) return make("p", { class: "set" }, `Only ${set[0]} is plausible`);
  return make("p", { class: "set" }, `Could be ${set.slice(0, -1).join(", ")} or ${set.at(-1)}`);
}

/** A choice that makes the photo an example of a class. */
function teacher(photo) {
  const names = state.task.classes.map((entry) => entry.name);
  const select = make(
    "select",
    { "aria-label": `Teach ${photo.answer.name} as` },
    make("option", { value: "" }, "Teach it as…"),
    ...names.map((name) => make("option", { value: name }, name)),
  );
  select.addEventListener("change", () => {
    if (select.value === "") return;
    asked = asked.filter((other) => other !== photo);
    teach([photo.file], [select.value]);
    render();
  });
  return select;
}

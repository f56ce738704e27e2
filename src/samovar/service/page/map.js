// The class map: each example a point, those that look out of place marked and listed.

import { get } from "./api.js";
import { button, byId, classColor, draw, make, percent } from "./dom.js";
import { forget, onChange, showThumbnail, state, taskPath } from "./store.js";

const SIDE = 200;
const EDGE = 16;
const RADIUS = 7;
let shown = 0;

export function startMap() {
  onChange(async () => {
    const section = byId("map-section");
    const examples = state.task?.examples ?? [];
    section.hidden = examples.length < 3;
    if (section.hidden) return;
    shown += 1;
    const turn = shown;
    try {
      const map = await get(`${taskPath()}/map`);
      if (turn === shown && state.task !== null) render(map);
    } catch {
      section.hidden = true;
    }
  });
}

function render(map) {
  byId("map-hint").textContent =
    `Photos that are alike lie close together. The map shows ${percent(map.explained)} of their differences.`;
  const points = map.points.map((point) => [point, state.task.examples.find((example) => example.id === point.example)]);
  const known = points.filter(([, example]) => example !== undefined);
  byId("map-drawing").replaceChildren(drawing(known), legend());
  byId("suspects").replaceChildren(...suspects(known));
}

const place = (value) => SIDE / 2 + value * (SIDE / 2 - EDGE);
const classPlace = (name) => state.task.classes.findIndex((entry) => entry.name === name);

function drawing(points) {
  const marks = points.map(([point, example]) => mark(point, example));
  return draw(
    "svg",
    { viewBox: `0 0 ${SIDE} ${SIDE}`, role: "img", class: "map", "aria-label": `A map of ${points.length} examples` },
    ...marks,
  );
}

function mark(point, example) {
  const x = place(point.x);
  const y = place(-point.y);
  const shapes = [draw("circle", { cx: x, cy: y, r: RADIUS, class: "point" })];
  if (example.thumbnail) {
    const image = draw("image", {
      x: x - RADIUS, y: y - RADIUS, width: 2 * RADIUS, height: 2 * RADIUS, preserveAspectRatio: "xMidYMid slice",
    });
    showThumbnail(image, example).catch(() => {});
    shapes.push(image);
  }
  if (point.outlier) shapes.push(draw("circle", { cx: x, cy: y, r: RADIUS + 3.5, class: "outlier" }));
  if (point.answered !== null) {
    const arm = RADIUS + 3;
    shapes.push(draw("path", { d: `M${x - arm} ${y - arm}l${2 * arm} ${2 * arm}m0 ${-2 * arm}l${-2 * arm} ${2 * arm}`, class: "mislabelled" }));
  }
  const title = draw("title", {}, `${example.name}: ${described(point)}`);
  return draw("g", { color: classColor(classPlace(point.label)) }, title, ...shapes);
}

function described(point) {
  if (point.answered !== null) return `${point.label}, but the others take it for ${point.answered}`;
  if (point.outlier) return `${point.label}, but unlike the others`;
  return point.label;
}

function legend() {
  const classes = state.task.classes.map((entry, position) =>
    make("li", { color: classColor(position) }, make("span", { class: "dot" }), entry.name),
  );
  return make(
    "ul",
    { class: "legend" },
    ...classes,
    make("li", {}, make("span", { class: "sign" }, "×"), "perhaps labelled wrongly"),
    make("li", {}, make("span", { class: "sign" }, "○"), "unlike the others"),
  );
}

function suspects(points) {
  const strange = points.filter(([point]) => point.answered !== null || point.outlier);
  if (strange.length === 0) return [make("p", { class: "fine" }, "No example looks out of place.")];
  const rows = strange.map(([point, example]) => {
    const image = make("img", { alt: "", width: "56", height: "56" });
    showThumbnail(image, example).catch(() => {});
    return make(
      "li",
      {},
      example.thumbnail ? image : null,
      make("span", {}, make("strong", {}, example.name), make("br"), described(point)),
      button("Delete", () => forget("examples", example.id), {
        class: "quiet danger small",
        "aria-label": `Delete ${example.name}`,
      }),
    );
  });
  return [make("h3", {}, "Look at these again"), make("ul", { class: "suspects" }, ...rows)];
}

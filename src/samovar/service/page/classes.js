// Teaching: a card for each class, with its photos and a place for more.

import { button, byId, classColor, confirmed, counted, make } from "./dom.js";
import { byFolder, dropZone, isImage } from "./files.js";
import { addPending, complain, dropPending, forget, onChange, showThumbnail, state, teach } from "./store.js";

export function startClasses() {
  onChange(render);
}

function render() {
  const cards = [];
  const classes = state.task?.classes ?? [];
  classes.forEach((entry, place) => cards.push(classCard(entry, place)));
  state.pending.forEach((name, place) => cards.push(pendingCard(name, classes.length + place)));
  cards.push(newClassCard(cards.length));
  keepingFocus(byId("classes"), cards);
}

/** Replace the cards; whoever was typing a name goes on where they were. */
function keepingFocus(parent, cards) {
  const typing = parent.contains(document.activeElement) && document.activeElement.id === "class-name";
  parent.replaceChildren(...cards);
  if (typing) byId("class-name").focus();
}

function classCard(entry, place) {
  const examples = state.task.examples.filter((example) => example.label === entry.name);
  const erase = button("Delete class", () => eraseClass(entry), {
    class: "quiet danger small",
    "aria-label": `Delete class ${entry.name}`,
  });
  return make(
    "article",
    { class: "class", color: classColor(place), "aria-label": `Class ${entry.name}` },
    make("header", {}, make("h3", {}, entry.name), make("span", { class: "count" }, counted(entry.examples, "photo"))),
    make("ul", { class: "photos" }, ...examples.map(photo)),
    dropZone("Drop photos, or choose", `Photos of ${entry.name}`, (files) => add(files, entry.name)),
    classes().length > 1 ? erase : null,
  );
}

const classes = () => state.task?.classes ?? [];

function pendingCard(name, place) {
  return make(
    "article",
    { class: "class pending", color: classColor(place), "aria-label": `Class ${name}` },
    make("header", {}, make("h3", {}, name), make("span", { class: "count" }, "no photos yet")),
    dropZone("Drop photos, or choose", `Photos of ${name}`, (files) => add(files, name)),
    button("Remove", () => dropPending(name), { class: "quiet small", "aria-label": `Remove the class ${name}` }),
  );
}

function newClassCard(count) {
  const input = make("input", {
    id: "class-name",
    maxlength: "100",
    autocomplete: "off",
    placeholder: count === 0 ? "such as: ripe" : "another class",
    required: true,
  });
  const submit = (event) => {
    event.preventDefault();
    const name = input.value.trim();
    if (name === "") return;
    input.value = "";
    if (!classes().some((entry) => entry.name === name)) addPending(name);
  };
  return make(
    "form",
    { class: "class new", onsubmit: submit },
    make("label", { for: "class-name" }, count === 0 ? "Name your first class" : "Add a class"),
    make("div", { class: "row" }, input, make("button", { type: "submit" }, "Add")),
  );
}

function photo(example) {
  const image = make("img", { alt: example.name, loading: "lazy", width: "64", height: "64" });
  showThumbnail(image, example).catch(() => {});
  const doubt = example.answered === null ? "" : `The others take it for ${example.answered}. `;
  return make(
    "li",
    { class: example.answered === null ? "photo" : "photo doubtful", title: `${doubt}${example.name}` },
    example.thumbnail ? image : make("span", { class: "nameless" }, example.name),
    doubt === "" ? null : make("span", { class: "mark", role: "img", "aria-label": doubt }, "?"),
    button("×", () => erase(example), { class: "erase", "aria-label": `Delete ${example.name}` }),
  );
}

async function erase(example) {
  if (state.task.examples.length > 1) {
    forget("examples", example.id);
    return;
  }
  complain(["This is the last photo. Delete the task instead, at the top of the page."]);
}

async function eraseClass(entry) {
  const text = `Delete the class ${entry.name} and its ${counted(entry.examples, "photo")}?`;
  if (await confirmed(text)) forget("classes", entry.id);
}

function add(files, name) {
  const photos = files.filter(isImage);
  if (photos.length === 0) {
    complain(["There are no photos among these files."]);
    return;
  }
  teach(photos, photos.map(() => name));
}

/** Teach the photos of class folders, each by the name of its folder. */
export function addFolders(files) {
  const photos = files.filter(isImage);
  const labels = byFolder(photos);
  const inside = photos.filter((_, place) => labels[place] !== "");
  if (inside.length === 0) {
    complain(["Photos that are dropped here need folders named after their classes. Or drop them on a class."]);
    return;
  }
  const left = photos.length - inside.length;
  teach(inside, labels.filter((label) => label !== "")).then(() => {
    if (left > 0) complain([`${counted(left, "photo")} beside the class folders: not used.`]);
  });
}

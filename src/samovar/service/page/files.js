// Photos that people drop, choose or photograph: from files and from whole folders.

import { button, make } from "./dom.js";
import { openCamera } from "./camera.js";

const IMAGE = /\.(jpe?g|png|webp|bmp|gif|tiff?|hei[cf]|avif)$/i;

export const isImage = (file) => file.type.startsWith("image/") || IMAGE.test(file.name);
const isHidden = (file) => (file.path ?? file.name).split("/").some((part) => part.startsWith("."));

/** All files of a drop; those of folders have their path as `path`. */
export async function droppedFiles(transfer) {
  // The entries must be taken before the first await: the browser forgets them after it.
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (entries.length === 0) return [...transfer.files];
  const found = [];
  for (const entry of entries) await collect(entry, found);
  return found.filter((file) => !isHidden(file));
}

async function collect(entry, found) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    file.path = entry.fullPath.replace(/^\//, "");
    found.push(file);
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return;
    for (const inner of some) await collect(inner, found);
  }
}

/** The files of an input, those of a chosen folder with their path. */
export function chosenFiles(input) {
  const files = [...input.files];
  for (const file of files) file.path = file.webkitRelativePath || file.name;
  input.value = "";
  return files.filter((file) => !isHidden(file));
}

/** The class of each file by its folder: the first one that not all files share. */
export function byFolder(files) {
  const paths = files.map((file) => (file.path ?? file.name).split("/").slice(0, -1));
  let shared = 0;
  while (paths.length > 0 && paths.every((path) => path.length > shared && path[shared] === paths[0][shared])) {
    shared += 1;
  }
  const labels = paths.map((path) => path[shared] ?? "");
  if (labels.every((label) => label === "") && shared > 0) return paths.map((path) => path[shared - 1]);
  return labels;
}

const MOST_FILES = 100;
const MOST_BYTES = 80 * 2 ** 20;

/** Divide files into lists that fit into one request each. */
export function inBatches(files) {
  const batches = [];
  let bytes = Infinity;
  for (const file of files) {
    if (bytes + file.size > MOST_BYTES || batches.at(-1).length === MOST_FILES) {
      batches.push([]);
      bytes = 0;
    }
    batches.at(-1).push(file);
    bytes += file.size;
  }
  return batches;
}

/** Let an element take files that are dropped on it. */
export function takeDrops(element, take) {
  element.addEventListener("dragover", (event) => {
    if (![...event.dataTransfer.types].includes("Files")) return;
    event.preventDefault();
    event.stopPropagation();
    element.classList.add("over");
  });
  element.addEventListener("dragleave", () => element.classList.remove("over"));
  element.addEventListener("drop", async (event) => {
    event.preventDefault();
    event.stopPropagation();
    element.classList.remove("over");
    take(await droppedFiles(event.dataTransfer));
  });
}

/** A place to drop photos, with a choice of files, a folder or the camera for everyone else. */
export function dropZone(text, name, take) {
  const files = fileInput(`${name}: choose photos`, { multiple: true, accept: "image/*,.heic,.heif,.avif" }, take);
  const folder = fileInput(`${name}: choose a folder`, { multiple: true, webkitdirectory: true }, take);
  const zone = make(
    "div",
    { class: "zone", role: "group", "aria-label": name },
    make("label", { class: "choose" }, files, make("span", {}, text)),
    make(
      "p",
      { class: "ways" },
      make("label", { class: "chip" }, folder, "Folder"),
      button("Camera", () => openCamera(take), { class: "chip", "aria-label": `${name}: use the camera` }),
    ),
  );
  takeDrops(zone, take);
  return zone;
}

function fileInput(label, properties, take) {
  const input = make("input", { type: "file", "aria-label": label, ...properties });
  input.addEventListener("change", () => take(chosenFiles(input)));
  return input;
}

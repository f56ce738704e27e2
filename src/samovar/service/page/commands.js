// Take it with you: the task file, and the same questions from elsewhere.

import { getBlob, hasToken } from "./api.js";
import { button, byId, make } from "./dom.js";
import { inTurn, onChange, state, summarize, taskPath } from "./store.js";

export function startCommands() {
  byId("download").onclick = download;
  onChange(() => {
    byId("take-section").hidden = state.task === null;
    if (state.task !== null) render();
  });
}

const fileName = () => `samovar-${state.task.id}.safetensors`;

function download() {
  inTurn("Downloading…", async () => {
    const url = URL.createObjectURL(await getBlob(`${taskPath()}/file`));
    make("a", { href: url, download: fileName() }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
    summarize();
  });
}

function commands() {
  const address = `${location.origin}${taskPath()}`;
  const header = hasToken() ? ` \\\n  --header "Authorization: Bearer $SAMOVAR_TOKEN"` : "";
  return {
    curl: `curl --form files=@photo.jpg${header} \\\n  ${address}/predict`,
    Python: [
      "import samovar",
      "",
      `classifier = samovar.FewShotClassifier.load("${fileName()}")`,
      'print(classifier.predict(["photo.jpg"]))',
      'print(classifier.predict_proba(["photo.jpg"]))',
    ].join("\n"),
    shell: `samovar predict ${fileName()} photo.jpg`,
  };
}

function render() {
  const boxes = Object.entries(commands()).map(([name, text]) => {
    const copy = button("Copy", () => copied(text, copy), { class: "quiet small", "aria-label": `Copy for ${name}` });
    return make("figure", { class: "command" }, make("figcaption", {}, name, copy), make("pre", { tabindex: "0" }, text));
  });
  byId("commands").replaceChildren(...boxes);
}

async function copied(text, copy) {
  try {
    await navigator.clipboard.writeText(text);
    copy.textContent = "Copied";
  } catch {
    copy.textContent = "Select it by hand";
  }
  setTimeout(() => (copy.textContent = "Copy"), 2000);
}

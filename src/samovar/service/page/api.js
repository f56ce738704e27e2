// Talks to the server. The token, if there is one, is in this tab's memory and in a header: there
// are no cookies, so no other page can use it.

import { byId } from "./dom.js";

const KEY = "samovar-token";

export class Trouble extends Error {
  constructor(status, detail, skipped) {
    super(detail);
    this.status = status;
    this.skipped = skipped;
  }
}

/** Take a token from the address (#token=...), where no log sees it, and remove it from there. */
function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1));
  if (!given.has("token")) return;
  sessionStorage.setItem(KEY, given.get("token"));
  given.delete("token");
  history.replaceState(null, "", `#${given}`);
}
takeToken();

export const hasToken = () => sessionStorage.getItem(KEY) !== null;

async function once(path, options) {
  const headers = {};
  if (hasToken()) headers.Authorization = `Bearer ${sessionStorage.getItem(KEY)}`;
  try {
    return await fetch(path, { ...options, headers });
  } catch {
    throw new Trouble(0, "The server cannot be reached. Is it still running?", []);
  }
}

async function answered(path, options) {
  let response = await once(path, options);
  for (let attempt = 0; response.status === 503 && attempt < 5; attempt += 1) {
    const seconds = Number(response.headers.get("Retry-After") ?? 1);
    await new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
    response = await once(path, options);
  }
  while (response.status === 401) {
    await signIn();
    response = await once(path, options);
  }
  if (response.ok) return response;
  let problem = {};
  try {
    problem = await response.json();
  } catch {
    // What is not a problem document comes from something between us and the server.
  }
  const detail = problem.detail ?? `The server answered with status ${response.status}.`;
  throw new Trouble(response.status, detail, problem.skipped ?? []);
}

let signingIn = null;

/** Ask for the token once, however many requests wait for it. */
function signIn() {
  signingIn ??= new Promise((resolve) => {
    const dialog = byId("sign-in");
    byId("sign-in-problem").textContent = hasToken() ? "That is not the token." : "";
    dialog.oncancel = (event) => event.preventDefault();
    byId("sign-in-form").onsubmit = () => {
      sessionStorage.setItem(KEY, byId("token").value.trim());
      byId("token").value = "";
      signingIn = null;
      resolve();
    };
    dialog.showModal();
  });
  return signingIn;
}

function form(fields) {
  const data = new FormData();
  for (const [name, value] of fields) {
    if (value instanceof Blob) data.append(name, value, value.path ?? value.name);
    else data.append(name, value);
  }
  return data;
}

export async function get(path) {
  return (await answered(path, {})).json();
}

export async function getBlob(path) {
  return (await answered(path, {})).blob();
}

export async function post(path, fields) {
  return (await answered(path, { method: "POST", body: form(fields) })).json();
}

export async function remove(path) {
  const response = await answered(path, { method: "DELETE" });
  return response.status === 204 ? null : response.json();
}

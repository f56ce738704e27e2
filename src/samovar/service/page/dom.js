// Elements are made here and nowhere else: text is always text, never markup.

export const byId = (id) => document.getElementById(id);

/** Make an element with properties and children; a child that is a text becomes a text node. */
export function make(tag, properties = {}, ...children) {
  return filled(document.createElement(tag), properties, children);
}

/** Make an element of a drawing. */
export function draw(tag, properties = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), properties, children);
}

function filled(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "color") element.style.setProperty("--class-color", value);
    else if (name === "share") element.style.setProperty("--share", String(value));
    else if (name === "from") element.style.setProperty("--from", String(value));
    else if (name === "to") element.style.setProperty("--to", String(value));
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function button(text, action, properties = {}) {
  return make("button", { type: "button", onclick: action, ...properties }, text);
}

/** A share in words: nothing that is not certain is called 0 or 100 %. */
export function percent(share) {
  if (share > 0.995 && share < 1) return "> 99 %";
  if (share < 0.005 && share > 0) return "< 1 %";
  return `${Math.round(100 * share)} %`;
}

export const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** Ask before something is deleted; the answer is a promise of true or false. */
export function confirmed(text) {
  const dialog = byId("confirm");
  byId("confirm-text").textContent = text;
  return new Promise((resolve) => {
    const answer = (value) => () => {
      dialog.close();
      resolve(value);
    };
    byId("confirm-yes").onclick = answer(true);
    byId("confirm-no").onclick = answer(false);
    dialog.oncancel = () => resolve(false);
    dialog.showModal();
  });
}

const COLORS = 8;

/** The colour of a class, by its place among the classes. */
export const classColor = (place) => `var(--class-${place % COLORS})`;

// The example task: fruit that the browser draws, so that there is something to see at once.
// Every drawing differs in colour, size, tilt and place, as photos do.

import { make } from "./dom.js";

const SIDE = 320;
const KINDS = { apple, pear, lemon };
const EXAMPLES = 4;

export async function exampleSupport() {
  const files = [];
  const labels = [];
  for (const [name, kind] of Object.entries(KINDS)) {
    for (let number = 1; number <= EXAMPLES; number += 1) {
      files.push(await drawn(kind, `${name} ${number}.png`, number));
      labels.push(name);
    }
  }
  return { files, labels };
}

export async function exampleQuestions() {
  const questions = [];
  for (const [name, kind] of Object.entries(KINDS)) questions.push(await drawn(kind, `new ${name}.png`, 11));
  questions.push(await drawn(cup, "something else.png", 12));
  return questions;
}

async function drawn(kind, name, number) {
  const canvas = make("canvas", { width: SIDE, height: SIDE });
  const pen = canvas.getContext("2d");
  const noise = numbers(number * 977 + name.length * 131);
  background(pen, noise);
  pen.translate(SIDE * (0.45 + 0.1 * noise()), SIDE * (0.47 + 0.1 * noise()));
  pen.rotate((noise() - 0.5) * 0.7);
  const scale = 0.85 + 0.4 * noise();
  pen.scale(scale, scale);
  kind(pen, noise);
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  return new File([blob], name, { type: "image/png" });
}

/** Numbers from 0 to 1 that look random and are the same every time (mulberry32). */
function numbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const between = (noise, low, high) => low + (high - low) * noise();

function background(pen, noise) {
  const hue = between(noise, 20, 230);
  const wall = pen.createLinearGradient(0, 0, 0, SIDE);
  wall.addColorStop(0, `hsl(${hue} 25% 90%)`);
  wall.addColorStop(1, `hsl(${hue} 22% 78%)`);
  pen.fillStyle = wall;
  pen.fillRect(0, 0, SIDE, SIDE);
  pen.fillStyle = `hsl(${hue + 160} 18% ${between(noise, 55, 75)}%)`;
  pen.fillRect(0, SIDE * between(noise, 0.62, 0.74), SIDE, SIDE);
}

/** Fill the current path with the colours of a ball that is lit from the upper left. */
function shaded(pen, size, light, middle, dark) {
  const ball = pen.createRadialGradient(-size * 0.35, -size * 0.4, size * 0.1, 0, 0, size * 1.15);
  ball.addColorStop(0, light);
  ball.addColorStop(0.55, middle);
  ball.addColorStop(1, dark);
  pen.fillStyle = ball;
  pen.fill();
}

function shadow(pen, width, depth) {
  pen.fillStyle = "rgb(0 0 0 / 18%)";
  pen.beginPath();
  pen.ellipse(6, depth, width, 13, 0, 0, 7);
  pen.fill();
}

function leaf(pen, x, y, turn) {
  pen.save();
  pen.translate(x, y);
  pen.rotate(turn);
  pen.fillStyle = "hsl(105 45% 36%)";
  pen.beginPath();
  pen.moveTo(0, 0);
  pen.quadraticCurveTo(20, -22, 46, -4);
  pen.quadraticCurveTo(20, 14, 0, 0);
  pen.fill();
  pen.restore();
}

function stem(pen, x, y, height) {
  pen.strokeStyle = "hsl(28 45% 28%)";
  pen.lineWidth = 6;
  pen.lineCap = "round";
  pen.beginPath();
  pen.moveTo(x, y);
  pen.quadraticCurveTo(x + 2, y - height * 0.6, x + 8, y - height);
  pen.stroke();
}

function apple(pen, noise) {
  const hue = between(noise, -8, 12);
  shadow(pen, 70, 78);
  pen.beginPath();
  pen.moveTo(0, -50);
  pen.bezierCurveTo(50, -86, 102, -36, 80, 24);
  pen.bezierCurveTo(66, 68, 34, 90, 0, 74);
  pen.bezierCurveTo(-34, 90, -66, 68, -80, 24);
  pen.bezierCurveTo(-102, -36, -50, -86, 0, -50);
  shaded(pen, 90, `hsl(${hue + 14} 85% 68%)`, `hsl(${hue} 78% 46%)`, `hsl(${hue - 6} 80% 27%)`);
  stem(pen, 0, -48, 34);
  leaf(pen, 6, -66, between(noise, -0.5, 0.1));
}

function pear(pen, noise) {
  const hue = between(noise, 68, 92);
  shadow(pen, 62, 98);
  pen.beginPath();
  pen.moveTo(0, -98);
  pen.bezierCurveTo(36, -98, 34, -46, 44, -16);
  pen.bezierCurveTo(92, 22, 78, 96, 0, 96);
  pen.bezierCurveTo(-78, 96, -92, 22, -44, -16);
  pen.bezierCurveTo(-34, -46, -36, -98, 0, -98);
  shaded(pen, 96, `hsl(${hue - 10} 70% 72%)`, `hsl(${hue} 52% 50%)`, `hsl(${hue + 8} 55% 28%)`);
  stem(pen, 0, -94, 30);
}

function lemon(pen, noise) {
  const hue = between(noise, 46, 56);
  shadow(pen, 84, 68);
  pen.beginPath();
  pen.moveTo(-112, 4);
  pen.bezierCurveTo(-92, -10, -86, -66, 0, -66);
  pen.bezierCurveTo(86, -66, 92, -12, 114, -2);
  pen.bezierCurveTo(96, 14, 86, 68, 0, 68);
  pen.bezierCurveTo(-86, 68, -92, 18, -112, 4);
  shaded(pen, 94, `hsl(${hue + 4} 98% 78%)`, `hsl(${hue} 95% 55%)`, `hsl(${hue - 8} 85% 38%)`);
  pen.fillStyle = "rgb(255 255 255 / 30%)";
  for (let dot = 0; dot < 26; dot += 1) {
    pen.beginPath();
    pen.arc(between(noise, -70, 70), between(noise, -42, 42), 1.8, 0, 7);
    pen.fill();
  }
}

function cup(pen, noise) {
  const hue = between(noise, 195, 225);
  shadow(pen, 74, 74);
  pen.strokeStyle = `hsl(${hue} 50% 40%)`;
  pen.lineWidth = 14;
  pen.beginPath();
  pen.ellipse(74, 4, 30, 28, 0, 0, 7);
  pen.stroke();
  pen.beginPath();
  pen.moveTo(-74, -50);
  pen.lineTo(74, -50);
  pen.bezierCurveTo(74, 30, 50, 74, 0, 74);
  pen.bezierCurveTo(-50, 74, -74, 30, -74, -50);
  shaded(pen, 96, `hsl(${hue} 60% 82%)`, `hsl(${hue} 52% 58%)`, `hsl(${hue} 55% 32%)`);
  pen.fillStyle = "hsl(24 55% 24%)";
  pen.beginPath();
  pen.ellipse(0, -50, 74, 18, 0, 0, 7);
  pen.fill();
}

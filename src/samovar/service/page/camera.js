// Photos by the camera: in a dialog where the browser allows it, else by the phone's own camera.

import { byId, counted, make } from "./dom.js";

export async function openCamera(take) {
  if (!navigator.mediaDevices?.getUserMedia) {
    photographed(take);
    return;
  }
  let stream;
  try {
    stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" } });
  } catch {
    photographed(take);
    return;
  }
  const dialog = byId("camera");
  const picture = byId("camera-picture");
  let taken = 0;
  picture.srcObject = stream;
  byId("camera-count").textContent = "";
  byId("camera-take").onclick = async () => {
    const photo = await snapshot(picture, taken + 1);
    if (photo === null) return;
    taken += 1;
    byId("camera-count").textContent = `${counted(taken, "photo")} taken.`;
    take([photo]);
  };
  byId("camera-close").onclick = () => dialog.close();
  dialog.onclose = () => {
    for (const track of stream.getTracks()) track.stop();
    picture.srcObject = null;
  };
  dialog.showModal();
}

async function snapshot(picture, number) {
  if (picture.videoWidth === 0) return null;
  const canvas = make("canvas", { width: picture.videoWidth, height: picture.videoHeight });
  canvas.getContext("2d").drawImage(picture, 0, 0);
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", 0.92));
  return new File([blob], `camera ${number}.jpg`, { type: "image/jpeg" });
}

/** Ask the device for a photo: on a phone this opens its camera. */
function photographed(take) {
  const input = make("input", { type: "file", accept: "image/*", capture: "environment" });
  input.addEventListener("change", () => take([...input.files]));
  input.click();
}

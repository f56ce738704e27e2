// The page: everything is started here.

import { startAnswers, ask } from "./answers.js";
import { addFolders, startClasses } from "./classes.js";
import { startCommands } from "./commands.js";
import { byId, confirmed, make } from "./dom.js";
import { exampleQuestions, exampleSupport } from "./drawings.js";
import { chosenFiles, takeDrops } from "./files.js";
import { startMap } from "./map.js";
import { startNext } from "./next.js";
import {
  deleteTask, inTurn, loadTasks, newTask, onChange, openTask, openTaskFile, state, teach, teachArchive,
} from "./store.js";

function startTaskMenu() {
  const list = byId("task-list");
  list.onchange = () => openTask(list.value);
  byId("new-task").onclick = newTask;
  byId("delete-task").onclick = async () => {
    if (await confirmed("Delete this task, with all its classes and thumbnails?")) deleteTask();
  };
  onChange(() => {
    const options = state.tasks.map((task) => {
      const names = task.classes.map((entry) => entry.name).join(", ");
      return make("option", { value: task.id, selected: task.id === state.task?.id }, names.slice(0, 60));
    });
    if (state.task === null) options.unshift(make("option", { value: "", selected: true }, "new task"));
    list.replaceChildren(...options);
    document.querySelector(".tasks").hidden = state.tasks.length === 0;
    byId("delete-task").disabled = state.task === null;
    byId("welcome").hidden = state.task !== null || state.pending.length > 0;
    byId("kept").textContent = keptText(state.task);
  });
}

function keptText(task) {
  if (task === null) return "";
  return task.keeps_images ? "The server keeps these photos." : "The server keeps thumbnails, not the photos.";
}

function startInputs() {
  byId("folders").onchange = (event) => addFolders(chosenFiles(event.target));
  byId("archive").onchange = (event) => chosenFiles(event.target).forEach(teachArchive);
  byId("task-file").onchange = (event) => chosenFiles(event.target).forEach(openTaskFile);
  // A folder of class folders, or an archive, may be dropped anywhere.
  takeDrops(document.body, (files) => {
    const archives = files.filter((file) => file.name.endsWith(".zip"));
    const tasks = files.filter((file) => file.name.endsWith(".safetensors"));
    archives.forEach(teachArchive);
    tasks.forEach(openTaskFile);
    if (archives.length + tasks.length === 0) addFolders(files);
  });
}

async function showExample() {
  byId("example").disabled = true;
  const support = await exampleSupport();
  await teach(support.files, support.labels);
  await ask(await exampleQuestions());
  byId("example").disabled = false;
  byId("ask").scrollIntoView({ block: "start" });
}

startTaskMenu();
startInputs();
startClasses();
startAnswers();
startNext();
startMap();
startCommands();
byId("example").onclick = showExample;
inTurn("Loading…", loadTasks);

// A request's page: what is typed survives an expired assignment or session, and news of the request come at once.

import { memory } from "./dom.js";
import { listen } from "./live.js";

const FIELDS = ["amount", "reason_code", "customer_message", "note"];

const page = () => document.getElementById("request");
const key = () => `placet-draft:${page().dataset.person}:${page().dataset.reference}`;
const fields = () => FIELDS.map((name) => document.getElementById(name)).filter(Boolean);

function keep() {
  const typed = Object.fromEntries(fields().map((field) => [field.name, field.value]).filter(([, text]) => text));
  memory.set(key(), Object.keys(typed).length ? JSON.stringify(typed) : null);
}

function restore() {
  if (page().dataset.draft === "drop") return memory.set(key(), null);
  const typed = JSON.parse(memory.get(key()) ?? "{}");
  for (const field of fields()) if (!field.value && typed[field.name]) field.value = typed[field.name];
  const hint = document.querySelector("[data-draft-kept]");
  if (hint) hint.hidden = false;
}

document.addEventListener("input", (event) => {
  if (event.target.closest("#decide")) keep();
});
document.addEventListener("htmx:load", (event) => {
  if (event.target.id === "request") restore();
});
restore();

const queue = sessionStorage.getItem("placet-queue");
if (queue) for (const link of document.querySelectorAll("[data-back]")) link.href = queue;

listen("/console/live/", {
  onNews: (reference) => reference === page().dataset.reference && htmx.trigger(document.body, "changed"),
  onState: () => {},
});

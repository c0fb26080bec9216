// Single keys, outside of fields: they move the focus, and Enter acts. Remappable, and off by choice, per browser.

import { memory, say } from "./dom.js";

const KEY = "placet-keys";
const overlay = document.getElementById("keys");
const inputs = [...overlay.querySelectorAll("[data-remaps]")];
const switched = document.getElementById("keys-on");

function load() {
  const kept = JSON.parse(memory.get(KEY) ?? "{}");
  switched.checked = kept.on !== false;
  for (const input of inputs) input.value = kept.map?.[input.dataset.remaps] ?? input.dataset.usual;
}

function save() {
  const map = Object.fromEntries(inputs.map((input) => [input.dataset.remaps, input.value]));
  memory.set(KEY, JSON.stringify({ on: switched.checked, map }));
}

function isTyping(element) {
  return element?.closest("input:not([type=checkbox], [type=radio]), textarea, select, dialog, [contenteditable]");
}

function focusRow(step) {
  const links = [...document.querySelectorAll("#rows [data-open]")];
  const row = document.activeElement.closest("tr");
  const now = links.findIndex((link) => row?.contains(link));
  const next = links[now < 0 ? (step > 0 ? 0 : links.length - 1) : Math.min(Math.max(now + step, 0), links.length - 1)];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

function move(step) {
  const page = document.getElementById("request");
  if (!page) return focusRow(step);
  const order = JSON.parse(sessionStorage.getItem("placet-order") ?? "[]");
  const next = order[order.indexOf(page.dataset.reference) + step];
  if (order.includes(page.dataset.reference) && next) location.assign(location.pathname.replace(/R-[^/]+/, next));
  return undefined;
}

/** The control of this name: in the focused row where there is one. */
function control(name) {
  const within = document.activeElement.closest("tr") ?? document;
  return within.querySelector(`[data-key="${name}"]`);
}

function go(name) {
  const found = control(name);
  if (!found) return false;
  const first = found.dataset.keyFirst && document.getElementById(found.dataset.keyFirst);
  const aim = first && !first.value ? first : found;
  if (name === "assign") found.click();
  else aim.focus();
  aim.scrollIntoView({ block: "nearest" });
  return true;
}

/** Escape leaves a field, so that single keys work again. */
function leave(event) {
  if (event.key === "Escape" && event.target.type !== "search") event.target.blur();
}

const deeds = {
  next: () => move(1),
  previous: () => move(-1),
  help: () => overlay.showModal(),
};

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || !switched.checked) return;
  if (overlay.open) return;
  if (isTyping(event.target)) return leave(event);
  const name = inputs.find((input) => input.value && input.value === event.key)?.dataset.remaps;
  if (!name) return;
  if (deeds[name]) deeds[name]();
  else if (!go(name)) return;
  event.preventDefault();
});

overlay.addEventListener("change", save);
overlay.addEventListener("close", () => say(""));
document.getElementById("keys-usual").addEventListener("click", () => {
  memory.set(KEY, null);
  load();
});
for (const button of document.querySelectorAll("[data-opens=keys]")) button.hidden = false;
document.addEventListener("click", (event) => event.target.closest("[data-opens=keys]") && overlay.showModal());
document.addEventListener("htmx:load", () => {
  for (const button of document.querySelectorAll("[data-opens=keys]")) button.hidden = false;
});
load();

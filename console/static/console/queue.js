// The open queue: rows change in place, new ones wait behind a button, and the page says when it is not live.

import { alerts } from "./alerts.js";
import { replace, say } from "./dom.js";
import { listen } from "./live.js";

const SOON_MS = 400;
const POLL_MS = 10_000;
const LIVE_MS = 60_000;

const live = document.getElementById("live");
const alert = alerts(document.getElementById("alerts"));
const title = document.title.replace(/^\([^)]*\) /, "");
let state = "connecting";
let timer = 0;
let loading = false;
let behind = false; // news came while loading, which the answer may not hold
let told = 0;

function show(name, since) {
  state = name;
  live.dataset.state = name;
  const time = since?.toLocaleTimeString(undefined, { timeStyle: "short" }) ?? "";
  live.textContent = live.dataset[name].replace("{time}", time);
}

function later(ms) {
  clearTimeout(timer);
  timer = setTimeout(pulse, ms);
}

function address() {
  const queue = document.getElementById("queue");
  const query = new URLSearchParams(queue.dataset.kept);
  query.set("since", queue.dataset.shownAt);
  if ("later" in queue.dataset) query.set("after", "1");
  for (const row of queue.querySelectorAll("[data-row]")) query.append("row", `${row.dataset.row}~${row.dataset.seal}`);
  return `${live.dataset.pulse}?${query}`;
}

function soon() {
  behind = true;
  later(SOON_MS);
}

async function pulse() {
  if (loading) return;
  loading = true;
  behind = false;
  try {
    const answer = await fetch(address(), { headers: { Accept: "application/json" }, redirect: "manual" });
    if (answer.type === "opaqueredirect" || answer.status === 403) return show("out");
    if (answer.ok) update(await answer.json());
    if (state === "offline" && navigator.onLine) show("stale", new Date());
  } catch {
    if (state !== "offline") show("offline", new Date());
  } finally {
    loading = false;
    if (state !== "out") later(behind ? SOON_MS : state === "live" ? LIVE_MS : POLL_MS);
  }
}

function update(news) {
  for (const [reference, html] of Object.entries(news.rows)) {
    const row = document.getElementById(`row-${reference}`);
    const chosen = row?.querySelector("[name=item]")?.checked;
    if (!row) continue;
    const box = replace(row, html).querySelector("[name=item]");
    if (box && chosen) box.checked = true;
  }
  const fresh = document.getElementById("fresh");
  if (fresh.textContent !== news.fresh) fresh.textContent = news.fresh;
  fresh.hidden = !news.fresh;
  document.title = `(${news.waiting}) ${title}`;
  for (const place of document.querySelectorAll("[data-waiting]")) place.textContent = news.waiting;
  if (news.count > told) alert(news.alert);
  told = news.count;
}

async function showFresh() {
  const kept = document.getElementById("queue").dataset.kept;
  const first = `${location.pathname}${kept ? `?${kept}` : ""}`;
  await htmx.ajax("GET", first, { target: "#queue", select: "#queue", swap: "outerHTML" });
  told = 0;
  document.querySelector("#rows [data-open]")?.focus();
}

document.addEventListener("click", (event) => {
  if (event.target.closest("#fresh")) showFresh();
});

document.addEventListener("change", (event) => {
  if (event.target.name !== "item") return;
  const number = document.querySelectorAll("[name=item]:checked").length;
  document.querySelector("[data-chosen]").textContent = number ? `(${number})` : "";
});

// The order of the rows is kept, so that J and K lead from one request to the next.
function keepOrder() {
  const order = [...document.querySelectorAll("[data-row]")].map((row) => row.dataset.row);
  sessionStorage.setItem("placet-order", JSON.stringify(order));
  sessionStorage.setItem("placet-queue", location.href);
}

document.addEventListener("htmx:afterSettle", (event) => {
  if (event.target.id !== "queue") return;
  keepOrder();
  say(document.querySelector("[data-found]")?.textContent ?? "");
});

// Taking a request from the queue: its row comes back, the focus stays in it, and the result is heard.
document.addEventListener("said", (event) => {
  say(event.detail.text);
  requestAnimationFrame(() => document.getElementById(`to-${event.detail.reference}`)?.focus());
});
addEventListener("pageshow", keepOrder);

listen(live.dataset.url, {
  onNews: soon,
  onState(name, since) {
    if (state === "out") return;
    show(name, since);
    soon();
  },
});

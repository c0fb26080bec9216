// A conversation as it goes on: events tell that there is news, and htmx fetches it. Without events htmx asks by itself.

const page = document.getElementById("conversation");
const NEWS = ["message", "conversation", "request", "activity", "turn.started", "turn.finished", "resync"];
const TOGETHER_MS = 120;
const NEAR_END_PX = 160;
const kept = `placet-conversation:${page.dataset.id}`;
const element = (id) => document.getElementById(id);

let waiting = null;
function news() {
  waiting ??= setTimeout(() => {
    waiting = null;
    document.body.dispatchEvent(new CustomEvent("conversation-news"));
  }, TOGETHER_MS);
}

let draft = "";
function show(text) {
  draft = text;
  element("draft").textContent = draft;
  element("draft").hidden = !draft;
}

function listen() {
  const began = Date.now();
  const events = new EventSource(page.dataset.events);
  const lost = (words) => {
    if (element("lost").textContent !== words) element("lost").textContent = words;
  };
  events.addEventListener("open", () => lost(""));
  events.addEventListener("error", () => {
    if (events.readyState === EventSource.CLOSED) lost(page.dataset.lost);
  });
  for (const name of NEWS) events.addEventListener(name, news);
  events.addEventListener("text.delta", ({ data }) => show(draft + JSON.parse(data).text));
  for (const name of ["text.reset", "turn.finished", "conversation"]) events.addEventListener(name, () => show(""));
  events.addEventListener("message", ({ data }) => {
    const { message } = JSON.parse(data);
    if (message.author === "assistant") show("");
    if (message.author === "customer" && Date.parse(message.created_at) > began) {
      element("heard").textContent = `${page.dataset.heard} ${message.text}`;
    }
  });
}

/** What was typed outlives a swap, a reload and a session. */
function restore() {
  const field = element("say-text");
  if (field && !field.value) field.value = sessionStorage.getItem(kept) ?? "";
}

let open = new Set();
let follows = false;
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.target.id === "desk" && detail.xhr.responseText.includes('data-sent="yes"')) sessionStorage.removeItem(kept);
  if (detail.target.id !== "transcript") return;
  open = new Set([...detail.target.querySelectorAll("details[open]")].map(({ id }) => id));
  follows = innerHeight + scrollY > document.body.scrollHeight - NEAR_END_PX;
});
document.addEventListener("htmx:afterSettle", ({ detail }) => {
  for (const id of open) element(id)?.setAttribute("open", "");
  if (detail.target.id === "transcript" && follows) scrollTo(0, document.body.scrollHeight);
  restore();
  if (detail.requestConfig?.verb === "post") element("say-text")?.focus();
});
document.addEventListener("input", ({ target }) => {
  if (target.id === "say-text") sessionStorage.setItem(kept, target.value);
});
document.addEventListener("keydown", (event) => {
  if (event.target.id !== "say-text" || event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  event.target.form.requestSubmit();
});

restore();
listen();

// Times in the reader's own zone: <time datetime data-show="at|age|left"> arrives with UTC text.

const UNITS = [["day", 86_400], ["hour", 3600], ["minute", 60]];
const page = document.documentElement.lang || "en";
// The page's language, in the reader's own flavour of it.
const locale = navigator.language.slice(0, 2) === page.slice(0, 2) ? navigator.language : page;
const said = document.body.dataset;
const relative = new Intl.RelativeTimeFormat(locale, { numeric: "always", style: "short" });
const LATE_S = 4 * 3600;

function show(element) {
  const at = new Date(element.dateTime);
  const seconds = (at - Date.now()) / 1000;
  const full = at.toLocaleString(locale, { dateStyle: "full", timeStyle: "long" });
  const texts = {
    at: () => at.toLocaleString(locale, { dateStyle: "medium", timeStyle: "medium" }),
    age: () => (seconds > -60 ? said.now : ago(seconds)),
    seconds: () => `${Math.max(0, Math.ceil(seconds))} s`,
    left: () => (seconds <= 0 ? said.over : seconds < 60 ? said.soon : ago(seconds)),
  };
  const text = texts[element.dataset.show]();
  if (element.textContent !== text) element.textContent = text;
  element.title = full;
  if (element.dataset.show === "left") element.classList.toggle("urgent", seconds < LATE_S);
}

function ago(seconds) {
  const [unit, length] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? UNITS.at(-1);
  return relative.format(Math.trunc(seconds / length), unit);
}

function showAll(root) {
  for (const element of root.querySelectorAll("time[data-show]")) show(element);
}

showAll(document);
document.addEventListener("htmx:load", (event) => showAll(event.target));
setInterval(() => showAll(document), 20_000);
setInterval(() => document.querySelectorAll('time[data-show="seconds"]').forEach(show), 1000);

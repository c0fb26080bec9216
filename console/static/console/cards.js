// Tells which cards of a request's page came into view, and for how long, so that it is kept with the decision.

const REPORT_MS = 5_000;

function watch(page) {
  if (page.dataset.watched) return;
  page.dataset.watched = "yes";
  const token = page.querySelector("#decide [name=csrfmiddlewaretoken]").value;
  const seen = new Map();

  function report(card) {
    const { since, before } = seen.get(card);
    const body = new FormData();
    body.set("csrfmiddlewaretoken", token);
    body.set("card", card);
    body.set("seconds", String(Math.round((before + (since ? performance.now() - since : 0)) / 1000)));
    navigator.sendBeacon(page.dataset.reading, body);
  }

  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const card = entry.target.dataset.card;
      const known = seen.get(card) ?? { since: 0, before: 0 };
      if (entry.isIntersecting && !known.since) {
        seen.set(card, { ...known, since: performance.now() });
        report(card);
      } else if (!entry.isIntersecting && known.since) {
        seen.set(card, { since: 0, before: known.before + performance.now() - known.since });
        report(card);
      }
    }
  });
  for (const card of page.querySelectorAll("[data-card]")) observer.observe(card);
  const reportAll = () => seen.forEach((_, card) => report(card));
  const timer = setInterval(() => (page.isConnected ? reportAll() : clearInterval(timer)), REPORT_MS);
  addEventListener("pagehide", reportAll);
}

function watchAll() {
  for (const page of document.querySelectorAll("[data-reading]")) watch(page);
}

watchAll();
document.addEventListener("htmx:load", watchAll);

// The queue's stream: calls `onNews(reference)` for each piece of news and `onState(name, since)` when it comes or goes.

const SILENT_MS = 40_000;

export function listen(url, { onNews, onState }) {
  let heard = Date.now();
  let state = "connecting";
  const source = new EventSource(url);

  function be(next) {
    if (next !== state) onState((state = next), new Date(heard));
  }

  source.addEventListener("beat", () => {
    heard = Date.now();
    be(navigator.onLine ? "live" : "offline");
  });
  source.addEventListener("request", (event) => {
    heard = Date.now();
    onNews(JSON.parse(event.data).reference);
  });
  source.addEventListener("error", () => be(navigator.onLine ? "stale" : "offline"));
  addEventListener("offline", () => be("offline"));
  addEventListener("online", () => be("stale"));
  addEventListener("pagehide", () => source.close());
  // A connection can die without an error.
  setInterval(() => Date.now() - heard > SILENT_MS && be(navigator.onLine ? "stale" : "offline"), 5_000);
}

// The chat API over fetch: a bearer token that renews itself, JSON calls, and a stream of events.

export class ApiError extends Error {
  constructor(status, body, retryAfter) {
    super(body.message || "The service did not answer as expected.");
    this.status = status;
    this.fields = body.fields || {};
    this.retryAfter = retryAfter;
  }
}

const RENEW_BEFORE_MS = 30_000;
const SILENCE_MS = 40_000; // the server comments every 15 s, so a longer silence is a dead connection

export class Api {
  constructor({ base, tokenUrl, csrf }) {
    this.base = base.endsWith("/") ? base : `${base}/`;
    this.tokenUrl = tokenUrl;
    this.csrf = csrf;
    this.token = null;
    this.expiresAt = 0;
    this.renewal = null;
  }

  /** A token that is good for a while; two callers at once share one renewal. */
  async bearer() {
    if (this.token && Date.now() < this.expiresAt - RENEW_BEFORE_MS) return this.token;
    this.renewal ??= this.#renew().finally(() => (this.renewal = null));
    return this.renewal;
  }

  async #renew() {
    const headers = this.csrf ? { "X-CSRFToken": this.csrf } : {};
    const response = await fetch(this.tokenUrl, { method: "POST", headers, credentials: "same-origin" });
    if (!response.ok) throw await failure(response);
    const { token, expires_at: expiresAt } = await response.json();
    this.token = token;
    this.expiresAt = Date.parse(expiresAt) || Date.now() + 60_000;
    return token;
  }

  /** The customer that the token names: only to keep two customers of one browser tab apart. */
  async subject() {
    const part = (await this.bearer()).split(".")[1].replaceAll("-", "+").replaceAll("_", "/");
    const bytes = Uint8Array.from(atob(part), (character) => character.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes)).sub;
  }

  async call(method, path, body) {
    const response = await this.#fetch(path, {
      method,
      headers: body ? { "Content-Type": "application/json" } : {},
      body: body && JSON.stringify(body),
    });
    return response.json();
  }

  /** Read events until the server ends the stream, the connection falls silent, or `signal` aborts. */
  async stream(path, lastEventId, signal, onEvent) {
    const silence = new AbortController();
    const headers = { Accept: "text/event-stream" };
    if (lastEventId) headers["Last-Event-ID"] = lastEventId;
    let timer = setTimeout(() => silence.abort(), SILENCE_MS);
    try {
      const response = await this.#fetch(path, { headers, signal: AbortSignal.any([signal, silence.signal]) });
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      const parse = parser(onEvent);
      onEvent({ type: "open" });
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        clearTimeout(timer);
        timer = setTimeout(() => silence.abort(), SILENCE_MS);
        parse(value);
      }
    } finally {
      clearTimeout(timer);
    }
  }

  async #fetch(path, options, again = true) {
    const headers = { ...options.headers, Authorization: `Bearer ${await this.bearer()}` };
    const response = await fetch(this.base + path, { ...options, headers, cache: "no-store" });
    if ((response.status === 401 || response.status === 410) && again) {
      this.token = null;
      return this.#fetch(path, options, false);
    }
    if (!response.ok) throw await failure(response);
    return response;
  }
}

/** An id that no other message has. */
export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16)); // randomUUID is missing where there is no HTTPS
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** What went wrong, for the customer. */
export function sentence(error) {
  if (error.status === undefined) return "No connection. Your message is kept here.";
  if (error.status === 401 || error.status === 403) return "You are signed out. Reload the page to sign in again.";
  if (error.status === 429) return `Too many messages at once. Try again in ${error.retryAfter || 30} seconds.`;
  return Object.values(error.fields).flat()[0] || error.message;
}

async function failure(response) {
  const body = await response.json().catch(() => ({}));
  return new ApiError(response.status, body, Number(response.headers.get("Retry-After")) || 0);
}

/** A parser of text/event-stream: give it pieces of text, it calls back with whole events. */
function parser(onEvent) {
  let rest = "";
  let event = { type: "message", data: [], id: "" };
  return (text) => {
    const lines = (rest + text).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop();
    for (const line of lines) {
      if (line === "") {
        if (event.data.length) onEvent({ type: event.type, id: event.id, data: JSON.parse(event.data.join("\n")) });
        event = { type: "message", data: [], id: "" };
      } else {
        field(event, line);
      }
    }
  };
}

function field(event, line) {
  const colon = line.indexOf(":");
  if (colon === 0) return;
  const name = colon < 0 ? line : line.slice(0, colon);
  const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
  if (name === "event") event.type = value;
  if (name === "data") event.data.push(value);
  if (name === "id") event.id = value;
}

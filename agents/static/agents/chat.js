// One customer's conversation: what was said, what is being said, what could not be sent. No DOM here.

import { Api, newId, sentence } from "./api.js";

const BACKOFF_MS = [500, 1000, 2000, 4000, 8000, 15_000];

export class Chat extends EventTarget {
  constructor(options) {
    super();
    this.api = new Api(options);
    this.offline = !navigator.onLine;
    this.#forget();
    window.addEventListener("online", () => this.#online());
    window.addEventListener("offline", () => this.#set({ offline: true }));
  }

  #forget() {
    this.id = null;
    this.state = "open";
    this.staff = null;
    this.messages = new Map();
    this.requests = new Map();
    this.outbox ??= []; // what was not sent outlives its conversation
    this.draft = null;
    this.activity = null;
    this.running = new Set();
    this.finished = new Set();
    this.problem = null;
    this.lost = false;
    this.lastEventId = "";
    this.skipStep = null;
    this.stopped?.abort();
    this.stopped = new AbortController();
  }

  #set(changes) {
    Object.assign(this, changes);
    this.dispatchEvent(new Event("change"));
  }

  /** Resume what this tab had open for this customer, unsent messages included. */
  async start() {
    try {
      this.subject = await this.api.subject();
      const kept = JSON.parse(sessionStorage.getItem(this.#key()) || "{}");
      this.outbox = (kept.outbox || []).map((entry) => ({ ...entry, state: "failed" }));
      this.id = kept.id || null;
      if (this.id) await this.#load();
      if (this.id) this.#listen();
      this.#set({ problem: null });
    } catch (error) {
      this.#set({ problem: sentence(error) });
    }
  }

  fresh() {
    this.#forget();
    this.#keep();
    this.#set({});
  }

  #key() {
    return `placet-chat:${this.subject}`;
  }

  #keep() {
    const outbox = this.outbox.map(({ clientId, text }) => ({ clientId, text }));
    sessionStorage.setItem(this.#key(), JSON.stringify({ id: this.id, outbox }));
  }

  async #load() {
    try {
      this.#take(await this.api.call("GET", `conversations/${this.id}/`));
    } catch (error) {
      if (error.status !== 404) throw error;
      this.id = null;
      this.#keep();
    }
  }

  #take(conversation) {
    for (const message of conversation.messages) this.messages.set(String(message.id), message);
    for (const request of conversation.requests || []) {
      this.requests.set(request.reference, { ...this.requests.get(request.reference), ...request });
    }
    this.lastEventId = conversation.last_event_id || this.lastEventId;
    this.skipStep = "unknown"; // whoever joins in the middle of a reply waits for it to be whole
    this.running.clear();
    this.#set({ state: conversation.state, staff: conversation.staff || null, draft: null });
  }

  async send(text) {
    const entry = { clientId: newId(), text, state: "sending" };
    this.outbox.push(entry);
    this.#keep();
    this.#set({});
    await this.deliver(entry);
  }

  /** Sending again carries the same client_id, so that a message whose answer got lost is not said twice. */
  deliver(entry) {
    Object.assign(entry, { state: "sending", error: null });
    this.#set({});
    this.line = (this.line ?? Promise.resolve()).then(() => this.#post(entry)); // one by one, in order
    return this.line;
  }

  async #post(entry) {
    const { signal } = this.stopped;
    try {
      await this.#open();
      const path = `conversations/${this.id}/messages/`;
      const { message_id: id, turn_id: turn } = await this.api.call("POST", path, {
        client_id: entry.clientId,
        text: entry.text,
      });
      if (!signal.aborted) this.#delivered(entry, String(id), turn);
    } catch (error) {
      Object.assign(entry, { state: "failed", error: sentence(error) });
      this.#set({});
    }
  }

  async #open() {
    if (this.id) return;
    this.subject ??= await this.api.subject();
    const conversation = await this.api.call("POST", "conversations/", {});
    this.id = conversation.id;
    this.#keep();
    this.#take(conversation);
    this.skipStep = null;
    this.#listen();
  }

  #delivered(entry, id, turn) {
    this.#drop(entry);
    if (!this.messages.has(id)) {
      const created = new Date().toISOString();
      this.messages.set(id, { id, author: "customer", text: entry.text, created_at: created });
    }
    if (!this.finished.has(turn)) this.running.add(turn);
    this.#set({});
  }

  #drop(entry) {
    this.outbox = this.outbox.filter((other) => other !== entry);
    this.#keep();
  }

  discard(entry) {
    this.#drop(entry);
    this.#set({});
  }

  async withdraw(reference) {
    this.#request({ reference, busy: true, error: null });
    try {
      await this.api.call("POST", `conversations/${this.id}/requests/${reference}/withdraw/`);
      this.#requestChanged({ reference, state: "withdrawn" });
    } catch (error) {
      this.#request({ reference, busy: false, error: sentence(error) });
      if (error.status === 409) await this.#load();
    }
  }

  #request(changes) {
    this.requests.set(changes.reference, { ...this.requests.get(changes.reference), ...changes });
    this.#set({});
  }

  async #listen() {
    const { signal } = this.stopped;
    for (let failures = 0; !signal.aborted; ) {
      try {
        const path = `conversations/${this.id}/events/`;
        await this.api.stream(path, this.lastEventId, signal, (event) => {
          failures = 0;
          this.#hear(event);
        });
      } catch (error) {
        if (signal.aborted) return;
        if (error.status === 404 || error.status === 403) return this.#set({ problem: sentence(error) });
        failures += 1;
      }
      this.#set({ lost: failures > 1 });
      await this.#pause(BACKOFF_MS[Math.min(failures, BACKOFF_MS.length - 1)]);
    }
  }

  #pause(ms) {
    const jittered = ms * (0.75 + Math.random() / 2);
    return new Promise((resolve) => {
      this.wake = resolve;
      setTimeout(resolve, jittered);
    });
  }

  #online() {
    this.#set({ offline: false });
    this.wake?.();
    if (!this.subject) this.start();
    for (const entry of this.outbox) if (entry.state === "failed") this.deliver(entry);
  }

  #hear({ type, id, data }) {
    if (id) this.lastEventId = id;
    const hearing = {
      open: () => this.#set({ lost: false }),
      "turn.started": () => this.#set({ skipStep: null, running: this.running.add(data.turn_id) }),
      "text.delta": () => this.#delta(data),
      "text.reset": () => this.#set({ draft: null, skipStep: null }),
      activity: () => this.#set({ activity: data.tool }),
      message: () => this.#message(data.message),
      conversation: () => this.#conversation(data),
      request: () => this.#requestChanged(data),
      "turn.finished": () => this.#turnFinished(data),
      resync: () => this.#load(),
    };
    hearing[type]?.();
  }

  #delta({ turn_id: turn, step, text }) {
    const key = `${turn}:${step}`;
    if (this.state !== "open" || this.finished.has(turn)) return; // a person has taken over
    this.running.add(turn);
    if (this.skipStep === "unknown") this.skipStep = key;
    if (this.skipStep === key) return this.#set({});
    const said = this.draft?.key === key ? this.draft.text : "";
    this.#set({ draft: { key, text: said + text }, activity: null });
  }

  #message(message) {
    if (message.author === "customer") {
      const own = this.outbox.find((entry) => entry.state === "sending" && entry.text === message.text);
      if (own) this.#drop(own);
    }
    this.messages.set(String(message.id), message);
    const whole = message.author === "assistant";
    this.#set(whole ? { draft: null, activity: null } : {});
    this.dispatchEvent(new CustomEvent("said", { detail: message }));
  }

  /** Whoever spoke before is silent from here on. */
  #conversation({ state, staff }) {
    this.running.clear();
    this.#set({ state, staff, draft: null, activity: null });
  }

  #requestChanged({ reference, state }) {
    const endedAfter = [...this.messages.keys()].at(-1); // where its card stays once it is no longer open
    this.#request({ reference, state, busy: false, endedAfter });
    if (!this.requests.get(reference).summary) this.#load();
  }

  #turnFinished({ turn_id: turn }) {
    this.running.delete(turn);
    this.finished.add(turn);
    this.#set({ draft: null, activity: null });
  }
}

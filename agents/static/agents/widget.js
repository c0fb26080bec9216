// <placet-chat data-api="/api/chat/" data-token-url="/my/token/"></placet-chat>: see docs/embedding.md.

import { Chat } from "./chat.js";
import { draftView, emptyView, h, messageView, outboxView, reconcile, requestView, typingView } from "./render.js";

const LIMIT = 8000; // code points, as the API counts
const NEAR_LIMIT = 7500;
const SUGGESTIONS = ["Where is my order?", "I would like a refund", "Something arrived damaged"];
const NEAR_END_PX = 80;
const OPEN = new Set(["waiting", "approved", "unknown"]);

class PlacetChat extends HTMLElement {
  connectedCallback() {
    if (this.shadowRoot) return;
    this.page = this.dataset.layout === "page";
    this.chat = new Chat({ base: this.dataset.api, tokenUrl: this.dataset.tokenUrl, csrf: this.dataset.csrf });
    this.chat.addEventListener("change", () => this.#draw());
    this.chat.addEventListener("said", ({ detail }) => this.#announce(detail));
    this.#build();
    if (this.page) this.#show();
  }

  #build() {
    this.hidden = true; // until styled
    const shown = () => (this.hidden = false);
    const href = new URL("widget.css", import.meta.url).href;
    const sheet = h("link", { rel: "stylesheet", href, onload: shown, onerror: shown });
    this.launcher = h("button", { type: "button", class: "launcher", "aria-expanded": "false", onclick: () => this.#show() }, "Chat with us");
    this.panel = this.#buildPanel();
    this.spoken = h("div", { class: "hidden", "aria-live": "polite" });
    const root = this.attachShadow({ mode: "open" });
    root.append(sheet, ...(this.page ? [] : [this.launcher]), this.panel, this.spoken);
    root.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !this.page && !this.panel.hidden) this.#hide();
    });
  }

  #buildPanel() {
    this.list = h("ol", { class: "messages" });
    this.log = h("div", { class: "log", tabindex: "0", role: "region", "aria-label": "Messages", onscroll: () => this.#scrolled() }, this.list);
    this.jump = h("button", { type: "button", class: "jump", hidden: true, onclick: () => this.#toEnd() }, "New messages ↓");
    this.status = h("p", { class: "status", role: "status", hidden: true });
    const role = this.page ? "region" : "dialog";
    return h(
      "section",
      { class: this.page ? "panel page" : "panel", role, "aria-label": this.#heading(), hidden: !this.page },
      this.#buildHeader(),
      (this.disclosure = h("p", { class: "disclosure" })),
      this.log,
      this.jump,
      this.status,
      this.#buildForm(),
    );
  }

  #heading() {
    return this.dataset.heading || "Chat with us";
  }

  #buildHeader() {
    const fresh = h("button", { type: "button", class: "quiet", onclick: () => this.#fresh() }, "New conversation");
    const close = h("button", { type: "button", class: "close", "aria-label": "Close chat", onclick: () => this.#hide() }, "×");
    return h("header", {}, h("h2", {}, this.#heading()), fresh, !this.page && close);
  }

  #buildForm() {
    this.input = h("textarea", { id: "text", rows: "1", placeholder: "Write a message", "aria-describedby": "count", enterkeyhint: "send" });
    this.input.addEventListener("input", () => this.#typed());
    this.input.addEventListener("keydown", (event) => this.#key(event));
    this.button = h("button", { type: "submit" }, "Send");
    this.count = h("small", { id: "count", class: "count" });
    const label = h("label", { for: "text", class: "hidden" }, "Your message");
    const submit = (event) => {
      event.preventDefault();
      this.#send(this.input.value);
    };
    return h("form", { onsubmit: submit }, label, this.input, this.button, this.count);
  }

  #show() {
    this.panel.hidden = false;
    this.launcher.hidden = true;
    this.launcher.setAttribute("aria-expanded", "true");
    if (!this.started) this.chat.start();
    this.started = true;
    this.#draw();
    this.#toEnd();
    if (!this.page) this.input.focus();
  }

  #hide() {
    this.panel.hidden = true;
    this.launcher.hidden = false;
    this.launcher.setAttribute("aria-expanded", "false");
    this.launcher.focus();
  }

  #fresh() {
    this.chat.fresh();
    this.input.focus();
  }

  #key(event) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.#send(this.input.value);
  }

  #typed() {
    const length = [...this.input.value].length;
    this.count.textContent = length >= NEAR_LIMIT ? `${length.toLocaleString()} of ${LIMIT.toLocaleString()} characters` : "";
    this.count.classList.toggle("over", length > LIMIT);
    this.input.setAttribute("aria-invalid", String(length > LIMIT));
    this.button.disabled = length > LIMIT || this.chat.state === "closed";
    this.input.style.height = "auto";
    this.input.style.height = `${this.input.scrollHeight + 2}px`;
  }

  #send(text) {
    if (!text.trim() || this.button.disabled) return;
    this.input.value = "";
    this.#typed();
    this.chat.send(text.trim());
    this.#toEnd();
  }

  #draw() {
    const following = this.#nearEnd();
    reconcile(this.list, this.#items());
    this.#drawStatus();
    const closed = this.chat.state === "closed";
    if (this.input.disabled !== closed) this.input.disabled = closed;
    this.button.disabled = closed || [...this.input.value].length > LIMIT;
    if (following) this.#toEnd();
    else this.jump.hidden = this.#nearEnd();
  }

  #items() {
    const { chat } = this;
    const requests = [...chat.requests.values()];
    const card = (request) => requestView(request, (reference) => chat.withdraw(reference));
    const said = [...chat.messages.values()]
      .sort((a, b) => a.id - b.id)
      .flatMap((message) => [messageView(message), ...requests.filter((r) => !OPEN.has(r.state) && r.endedAfter === String(message.id)).map(card)]);
    const open = requests.filter((request) => OPEN.has(request.state)).map(card);
    const actions = { retry: (entry) => chat.deliver(entry), discard: (entry) => chat.discard(entry) };
    const unsent = chat.outbox.map((entry) => outboxView(entry, actions));
    const items = [...said, ...open, ...unsent];
    if (!items.length) items.push(emptyView(this.#suggestions(), (text) => this.#send(text)));
    if (chat.draft) items.push(draftView(chat.draft.text));
    else if (chat.state === "open" && (chat.activity || chat.running.size)) items.push(typingView(chat.activity));
    return items;
  }

  #suggestions() {
    return this.dataset.suggestions ? this.dataset.suggestions.split("|") : SUGGESTIONS;
  }

  #drawStatus() {
    const { chat } = this;
    const words =
      (chat.offline && "You are offline. Messages are sent when you are back.") ||
      (chat.problem ?? "") ||
      (chat.lost && "Connection lost. Trying again…") ||
      (chat.state === "closed" && "This conversation is closed. Start a new one to write to us.") ||
      "";
    const person = chat.state === "with_staff" ? `You are talking to ${chat.staff ?? "a person"} from our team.` : "";
    const speaker = person || "You are talking to an AI assistant.";
    if (this.disclosure.textContent !== speaker) this.disclosure.textContent = speaker;
    this.disclosure.classList.toggle("person", Boolean(person));
    if (this.status.textContent !== words) this.status.textContent = words;
    this.status.hidden = !words;
  }

  #announce(message) {
    if (message.author !== "customer") this.spoken.textContent = message.text;
    if (message.author !== "customer" && this.panel.hidden) this.launcher.textContent = "New reply";
  }

  #nearEnd() {
    return this.log.scrollHeight - this.log.scrollTop - this.log.clientHeight < NEAR_END_PX;
  }

  #scrolled() {
    if (this.#nearEnd()) this.jump.hidden = true;
  }

  #toEnd() {
    this.log.scrollTop = this.log.scrollHeight;
    this.jump.hidden = true;
    this.launcher.textContent = "Chat with us";
  }
}

customElements.define("placet-chat", PlacetChat);

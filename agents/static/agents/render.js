// What the customer sees, built as DOM nodes: text is never taken for markup.

const ACTIVITIES = {
  get_my_profile: "Looking at your details…",
  list_my_orders: "Looking up your orders…",
  get_order: "Looking at your order…",
  list_my_requests: "Looking at your requests…",
  list_products: "Looking through the shop…",
  get_product: "Looking at the product…",
  get_refund_policy: "Reading our refund policy…",
  search_help: "Searching our help pages…",
  read_help_article: "Reading a help page…",
  calculator: "Doing the sums…",
  issue_refund: "Preparing your refund…",
  cancel_order: "Preparing the cancellation…",
  withdraw_request: "Withdrawing your request…",
  hand_off_to_human: "Finding a person for you…",
};
const STATES = {
  waiting: "Waiting for a person to decide",
  approved: "Approved, being carried out",
  executed: "Done",
  denied: "Not approved",
  expired: "Expired without a decision",
  withdrawn: "Withdrawn",
  failed: "Could not be carried out",
  unknown: "Being checked",
};
const AUTHORS = { customer: "You", assistant: "Assistant", staff: "Our team", notice: "Update" };

/** `h("p", {class: "x"}, "text", node)`: attributes whose value is false or null are left out. */
export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== false && value != null) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child != null && child !== false));
  return element;
}

function activityText(tool) {
  return ACTIVITIES[tool] || "Working on it…";
}

export function messageView(message) {
  const author = message.name ? `${message.name}, our team` : AUTHORS[message.author] || AUTHORS.assistant;
  return h(
    "li",
    { class: `message ${message.author}`, "data-key": `m${message.id}` },
    h("span", { class: message.author === "notice" || message.author === "staff" ? "label" : "hidden" }, author),
    body(message),
    h("time", { datetime: message.created_at, title: longTime(message.created_at) }, shortTime(message.created_at)),
  );
}

function body(message) {
  const element = h("div", { class: "body" });
  if (message.author === "assistant" && message.html) {
    element.classList.add("rich");
    element.innerHTML = message.html; // cleaned by the server: no attribute but a link's address
    for (const link of element.querySelectorAll("a")) Object.assign(link, { target: "_blank", rel: "noopener noreferrer" });
  } else {
    element.textContent = message.text;
  }
  return element;
}

export function draftView(text) {
  return h("li", { class: "message assistant draft", "data-key": "draft", "aria-hidden": "true" }, h("div", { class: "body" }, text));
}

export function typingView(tool) {
  const dots = h("span", { class: "dots", "aria-hidden": "true" }, h("i"), h("i"), h("i"));
  const words = tool ? activityText(tool) : "Writing…";
  return h("li", { class: "typing", "data-key": "typing" }, dots, h("span", {}, words));
}

export function outboxView(entry, { retry, discard }) {
  const failed = entry.state === "failed";
  return h(
    "li",
    { class: "message customer unsent", "data-key": `o${entry.clientId}:${entry.state}` },
    h("span", { class: "hidden" }, "You"),
    h("div", { class: "body" }, entry.text),
    !failed && h("small", {}, "Sending…"),
    failed && h("p", { class: "failure", role: "alert" }, entry.error || "Not sent yet."),
    failed &&
      h(
        "p",
        { class: "row" },
        h("button", { type: "button", onclick: () => retry(entry) }, "Send again"),
        h("button", { type: "button", class: "quiet", onclick: () => discard(entry) }, "Discard"),
      ),
  );
}

export function requestView(request, withdraw) {
  const waiting = request.state === "waiting";
  return h(
    "li",
    { class: `request ${request.state}`, "data-key": requestKey(request) },
    h("p", { class: "state" }, STATES[request.state] || request.state),
    h("p", { class: "summary" }, request.summary || "Your request"),
    h("p", { class: "reference" }, "Reference ", h("b", {}, request.reference)),
    request.error && h("p", { class: "failure", role: "alert" }, request.error),
    waiting &&
      h("button", { type: "button", class: "quiet", disabled: request.busy, onclick: () => withdraw(request.reference) }, "Withdraw this request"),
  );
}

function requestKey({ reference, state, summary, busy, error }) {
  return ["r", reference, state, summary, busy, error].join(":");
}

export function emptyView(suggestions, choose) {
  return h(
    "li",
    { class: "empty", "data-key": "empty" },
    h("p", { class: "hello" }, "How can we help?"),
    h("p", {}, "Ask about an order, a refund or a delivery. Larger refunds are checked by a person."),
    ...suggestions.map((text) => h("button", { type: "button", class: "chip", onclick: () => choose(text) }, text)),
  );
}

/** Give the list these children, keeping the nodes whose key is unchanged, so that focus and selection stay. */
export function reconcile(list, wanted) {
  const old = new Map([...list.children].map((node) => [node.dataset.key, node]));
  let at = list.firstElementChild;
  for (const fresh of wanted) {
    const kept = old.get(fresh.dataset.key);
    old.delete(fresh.dataset.key);
    const node = kept ? refreshed(kept, fresh) : fresh;
    if (node === at) at = at.nextElementSibling;
    else list.insertBefore(node, at);
  }
  for (const node of old.values()) node.remove();
}

function refreshed(kept, fresh) {
  const changes = kept.dataset.key === "draft" || kept.dataset.key === "typing";
  if (changes && kept.textContent !== fresh.textContent) kept.replaceChildren(...fresh.childNodes);
  return kept;
}

function shortTime(text) {
  const at = new Date(text);
  const today = at.toDateString() === new Date().toDateString();
  const day = today ? {} : { day: "numeric", month: "short" };
  return at.toLocaleString(undefined, { ...day, hour: "2-digit", minute: "2-digit" });
}

function longTime(text) {
  return new Date(text).toLocaleString(undefined, { dateStyle: "full", timeStyle: "long" });
}

// What the console's modules share.

/** Lets screen readers hear a result. */
export function say(text) {
  const place = document.getElementById("said");
  if (!place) return;
  place.textContent = "";
  requestAnimationFrame(() => (place.textContent = text));
}

/** Replaces an element by server-rendered HTML and keeps the focus where it was. */
export function replace(element, html) {
  const focused = element.contains(document.activeElement) ? document.activeElement.id : "";
  const made = document.createElement("template");
  made.innerHTML = html;
  const fresh = made.content.firstElementChild;
  element.replaceWith(fresh);
  if (focused) (document.getElementById(focused) ?? fresh.querySelector("a"))?.focus();
  htmx.process(fresh);
  fresh.dispatchEvent(new CustomEvent("htmx:load", { bubbles: true }));
  return fresh;
}

export const memory = {
  get(key) {
    try {
      return localStorage.getItem(key);
    } catch {
      return null;
    }
  },
  set(key, value) {
    try {
      if (value === null) localStorage.removeItem(key);
      else localStorage.setItem(key, value);
    } catch {
      // A full or forbidden storage costs the memory and nothing else.
    }
  },
};

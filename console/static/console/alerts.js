// Desktop alerts, by choice: asked for by a click alone, kept in this browser, and without anything of a customer's.

import { memory } from "./dom.js";

const KEY = "placet-alerts";

export function alerts(button) {
  if (!button || !("Notification" in window)) return () => {};
  const isOn = () => memory.get(KEY) === "on" && Notification.permission === "granted";

  function show() {
    button.hidden = false;
    button.setAttribute("aria-pressed", String(isOn()));
    const text = Notification.permission === "denied" ? "blocked" : isOn() ? "on" : "off";
    button.textContent = button.dataset[text];
    button.disabled = text === "blocked";
  }

  button.addEventListener("click", async () => {
    if (isOn()) memory.set(KEY, "off");
    else if ((await Notification.requestPermission()) === "granted") memory.set(KEY, "on");
    show();
  });
  show();
  return (text) => {
    if (isOn() && document.hidden) new Notification(text, { tag: "placet" });
  };
}

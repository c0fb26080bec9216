// Puts a ready-made message, which the server has filled, into the field that the customer will read.

function show() {
  for (const box of document.querySelectorAll("[data-macros][hidden]")) box.hidden = false;
}

// What somebody typed stays: a message is put below it, and takes the place of another ready-made one only.
function put(field, text, ready) {
  const typed = field.value.trim();
  field.value = typed && !ready.includes(typed) ? `${typed}\n\n${text}` : text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

function choose(box) {
  const select = box.querySelector("select");
  const option = select.selectedOptions[0];
  const field = document.getElementById(box.dataset.macros);
  if (!option || !field) return;
  put(field, option.value, [...select.options].map((each) => each.value.trim()));
  const reason = document.getElementById("reason_code");
  if (reason && !reason.value && option.dataset.reason) reason.value = option.dataset.reason;
  const status = box.querySelector("[role=status]");
  status.textContent = status.dataset.done;
  field.focus();
}

document.addEventListener("click", (event) => {
  const box = event.target.closest("[data-macros] button")?.closest("[data-macros]");
  if (box) choose(box);
});
document.addEventListener("htmx:load", show);
show();

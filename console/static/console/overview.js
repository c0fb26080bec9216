// Offers the overview in the reader's own time zone, which only the browser knows.

const link = document.getElementById("zone");
const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (own && own !== link.dataset.zone) {
  const address = new URLSearchParams(location.search);
  address.set("tz", own);
  link.href = `?${address}`;
  link.textContent += `: ${own}`;
  link.hidden = false;
}

"use strict";
// The texts of the page come ready made; here they are only put into their elements. When there is anything but a place
// to show, the page is loaded again: the service says where to go.
const pause = Number(document.querySelector("main").dataset.refresh) * 1000;

// Not by loading the page at once: while the service is away that would leave the browser's own error page, which never
// comes back.
const reload = async () => {
  const answer = await fetch(location.href, { redirect: "manual", cache: "no-store" }).catch(() => null);
  if (answer && answer.status < 500) location.reload();
  else setTimeout(reload, pause);
};

const events = new EventSource(`${location.pathname}/events${location.search}`);

// The stream tells of the place again and again, also when it is the same: silence means that the connection is dead.
let silence = 0;
const listen = () => {
  clearTimeout(silence);
  silence = setTimeout(leave, 3 * pause + 15_000);
};
const leave = () => {
  clearTimeout(silence);
  events.close();
  reload();
};

events.addEventListener("place", (event) => {
  listen();
  for (const [id, text] of Object.entries(JSON.parse(event.data))) {
    const element = document.getElementById(id) ?? document.querySelector(id);
    // What is the same is not said again by a screen reader.
    if (element && element.textContent !== text) element.textContent = text;
  }
});
events.addEventListener("moved", leave);
events.addEventListener("error", () => {
  // A stream that broke is opened again by the browser; one that was refused is not.
  if (events.readyState === EventSource.CLOSED) setTimeout(leave, pause);
});
listen();

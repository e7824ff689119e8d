// Live parts of the console's pages. Without it a page shows what was there when it was loaded.
"use strict";

// A part with data-live is taken anew from the page's own address, after that many ms, while the page is seen.
const parts = [...document.querySelectorAll("[data-live]")];

function replace(part, fresh) {
  // A reader who is inside it, or has opened something in it, keeps it.
  const isUsed = part.contains(document.activeElement) || part.querySelector("details[open]");
  if (!fresh || isUsed || part.innerHTML === fresh.innerHTML) return;
  part.replaceChildren(...fresh.childNodes);
}

async function refresh() {
  if (document.visibilityState !== "visible") return;
  const answer = await fetch(location.href, { headers: { Accept: "text/html", "X-Live": "1" }, redirect: "error" });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of parts) replace(part, page.getElementById(part.id));
}

function again(delay) {
  setTimeout(async () => {
    try {
      await refresh();
    } catch {
      // The next try may find the service again.
    }
    again(delay);
  }, delay);
}

if (parts.length > 0) again(Math.min(...parts.map((part) => Number(part.dataset.live))));

document.getElementById("errors")?.focus();

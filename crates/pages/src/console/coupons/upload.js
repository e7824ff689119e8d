// How far an upload is. Without it the form is sent like any other, and the next page has the result.
"use strict";

const form = document.querySelector("form[data-upload]");
const [progress, sent, decided, result] = ["progress", "sent", "decided", "result"].map((id) => document.getElementById(id));

// The last whole line of the answer so far.
function told(text) {
  const lines = text.split("\n").slice(0, -1);
  return lines.length > 0 ? JSON.parse(lines.at(-1)) : {};
}

function parsed(html) {
  return new DOMParser().parseFromString(html, "text/html");
}

function broken() {
  decided.textContent = form.dataset.broken;
  form.querySelector("button").disabled = false;
}

function ended(request) {
  if (request.status !== 200) {
    // A page that says what is wrong.
    document.querySelector("main").replaceWith(parsed(request.responseText).querySelector("main"));
    return;
  }
  const last = told(request.responseText);
  if (!last.html) return broken();
  decided.textContent = last.text;
  progress.hidden = true;
  result.replaceChildren(...parsed(last.html).body.childNodes);
  form.querySelector("button").disabled = false;
  result.scrollIntoView();
}

form?.addEventListener("submit", (event) => {
  event.preventDefault();
  const request = new XMLHttpRequest();
  request.open("POST", location.href);
  request.setRequestHeader("Accept", "application/x-ndjson");
  request.upload.addEventListener("progress", ({ loaded, total }) => (sent.value = loaded / total));
  request.addEventListener("progress", () => {
    if (request.status === 200) decided.textContent = told(request.responseText).text ?? "";
  });
  request.addEventListener("load", () => ended(request));
  request.addEventListener("error", broken);
  request.send(new FormData(form));
  form.querySelector("button").disabled = true;
  progress.hidden = false;
  result.replaceChildren();
});

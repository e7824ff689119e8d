// Live parts of a jackpot's page: its status and its winners. The pools are tickers. Without it the page shows what was
// there when it was loaded.
"use strict";

(() => {
  const status = document.getElementById("status");
  const reason = document.getElementById("stopped-reason");
  const winners = document.getElementById("winners");
  const SHOWN = 10;
  const FIRST_PAUSE_MS = 1000;
  const LAST_PAUSE_MS = 30000;

  document.addEventListener("jackpot-meter", ({ detail }) => {
    const word = detail.stopped ? "stopped" : detail.status;
    reason.hidden = !detail.stopped;
    reason.textContent = detail.stopped?.reason ?? "";
    if (status.dataset.status === word) return;
    status.dataset.status = word;
    status.className = `badge ${{ open: "good", paused: "warn", suspended: "bad", stopped: "bad" }[word] ?? ""}`;
    status.textContent = status.dataset[word] ?? word;
  });

  // As the server writes them.
  function amount(minor) {
    const { prefix, suffix, digits } = winners.dataset;
    const places = Number(digits);
    const text = String(minor).padStart(places + 1, "0");
    const whole = text.slice(0, text.length - places).replace(/\B(?=(\d{3})+$)/g, ",");
    return `${prefix}${whole}${places ? `.${text.slice(-places)}` : ""}${suffix}`;
  }

  function element(kind, ...content) {
    const made = document.createElement(kind);
    made.append(...content);
    return made;
  }

  function row({ at, player, tier, amount: minor }) {
    const time = element("time", `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`);
    time.dateTime = at;
    const money = element("span", element("b", amount(minor)), element("small", tier));
    money.className = "number";
    return element("li", element("span", element("b", player), element("small", time)), money);
  }

  function show(items) {
    const before = new Set(Array.from(winners.children, (one) => one.innerHTML));
    const rows = items.slice(0, SHOWN).map(row);
    for (const made of rows) if (!before.has(made.innerHTML)) made.classList.add("fresh");
    winners.replaceChildren(...rows);
    winners.hidden = rows.length === 0;
    document.getElementById("winners-none").hidden = rows.length > 0;
  }

  // The operator may have ceased to show the list.
  async function look() {
    const answer = await fetch(winners.dataset.stream.replace(/\/stream$/, ""));
    if (answer.status !== 404 && answer.status !== 401) return;
    close();
    document.getElementById("winners-part").remove();
  }

  let source = null;
  let failures = 0;
  let timer;

  function open() {
    clearTimeout(timer);
    if (source || document.hidden || !winners.isConnected) return;
    const opened = new EventSource(winners.dataset.stream);
    source = opened;
    opened.addEventListener("winners", (event) => {
      failures = 0;
      show(JSON.parse(event.data).items);
    });
    opened.onerror = () => {
      if (source !== opened) return;
      close();
      failures += 1;
      timer = setTimeout(open, Math.min(LAST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1)) * (0.5 + Math.random() / 2));
      look().catch(() => {
        // The next try may find the service again.
      });
    };
  }

  function close() {
    clearTimeout(timer);
    source?.close();
    source = null;
  }

  // A page that was saved has no service.
  if (winners && location.protocol.startsWith("http")) {
    open();
    document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  }
})();

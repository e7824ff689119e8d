// <jackpot-ticker src="https://host" jackpot="spring" tier="grand" locale="ko-KR"></jackpot-ticker>
// A live pool on any page. docs/reference/ticker.md has its attributes and CSS properties.
"use strict";

(() => {
  const FIRST_PAUSE_MS = 1000;
  const LAST_PAUSE_MS = 30000;
  const PACE_MS = [1000, 10000];
  // Tries without an answer until the number is old, and until it goes: two minutes.
  const STALE_AFTER = 4;
  const LOST_AFTER = 10;
  const SILENT_MS = 15000;
  const here = document.currentScript && document.currentScript.src;

  // One stream for all tickers of a jackpot.
  const feeds = new Map();

  class Feed {
    constructor(url) {
      this.url = url;
      this.tickers = new Set();
      this.failures = 0;
      this.missed = 0;
      this.pace = PACE_MS[0];
    }

    add(ticker) {
      this.tickers.add(ticker);
      if (this.meter) ticker.show(this.meter, 0);
      this.open();
    }

    remove(ticker) {
      this.tickers.delete(ticker);
      if (this.tickers.size > 0) return;
      this.close();
      feeds.delete(this.url);
    }

    open() {
      if (this.source || document.hidden || this.tickers.size === 0) return;
      clearTimeout(this.timer);
      const source = new EventSource(`${this.url}/meter/stream`);
      this.source = source;
      source.addEventListener("meter", (event) => {
        this.failures = 0;
        this.take(JSON.parse(event.data));
      });
      // The browser gives up on a refusal, and tries too often otherwise.
      source.onerror = () => this.source === source && this.fail();
      this.listen();
    }

    // An open stream may bring nothing: a proxy holds it back, or it was lost without a word.
    listen() {
      clearTimeout(this.silence);
      this.silence = setTimeout(() => this.poll(), SILENT_MS);
    }

    fail() {
      this.close();
      this.failures += 1;
      this.missed += 1;
      const pause = Math.min(LAST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.failures - 1)) * (0.5 + Math.random() / 2);
      this.timer = setTimeout(() => this.open(), pause);
      this.poll();
      if (this.missed === STALE_AFTER) this.mark(true);
      if (this.missed === LOST_AFTER) this.lose();
    }

    close() {
      clearTimeout(this.timer);
      clearTimeout(this.silence);
      if (this.source) this.source.close();
      this.source = null;
      this.at = 0;
    }

    mark(stale) {
      for (const ticker of this.tickers) ticker.toggleAttribute("stale", stale);
    }

    // Where streams do not get through, a reading between two tries. Where one is silent, it may be lost.
    async poll() {
      const source = this.source;
      try {
        const answer = await fetch(`${this.url}/meter`, { credentials: "omit" });
        if (answer.ok) return this.take(await answer.json());
        if (answer.status === 401) this.lose();
      } catch {
        // The next try may find the service again.
      }
      if (source && this.source === source) this.fail();
    }

    take(meter) {
      if (this.source) this.listen();
      const now = performance.now();
      if (this.at) this.pace = 0.6 * this.pace + 0.4 * Math.min(PACE_MS[1], Math.max(PACE_MS[0], now - this.at));
      this.at = now;
      this.meter = meter;
      this.missed = 0;
      this.mark(false);
      for (const ticker of this.tickers) ticker.show(meter, this.pace);
    }

    // The jackpot is no longer public, or not for this site.
    lose() {
      this.meter = null;
      for (const ticker of this.tickers) ticker.clear();
    }
  }

  document.addEventListener("visibilitychange", () => {
    for (const feed of feeds.values()) document.hidden ? feed.close() : feed.open();
  });

  // Policies that refuse inline styles allow this.
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`
    :host { display: inline-block; font-variant-numeric: tabular-nums; white-space: nowrap;
      color: var(--jackpot-ticker-color, inherit); background: var(--jackpot-ticker-background, transparent);
      font-family: var(--jackpot-ticker-font, inherit); font-size: var(--jackpot-ticker-size, inherit);
      font-weight: var(--jackpot-ticker-weight, inherit); padding: var(--jackpot-ticker-padding, 0);
      border-radius: var(--jackpot-ticker-radius, 0); }
    :host([hidden]) { display: none; }`);

  const still = matchMedia("(prefers-reduced-motion: reduce)");

  // Writes amounts in minor units. A code that is no currency, such as a game's own points, stands after the number.
  function writer(locale, currency, digits) {
    const known = currency && (!Intl.supportedValuesOf || Intl.supportedValuesOf("currency").includes(currency));
    const options = known ? { style: "currency", currency } : {};
    Object.assign(options, { minimumFractionDigits: digits, maximumFractionDigits: digits });
    let format;
    try {
      format = new Intl.NumberFormat(locale, options);
    } catch {
      format = new Intl.NumberFormat(undefined, options);
    }
    return (amount) => {
      // As a text, because a number of so many digits would be rounded.
      const text = String(amount).padStart(digits + 1, "0");
      const point = text.length - digits;
      const shown = format.format(digits ? `${text.slice(0, point)}.${text.slice(point)}` : text);
      return currency && !known ? `${shown} ${currency}` : shown;
    };
  }

  class JackpotTicker extends HTMLElement {
    static observedAttributes = ["src", "jackpot", "tier", "locale", "currency", "digits", "label"];

    constructor() {
      super();
      const root = this.attachShadow({ mode: "open" });
      root.adoptedStyleSheets = [sheet];
      this.text = document.createElement("span");
      this.text.setAttribute("part", "amount");
      root.append(this.text);
      this.blank();
    }

    connectedCallback() {
      this.follow();
    }

    disconnectedCallback() {
      this.leave();
    }

    attributeChangedCallback(name) {
      if (!this.isConnected) return;
      if (["src", "jackpot", "tier"].includes(name)) this.follow();
      else this.draw();
    }

    // What stands between the tags is shown until the first number comes; else a dash.
    blank() {
      const slot = document.createElement("slot");
      slot.textContent = "–";
      this.text.replaceChildren(slot);
      this.value = undefined;
    }

    clear() {
      this.textContent = "";
      this.blank();
      this.name("–");
    }

    leave() {
      cancelAnimationFrame(this.frame);
      if (this.feed) this.feed.remove(this);
      this.feed = null;
    }

    follow() {
      const host = (this.getAttribute("src") || (here && new URL(here).origin) || location.origin).replace(/\/+$/, "");
      const jackpot = this.getAttribute("jackpot");
      const url = `${host}/v1/jackpots/${encodeURIComponent(jackpot || "")}`;
      if (this.value !== undefined && this.feed && this.feed.url !== url) this.clear();
      this.leave();
      // A page that was saved has no service.
      if (!jackpot || !/^https?:/.test(host)) return;
      if (!feeds.has(url)) feeds.set(url, new Feed(url));
      this.feed = feeds.get(url);
      this.feed.add(this);
    }

    // It reaches a new value in the time that values lately came apart, so it is never above what is known. A smaller
    // value, after a win, shows at once.
    show(meter, pace) {
      this.dispatchEvent(new CustomEvent("jackpot-meter", { detail: meter, bubbles: true }));
      const tier = this.getAttribute("tier");
      const found = meter.meters.find((one) => !tier || one.tier === tier);
      if (!found) return this.clear();
      const begin = this.value;
      // The same once more must not begin the way to it anew.
      if (begin !== undefined && pace && found.pool === this.known) return;
      this.known = found.pool;
      cancelAnimationFrame(this.frame);
      if (begin === undefined || found.pool <= begin || pace === 0 || still.matches || document.hidden) {
        this.value = found.pool;
        this.draw();
      } else {
        const since = performance.now();
        const step = (now) => {
          const part = Math.min(1, Math.max(0, (now - since) / pace));
          this.value = begin + Math.floor((found.pool - begin) * part);
          this.draw();
          if (part < 1) this.frame = requestAnimationFrame(step);
        };
        this.frame = requestAnimationFrame(step);
      }
      this.name(this.format(found.pool));
    }

    // For readers who can't see it: no live region, so that it does not interrupt them.
    name(text) {
      const label = this.getAttribute("label") || this.getAttribute("tier") || this.getAttribute("jackpot");
      this.setAttribute("role", "img");
      this.setAttribute("aria-label", label ? `${label}: ${text}` : text);
    }

    draw() {
      if (this.value === undefined) return;
      const text = this.format(this.value);
      if (this.text.textContent !== text) this.text.textContent = text;
      if (this.value === this.known) this.name(text);
    }

    format(amount) {
      const meter = (this.feed && this.feed.meter) || {};
      const currency = this.getAttribute("currency") || meter.currency || "";
      const digits = Number(this.getAttribute("digits") ?? meter.digits ?? 0);
      const locale = this.getAttribute("locale") || this.closest("[lang]")?.lang || navigator.language;
      const wish = [locale, currency, digits].join();
      if (this.wish !== wish) {
        this.wish = wish;
        this.writer = writer(locale, currency, digits);
      }
      return this.writer(amount);
    }
  }

  if (!customElements.get("jackpot-ticker")) customElements.define("jackpot-ticker", JackpotTicker);
})();

// Checks the draw of an entry, and the trigger of a cycle, in this browser (draw.js), and shows each step. The page holds
// epochs, cycles and odds, so a saved page checks without a connection.
"use strict";

(() => {
  const data = JSON.parse(document.getElementById("check-data").textContent);
  const form = document.getElementById("check-form");
  const result = document.getElementById("check-result");
  const cycleForm = document.getElementById("check-cycle-form");
  const cycleResult = document.getElementById("check-cycle-result");
  const numbers = new Intl.NumberFormat(document.documentElement.lang);
  const ONE_LINE = /\n/g;

  // A text of the page with its values.
  const text = (name, values = {}) =>
    data.texts[name].replace(/\{(\w+)\}/g, (_, key) => (key in values ? String(values[key]) : `{${key}}`));
  const count = (value) => numbers.format(value);
  const moment = (at) => `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`;

  function element(kind, name, ...content) {
    const made = document.createElement(kind);
    if (name) made.className = name;
    made.append(...content);
    return made;
  }

  function facts(...pairs) {
    const list = element("dl", "facts");
    for (const [name, value] of pairs) list.append(element("dt", "", name), element("dd", "mono", value));
    return list;
  }

  // What the page does not hold, from the service; `null` where there is none.
  async function ask(path) {
    if (!location.protocol.startsWith("http")) return null;
    try {
      const answer = await fetch(`${data.api}${path}`);
      return answer.ok ? await answer.json() : null;
    } catch {
      return null;
    }
  }

  async function epochOf(number, typed) {
    if (typed.seed || typed.commitment) return { epoch: number, seed: typed.seed || null, commitment: typed.commitment };
    const known = data.epochs.find((one) => one.epoch === number);
    // The seed may have been published since.
    if (known?.seed) return known;
    const page = await ask(`/fairness?cursor=${number - 1}`);
    return page?.epochs.find((one) => one.epoch === number) ?? known ?? null;
  }

  async function definitionOf(version) {
    return data.definitions.find((one) => one.version === version) ?? (await ask(`/definitions/${version}`));
  }

  function prizeOf(definition, rank) {
    if (rank === 0) return text("nothing");
    const row = definition.odds.ranks.find((one) => one.rank === rank);
    const prize = typeof row.prize === "string" ? row.prize : "";
    return prize ? text("prize", { rank, prize }) : text("rank", { rank });
  }

  function seedStep(name, epoch, hash) {
    const same = hash === epoch.commitment;
    return element(
      "li",
      "",
      element("h3", "", name),
      element("p", "", text("seed-about")),
      facts([text("seed"), epoch.seed], [text("hash"), hash], [text("commitment"), epoch.commitment]),
      element("p", same ? "good" : "bad", text(same ? "seed-same" : "seed-other")),
    );
  }

  function blockRows(block) {
    const shown = block.message.replace(ONE_LINE, "\\n");
    const rejected = block.rejected > 0 ? [[text("rejected"), count(block.rejected)]] : [];
    return [[text("message"), shown], [text("hmac"), block.hmac], ...rejected];
  }

  function attemptStep(one, draw, definition) {
    const total = draw.odds.total;
    const row = JackpotDraw.ranges(draw.odds, draw.stake).find(({ rank }) => rank === one.rank);
    const found = row
      ? text("in-range", { ticket: count(one.ticket), from: count(row.from), to: count(row.to - 1), prize: prizeOf(definition, one.rank) })
      : text("in-none", { ticket: count(one.ticket) });
    return element(
      "li",
      "",
      element("h3", "", one.attempt === 0 ? text("draw-step") : text("redraw-step", { attempt: one.attempt })),
      element("p", "", text("draw-about")),
      facts(
        ...one.blocks.flatMap(blockRows),
        [text("word"), `${one.wordHex} = ${one.word}`],
        [text("bound"), one.bound],
        [text("ticket"), `${one.word} mod ${total} = ${one.ticket}`],
      ),
      element("p", "", found),
    );
  }

  // What it comes to: a class and a text.
  function verdict(all, told, definition) {
    const prize = prizeOf(definition, all[0].rank);
    if (told === null) return ["good", text(all[0].rank === 0 ? "draws-nothing" : "draws", { prize })];
    const end = JackpotDraw.deciding(all, told);
    if (!end) return ["bad", text("wrong")];
    if (end.refused.length === 0) return ["good", text("right")];
    return ["good", text(end.spent ? "spent" : "redrawn", { refused: end.refused.join(", ") })];
  }

  function show(kind, sentence, steps = [], place = result) {
    const note = element("p", `note ${kind}`, sentence);
    note.setAttribute("role", "status");
    const parts = steps.length > 0 ? [element("h3", "", text("steps")), element("ol", "steps", ...steps)] : [];
    place.replaceChildren(note, ...parts);
    place.hidden = false;
  }

  function unpublished(epoch) {
    if (epoch.closed_at) return text("unpublished-closed", { epoch: epoch.epoch, at: moment(epoch.closed_at) });
    if (!epoch.opened_at) return text("unpublished-typed");
    const expected = new Date(Date.parse(epoch.opened_at) + data.epoch_s * 1000).toISOString();
    return text("unpublished", { epoch: epoch.epoch, opened: moment(epoch.opened_at), expected: moment(expected) });
  }

  async function check() {
    const field = (name) => form.elements[name].value.trim();
    const typed = { seed: field("seed").toLowerCase(), commitment: field("commitment").toLowerCase() };
    const [epoch, definition] = await Promise.all([
      epochOf(Number(field("epoch")), typed),
      definitionOf(Number(field("version"))),
    ]);
    if (!epoch) return show("warn", text("no-epoch"));
    if (!definition) return show("warn", text("no-definition"));
    if (!epoch.seed) return show("warn", unpublished(epoch));
    const hash = await JackpotDraw.sha256(epoch.seed);
    const seed = seedStep(text("seed-step", { epoch: epoch.epoch }), epoch, hash);
    if (hash !== epoch.commitment) return show("bad", text("forged"), [seed]);
    const draw = {
      jackpot: data.jackpot,
      entry: field("entry"),
      clientSeed: field("client_seed"),
      stake: Number(field("stake")),
      odds: definition.odds,
      maxRedraws: definition.max_redraws,
    };
    const all = await JackpotDraw.attempts(epoch.seed, draw);
    const told = field("told") === "" ? null : Number(field("told"));
    const end = told === null ? null : JackpotDraw.deciding(all, told);
    const shown = end ? all.slice(0, end.attempt + 1) : all;
    const steps = shown.map((one) => attemptStep(one, draw, definition));
    const [first, ...redraws] = steps;
    const more = element("details", "", element("summary", "", text("redraws", { count: redraws.length })), element("ol", "steps", ...redraws));
    more.open = end !== null && end.attempt > 0;
    return show(...verdict(all, told, definition), [seed, first, ...(redraws.length > 0 ? [element("li", "", more)] : [])]);
  }

  function triggerStep(one, shown) {
    return element(
      "li",
      "",
      element("h3", "", one.kind === "amount" ? text("cycle-step-amount") : text("cycle-step-time")),
      element("p", "", text("cycle-about")),
      facts(
        ...one.blocks.flatMap(blockRows),
        [text("word"), `${one.wordHex} = ${one.word}`],
        [text("bound"), one.bound],
        [text("cycle-index"), `${one.word} mod ${one.count} = ${one.index}`],
        [one.kind === "amount" ? text("cycle-amount") : text("cycle-time"), shown],
      ),
    );
  }

  // The cycle that was chosen, or pasted; `null` if it is none.
  function chosenCycle() {
    const pasted = cycleForm.elements.pasted.value.trim();
    if (!pasted) return data.cycles[Number(cycleForm.elements.cycle.value)];
    try {
      const { tier, cycle, commitment, seed, low, high, from_at, deadline_at, trigger_amount, trigger_at } = JSON.parse(pasted);
      const isWhole = [commitment, seed].every((one) => /^[0-9a-f]{64}$/.test(one)) && [low, high].every((one) => one === null || Number.isSafeInteger(one));
      const isTimed = [from_at, deadline_at].every((one) => one === null || Number.isFinite(Date.parse(one))) && (from_at === null) === (deadline_at === null);
      return isWhole && isTimed ? { tier, cycle, commitment, seed, low, high, from_at, deadline_at, trigger_amount, trigger_at } : null;
    } catch {
      return null;
    }
  }

  async function checkCycle() {
    const say = (...what) => show(...what, cycleResult);
    const cycle = chosenCycle();
    if (!cycle) return say("warn", text("cycle-unreadable"), []);
    if (!cycle.seed) return say("warn", text("cycle-unpublished"), []);
    const hash = await JackpotDraw.sha256(cycle.seed);
    const seed = seedStep(text("cycle-seed-step", { tier: cycle.tier, cycle: cycle.cycle }), cycle, hash);
    if (hash !== cycle.commitment) return say("bad", text("forged"), [seed]);
    const { amount, time } = await JackpotDraw.triggers(cycle);
    const pairs = [];
    if (amount) pairs.push([amount, count(amount.trigger), amount.trigger === cycle.trigger_amount, cycle.trigger_amount]);
    if (time) {
      const at = new Date(time.trigger * 1000).toISOString();
      pairs.push([time, moment(at), Date.parse(at) === Date.parse(cycle.trigger_at), cycle.trigger_at]);
    }
    const steps = [seed, ...pairs.map(([one, shown]) => triggerStep(one, shown))];
    const wrong = pairs.find(([, , isSame]) => !isSame);
    if (wrong) return say("bad", text("cycle-wrong", { trigger: wrong[1], shown: String(wrong[3]) }), steps);
    return say("good", text("cycle-right", { trigger: pairs.map(([, shown]) => shown).join(" / ") }), steps);
  }

  // The stake counts only where the odds grow with it.
  function stakes() {
    const definition = data.definitions.find((one) => one.version === Number(form.elements.version.value));
    document.getElementById("check-stake-field").hidden = !definition?.odds.per_stake;
  }

  // Not everything that chooses for a person sends both events.
  function changes(field, then) {
    for (const event of ["input", "change"]) field.addEventListener(event, then);
  }

  if (globalThis.crypto?.subtle) {
    form.hidden = false;
    document.getElementById("check-insecure").hidden = true;
    stakes();
    changes(form.elements.version, stakes);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      check().catch((error) => show("bad", String(error)));
    });
    if (cycleForm) {
      cycleForm.hidden = false;
      cycleForm.addEventListener("submit", (event) => {
        event.preventDefault();
        checkCycle().catch((error) => show("bad", String(error), [], cycleResult));
      });
    }
  } else {
    form.hidden = true;
    document.getElementById("check-insecure").hidden = false;
  }
})();

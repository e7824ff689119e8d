/** The example is a game back end that loses no round and credits no win twice, also when it is killed. */

import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { fileURLToPath } from "node:url";

import { alwaysWins, client, eventually, fresh, problem, Proxy, Redis, setting, type Fault } from "./support.js";

const EXAMPLE = fileURLToPath(new URL("../examples/game-backend.js", import.meta.url));

interface Round {
  round_id: string;
  state: string;
  prize?: string;
  amount?: number;
  payout_id?: string;
  reason?: string;
}

/** The example as a process. */
class Game {
  output = "";
  url = "";

  private constructor(readonly process: ChildProcess) {
    for (const stream of [process.stdout!, process.stderr!]) {
      stream.setEncoding("utf8").on("data", (text: string) => (this.output += text));
    }
  }

  static async start(url: string, jackpotId: string, data: string, key = setting("JACKPOT_TEST_PLAY_KEY")): Promise<Game> {
    const secrets = { JACKPOT_URL: url, JACKPOT_KEY: key, JACKPOT_READ_KEY: setting("JACKPOT_TEST_READ_KEY") };
    const options = ["--jackpot", jackpotId, "--data", data, "--listen", "127.0.0.1:0"];
    const game = new Game(spawn(process.execPath, [EXAMPLE, ...options], { env: { ...process.env, ...secrets } }));
    started.push(game);
    game.url = await eventually("the example listens", () => /listening on (.*)\n/.exec(game.output)?.[1]);
    return game;
  }

  async kill(): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) {
      this.process.kill("SIGKILL");
      await once(this.process, "exit");
    }
  }

  async call<T = Round>(path: string, body?: object): Promise<[number, T]> {
    const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const answer = await fetch(this.url + path, { ...init, signal: AbortSignal.timeout(20_000) });
    return [answer.status, (await answer.json()) as T];
  }

  spin(stake = 100): Promise<[number, Round]> {
    return this.call("/spin", { player_id: "p7", stake });
  }
}

const operator = client("OPERATE");
const started: Game[] = [];
let proxy: Proxy;
let folder: string;
let id: string;

before(async () => {
  proxy = await Proxy.start();
});
beforeEach(async () => {
  proxy.faults.length = proxy.seen.length = proxy.lost.length = 0;
  folder = mkdtempSync(join(tmpdir(), "jackpot-game-"));
  id = fresh("game");
  await operator.defineJackpot(alwaysWins(id));
});
afterEach(async () => {
  for (const game of started.splice(0)) {
    await game.kill();
  }
  rmSync(folder, { recursive: true });
});
after(() => proxy.close());

async function contributed(): Promise<number> {
  return (await operator.getJackpot(id)).meters[0]!.contributed;
}

test("each win is credited once and has a receipt", async () => {
  const game = await Game.start(proxy.url, id, folder);
  // The first answer is lost: the client repeats it, and the win is still one.
  proxy.faults.push("drop-reply");
  let round: Round | undefined;
  for (let n = 0; n < 5; n += 1) {
    const [status, spun] = await game.spin();
    assert.deepEqual([status, spun.state, spun.prize, spun.amount], [200, "done", "pool", 1]);
    round = spun;
  }
  assert.equal(proxy.seen.length, 6);
  assert.deepEqual(await game.call("/players/p7"), [200, { credits: 5, won: 5 }]);
  const credited = await game.call<{ agrees: boolean; receipt: { entry_id: string } }>(`/credits/${round!.payout_id}`);
  assert.deepEqual([credited[0], credited[1].agrees, credited[1].receipt.entry_id], [200, true, round!.round_id]);
  assert.deepEqual(await game.call(`/rounds/${round!.round_id}`), [200, round]);
  assert.equal((await game.call("/spin", { player_id: "p7" }))[0], 400);
  assert.deepEqual([(await game.call("/rounds/none"))[0], (await game.call("/credits/none"))[0]], [404, 404]);
  assert.equal(await contributed(), 5);
});

test("a round in flight survives the death of the game", async () => {
  const game = await Game.start(proxy.url, id, folder);
  proxy.faults.push("hold-reply");
  const spun = game.spin().catch((error: unknown) => error);
  await eventually("the service took the entry, and the game does not know", () => proxy.lost[0]);
  await game.kill();
  assert.ok((await spun) instanceof Error);
  const again = await Game.start(proxy.url, id, folder);
  assert.equal(proxy.seen.length, 2);
  assert.equal(proxy.seen[0]!.body, proxy.seen[1]!.body);
  const { entry_id } = JSON.parse(proxy.seen[0]!.body) as { entry_id: string };
  const [status, round] = await again.call(`/rounds/${entry_id}`);
  assert.deepEqual([status, round.state, round.amount], [200, "done", 1]);
  assert.deepEqual(await again.call("/players/p7"), [200, { credits: 1, won: 1 }]);
  assert.equal(await contributed(), 1);
});

test("a round stays open while the service is away, and is settled later", async () => {
  const game = await Game.start(proxy.url, id, folder);
  proxy.faults.push(...Array<Fault>(1_000).fill(problem(503, "store-unavailable", "1")));
  const [status, open] = await game.spin();
  assert.deepEqual([status, open.state], [202, "open"]);
  proxy.faults.length = 0;
  await eventually("the round is settled in the background", async () => {
    return (await game.call(`/rounds/${open.round_id}`))[1].state === "done" || undefined;
  });
  assert.deepEqual(await game.call("/players/p7"), [200, { credits: 1, won: 1 }]);
});

test("a round waits for the end of a suspension", async () => {
  const game = await Game.start(setting("JACKPOT_TEST_URL"), id, folder);
  const pool = `jp:{${id}}:pool:grand`;
  assert.equal((await game.spin())[1].state, "done");
  await new Redis().set(pool, 1_000_000);
  const [status, open] = await game.spin();
  assert.deepEqual([status, open.state], [202, "open"]);
  await new Redis().set(pool, 0);
  await operator.resumeJackpot(id, "the pool is as it was");
  await eventually("the round is settled in the background", async () => {
    return (await game.call(`/rounds/${open.round_id}`))[1].state === "done" || undefined;
  });
  assert.deepEqual(await game.call("/players/p7"), [200, { credits: 2, won: 2 }]);
});

test("each refusal has its end", async () => {
  const game = await Game.start(setting("JACKPOT_TEST_URL"), id, folder);
  const [status, wrong] = await game.spin(-1);
  assert.deepEqual([status, wrong.state], [200, "refused"]);
  assert.match(wrong.reason!, /stake/);
  await operator.pauseJackpot(id, "check");
  const paused = await game.spin();
  assert.deepEqual([paused[0], paused[1].state, paused[1].reason], [200, "refused", "jackpot-paused"]);
  const stranger = await Game.start(setting("JACKPOT_TEST_URL"), id, join(folder, "other"), "no-key-of-ours");
  assert.equal((await stranger.spin())[1].state, "open");
  assert.match(stranger.output, /needs an operator: Unauthorized/);
  assert.equal(await contributed(), 0);
});

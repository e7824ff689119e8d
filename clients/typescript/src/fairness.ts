/** Draws, recomputed from a published seed. Normative description: `docs/explanation/fairness.md`. */

import { fromHex, hex, sha256, utf8, type Bytes } from "./bytes.js";
import { SeedNotPublished, VerificationError } from "./errors.js";
import type { components } from "./generated/openapi.js";

type Schemas = components["schemas"];

/** What a refused prize answers. The same rank refuses the entry again, and the next attempt is drawn. */
const REFUSALS: readonly string[] = ["retry", "out-of-stock", "already-issued", "not-open"];
const WORDS_OF_A_BLOCK = 4;
const WORD_BYTES = 8;
const WORDS = 2n ** 64n;

/** A seed, ready to draw. */
export type Seed = CryptoKey;

export async function readSeed(bytes: Bytes): Promise<Seed> {
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
}

/** Which draw: an attempt of an entry. */
export interface Draw {
  readonly jackpotId: string;
  readonly entryId: string;
  readonly attempt: number;
  readonly clientSeed?: string | null | undefined;
}

/** The number, below `total`, that an attempt of an entry draws. */
export async function ticket(seed: Seed, draw: Draw, total: number): Promise<number> {
  // Words from here on are rejected: they would favour small numbers.
  const firstRejected = (WORDS / BigInt(total)) * BigInt(total);
  for (let block = 0; ; block += 1) {
    let message = `draw\n${draw.jackpotId}\n${draw.entryId}\n${draw.attempt}\n${block}`;
    if (draw.clientSeed !== null && draw.clientSeed !== undefined) {
      message += `\n${draw.clientSeed}`;
    }
    const words = new DataView(await crypto.subtle.sign("HMAC", seed, utf8(message)));
    for (let word = 0; word < WORDS_OF_A_BLOCK; word += 1) {
      const drawn = words.getBigUint64(word * WORD_BYTES);
      if (drawn < firstRejected) {
        return Number(drawn % BigInt(total));
      }
    }
  }
}

/** The rank that a ticket draws; 0 for nothing. The stake counts where the odds are by stake. */
export function rankOf(number: number, odds: Schemas["OddsTable"], stake?: number | null): number {
  let times = 1;
  if (typeof odds.per_stake === "number") {
    if (stake === null || stake === undefined) {
      throw new VerificationError("the odds are by stake: give the stake of the entry");
    }
    times = Math.floor(stake / odds.per_stake);
  }
  let end = 0;
  for (const row of odds.ranks.toSorted((a, b) => a.rank - b.rank)) {
    end += row.weight * times;
    if (number < end) {
      return row.rank;
    }
  }
  return 0;
}

/** The seed of a closed epoch, if it is the one to which the service committed itself. */
export async function seedOf(epoch: Schemas["EpochBody"]): Promise<Seed> {
  if (typeof epoch.seed !== "string") {
    throw new SeedNotPublished(`the seed of epoch ${epoch.epoch} is not published yet`);
  }
  const bytes = fromHex(epoch.seed);
  if (hex(await sha256(bytes)) !== epoch.commitment) {
    throw new VerificationError(`epoch ${epoch.epoch}: the seed is not the one of the commitment`);
  }
  return readSeed(bytes);
}

/**
 * Recomputes every attempt of an entry. Throws `VerificationError` if one is not what the seed and the odds say.
 *
 * `clientSeed` and `stake` are those that the entry was made with; the stake counts where the odds are by stake.
 */
export async function checkDraw(
  entry: Schemas["Entry"],
  definition: Schemas["DefinitionOfVersion"],
  epoch: Schemas["EpochBody"],
  clientSeed?: string | null,
  stake?: number | null,
): Promise<void> {
  const { draw, jackpot_id: jackpotId, entry_id: entryId } = entry;
  if (draw.by !== "service") {
    throw new VerificationError(`the draw was made by ${String(draw.by)}, not by the service`);
  }
  if (draw.must_hit) {
    throw new VerificationError(`${entryId} hit cycle ${draw.must_hit.cycle}, which no odds draw`);
  }
  if (draw.epoch !== epoch.epoch || draw.commitment !== epoch.commitment) {
    throw new VerificationError("the entry names another epoch or commitment");
  }
  if (jackpotId !== definition.id || draw.definition_version !== definition.version) {
    throw new VerificationError("the entry was drawn under another definition");
  }
  const seed = await seedOf(epoch);
  const refused = new Map<number, string>();
  for (const [number, attempt] of draw.attempts.entries()) {
    const place = `attempt ${number} of ${entryId}`;
    if (attempt.attempt !== number || number > definition.max_redraws) {
      throw new VerificationError(`${place} has another number, or is one too many`);
    }
    const drawn = await ticket(seed, { jackpotId, entryId, attempt: number, clientSeed }, definition.odds.total);
    const rank = rankOf(drawn, definition.odds, stake);
    if (attempt.rank !== rank) {
      throw new VerificationError(`${place} draws rank ${rank}, the service says ${attempt.rank}`);
    }
    if (!REFUSALS.includes(attempt.result) || rank === 0) {
      checkEnd(entry, place, number, refused);
      return;
    }
    if ((refused.get(rank) ?? attempt.result) !== attempt.result) {
      throw new VerificationError(`${place} refuses rank ${rank} for another reason than before`);
    }
    refused.set(rank, attempt.result);
  }
  // All attempts were refused: the outcome is none, after the last redraw.
  if (draw.attempts.length !== definition.max_redraws + 1 || entry.outcome.rank !== 0) {
    throw new VerificationError(`${entryId} ends before its last redraw, or with a prize that was refused`);
  }
}

/** The attempt that decided is the last one, and the outcome is its prize. */
function checkEnd(entry: Schemas["Entry"], place: string, number: number, refused: Map<number, string>): void {
  const last = entry.draw.attempts[number]!;
  const allowed = last.rank === 0 ? ["none"] : ["paid", "issued"];
  if (!allowed.includes(last.result) || refused.has(last.rank)) {
    throw new VerificationError(`${place}: rank ${last.rank} can't end as ${last.result}`);
  }
  if (entry.draw.attempts.length !== number + 1 || entry.outcome.rank !== last.rank) {
    throw new VerificationError(`${place} decides, but it is not the outcome`);
  }
}

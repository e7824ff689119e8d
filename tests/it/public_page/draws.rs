//! The browser's own draw against the service's: 10,000 draws in a real Chromium, bit for bit, the published vectors, and
//! entries that the service took.

use hmac::{Hmac, KeyInit, Mac};
use jackpot_core::ids::{ClientSeed, Id};
use jackpot_core::jackpot::cycle::CycleSeed;
use jackpot_core::jackpot::draw::EpochSeed;
use jackpot_core::jackpot::odds::Odds;
use jackpot_core::money::Minor;
use sha2::{Digest, Sha256};

use super::{operate, put};
use crate::fault::support::redrawing;
use crate::support::browser::{Browser, Scripts};
use crate::support::prelude::*;

const DRAWS: u64 = 10_000;
const BATCH: u64 = 500;
const TEXT: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";

/// Numbers that look random and are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 += 1;
        let digest = Sha256::digest(self.0.to_be_bytes());
        u64::from_be_bytes(digest[..8].try_into().expect("8 bytes"))
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// A text of 1 to `longest` characters, the first a letter or digit.
    fn text(&mut self, longest: u64) -> String {
        let length = 1 + self.below(longest);
        let first = char::from(TEXT[usize::try_from(self.below(62)).expect("small")]);
        let rest = (1..length).map(|_| char::from(TEXT[usize::try_from(self.below(65)).expect("small")]));
        std::iter::once(first).chain(rest.collect::<Vec<_>>()).collect()
    }

    fn total(&mut self) -> u64 {
        match self.below(10) {
            0 => 1,
            1 => 2,
            2 => 1 << 32,
            3 => (1 << 32) - 1,
            4 => (1 << 31) + 1,
            5 => 1_000_000,
            6 => 1 + self.below(10),
            _ => 1 + self.below(1 << 32),
        }
    }

    /// Ranks in any order, whose weights are at most the total: none, all of it, 0 and 1 among them.
    fn ranks(&mut self, total: u64) -> Vec<(u32, u64)> {
        let mut left = total;
        let count = self.below(9);
        let mut ranks = Vec::new();
        for place in 0..count {
            let weight = match self.below(5) {
                0 => 0,
                1 => left.min(1),
                2 => left,
                _ => self.below(left + 1),
            };
            left -= weight;
            let rank = u32::try_from(1 + (place * 7) % 64).expect("small");
            ranks.push((rank, weight));
        }
        ranks.reverse();
        ranks
    }
}

/// A draw, and what the service says of it.
struct Case {
    asked: Value,
    expected: Value,
}

fn case(numbers: &mut Numbers) -> Case {
    let jackpot = numbers.text(64);
    let entry = match numbers.below(4) {
        0 => format!("{}:{}", numbers.text(56), 1 + numbers.below(10_000)),
        _ => numbers.text(64),
    };
    let client_seed = (numbers.below(2) == 0).then(|| numbers.text(64));
    let seed: [u8; 32] = Sha256::digest(numbers.next().to_be_bytes()).into();
    let (total, attempt) = (numbers.total(), u32::try_from(numbers.below(17)).expect("small"));
    // Half of them by stake: then the weights are parts of what the largest stake leaves.
    let (per_stake, times) = match numbers.below(2) {
        0 => (None, 1),
        _ => (Some(1 + numbers.below(1_000)), 1 + numbers.below(9)),
    };
    let ranks = numbers.ranks(total / times);
    let stake = per_stake.unwrap_or(0) * numbers.below(times + 1) + numbers.below(per_stake.unwrap_or(1));
    let minor = |amount| Minor::try_from(amount).expect("in range");
    let table = Odds::new(total, ranks.iter().copied())
        .expect("a table")
        .per_stake(per_stake.map(minor));
    let odds = table.at(minor(stake));
    let epoch = EpochSeed::published(&Id::parse(&jackpot).expect("an id"), &hex::encode(seed)).expect("a seed");
    let typed = client_seed
        .as_deref()
        .map(|text| ClientSeed::parse(text).expect("a seed"));
    let mut message = format!("draw\n{jackpot}\n{entry}\n{attempt}\n0");
    if let Some(client_seed) = &client_seed {
        message = format!("{message}\n{client_seed}");
    }
    let mut mac = Hmac::<Sha256>::new_from_slice(&seed).expect("a key");
    mac.update(message.as_bytes());
    let digest = mac.finalize().into_bytes();
    let word = u64::from_be_bytes(digest[..8].try_into().expect("8 bytes"));
    let ticket = epoch.ticket(&entry, typed.as_ref(), attempt, odds);
    assert_eq!(ticket, word % total, "no word of these draws is rejected");
    let ranks: Vec<_> = ranks
        .iter()
        .map(|(rank, weight)| json!({"rank": rank, "weight": weight}))
        .collect();
    Case {
        asked: json!({"seed": hex::encode(seed), "number": attempt, "jackpot": jackpot, "entry": entry,
                      "clientSeed": client_seed, "stake": stake, "odds": {"total": total, "per_stake": per_stake, "ranks": ranks}}),
        expected: json!({
            "commitment": epoch.commitment(), "message": message, "hmac": hex::encode(digest), "word": word.to_string(),
            "ticket": ticket, "rank": epoch.rank(&entry, typed.as_ref(), attempt, odds),
        }),
    }
}

/// A browser on a page that has the script.
async fn browser(service: &Service) -> Browser {
    put(service, "spring", &json!({})).await;
    let browser = Browser::start(Scripts::On).await;
    browser.open(&service.url("/j/spring")).await;
    browser
}

#[tokio::test]
async fn ten_thousand_draws_are_those_of_the_service_bit_for_bit() {
    let service = Service::start().await;
    let browser = browser(&service).await;
    let mut numbers = Numbers(0);
    let (mut with_prize, mut with_seed) = (0, 0);
    for _ in 0..DRAWS / BATCH {
        let cases: Vec<_> = (0..BATCH).map(|_| case(&mut numbers)).collect();
        let asked: Vec<_> = cases.iter().map(|case| &case.asked).collect();
        let script = format!(
            "return Promise.all({}.map(async (one) => {{
                const found = await JackpotDraw.attempt(await JackpotDraw.keyOf(one.seed), one, one.number);
                const [block] = found.blocks;
                return {{ commitment: await JackpotDraw.sha256(one.seed), message: block.message, hmac: block.hmac,
                          word: found.word, ticket: found.ticket, rank: found.rank }};
            }}))",
            json!(asked)
        );
        let found = browser.ask(&script).await;
        for (case, found) in cases.iter().zip(found.as_array().expect("draws")) {
            assert_eq!(found, &case.expected, "{}", case.asked);
            with_prize += u64::from(found["rank"] != 0);
            with_seed += u64::from(!case.asked["clientSeed"].is_null());
        }
        assert_eq!(found.as_array().map(Vec::len), Some(cases.len()));
    }
    assert!(
        with_prize > DRAWS / 4 && with_seed > DRAWS / 3,
        "{with_prize} {with_seed}"
    );
}

#[tokio::test]
async fn the_published_vectors_hold_and_words_are_rejected_where_the_contract_says() {
    let service = Service::start().await;
    let browser = browser(&service).await;
    let vectors = browser
        .ask(
            "const seed = '4ac47d7baa14f4b8b68b3c4c030c3ad5a41005179359fe6d13f0b924ef1586d3';
             const tickets = async (entry) => {
                 const draw = { jackpot: 'spring', entry, odds: { total: 1000000, ranks: [] } };
                 const key = await JackpotDraw.keyOf(seed);
                 return Promise.all([0, 1, 2].map(async (one) => (await JackpotDraw.attempt(key, draw, one)).ticket));
             };
             return Promise.all([JackpotDraw.sha256(seed), ...['entry-1', 'round-8812-p7', 'b1:17'].map(tickets)])",
        )
        .await;
    let commitment = "7bc62f73fa0713a5e49ed900d4c2453ae26480e8d8267c84e6bb5ac81a10a258";
    let expected = json!([
        commitment,
        [716_135, 277_424, 702_353],
        [243_771, 232_156, 657_822],
        [34_818, 668_171, 638_355]
    ]);
    assert_eq!(vectors, expected);
    for total in [1_u64, 2, 3, 7, 1_000, 1_000_000, (1 << 32) - 1, 1 << 32] {
        let first = (1_u128 << 64) / u128::from(total) * u128::from(total);
        let found = browser
            .ask(&format!("return String(JackpotDraw.firstRejected({total}))"))
            .await;
        assert_eq!(found, first.to_string(), "{total}");
    }
    let words = browser.ask(
        "return JackpotDraw.wordsOf('0000000000000001ffffffffffffffff80000000000000000123456789abcdef').map(String)",
    );
    assert_eq!(
        words.await,
        json!(["1", "18446744073709551615", "9223372036854775808", "81985529216486895"])
    );
    // Odds by stake: every weight counts floor(stake / per_stake) times.
    let ranges = "return JackpotDraw.ranges({ total: 100, per_stake: 10, ranks: [{ rank: 2, weight: 3 }, { rank: 1, weight: 1 }] }, 29)";
    let expected = json!([{"rank": 1, "from": 0, "to": 2}, {"rank": 2, "from": 2, "to": 8}]);
    assert_eq!(browser.ask(ranges).await, expected);
}

/// Entries with refusals and redraws, as the service answered them.
#[tokio::test]
async fn the_attempts_of_entries_are_those_that_the_service_recorded() {
    let service = Service::start().await;
    let browser = browser(&service).await;
    let mut definition = redrawing("refused");
    definition["public_meter"] = json!(true);
    definition["max_redraws"] = json!(5);
    service.put("/v1/jackpots/refused", definition).await.done();
    let mut entries = Vec::new();
    for number in 0..120 {
        let body = json!({"entry_id": format!("e{number}"), "player_id": "p", "stake": 100, "client_seed": format!("s-{}", number % 3)});
        entries.push(service.post("/v1/jackpots/refused/entries", body).await.body);
    }
    operate(&service, "refused", "fairness/rotate").await;
    let seed = eventually(PATIENCE, "the seed is published", async || {
        let fairness = service.get("/v1/jackpots/refused/fairness").await.body;
        fairness["epochs"][0]["seed"].as_str().map(str::to_owned)
    })
    .await;
    let odds = service.get("/v1/jackpots/refused/definitions/1").await.body["odds"].clone();
    let mut redrawn = 0;
    for (number, entry) in entries.iter().enumerate() {
        let asked = json!({"jackpot": "refused", "entry": entry["entry_id"], "clientSeed": format!("s-{}", number % 3),
                           "odds": odds, "maxRedraws": 5});
        let script = format!(
            "const all = await JackpotDraw.attempts('{seed}', {asked});
             return [all.map(({{ rank }}) => rank), JackpotDraw.deciding(all, {}), JackpotDraw.deciding(all, 9)]",
            entry["outcome"]["rank"]
        );
        let found = browser.ask(&format!("return (async () => {{ {script} }})()")).await;
        let attempts = entry["draw"]["attempts"].as_array().expect("attempts");
        let recorded: Vec<_> = attempts.iter().map(|one| one["rank"].clone()).collect();
        let drawn = found[0].as_array().expect("ranks");
        assert_eq!(drawn[..recorded.len()], recorded, "{entry}");
        assert_eq!(found[1]["attempt"], recorded.len() - 1, "{entry} {found}");
        assert_eq!(found[2], Value::Null, "rank 9 is not in the table");
        redrawn += usize::from(recorded.len() > 1);
    }
    assert!(redrawn > 20, "{redrawn}");
}

#[tokio::test]
async fn triggers_of_cycles_are_those_of_the_service_bit_for_bit() {
    let service = Service::start().await;
    let browser = browser(&service).await;
    let mut numbers = Numbers(1 << 40);
    let (mut asked, mut expected) = (Vec::new(), Vec::new());
    for number in 0..BATCH {
        let seed = hex::encode(Sha256::digest(numbers.next().to_be_bytes()));
        let kind = if numbers.below(2) == 0 { "amount" } else { "time" };
        let count = match number % 5 {
            0 => 1 + numbers.below(10),
            1 => (1 << 53) - 1 - numbers.below(3),
            _ => 1 + numbers.below(1 << 40),
        };
        let own = CycleSeed::published(&seed).expect("a seed");
        expected.push(json!([own.commitment(), own.index(kind, count)]));
        asked.push(json!([seed, kind, count]));
    }
    let script = format!(
        "return Promise.all({}.map(async ([seed, kind, count]) => \
         [await JackpotDraw.sha256(seed), (await JackpotDraw.trigger(seed, kind, 0, count)).trigger]))",
        Value::from(asked)
    );
    assert_eq!(browser.ask(&script).await, Value::from(expected));
}

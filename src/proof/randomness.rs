//! Seven tests for randomness over the real draw.
//!
//! GLI-19 v3.0 (17 July 2020), 3.2.2, names the tests and evaluates them together at a confidence of 99 %. It does not fix
//! their formulas. These come from Knuth, *The Art of Computer Programming*, vol. 2, 3.3.2 (total distribution, coupon
//! collector, serial correlation), Good 1953 (overlaps), Wald and Wolfowitz 1940 (runs), and Ljung and Box 1978.
//!
//! Every p-value is two-sided: a draw that is more even than chance fails as well.

use std::collections::BTreeMap;
use std::fmt;

use jackpot_core::ids::Id;
use jackpot_core::jackpot::draw::EpochSeed;
use jackpot_core::jackpot::odds::Odds;
use jackpot_core::money::Minor;
use statrs::distribution::{ChiSquared, ContinuousCDF, Normal};

/// Outcomes of the table that is drawn from: ranks 1 to 9, and nothing (0), with equal odds.
pub const OUTCOMES: u8 = 10;
/// Attempts of each entry. A redraw is another number of the same play.
pub const ATTEMPTS: usize = 4;
/// Of all seven together.
const CONFIDENCE: f64 = 0.99;
const TESTS: i32 = 7;
/// The duplicates test draws tickets below n²/1,000, so that about this many pairs are equal.
const EQUAL_PAIRS: u64 = 500;
/// Least number of expected counts in a class of the coupon collector's test.
const LEAST_EXPECTED: f64 = 10.0;
/// The serial correlation is measured between draws that are 1 to this many entries apart.
const LAGS: usize = 10;
/// Fewer entries leave classes of the overlaps test nearly empty.
pub const MIN_ENTRIES: u32 = 10_000;
/// With more, the tickets of the duplicates test would pass the largest total of an odds table.
pub const MAX_ENTRIES: u32 = 2_000_000;

/// What is tested.
#[derive(Debug, Clone)]
pub struct Sample {
    /// The outcome of each attempt, entry by entry.
    pub outcomes: Vec<[u8; ATTEMPTS]>,
    /// The first ticket of each entry, below `total`.
    pub tickets: Vec<u64>,
    pub total: u64,
}

impl Sample {
    /// Draws this many entries, from [`MIN_ENTRIES`] to [`MAX_ENTRIES`], as the service draws them.
    ///
    /// # Panics
    /// With a number of entries outside these limits.
    pub fn draw(seed: &EpochSeed, entries: u32) -> Self {
        assert!((MIN_ENTRIES..=MAX_ENTRIES).contains(&entries), "{entries} entries");
        let ranks = Odds::new(OUTCOMES.into(), (1..OUTCOMES).map(|rank| (rank.into(), 1))).expect("nine tenths");
        let total = u64::from(entries) * u64::from(entries) / (2 * EQUAL_PAIRS);
        let wide = Odds::new(total, []).expect("the limit of the entries sees to it");
        let outcome = |entry: &str, attempt: usize| {
            let attempt = u32::try_from(attempt).expect("a few attempts");
            u8::try_from(seed.rank(entry, None, attempt, ranks.at(Minor::ZERO))).expect("a rank of the table")
        };
        let (outcomes, tickets) = (0..entries)
            .map(|number| {
                let (played, other) = (format!("e{number}"), format!("d{number}"));
                let outcomes = std::array::from_fn(|attempt| outcome(&played, attempt));
                (outcomes, seed.ticket(&other, None, 0, wide.at(Minor::ZERO)))
            })
            .unzip();
        Self {
            outcomes,
            tickets,
            total,
        }
    }

    /// The outcomes of the first attempts, in the order of the entries.
    fn first(&self) -> impl ExactSizeIterator<Item = u8> + Clone + '_ {
        self.outcomes.iter().map(|attempts| attempts[0])
    }
}

/// The jackpot of the draws.
///
/// # Panics
/// Never: the text is an id.
pub fn jackpot() -> Id {
    Id::parse("rng-test").expect("an id")
}

/// The result of one test.
#[derive(Debug, Clone)]
pub struct Judged {
    pub test: &'static str,
    pub measures: &'static str,
    pub statistic: f64,
    /// The distribution of the statistic if the draw is random.
    pub expected: String,
    /// Two-sided.
    pub p: f64,
}

impl Judged {
    fn chi_square(test: &'static str, measures: &'static str, statistic: f64, degrees: f64) -> Self {
        let random = ChiSquared::new(degrees).expect("a positive number of degrees");
        Self {
            test,
            measures,
            statistic,
            expected: format!("chi-square, {degrees:.0} degrees"),
            p: two_sided(random.cdf(statistic), random.sf(statistic)),
        }
    }

    fn normal(test: &'static str, measures: &'static str, statistic: f64) -> Self {
        let random = Normal::standard();
        Self {
            test,
            measures,
            statistic,
            expected: "standard normal".to_owned(),
            p: two_sided(random.cdf(statistic), random.sf(statistic)),
        }
    }

    pub fn passes(&self) -> bool {
        self.p >= limit()
    }
}

fn two_sided(below: f64, above: f64) -> f64 {
    (2.0 * below.min(above)).min(1.0)
}

/// The least p-value of each test, so that a random draw passes all seven with a probability of 99 % (Šidák).
fn limit() -> f64 {
    1.0 - CONFIDENCE.powf(1.0 / f64::from(TESTS))
}

/// The results of all seven, in the order of GLI-19.
#[derive(Debug, Clone)]
pub struct Report {
    pub entries: usize,
    pub tests: Vec<Judged>,
}

impl Report {
    pub fn passes(&self) -> bool {
        self.tests.iter().all(Judged::passes)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} entries with {ATTEMPTS} attempts each, {OUTCOMES} outcomes of equal odds",
            self.entries
        )?;
        for one in &self.tests {
            let mark = if one.passes() { "pass" } else { "FAIL" };
            writeln!(
                f,
                "{mark}  p = {:.6}  {:<18}  {:>10.3} ({})  {}",
                one.p, one.test, one.statistic, one.expected, one.measures
            )?;
        }
        let verdict = if self.passes() { "passed" } else { "FAILED" };
        writeln!(
            f,
            "{verdict} together at 99 %: every p must be at least {:.6}. A random draw fails one run in a hundred.",
            limit()
        )
    }
}

/// Runs all seven.
pub fn judge(sample: &Sample) -> Report {
    Report {
        entries: sample.outcomes.len(),
        tests: vec![
            total_distribution(sample),
            overlaps(sample),
            coupon_collector(sample),
            runs(sample),
            interplay(sample),
            serial_correlation(sample),
            duplicates(sample),
        ],
    }
}

fn total_distribution(sample: &Sample) -> Judged {
    let outcomes = sample.outcomes.iter().flatten().copied().map(usize::from);
    let count = float(sample.outcomes.len() * ATTEMPTS);
    Judged::chi_square(
        "total distribution",
        "how often each outcome comes",
        spread(&counts(outcomes, OUTCOMES.into()), count),
        f64::from(OUTCOMES) - 1.0,
    )
}

/// Good's serial test: triples that overlap, less what pairs that overlap explain.
fn overlaps(sample: &Sample) -> Judged {
    let size = usize::from(OUTCOMES);
    let circle = sample.first().cycle();
    let triples = sample.first().zip(circle.clone().skip(1)).zip(circle.skip(2));
    let triples =
        triples.map(|((one, two), three)| (usize::from(one) * size + usize::from(two)) * size + usize::from(three));
    let triples = counts(triples, size.pow(3));
    let pairs = triples
        .chunks(size)
        .map(|of_pair| of_pair.iter().sum())
        .collect::<Vec<_>>();
    let count = float(sample.outcomes.len());
    Judged::chi_square(
        "overlaps",
        "overlapping triples of outcomes",
        spread(&triples, count) - spread(&pairs, count),
        float(size.pow(3) - size.pow(2)),
    )
}

/// How many entries it takes until each outcome has come.
fn coupon_collector(sample: &Sample) -> Judged {
    let (mut lengths, mut seen, mut length) = (BTreeMap::<u32, u32>::new(), 0_u32, 0_u32);
    for outcome in sample.first() {
        seen |= 1 << outcome;
        length += 1;
        if seen.count_ones() == u32::from(OUTCOMES) {
            *lengths.entry(length).or_default() += 1;
            (seen, length) = (0, 0);
        }
    }
    let collections = f64::from(lengths.values().sum::<u32>());
    let longest = lengths.keys().last().copied().unwrap_or_default();
    let (mut classes, mut from, mut observed) = (Vec::new(), 0.0, 0.0);
    for length in u32::from(OUTCOMES)..=longest {
        observed += f64::from(lengths.get(&length).copied().unwrap_or_default());
        let to = complete_within(length);
        let rest = collections * (1.0 - to);
        if collections * (to - from) >= LEAST_EXPECTED && rest >= LEAST_EXPECTED {
            classes.push((observed, collections * (to - from)));
            (from, observed) = (to, 0.0);
        }
    }
    classes.push((observed, collections * (1.0 - from)));
    let statistic = classes
        .iter()
        .map(|(observed, expected)| (observed - expected).powi(2) / expected);
    Judged::chi_square(
        "coupon collector",
        "entries until every outcome has come",
        statistic.sum(),
        (float(classes.len()) - 1.0).max(1.0),
    )
}

/// The probability that this many draws have every outcome, by inclusion and exclusion.
fn complete_within(draws: u32) -> f64 {
    let outcomes = f64::from(OUTCOMES);
    let mut binomial = 1.0;
    let mut sum = 0.0;
    for missing in 0..=OUTCOMES {
        let sign = if missing % 2 == 0 { 1.0 } else { -1.0 };
        let missing = f64::from(missing);
        sum += sign * binomial * (1.0 - missing / outcomes).powf(draws.into());
        binomial *= (outcomes - missing) / (missing + 1.0);
    }
    sum
}

/// Runs of outcomes in the upper or the lower half.
fn runs(sample: &Sample) -> Judged {
    let is_high = sample.first().map(|outcome| outcome >= OUTCOMES / 2);
    let high = float(is_high.clone().filter(|high| *high).count());
    let count = float(sample.outcomes.len());
    let low = count - high;
    let changes = is_high
        .clone()
        .zip(is_high.skip(1))
        .filter(|(one, next)| one != next)
        .count();
    let mean = 2.0 * high * low / count + 1.0;
    let variance = (mean - 1.0) * (mean - 2.0) / (count - 1.0);
    // Without one of the halves there is a single run, which no random draw of this length has.
    let deviation = variance.max(f64::MIN_POSITIVE).sqrt();
    Judged::normal(
        "runs",
        "runs in the upper or lower half of the outcomes",
        (float(changes) + 1.0 - mean) / deviation,
    )
}

/// The attempts of one entry, two by two: what a pair adds to its two margins.
fn interplay(sample: &Sample) -> Judged {
    let (size, count) = (usize::from(OUTCOMES), float(sample.outcomes.len()));
    let (mut statistic, mut degrees) = (0.0, 0.0);
    for one in 0..ATTEMPTS {
        for other in one + 1..ATTEMPTS {
            let cells = sample.outcomes.iter();
            let cells = cells.map(|attempts| usize::from(attempts[one]) * size + usize::from(attempts[other]));
            let margin = |attempt: usize| {
                let outcomes = sample.outcomes.iter().map(|attempts| usize::from(attempts[attempt]));
                spread(&counts(outcomes, size), count)
            };
            statistic += spread(&counts(cells, size * size), count) - margin(one) - margin(other);
            degrees += (f64::from(OUTCOMES) - 1.0).powi(2);
        }
    }
    Judged::chi_square("interplay", "pairs of attempts of the same entry", statistic, degrees)
}

/// Ljung and Box over ten distances.
fn serial_correlation(sample: &Sample) -> Judged {
    let count = float(sample.outcomes.len());
    let mean = sample.first().map(f64::from).sum::<f64>() / count;
    let values = sample
        .first()
        .map(|outcome| f64::from(outcome) - mean)
        .collect::<Vec<_>>();
    let variance = values.iter().map(|value| value * value).sum::<f64>();
    let of_lag = |lag: usize| {
        let products = values.iter().zip(&values[lag..]).map(|(one, later)| one * later);
        let correlation = products.sum::<f64>() / variance.max(f64::MIN_POSITIVE);
        correlation * correlation / (count - float(lag))
    };
    Judged::chi_square(
        "serial correlation",
        "correlation of entries that are 1 to 10 apart",
        count * (count + 2.0) * (1..=LAGS).map(of_lag).sum::<f64>(),
        float(LAGS),
    )
}

/// Equal pairs among tickets of a wide range. Two pairs are independent of each other, so mean and variance are exact.
fn duplicates(sample: &Sample) -> Judged {
    let mut sorted = sample.tickets.clone();
    sorted.sort_unstable();
    let same = sorted.chunk_by(|one, next| one == next).map(|same| float(same.len()));
    let equal = same.map(|count| count * (count - 1.0) / 2.0).sum::<f64>();
    let count = float(sorted.len());
    #[expect(clippy::cast_precision_loss, reason = "at most 2^32")]
    let chance = 1.0 / sample.total as f64;
    let mean = count * (count - 1.0) / 2.0 * chance;
    Judged::normal(
        "duplicates",
        "equal pairs among tickets of a wide range",
        (equal - mean) / (mean * (1.0 - chance)).sqrt(),
    )
}

fn counts(values: impl Iterator<Item = usize>, size: usize) -> Vec<u32> {
    let mut counts = vec![0; size];
    for value in values {
        counts[value] += 1;
    }
    counts
}

/// Pearson's statistic of counts that are expected to be equal.
fn spread(counts: &[u32], all: f64) -> f64 {
    let expected = all / float(counts.len());
    let squares = counts.iter().map(|count| (f64::from(*count) - expected).powi(2));
    squares.sum::<f64>() / expected
}

#[expect(clippy::cast_precision_loss, reason = "at most some millions")]
fn float(number: usize) -> f64 {
    number as f64
}

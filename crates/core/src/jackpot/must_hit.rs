//! The rule of a tier by when its pool must be hit. Pure.

use jiff::civil::Time;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::document::Tier;
use crate::day::{instant, time_of_day, zone_named};
use crate::money::Minor;
use crate::violation::Violation;

/// Longest time within which a pool must be hit, seconds: ten years. The index of its second stays below 2^32.
pub const MAX_WITHIN_S: u32 = 10 * 365 * 86_400;
/// Least time from the begin of a cycle to its deadline of the day, seconds.
pub const LEAST_OF_DAY_S: i64 = 60;

/// By when a pool must be hit: `amount`, `time` or `daily`; `amount` also together with one of the others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MustHitBy {
    /// Before the pool is above an amount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub amount: Option<ByAmount>,
    /// Within a time after the cycle's begin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub time: Option<ByTime>,
    /// Before a time of day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub daily: Option<ByDay>,
}

/// The trigger is an amount from `low + 1` to `high`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ByAmount {
    /// Below every trigger; at least `min_payout` and `seed`.
    #[schema(value_type = u64, example = 5000, maximum = 9_007_199_254_740_991_u64)]
    pub low: Minor,
    /// The largest trigger; above `low`, at most the cap.
    #[schema(value_type = u64, example = 10000, maximum = 9_007_199_254_740_991_u64)]
    pub high: Minor,
}

/// The trigger is a second from `after_s + 1` to `within_s` after the begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ByTime {
    /// Seconds after the begin in which nothing is due; below `within_s`.
    #[schema(example = 0)]
    pub after_s: u32,
    /// Seconds from the begin to the deadline, at most 315,360,000 (ten years).
    #[schema(example = 86400, maximum = 315_360_000)]
    pub within_s: u32,
}

/// The trigger is a second before this time of day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ByDay {
    /// `HH:MM`, 00:00 to 23:59.
    #[schema(example = "20:00", pattern = "^([01][0-9]|2[0-3]):[0-5][0-9]$")]
    pub at: String,
    /// A time zone of the IANA database.
    #[schema(example = "Asia/Seoul")]
    pub zone: String,
}

impl ByDay {
    fn time(&self) -> Option<Time> {
        time_of_day(&self.at)
    }

    fn zone(&self) -> Option<TimeZone> {
        zone_named(&self.zone)
    }

    /// The first `count` of these times of day from the second `from` on, in seconds since 1970, ascending. A time that
    /// the zone skips is the first instant after the gap; of one that comes twice, the first counts.
    #[must_use]
    pub fn times(&self, from: i64, count: usize) -> Vec<i64> {
        let (Some(time), Some(zone), Ok(begin)) = (self.time(), self.zone(), Timestamp::from_second(from)) else {
            return Vec::new();
        };
        let Ok(mut day) = zone.to_datetime(begin).date().checked_sub(2.days()) else {
            return Vec::new();
        };
        let mut times = Vec::with_capacity(count);
        while times.len() < count {
            let at = instant(&zone, day, time);
            if let Some(at) = at.filter(|at| *at >= from && times.last().is_none_or(|last| at > last)) {
                times.push(at);
            }
            let Ok(next) = day.tomorrow() else { break };
            day = next;
        }
        times
    }

    /// The deadline of a cycle that begins in this second.
    #[must_use]
    pub fn deadline(&self, begin: i64) -> Option<i64> {
        self.times(begin + LEAST_OF_DAY_S, 1).first().copied()
    }
}

/// What is wrong with the rule of a tier.
pub(super) fn check(at: &str, tier: &Tier, wrong: &mut Vec<Violation>) {
    let Some(rule) = &tier.must_hit_by else { return };
    let field = format!("{at}.must_hit_by");
    if rule.amount.is_none() && rule.time.is_none() && rule.daily.is_none() {
        wrong.push(Violation::new(&*field, "must have amount, time or daily, or be null"));
    }
    if rule.time.is_some() && rule.daily.is_some() {
        wrong.push(Violation::new(&*field, "must have time or daily, not both"));
    }
    if let Some(ByAmount { low, high }) = rule.amount {
        if low < tier.min_payout {
            let rule = format!("must be at least the tier's min_payout, {}", tier.min_payout);
            wrong.push(Violation::new(format!("{field}.amount.low"), rule));
        }
        if low < tier.seed {
            let rule = format!("must be at least the tier's seed, {}", tier.seed);
            wrong.push(Violation::new(format!("{field}.amount.low"), rule));
        }
        if high <= low {
            let rule = format!("must be above low, {low}");
            wrong.push(Violation::new(format!("{field}.amount.high"), rule));
        }
        if let Some(cap) = tier.cap.filter(|cap| high > *cap) {
            let rule = format!("must be at most the tier's cap, {cap}");
            wrong.push(Violation::new(format!("{field}.amount.high"), rule));
        }
    }
    if let Some(ByTime { after_s, within_s }) = rule.time
        && !(within_s > after_s && within_s <= MAX_WITHIN_S)
    {
        let rule = format!("must be above after_s, {after_s}, and at most {MAX_WITHIN_S}");
        wrong.push(Violation::new(format!("{field}.time.within_s"), rule));
    }
    if let Some(daily) = &rule.daily {
        if daily.time().is_none() {
            let rule = "must be a time of day from 00:00 to 23:59";
            wrong.push(Violation::new(format!("{field}.daily.at"), rule));
        }
        if daily.zone().is_none() {
            let rule = format!("'{}' is no time zone of the IANA database", daily.zone.escape_default());
            wrong.push(Violation::new(format!("{field}.daily.zone"), rule));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{parse_rfc3339, rfc3339};

    fn second(text: &str) -> i64 {
        parse_rfc3339(text).expect("a time") / 1_000
    }

    fn deadline(at: &str, zone: &str, begin: &str) -> String {
        let daily = ByDay {
            at: at.to_owned(),
            zone: zone.to_owned(),
        };
        let at = daily.deadline(second(begin)).expect("a deadline");
        rfc3339(at * 1_000).replace(".000", "")
    }

    #[test]
    fn a_rule_that_cannot_work_names_its_field() {
        let broken = |rule: serde_json::Value, change: serde_json::Value| {
            let mut tier = serde_json::json!({"tier": "grand", "share_ppm": 1, "min_payout": 50, "must_hit_by": rule});
            let changed = change.as_object().expect("an object").clone();
            tier.as_object_mut().expect("an object").extend(changed);
            let (tier, mut wrong) = (serde_json::from_value(tier).expect("a tier"), Vec::new());
            check("t", &tier, &mut wrong);
            wrong
                .into_iter()
                .map(|v| v.field.replace("t.must_hit_by", ""))
                .collect::<Vec<_>>()
        };
        let amount = |low: u64, high: u64| serde_json::json!({"amount": {"low": low, "high": high}});
        let time = |after: u32, within: u32| serde_json::json!({"time": {"after_s": after, "within_s": within}});
        let daily = |at: &str, zone: &str| serde_json::json!({"daily": {"at": at, "zone": zone}});
        for (rule, change, fields) in [
            (amount(49, 90), r"{}", &[".amount.low"][..]),
            (amount(50, 90), r"{}", &[]),
            (amount(60, 90), r#"{"seed": 61}"#, &[".amount.low"]),
            (amount(60, 90), r#"{"seed": 60}"#, &[]),
            (amount(60, 101), r#"{"cap": 100}"#, &[".amount.high"]),
            (amount(60, 100), r#"{"cap": 100}"#, &[]),
            (amount(60, 60), r"{}", &[".amount.high"]),
            (amount(60, 61), r"{}", &[]),
            (amount(70, 60), r"{}", &[".amount.high"]),
            (serde_json::json!({}), r"{}", &[""]),
            (time(5, 5), r"{}", &[".time.within_s"]),
            (time(5, 6), r"{}", &[]),
            (time(0, MAX_WITHIN_S + 1), r"{}", &[".time.within_s"]),
            (
                serde_json::json!({"time": {"after_s": 0, "within_s": 9}, "daily": {"at": "20:00", "zone": "Asia/Seoul"}}),
                r"{}",
                &[""],
            ),
            (daily("20:00", "Asia/Nowhere"), r"{}", &[".daily.zone"]),
            (daily("24:00", "Asia/Seoul"), r"{}", &[".daily.at"]),
            (daily("8:00", "Asia/Seoul"), r"{}", &[".daily.at"]),
            (daily("00:00", "Europe/Berlin"), r"{}", &[]),
        ] {
            let change = serde_json::from_str(change).expect("JSON");
            assert_eq!(broken(rule.clone(), change), fields, "{rule}");
        }
    }

    #[test]
    fn the_deadline_is_the_next_time_of_day_at_least_a_minute_ahead() {
        for (begin, expected) in [
            ("2026-03-01T10:58:59Z", "2026-03-01T11:00:00Z"),
            ("2026-03-01T10:59:00Z", "2026-03-01T11:00:00Z"),
            ("2026-03-01T10:59:01Z", "2026-03-02T11:00:00Z"),
            ("2026-03-01T11:00:00Z", "2026-03-02T11:00:00Z"),
        ] {
            assert_eq!(deadline("20:00", "Asia/Seoul", begin), expected, "{begin}");
        }
    }

    #[test]
    fn a_time_that_the_zone_skips_is_the_first_instant_after_the_gap() {
        let begin = "2026-03-28T20:00:00Z";
        for at in ["02:00", "02:30", "02:59", "03:00"] {
            assert_eq!(deadline(at, "Europe/Berlin", begin), "2026-03-29T01:00:00Z", "{at}");
        }
        assert_eq!(deadline("03:01", "Europe/Berlin", begin), "2026-03-29T01:01:00Z");
        assert_eq!(deadline("01:59", "Europe/Berlin", begin), "2026-03-29T00:59:00Z");
    }

    #[test]
    fn of_a_time_that_comes_twice_the_first_counts() {
        for (begin, expected) in [
            ("2026-10-24T20:00:00Z", "2026-10-25T00:30:00Z"),
            ("2026-10-25T00:29:30Z", "2026-10-26T01:30:00Z"),
            ("2026-10-25T01:00:00Z", "2026-10-26T01:30:00Z"),
        ] {
            assert_eq!(deadline("02:30", "Europe/Berlin", begin), expected, "{begin}");
        }
    }

    #[test]
    fn a_day_that_the_zone_skips_has_one_deadline() {
        let daily = ByDay {
            at: "12:00".to_owned(),
            zone: "Pacific/Apia".to_owned(),
        };
        let times = daily.times(second("2011-12-29T00:00:00Z"), 4);
        let times: Vec<_> = times.into_iter().map(|at| rfc3339(at * 1_000)).collect();
        assert_eq!(
            times,
            [
                "2011-12-29T22:00:00.000Z",
                "2011-12-30T10:00:00.000Z",
                "2011-12-30T22:00:00.000Z",
                "2011-12-31T22:00:00.000Z"
            ]
        );
    }
}

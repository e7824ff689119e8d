//! A definition from a form, or from an answer of the API. A wrong field has the name that the API has for it.

use jackpot_core::currency::Currency;
use jackpot_core::jackpot::definition::{Definition, Violation};
use jackpot_core::violation::{check_new_name, name_and_rest};
use jackpot_ui::Words;
use jackpot_ui::money::{parse, parse_percent};
use serde_json::{Map, Value, json};

use super::fields::{rank_field, ranks, source_field, sources, tier_field, tiers};
use crate::console::Form;

/// The fields of a jackpot's answer that are no part of its definition.
const OF_THE_JACKPOT: [&str; 6] = ["status", "stopped", "version", "pending", "meters", "source"];

/// The definition that the next one replaces: the waiting one, or the one in force.
#[must_use]
pub fn of_answer(answer: &Value) -> Option<Definition> {
    match &answer["pending"] {
        Value::Null => in_force(answer),
        pending => in_force(pending),
    }
}

/// The definition in force, or one that waits.
#[must_use]
pub fn in_force(answer: &Value) -> Option<Definition> {
    let mut fields = answer.as_object()?.clone();
    fields.retain(|name, _| !OF_THE_JACKPOT.contains(&name.as_str()));
    Definition::stored(serde_json::from_value(Value::Object(fields)).ok()?).ok()
}

/// The definition in a form, checked as the API checks it.
/// Errors: every field that is wrong.
pub fn of_form(words: Words, form: &Form) -> Result<Definition, Vec<Violation>> {
    let mut reader = Reader {
        words,
        form,
        currency: None,
        wrong: Vec::new(),
    };
    match Currency::parse(form.get("currency")) {
        Ok(currency) => reader.currency = Some(currency),
        Err(error) => _ = reader.refuse("currency", error.to_string()),
    }
    let body = reader.body();
    if !reader.wrong.is_empty() {
        return Err(reader.wrong);
    }
    let document: jackpot_core::jackpot::document::Document =
        serde_json::from_value(body).map_err(|error| vec![Violation::new("", error.to_string())])?;
    let name = check_new_name(&document.name);
    name_and_rest(name, Definition::check(document))
}

struct Reader<'a> {
    words: Words,
    form: &'a Form,
    /// Without it no amount can be read.
    currency: Option<Currency>,
    wrong: Vec<Violation>,
}

impl Reader<'_> {
    fn refuse(&mut self, name: &str, rule: String) -> Value {
        self.wrong.push(Violation::new(name, rule));
        Value::Null
    }

    fn id(&mut self, name: &str) -> Value {
        match jackpot_core::ids::Id::parse(self.form.get(name)) {
            Ok(id) => json!(id),
            Err(error) => self.refuse(name, error.to_string()),
        }
    }

    fn amount(&mut self, name: &str) -> Value {
        let Some(currency) = self.currency else {
            return Value::Null;
        };
        let amount = parse(self.form.get(name), currency).and_then(|amount| u64::try_from(amount).ok());
        if let Some(amount) = amount {
            return json!(amount);
        }
        let digits = u64::from(currency.digits());
        self.refuse(name, self.words.tv("form-amount", [("digits", digits.into())]))
    }

    /// An amount, or what an empty field stands for.
    fn amount_or(&mut self, name: &str, empty: Value) -> Value {
        if self.form.get(name).is_empty() {
            empty
        } else {
            self.amount(name)
        }
    }

    fn percent(&mut self, name: &str) -> Value {
        match parse_percent(self.form.get(name)) {
            Some(ppm) => json!(ppm),
            None => self.refuse(name, self.words.t("form-percent")),
        }
    }

    fn number(&mut self, name: &str) -> Value {
        match self.form.get(name).replace(',', "").parse::<u64>() {
            Ok(number) => json!(number),
            Err(_) => self.refuse(name, self.words.t("form-number")),
        }
    }

    fn body(&mut self) -> Value {
        let form = self.form;
        let mut body = Map::new();
        let mut set = |name: &str, value: Value| body.insert(name.to_owned(), value);
        set("id", self.id("id"));
        set("name", json!(form.get("name")));
        set("currency", json!(form.get("currency")));
        set(
            "contribution",
            match form.get("contribution.kind") {
                "rate" => json!({ "rate_ppm": self.percent("contribution") }),
                _ => json!({ "fixed": self.amount("contribution") }),
            },
        );
        set("tiers", (0..tiers(form)).map(|index| self.tier(index)).collect());
        let ranks: Value = (0..ranks(form)).map(|index| self.rank(index)).collect();
        let per_stake = self.amount_or("odds.per_stake", Value::Null);
        set(
            "odds",
            json!({ "total": self.number("odds.total"), "per_stake": per_stake, "ranks": ranks }),
        );
        set("max_redraws", self.number("max_redraws"));
        if !form.get("min_stake").is_empty() {
            set("min_stake", self.amount("min_stake"));
        }
        set("max_stake", self.amount_or("max_stake", Value::Null));
        set("public_meter", json!(form.get("public_meter") == "true"));
        set("winners", json!(form.get("winners")));
        set("settlement", json!(form.get("settlement")));
        set("approval_above", self.amount_or("approval_above", Value::Null));
        set("reverse_within_s", self.number("reverse_within_s"));
        set("reverse_by", json!(form.get("reverse_by")));
        let origins = form
            .get("origins")
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty());
        set("origins", origins.collect());
        let room = if form.get("room").is_empty() {
            Value::Null
        } else {
            self.id("room")
        };
        set("room", room);
        set("sources", self.sources());
        Value::Object(body)
    }

    fn sources(&mut self) -> Value {
        let mut all = Map::new();
        for index in 0..sources(self.form) {
            let name = |field: &str| source_field(index, field);
            let id = self.id(&name("source_id"));
            let contribution = match self.form.get(&name("contribution.kind")) {
                "rate" => json!({ "rate_ppm": self.percent(&name("contribution")) }),
                "fixed" => json!({ "fixed": self.amount(&name("contribution")) }),
                _ => Value::Null,
            };
            let keys = self.form.get(&name("keys")).lines().map(str::trim);
            let keys = keys.filter(|line| !line.is_empty()).collect::<Vec<_>>();
            let keys = if keys.is_empty() { Value::Null } else { json!(keys) };
            let draw = match self.form.get(&name("draw")) {
                "external" => "external",
                _ => "service",
            };
            let Some(id) = id.as_str() else { continue };
            let source = json!({ "contribution": contribution, "draw": draw, "keys": keys });
            if all.insert(id.to_owned(), source).is_some() {
                self.refuse(&name("source_id"), self.words.t("define-source-twice"));
            }
        }
        Value::Object(all)
    }

    fn tier(&mut self, index: usize) -> Value {
        let name = |field: &str| tier_field(index, field);
        let reserve = if self.form.get(&name("reserve_ppm")).is_empty() {
            json!(0)
        } else {
            self.percent(&name("reserve_ppm"))
        };
        json!({
            "tier": self.id(&name("tier")),
            "share_ppm": self.percent(&name("share_ppm")),
            "min_payout": self.amount(&name("min_payout")),
            "seed": self.amount_or(&name("seed"), json!(0)),
            "reserve_ppm": reserve,
            "cap": self.amount_or(&name("cap"), Value::Null),
            "must_hit_by": self.must_hit_by(index),
        })
    }

    /// The rule of a pool that must be hit: each of its parts that has a field; null without one.
    fn must_hit_by(&mut self, index: usize) -> Value {
        let name = |field: &str| tier_field(index, &format!("must_hit_by.{field}"));
        let form = self.form;
        let has = |fields: [&str; 2]| fields.iter().any(|field| !form.get(&name(field)).is_empty());
        let mut rule = Map::new();
        if has(["amount.low", "amount.high"]) {
            let (low, high) = (self.amount(&name("amount.low")), self.amount(&name("amount.high")));
            rule.insert("amount".to_owned(), json!({ "low": low, "high": high }));
        }
        if has(["time.after_s", "time.within_s"]) {
            let (after, within) = (self.number(&name("time.after_s")), self.number(&name("time.within_s")));
            rule.insert("time".to_owned(), json!({ "after_s": after, "within_s": within }));
        }
        if has(["daily.at", "daily.zone"]) {
            let of = |field: &str| form.get(&name(field)).trim();
            rule.insert(
                "daily".to_owned(),
                json!({ "at": of("daily.at"), "zone": of("daily.zone") }),
            );
        }
        if rule.is_empty() {
            Value::Null
        } else {
            Value::Object(rule)
        }
    }

    fn rank(&mut self, index: usize) -> Value {
        let name = |field: &str| rank_field(index, field);
        let prize = match self.form.get(&name("prize")) {
            "coupon" => json!({ "coupon": { "coupon_id": self.id(&name("coupon_id")) } }),
            "fixed" => json!({ "fixed": { "tier": self.id(&name("tier")), "amount": self.amount(&name("value")) } }),
            "share" => {
                let share = self.percent(&name("value"));
                json!({ "pool": { "tier": self.id(&name("tier")), "take": { "share_ppm": share } } })
            }
            _ => json!({ "pool": { "tier": self.id(&name("tier")), "take": "all" } }),
        };
        json!({ "rank": self.number(&name("rank")), "weight": self.number(&name("weight")), "prize": prize })
    }
}

#[cfg(test)]
mod tests {
    use jackpot_ui::Language;

    use super::*;
    use crate::console::define::{fields, templates};

    fn form(template: &str) -> Form {
        let mut form = Form::default();
        fields::fill(&mut form, &templates::document(template));
        form.set("id", "spring");
        form
    }

    #[test]
    fn a_form_says_what_the_definition_said() {
        for template in templates::NAMES {
            let mut document = templates::document(template);
            document.id = jackpot_core::ids::Id::parse("spring").unwrap();
            let read = of_form(Language::En.words(), &form(template)).unwrap();
            assert_eq!(read.document().tiers, document.tiers, "{template}");
            assert_eq!(read.document().odds, document.odds);
            assert_eq!(read.document().contribution, document.contribution);
        }
    }

    #[test]
    fn a_form_keeps_all_that_a_definition_says() {
        let mut all = serde_json::to_value(templates::document("tiers")).unwrap();
        let more = json!({"id": "spring", "max_redraws": 3, "min_stake": 7, "max_stake": 9_000, "public_meter": true,
            "origins": ["https://games.example"], "winners": "full", "settlement": "tracked", "approval_above": 50_000,
            "reverse_within_s": 77, "reverse_by": "operate", "room": "lobby", "sources": {"lobby": {}}});
        for (name, value) in more.as_object().unwrap() {
            all[name.as_str()] = value.clone();
        }
        for rule in [
            json!({"amount": {"low": 500_000_000_u64, "high": 900_000_000_u64}, "time": {"after_s": 60, "within_s": 3_600}}),
            json!({"amount": {"low": 500_000_000_u64, "high": 900_000_000_u64}, "daily": {"at": "20:00", "zone": "Asia/Seoul"}}),
            json!({"time": {"after_s": 0, "within_s": 60}}),
            json!(null),
        ] {
            all["tiers"][0]["must_hit_by"] = rule;
            all["tiers"][0]["cap"] = json!(null);
            let document = serde_json::from_value(all.clone()).unwrap();
            let mut form = Form::default();
            fields::fill(&mut form, &document);
            let read = of_form(Language::En.words(), &form).unwrap_or_else(|wrong| panic!("{wrong:?}"));
            assert_eq!(
                serde_json::to_value(read.document()).unwrap(),
                serde_json::to_value(&document).unwrap()
            );
        }
    }

    #[test]
    fn half_of_a_must_hit_rule_is_named() {
        let mut form = form("single");
        form.set("tiers[0].must_hit_by.amount.low", "50");
        form.set("tiers[0].must_hit_by.time.within_s", "soon");
        let wrong = of_form(Language::En.words(), &form).unwrap_err();
        let names: Vec<_> = wrong.iter().map(|wrong| wrong.field.as_str()).collect();
        let expected = ["amount.high", "time.after_s", "time.within_s"];
        assert_eq!(names, expected.map(|name| format!("tiers[0].must_hit_by.{name}")));
    }

    #[test]
    fn sources_are_written_and_read_alike() {
        let mut document = templates::document("single");
        let sources = json!({"lobby": {}, "vip": {"contribution": {"fixed": 500}},
            "slot": {"contribution": {"rate_ppm": 12_345}, "draw": "external", "keys": ["game-1", "game-2"]}});
        document.sources = serde_json::from_value(sources).unwrap();
        let mut form = Form::default();
        fields::fill(&mut form, &document);
        form.set("id", "spring");
        let read = of_form(Language::En.words(), &form).unwrap();
        assert_eq!(read.document().sources, document.sources);
        fields::change_rows(&mut form, "add-source");
        form.set("sources[3].source_id", "lobby");
        let wrong = of_form(Language::En.words(), &form).unwrap_err();
        assert_eq!(wrong[0].field, "sources[3].source_id");
        fields::change_rows(&mut form, "remove-source-3");
        fields::change_rows(&mut form, "remove-source-0");
        let left = of_form(Language::En.words(), &form).unwrap();
        assert_eq!(left.document().sources.len(), 2);
    }

    #[test]
    fn every_wrong_field_is_named_as_the_form_has_it() {
        let mut form = form("single");
        form.set("contribution", "1.234");
        form.set("tiers[0].share_ppm", "101");
        form.set("odds.total", "many");
        form.set("id", "a:b");
        let wrong = of_form(Language::En.words(), &form).unwrap_err();
        let names: Vec<_> = wrong.iter().map(|wrong| wrong.field.as_str()).collect();
        assert_eq!(names, ["id", "contribution", "tiers[0].share_ppm", "odds.total"]);
        assert!(names.iter().all(|name| form.has(name)));
    }

    #[test]
    fn rows_come_and_go_and_the_others_stay() {
        let mut form = form("tiers");
        let before = of_form(Language::En.words(), &form).unwrap();
        fields::change_rows(&mut form, "add-rank");
        assert_eq!(fields::ranks(&form), before.document().odds.ranks.len() + 1);
        let last = format!("remove-rank-{}", fields::ranks(&form) - 1);
        fields::change_rows(&mut form, &last);
        assert_eq!(
            of_form(Language::En.words(), &form).unwrap().document().odds,
            before.document().odds
        );
        fields::change_rows(&mut form, "remove-rank-0");
        let after = of_form(Language::En.words(), &form).unwrap();
        assert_eq!(after.document().odds.ranks, before.document().odds.ranks[1..]);
        fields::change_rows(&mut form, "remove-rank-99");
        assert_eq!(fields::ranks(&form), before.document().odds.ranks.len() - 1);
    }

    #[test]
    fn an_error_of_the_api_finds_its_field() {
        let form = form("tiers");
        let of = |field: &str| fields::name_of(&form, field);
        assert_eq!(of("tiers[1].cap"), "tiers[1].cap");
        assert_eq!(of("odds.ranks[0].prize.pool.tier"), "odds.ranks[0].tier");
        assert_eq!(of("odds.ranks[0].prize.fixed.amount"), "odds.ranks[0].value");
        assert_eq!(of("odds.ranks[0].prize"), "odds.ranks[0].prize");
        assert_eq!(of("contribution.fixed"), "contribution");
        assert_eq!(of("odds.ranks"), "odds.total");
        assert_eq!(of("origins[0]"), "origins");
        let mut form = form.clone();
        form.set("sources[0].source_id", "slot.9");
        form.set("sources[0].keys", "");
        let of = |field: &str| fields::name_of(&form, field);
        assert_eq!(of("sources.slot.9.keys[1]"), "sources[0].keys");
        assert_eq!(of("sources.slot.9.contribution.fixed"), "sources[0].contribution");
        assert_eq!(of("sources"), "sources");
    }
}

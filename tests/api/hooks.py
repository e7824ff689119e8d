"""Makes what schemathesis generates mean something, where a rule is about more than one field.

Each hook says which rule; nothing else is changed. Invalid data passes through as it is.
"""

import itertools
import json
import re

import schemathesis

NUMBERS = itertools.count(1)
# Every jackpot takes the stakes from 1 to this.
MAX_STAKE = 1000
TAGS = re.compile(r"\*|\"[!#-~]*\"(, *\"[!#-~]*\")*")


def positive(context_or_case):
    """Whether the generated request is meant to be valid."""
    meta = getattr(context_or_case, "meta", None)
    mode = getattr(getattr(meta, "generation", None), "mode", None)
    return mode is None or getattr(mode, "value", mode) == "positive"


def fresh(prefix):
    """Ids are used once: one that was used with other content is refused (…-id-reused)."""
    return f"{prefix}-{next(NUMBERS)}"


def amounts(tier):
    """min_payout and seed are at most the cap."""
    cap = tier.get("cap")
    if cap is not None:
        for field in ("min_payout", "seed"):
            if isinstance(tier.get(field), int):
                tier[field] = min(tier[field], cap)
    # Its amounts stand in an order with those of the tier.
    tier.pop("must_hit_by", None)


def definition(body, path):
    """The rules between the fields of a jackpot's definition."""
    body["id"] = path.get("id", body["id"])
    # A tier stays once it is defined, so all definitions have this one. The shares sum to the whole at most.
    tiers = body["tiers"] = body["tiers"][:1]
    tiers[0]["tier"], tiers[0]["share_ppm"] = "grand", 1_000_000
    amounts(tiers[0])
    # The stakes of `content` are allowed. A rate needs one above 0.
    if body.get("min_stake") is not None or "rate_ppm" in body["contribution"]:
        body["min_stake"] = 1
    if body.get("max_stake") is not None:
        body["max_stake"] = max(MAX_STAKE, body["max_stake"])
    ranks = body["odds"]["ranks"]
    body["odds"]["total"] = max(body["odds"]["total"], 1)
    # Odds by stake need a largest one.
    if body["odds"].get("per_stake") is not None:
        body["odds"]["per_stake"] = 1
        body["max_stake"] = body.get("max_stake") or MAX_STAKE
    for number, rank in enumerate(ranks, 1):
        rank["rank"] = number
        rank["weight"] = 0
        prize = rank["prize"]
        for kind in ("pool", "fixed"):
            if kind in prize:
                prize[kind]["tier"] = tiers[0]["tier"]
        if "fixed" in prize:
            prize["fixed"]["amount"] = max(1, min(prize["fixed"]["amount"], tiers[0].get("cap") or 2**53 - 1))
        if "coupon" in prize:
            prize["coupon"]["coupon_id"] = "coffee"
    # Origins are scheme://host, each once.
    if isinstance(body.get("origins"), list):
        body["origins"] = [f"https://shop-{number}.example" for number, _ in enumerate(body["origins"])]
    # A room that exists, or none.
    if body.get("room") is not None:
        body["room"] = "lobby"
    # The retention of ids in seconds, by default.
    if body.get("reverse_within_s") is not None:
        body["reverse_within_s"] = min(body["reverse_within_s"], 7200)
    # Money of a jackpot with a limit goes only to one that has such a limit, and transfers go to one without.
    body.pop("approval_above", None)
    # Where there are sources, each entry names one.
    body["sources"] = {}
    # A jackpot is created open or paused; the currency of one that has money is fixed.
    body["status"] = "open"
    body["currency"] = "KRW"


def adjustment(body):
    """Into or out of a meter, or from one to another; never below 0, within the tiers of the jackpot."""
    body["adjustment_id"] = fresh("a")
    body["tier"] = "grand"
    body["amount"] = max(1, min(abs(body["amount"]), 1000))
    for field in ("from", "to"):
        body.pop(field, None)
    body["meter"] = "pool"


def coupon(body):
    """It ends after it starts, and its stock is not below what is out."""
    body["starts_at"] = None
    body["ends_at"] = None
    body["stock"] = max(body["stock"], 1_000_000)


def integers(value):
    """To JSON Schema 1.0 is an integer. Here it is none: amounts are never floats (PRODUCT.md, promise 9)."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {name: integers(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [integers(inner) for inner in value]
    return value


def head(case, operation):
    """Rules of parameters."""
    # A cursor comes from a page; it cannot be made up.
    if case.query:
        case.query.pop("cursor", None)
    # These two exclude each other.
    if case.headers and "If-Match" in case.headers:
        case.headers.pop("If-None-Match", None)
        # Schemathesis 4.32 fills it with "" and "0", which the pattern excludes, if the description has the other one
        # as well.
        if not TAGS.fullmatch(case.headers["If-Match"] or ""):
            case.headers.pop("If-Match")
    # Closing is final, and a pause refuses entries. The other jackpot takes them, so that plays are accepted.
    if operation in ("close_jackpot", "pause_jackpot") and case.path_parameters.get("id") == "spring":
        case.path_parameters["id"] = "autumn"
    # The same for a coupon; there need not be another one.
    if operation in ("close_coupon", "pause_coupon") and case.path_parameters.get("id") == "coffee":
        case.path_parameters["id"] = "tea"
    # The jackpot that has the tier, and takes entries.
    if operation == "adjust_jackpot":
        case.path_parameters["id"] = "spring"
    if operation == "get_meter_history" and case.query:
        case.query["tier"] = "grand"
    # The room that lists the origin.
    if operation == "create_join_token":
        case.path_parameters["id"] = "lobby"
    # A day that has begun.
    if operation == "get_daily_report" and case.query:
        case.query["date"] = "2026-11-01"
    # A list of entries is of a player, or of a source of a jackpot.
    if operation == "list_entries":
        case.query = {"player_id": "p7", **(case.query or {})}


def staked(body):
    """A stake that every jackpot takes."""
    body["stake"] = max(1, min(body["stake"], MAX_STAKE))


def content(case, operation, body):
    """Rules between the fields of a body."""
    if operation == "put_jackpot":
        definition(body, case.path_parameters)
    elif operation == "put_coupon":
        coupon(body)
    elif operation == "put_room":
        # A room that has opened does not close again; links and origins are URLs.
        body["opens_at"], body["back"], body["return_origins"] = None, None, ["https://shop.example"]
    elif operation == "create_join_token":
        body["return_to"] = "https://shop.example/play"
    elif operation == "adjust_jackpot":
        adjustment(body)
    elif operation == "reverse_entry":
        body["reversal_id"] = fresh("c")
    elif operation == "make_entry":
        body["entry_id"] = fresh("e")
        staked(body)
        # The service draws.
        body.pop("ranks", None)
    elif operation == "transfer_jackpot":
        body["transfer_id"], body["tiers"] = fresh("t"), {"grand": "grand"}
        # Another jackpot.
        body["to"] = "spring" if case.path_parameters.get("id") == "autumn" else "autumn"
    elif operation == "make_play":
        body["entry_id"] = fresh("e")
        staked(body)
        # Each once.
        body["jackpots"] = ["spring", "autumn"][: len(body["jackpots"])]
    elif operation == "make_entry_batch":
        body["batch_id"] = fresh("b")
        for entry in body["entries"]:
            staked(entry)
            entry.pop("ranks", None)
    elif operation == "issue_coupon":
        # Not an id of an example, which may be taken with other metadata.
        body["request_id"] = fresh("of-checks")
        # Together at most 1 kB.
        if body.get("metadata"):
            texts = list(body["metadata"].items())[:4]
            body["metadata"] = {name[:16]: text[:40] for name, text in texts}
    elif operation == "put_subscription":
        # The settings have no connection to a broker. Types and subjects are those that there are, each once.
        body["target"] = {"webhook": {"url": "https://hooks.example/jackpot"}}
        body["types"], body["subjects"] = ["payout.*"], ["jackpot:spring"]
    elif operation in ("replay_subscription", "skip_event"):
        body["subject"] = "jackpot:spring"
        # At most the next event that is delivered.
        if operation == "replay_subscription":
            body["from_n"] = 1


@schemathesis.hook
def before_call(context, case, kwargs):
    if not positive(case):
        return
    operation = case.operation.definition.raw.get("operationId")
    head(case, operation)
    if isinstance(case.body, dict):
        body = integers(json.loads(json.dumps(case.body)))
        content(case, operation, body)
        case.body = body

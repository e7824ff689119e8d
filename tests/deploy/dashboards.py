"""dashboards.py [PROMETHEUS]: checks deploy/grafana. With the address of a Prometheus, every query must find something.

Without Grafana at hand: the files are valid dashboards by their structure, and each query is asked of a real Prometheus
that scrapes real instances after a load.
"""

import glob
import json
import math
import re
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

FOLDER = "deploy/grafana"
WIDTH = 24
# Panels whose query may find nothing, with the reason.
NO_BROKER = "this deployment has no broker"
MAY_BE_EMPTY = {
    ("jackpot-fleet", "Connections ended early"): "no connection was refused or ended early",
    ("jackpot-play", "Messages by result"): NO_BROKER,
    ("jackpot-play", "Messages that wait"): NO_BROKER,
    ("jackpot-play", "Age of messages"): NO_BROKER,
}
# For all queries: one may need a whole round of the loads, two more scrapes, and a comparison of the ledger.
DEADLINE_S = 180
LOOK_EVERY_S = 1
PAUSE = threading.Event()
# Grafana's own, as in its first hour: 5 s between scrapes.
VALUES = {"$__rate_interval": "1m", "$__range": "15m", "$__interval": "15s", "$jackpot": ".*", "$instance": ".*"}


def fail(text):
    sys.exit(f"error: {text}")


def check(condition, text):
    if not condition:
        fail(text)


def expressions(board):
    """Every query with its place."""
    for panel in board["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"]
    for note in board["annotations"]["list"]:
        yield f"annotation {note['name']}", note["expr"]


def structure(path, board, known):
    uses_datasource = lambda thing: thing.get("datasource", {}).get("uid") == "${datasource}"  # noqa: E731
    check(path.endswith(f"/{board['uid']}.json"), f"{path}: its uid is {board['uid']}")
    check(board["title"] and board["description"] and "jackpot" in board["tags"], f"{path}: title, description or tag")
    check(board["schemaVersion"] >= 36, f"{path}: the format of an old Grafana")
    check("id" not in board and "__inputs" not in board, f"{path}: exported for one Grafana alone")
    variables = {variable["name"]: variable for variable in board["templating"]["list"]}
    check(variables["datasource"]["type"] == "datasource", f"{path}: no variable for the data source")
    check(variables["datasource"]["query"] == "prometheus", f"{path}: the data source is no Prometheus")
    for variable in variables.values():
        check(variable["type"] == "datasource" or uses_datasource(variable), f"{path}: {variable['name']}: data source")
    ids = [panel["id"] for panel in board["panels"]]
    check(len(set(ids)) == len(ids) > 5, f"{path}: ids of panels")
    taken = {}
    for panel in board["panels"]:
        title, grid = panel["title"], panel["gridPos"]
        place = f"{path}: {title}"
        check(panel["type"] in {"timeseries", "stat", "table"}, f"{place}: type {panel['type']}")
        check(panel["description"].endswith("."), f"{place}: no description")
        check(panel["fieldConfig"]["defaults"].get("unit"), f"{place}: no unit")
        check(uses_datasource(panel) and all(map(uses_datasource, panel["targets"])), f"{place}: data source")
        check(panel["targets"], f"{place}: no query")
        references = [target["refId"] for target in panel["targets"]]
        check(len(set(references)) == len(references), f"{place}: two queries of one name")
        check(grid["x"] >= 0 and min(grid["w"], grid["h"]) > 0, f"{place}: no place")
        check(grid["x"] + grid["w"] <= WIDTH, f"{place}: wider than the page")
        for x in range(grid["x"], grid["x"] + grid["w"]):
            for y in range(grid["y"], grid["y"] + grid["h"]):
                check((x, y) not in taken, f"{place} overlaps {taken.get((x, y))}")
                taken[x, y] = title
    used = set()
    for title, text in expressions(board):
        used |= set(re.findall(r"\$\{?([a-z]+)\}?", text)) - {"__rate_interval", "__range"}
        for name in re.findall(r"\b(?:jackpot|process)_[a-z_]+", text):
            metric = re.sub(r"_(bucket|sum|count)$", "", name)
            check({name, metric} & known, f"{path}: {title}: {name} is no metric of docs/reference/metrics.md")
    check(used <= set(variables), f"{path}: variables {used - set(variables)} are missing")
    check(set(variables) - {"datasource"} <= used, f"{path}: a variable is not used: {set(variables) - used}")


def ask(prometheus, path, **parameters):
    """The data of an answer. Exits with the server's words when it refuses."""
    address = f"{prometheus}/api/v1/{path}?{urllib.parse.urlencode(parameters, doseq=True)}"
    try:
        with urllib.request.urlopen(address, timeout=10) as answer:
            return json.load(answer)["data"]
    except urllib.error.HTTPError as error:
        fail(f"{parameters}: {error.read().decode()}")


def has_number(data):
    """Whether a series has a value that can be drawn."""
    for series in data["result"]:
        points = series.get("values") or [series["value"]]
        if any(math.isfinite(float(value)) for _, value in points):
            return True
    return False


def substituted(text):
    for name, value in VALUES.items():
        text = text.replace(name, value)
    check("$" not in text, f"a variable has no value here: {text}")
    return text


def found(prometheus, text):
    """Whether the query finds something, at this instant and in the last minutes."""
    now = time.time()
    instant = ask(prometheus, "query", query=text)
    span = ask(prometheus, "query_range", query=text, start=now - 120, end=now, step=5)
    return has_number(instant) and has_number(span)


def queries(prometheus, boards):
    asked, empty, deadline = 0, {}, time.monotonic() + DEADLINE_S
    for board in boards:
        for title, text in expressions(board):
            text, place = substituted(text), (board["uid"], title)
            asked += 1
            # Alerts are an annotation while they fire.
            may_be_empty = place in MAY_BE_EMPTY or title.startswith("annotation ")
            while not found(prometheus, text):
                if may_be_empty:
                    empty[place] = MAY_BE_EMPTY.get(place, "no alert fires")
                    break
                check(time.monotonic() < deadline, f"{place} finds nothing: {text}")
                PAUSE.wait(LOOK_EVERY_S)
        for variable in board["templating"]["list"][1:]:
            text, label = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["query"]["query"]).groups()
            values = ask(prometheus, f"label/{label}/values", **{"match[]": text})
            check(values, f"{board['uid']}: the variable {variable['name']} has no values")
            asked += 1
    print(f"Prometheus answers {asked} queries of {len(boards)} dashboards")
    for (uid, title), reason in empty.items():
        print(f"  {uid}, {title}: empty, because {reason}")


def main():
    with open("docs/reference/metrics.md", encoding="utf-8") as page:
        known = set(re.findall(r"^\| `([a-z_]+)`", page.read(), re.MULTILINE))
    boards = {}
    for path in sorted(glob.glob(f"{FOLDER}/dashboards/*.json")):
        with open(path, encoding="utf-8") as file:
            boards[path] = json.load(file)
        structure(path, boards[path], known)
    check(len({board["uid"] for board in boards.values()}) == len(boards) >= 4, "dashboards are missing")
    print(f"{len(boards)} dashboards with {sum(len(board['panels']) for board in boards.values())} panels are sound")
    if len(sys.argv) > 1:
        queries(sys.argv[1], list(boards.values()))


main()

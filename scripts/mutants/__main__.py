"""Runs the tests of `make test` against mutants of the Lua scripts. scripts/mutants.sh builds first, then starts this.

Each mutant has a Redis of its own. It meets the tests that run its file, one after the other, until one fails: those
that have caught a mutant of the file come first, in this run or the one before, then those that are named for it, then
those that catch many in their time. A test that does not run the file can't see the mutant. A failure counts when it
repeats, a timeout at once.
"""

import argparse
import hashlib
import json
import math
import signal
import sys
import time
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from threading import Event

import accepted
import mutate
import suite

ROOT = accepted.ROOT
OUT = ROOT / "target/mutants"
SURVIVED = "survived"
# As in .config/nextest.toml: tests wait a third of their time.
JOBS = 4
# Most mutants are caught within it. The others would hold up those after them.
SOON_S = 25
# Tests that take less than it are alike: most of that time is the start of a process.
LEAST_S = 0.2
stop = Event()


def sha1(text):
    return hashlib.sha1(text.encode()).hexdigest()


@dataclass(frozen=True)
class Known:
    """What a test does without a mutant."""

    seconds: float
    parts: frozenset  # SHA-1 of the files of Lua that it runs


@dataclass
class Trial:
    mutant: mutate.Mutant
    left: list | None = None  # tests that it has not met; None before the first
    end: str = SURVIVED
    test: str = ""
    seconds: float = 0.0


def learn_one(test, seed):
    if stop.is_set():
        return None
    with suite.redis() as url, suite.scratch() as directory:
        end, seconds = suite.run(test, url, directory, suite.WHOLE_LIMIT_S, seed)
        used = directory / "used"
        parts = used.read_text().split() if used.exists() else []
    return {"end": end, "seconds": round(seconds, 3), "parts": sorted(set(parts))}


def learn(tests, seed, trusts):
    """What each test does without a mutant, kept until the binaries change. `trusts`: run only new tests."""
    built = sha1(" ".join(sorted(f"{path} {Path(path).stat().st_mtime_ns}" for path in {test.path for test in tests})))
    file = OUT / "tests.json"
    kept = json.loads(file.read_text()) if file.exists() else {}
    if kept.get("built") != built and not (kept and trusts):
        print(f"{len(tests)} tests without a mutant", file=sys.stderr)
        kept = {"built": built, "tests": {}}
    missing = [test for test in tests if test.id not in kept["tests"]]
    with ThreadPoolExecutor(JOBS) as pool:
        learned = pool.map(lambda test: learn_one(test, seed), missing)
        for test, known in zip(missing, learned, strict=True):
            if known:
                kept["tests"][test.id] = known
    if stop.is_set():
        sys.exit("stopped")
    file.write_text(json.dumps(kept))
    failed = [test for test, known in kept["tests"].items() if known["end"] != suite.PASSED]
    for test in failed:
        print(f"fails without a mutant, so it catches none: {test}", file=sys.stderr)
    return {
        test: Known(known["seconds"], frozenset(known["parts"]))
        for test, known in kept["tests"].items()
        if test not in failed
    }


def caught_before():
    """File and test of each mutant that the last run caught."""
    file = OUT / "lua.tsv"
    rows = [row.split("\t") for row in file.read_text().splitlines()[1:]] if file.exists() else []
    return [(name.split(":")[0], test) for name, _, test, _ in rows if test]


class Tests:
    def __init__(self, tests, known, seed):
        self.tests = [test for test in tests if test.id in known]
        self.known = known
        self.seed = seed
        self.caught = Counter()  # by file and test
        self.caught_by = Counter()  # by test
        for path, test in caught_before():
            self.count(path, test)

    def count(self, path, test):
        self.caught[path, test] += 1
        self.caught_by[test] += 1

    def in_order(self, mutant):
        part, stem = sha1(mutant.before), Path(mutant.path).stem
        covering = [test for test in self.tests if part in self.known[test.id].parts]

        def order(test):
            worth = (1 + self.caught_by[test.id]) / max(self.known[test.id].seconds, LEAST_S)
            return -self.caught[mutant.path, test.id], stem not in test.name, -worth

        return sorted(covering, key=order)

    def end_of(self, test, url, directory):
        limit = suite.limit_of(self.known[test.id].seconds)
        end, _ = suite.run(test, url, directory, limit, self.seed)
        if end == suite.FAILED:
            end, _ = suite.run(test, url, directory, limit, self.seed)
        return end

    def meet(self, trial, limit_s):
        """Goes on with a trial until a test fails, none is left, or the time is over."""
        begun = time.monotonic()
        if stop.is_set():
            return trial
        if trial.left is None:
            trial.left = self.in_order(trial.mutant)
            if not trial.left:
                stop.set()
                raise LookupError(f"no test runs {trial.mutant.path}: remove {OUT / 'tests.json'} if the file is new")
        with suite.redis() as url, suite.scratch() as directory:
            (directory / f"{sha1(trial.mutant.before)}.lua").write_text(trial.mutant.after)
            while trial.left and time.monotonic() - begun < limit_s and not stop.is_set():
                test = trial.left.pop(0)
                end = self.end_of(test, url, directory)
                if end != suite.PASSED:
                    self.count(trial.mutant.path, test.id)
                    trial.end, trial.test, trial.left = end, test.id, []
        trial.seconds += time.monotonic() - begun
        return trial


def run_all(mutants, tests):
    """Writes each result to lua.tsv as it comes. What is not decided soon goes on after all others."""
    results = []
    with (OUT / "lua.tsv").open("w") as out, ThreadPoolExecutor(JOBS) as pool:
        print("mutant", "end", "test", "seconds", sep="\t", file=out)
        running = {pool.submit(tests.meet, Trial(mutant), SOON_S) for mutant in mutants}
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for trial in (future.result() for future in done):
                if trial.left != []:
                    if not stop.is_set():
                        running.add(pool.submit(tests.meet, trial, math.inf))
                    continue
                results.append(trial)
                row = f"{trial.mutant.name}\t{trial.end}\t{trial.test}\t{trial.seconds:.1f}"
                print(row, file=out, flush=True)
                print(f"{len(results)}/{len(mutants)}\t{row}", flush=True)
    return results


def summary(results, asked, of_tree):
    """Prints what survived, and returns whether every survivor is accepted and the list of those is right."""
    survivors = [result.mutant.key for result in results if result.end == SURVIVED]
    caught = [result for result in results if result.end != SURVIVED]
    unlisted, is_right = accepted.judge(
        accepted.listed("lua"),
        {mutant.key for mutant in of_tree},
        {result.mutant.key: result.test for result in caught},
        survivors,
    )
    timeouts = sum(result.end == suite.TIMED_OUT for result in caught)
    counted = len(caught) + len(unlisted)
    share = 100 * len(caught) / counted if counted else 0
    print(
        f"{len(results)} of {asked} mutants of Lua: {len(caught)} caught ({timeouts} by a timeout), "
        f"{len(survivors)} survived, {len(survivors) - len(unlisted)} of them accepted: {share:.1f} % of {counted}"
    )
    return is_right


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/mutants.sh lua")
    parser.add_argument("--count", type=int, default=200, help="how many mutants")
    parser.add_argument("--seed", type=int, default=1, help="another seed takes other mutants")
    only = "all mutants whose name has this text, such as a file and a line; of the tests, only new ones are timed anew"
    parser.add_argument("--only", default="", help=only)
    parser.add_argument("--list", action="store_true", help="print the mutants and run nothing")
    return parser.parse_args()


def main():
    asked = arguments()
    of_tree = mutate.all_mutants(ROOT)
    if asked.only:
        mutants = [mutant for mutant in of_tree if asked.only in mutant.name and mutate.compiles(mutant)]
    else:
        mutants = mutate.sample(of_tree, asked.count, asked.seed)
    if not mutants:
        sys.exit(f"no mutant has {asked.only!r} in its name")
    if asked.list:
        print("\n".join(mutant.name for mutant in mutants))
        return
    OUT.mkdir(parents=True, exist_ok=True)
    for end in (signal.SIGINT, signal.SIGTERM):
        signal.signal(end, lambda *_: stop.set())
    tests = suite.tests_of_gate(ROOT)
    results = run_all(mutants, Tests(tests, learn(tests, asked.seed, asked.only != ""), asked.seed))
    sys.exit(0 if summary(results, len(mutants), of_tree) else 1)


if __name__ == "__main__":
    main()

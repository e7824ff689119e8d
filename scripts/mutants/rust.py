"""Runs the tests of `make test` against mutants of Rust. cargo-mutants makes them, in the source tree itself, because a
copy would be built anew. It puts back each file that it changes; .cargo/mutants.toml says which files those are.

A mutant meets the unit tests of its crate, which take seconds to build and run. One that survives them meets the
integration tests, for which every crate above its own is built. The first failure that repeats ends a run.
"""

import argparse
import subprocess
import sys
from collections import Counter
from fnmatch import fnmatch

import accepted

ROOT = accepted.ROOT
OUT = ROOT / "target/mutants"
# Those of the files that .cargo/mutants.toml names: reading the other crates takes as long again.
PACKAGES = ["--package=jackpot-core", "--package=jackpot-jackpot"]
RESULTS = OUT / "mutants.out"  # cargo-mutants' own name
ENDS = {"caught": "caught", "timeout": "timed out", "missed": "survived", "unviable": "does not compile"}
UNIT, INTEGRATION = "unit tests", "integration tests"
# It ends with one of these when it has met all mutants.
DONE = (0, 2, 3)
# The unit tests of a crate take up to 5 s, the integration tests ten minutes on two idle cores.
UNIT_LIMIT_S = 60
INTEGRATION_LIMIT_S = 3_600


def all_mutants():
    """The mutants by their names, each with its name in the list of accepted survivors, which stays when lines move."""
    command = ["cargo", "mutants", *PACKAGES, "--list"]
    lines, found, seen = {}, {}, Counter()
    for name in subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines():
        path, line, _, what = name.split(":", 3)
        if path not in lines:
            lines[path] = (ROOT / path).read_text().splitlines()
        seen[path, line, what] += 1
        number = f" (number {seen[path, line, what]})" if seen[path, line, what] > 1 else ""
        found[name] = f"{path}:{what}{number} in: {lines[path][int(line) - 1].strip()}"
    return found


def chosen(of_tree, asked):
    """Those that were asked for: each Nth of those of the files."""
    names = [name for name in of_tree if asked.only in name]
    if asked.file:
        names = [name for name in names if any(fnmatch(name.split(":")[0], file) for file in asked.file)]
    if asked.shard:
        first, step = (int(number) for number in asked.shard.split("/"))
        names = names[first::step]
    return {name: of_tree[name] for name in names}


def meet(names, of_tree, options, tests):
    """The end of each of these mutants against some tests."""
    if not names:
        return {}
    # It leaves out what it has caught before. Its filter by name lets some kinds of mutants through.
    RESULTS.mkdir(parents=True, exist_ok=True)
    for end in (*ENDS, "previously_caught"):
        others = [name for name in of_tree if end == "caught" and name not in names]
        (RESULTS / f"{end}.txt").write_text("".join(f"{name}\n" for name in others))
    command = ["cargo", "mutants", *PACKAGES, "--in-place", "--iterate", f"--output={OUT}", *options]
    code = subprocess.run([*command, "--", *tests], cwd=ROOT).returncode
    if code not in DONE:
        sys.exit(f"cargo mutants ended with {code}: see {RESULTS}")
    return {name: end for end in ENDS for name in (RESULTS / f"{end}.txt").read_text().splitlines()}


def run(names, of_tree, only_unit):
    """The end of each mutant, and the tests that decided it."""
    unit = ["--test-tool=cargo", f"--timeout={UNIT_LIMIT_S}"]
    ends = {name: (end, UNIT) for name, end in meet(names, of_tree, unit, ["--lib"]).items()}
    survivors = [name for name, (end, _) in ends.items() if end == "missed"]
    if not only_unit:
        gate = subprocess.run(["scripts/gate.sh", "filter", "test"], cwd=ROOT, check=True, capture_output=True, text=True)
        tests = ["--profile=mutants", f"--filterset=binary_id(=jackpot::it) & ({gate.stdout.strip()})"]
        # Without a mutant it would run the tests of the packages that it changes, and these are of another one.
        no_baseline = "--baseline=skip"
        options = ["--test-tool=nextest", "--test-package=jackpot", no_baseline, f"--timeout={INTEGRATION_LIMIT_S}"]
        ends |= {name: (end, INTEGRATION) for name, end in meet(survivors, of_tree, options, tests).items()}
    return ends


def summary(mutants, ends, of_tree):
    with (OUT / "rust.tsv").open("w") as out:
        print("mutant", "end", "tests", sep="\t", file=out)
        for name, (end, tests) in ends.items():
            print(name, ENDS[end], tests, sep="\t", file=out)
    caught = {mutants[name]: tests for name, (end, tests) in ends.items() if end in ("caught", "timeout")}
    by = [sum(end in ("caught", "timeout") and tests == of for end, tests in ends.values()) for of in (UNIT, INTEGRATION)]
    timeouts = sum(end == "timeout" for end, _ in ends.values())
    unviable = sum(end == "unviable" for end, _ in ends.values())
    survivors = [mutants[name] for name, (end, _) in ends.items() if end == "missed"]
    unlisted, is_right = accepted.judge(accepted.listed("crates"), set(of_tree.values()), caught, survivors)
    counted = sum(by) + len(unlisted)
    share = 100 * sum(by) / counted if counted else 0
    print(
        f"{len(ends)} of {len(mutants)} mutants of Rust: {unviable} do not compile, {by[0]} caught by unit tests, "
        f"{by[1]} by integration tests ({timeouts} by a timeout), {len(survivors)} survived, "
        f"{len(survivors) - len(unlisted)} of them accepted: {share:.1f} % of {counted}"
    )
    return is_right


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/mutants.sh rust")
    parser.add_argument("--shard", help="K/N, from 0: each Nth mutant, from the Kth")
    parser.add_argument("--file", action="append", default=[], help="only files that fit this pattern")
    parser.add_argument("--only", default="", help="only mutants whose name has this text, such as a file and a line")
    parser.add_argument("--unit", action="store_true", help="leave out the integration tests")
    parser.add_argument("--list", action="store_true", help="print the mutants and run nothing")
    return parser.parse_args()


def main():
    asked = arguments()
    of_tree = all_mutants()
    mutants = chosen(of_tree, asked)
    if not mutants:
        sys.exit("no mutant fits")
    if asked.list:
        print("\n".join(mutants))
        return
    OUT.mkdir(parents=True, exist_ok=True)
    sys.exit(0 if summary(mutants, run(list(mutants), of_tree, asked.unit), of_tree) else 1)


if __name__ == "__main__":
    main()

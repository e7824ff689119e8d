"""The survivors that tests/gates/mutants accepts, and what is wrong with that list."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIST = ROOT / "tests/gates/mutants"


def listed(folder):
    """The lines of mutants in this folder."""
    return {line for line in LIST.read_text().splitlines() if line.startswith(f"{folder}/")}


def judge(lines, of_tree, caught, survivors):
    """Prints what is wrong: survivors that no line has, lines that are no mutant, lines that are caught. Returns the
    survivors that no line has, and whether all is right. `caught`: which test caught it, by the name in the list."""
    unlisted = [key for key in survivors if key not in lines]
    wrong = [(key, "no such mutant") for key in sorted(lines - of_tree)]
    wrong += [(key, f"caught by {test}") for key, test in caught.items() if key in lines]
    for key in unlisted:
        print(f"survived\t{key}")
    for key, why in wrong:
        print(f"wrong in {LIST.relative_to(ROOT)}\t{key}\t{why}")
    return unlisted, not unlisted and not wrong

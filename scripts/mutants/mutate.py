"""Mutants of Lua: a file with one change that a test should notice."""

import random
import re
import subprocess
from dataclasses import dataclass
from itertools import pairwise

TOKEN = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<comment>--\[\[.*?\]\]|--[^\n]*)
  | (?P<string>'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|\[\[.*?\]\])
  | (?P<number>0[xX][0-9a-fA-F]+|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<sign>\.\.\.|\.\.|==|~=|<=|>=|[-+*/%^\#<>=(){}\[\];:,.])
    """,
    re.VERBOSE | re.DOTALL,
)

SWAPS = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "~=",
    "~=": "==",
    "+": "-",
    "-": "+",
    "and": "or",
    "or": "and",
    "true": "false",
    "false": "true",
}
KEYWORDS = set(
    "and break do else elseif end false for function if in local nil not or repeat return then true until while".split()
)
OPENING, CLOSING = set("({["), set(")}]")
# A value goes on after these, so the line after them begins no statement.
UNFINISHED = {*OPENING, ",", "=", "==", "~=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "..", ".", "#"}
UNFINISHED |= {"and", "or", "not", "return", "in", "if", "while", "until", "elseif", "local", "function", "for"}
# A value that began before goes on with these.
CONTINUES = {"and", "or", "..", "+", "-", "*", "/", "%", "==", "~=", "<", "<=", ">", ">="}

MAX_SHOWN = 70  # characters of a dropped statement in a name


@dataclass(frozen=True)
class Token:
    kind: str
    text: str
    start: int
    end: int
    line: int
    is_first: bool  # of its line


@dataclass(frozen=True)
class Mutant:
    path: str
    line: int
    source: str  # the line before the change; of several lines alike with its number among them
    kind: str
    what: str  # the change, such as "< → <="
    before: str
    after: str

    @property
    def name(self):
        return f"{self.path}:{self.line}: {self.what}"

    @property
    def key(self):
        """The name in the list of accepted survivors. It stays when lines move."""
        return f"{self.path}: {self.what} in: {self.source}"


def tokens_of(text):
    """The tokens that mean something, in order."""
    tokens, at, line = [], 0, 1
    last_line = 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if not match:
            raise ValueError(f"line {line}: no token of Lua")
        if match.lastgroup not in ("space", "comment"):
            tokens.append(Token(match.lastgroup, match[0], at, match.end(), line, line != last_line))
            last_line = line + match[0].count("\n")
        line += match[0].count("\n")
        at = match.end()
    return tokens


def ends_value(token):
    return (
        token.kind in ("number", "string")
        or token.text in CLOSING
        or (token.kind == "word" and token.text not in KEYWORDS)
    )


def swaps(tokens):
    for i, token in enumerate(tokens):
        if token.kind == "string" or token.text not in SWAPS:
            continue
        if token.text == "-" and not ends_value(tokens[i - 1]):
            continue
        yield "swap", token.start, token.end, SWAPS[token.text], f"{token.text} → {SWAPS[token.text]}"


def numbers(tokens):
    for token in tokens:
        if token.kind == "number" and token.text.isdigit():
            for other in (int(token.text) + 1, int(token.text) - 1):
                if other >= 0:
                    yield "number", token.start, token.end, str(other), f"{token.text} → {other}"


def negations(tokens):
    for token, following in pairwise(tokens):
        if token.text == "not":
            yield "not", token.start, following.start, "", "not dropped"


def statement_end(tokens, first):
    """The index after the last token of the statement that begins at `first`."""
    depth = 0
    for i in range(first, len(tokens)):
        text = tokens[i].text
        depth += (text in OPENING) - (text in CLOSING) + (text == "function") - (text == "end")
        if depth < 0:
            return i
        following = tokens[i + 1] if i + 1 < len(tokens) else None
        is_last = following is None or (following.is_first and following.text not in CONTINUES)
        if depth == 0 and is_last and text not in UNFINISHED:
            return i + 1
    return len(tokens)


def begins_statement(tokens, i):
    """Whether a call or an assignment begins here, as StyLua writes it: at the start of a line."""
    token = tokens[i]
    if not token.is_first or token.kind != "word" or token.text in KEYWORDS:
        return False
    return i == 0 or tokens[i - 1].text not in UNFINISHED


def is_in_brackets(tokens, i):
    """Whether the token is within brackets that opened before it on another line, such as those of a table."""
    depth = 0
    for token in reversed(tokens[:i]):
        depth += (token.text in CLOSING) - (token.text in OPENING)
        if depth < 0:
            return True
        if token.text == "function":
            return False
    return False


def drops(tokens, text):
    for i in range(len(tokens)):
        if not begins_statement(tokens, i) or is_in_brackets(tokens, i):
            continue
        end = tokens[statement_end(tokens, i) - 1].end
        start = tokens[i].start
        shown = " ".join(text[start:end].split())
        shown = shown if len(shown) <= MAX_SHOWN else shown[:MAX_SHOWN] + "…"
        yield "drop", start, end, re.sub(r"[^\n]", "", text[start:end]), f"dropped: {shown}"


def guards(tokens):
    for i, token in enumerate(tokens):
        if token.text not in ("if", "elseif") or token.kind != "word":
            continue
        then = next(other for other in tokens[i:] if other.text == "then" and other.kind == "word")
        yield "guard", tokens[i + 1].start, then.start, "false ", f"{token.text} → never"


def mutants_of(path, text):
    """All mutants of a file, in the order of their places."""
    tokens = tokens_of(text)
    found = []
    lines = text.split("\n")
    changes = [*swaps(tokens), *numbers(tokens), *negations(tokens), *drops(tokens, text), *guards(tokens)]
    seen = {}
    for kind, start, end, new, what in sorted(changes):
        line = text.count("\n", 0, start) + 1
        seen[line, what] = seen.get((line, what), 0) + 1
        if seen[line, what] > 1:
            what += f" (number {seen[line, what]})"
        source = lines[line - 1].strip()
        alike = [other.strip() for other in lines[:line]].count(source)
        if alike > 1:
            source += f" (line {alike} of those alike)"
        found.append((start, Mutant(str(path), line, source, kind, what, text, text[:start] + new + text[end:])))
    return [mutant for _, mutant in sorted(found, key=lambda pair: (pair[0], pair[1].what))]


def all_mutants(root):
    found = []
    for path in sorted((root / "lua").rglob("*.lua")):
        found += mutants_of(path.relative_to(root), path.read_text())
    return found


def compiles(mutant):
    return subprocess.run(["luac5.1", "-p", "-"], input=mutant.after.encode(), capture_output=True).returncode == 0


def sample(mutants, count, seed):
    """`count` of them that compile, spread evenly over the text, each kind as likely as the others; in random order."""
    chance = random.Random(seed)
    chosen = []
    for i in range(count):
        part = mutants[i * len(mutants) // count : (i + 1) * len(mutants) // count]
        kinds = sorted({mutant.kind for mutant in part})
        chance.shuffle(kinds)
        ordered = []
        for kind in kinds:
            of_kind = [mutant for mutant in part if mutant.kind == kind]
            chance.shuffle(of_kind)
            ordered += of_kind
        chosen += [mutant for mutant in ordered if compiles(mutant)][:1]
    chance.shuffle(chosen)
    return chosen

"""Small changes of C source, each of which a good test suite should notice; see mutants.py.

A file is cut into tokens (comments and preprocessor lines are left out), and every rule below looks at them. A
change keeps the number of lines, so that positions and assertions stay comparable."""
import hashlib
import re
from dataclasses import dataclass

TOKEN = re.compile(
    r"""(?P<comment>/\*.*?\*/|//[^\n]*)
      | (?P<pre>^[ \t]*\#(?:\\\n|[^\n])*)
      | (?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
      | (?P<word>[A-Za-z_]\w*)
      | (?P<number>\d[\w.]*)
      | (?P<op>->|\+\+|--|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\.\.\.|[^\s\w])""",
    re.VERBOSE | re.DOTALL | re.MULTILINE)

RELATIONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
LOGIC = {"&&": "||", "||": "&&"}
ARITHMETIC = {"+": "-", "-": "+", "+=": "-=", "-=": "+=", "++": "--", "--": "++"}
WORDS = {"true": "false", "false": "true", "HINT_QUEUE": "HINT_SKIP", "HINT_SKIP": "HINT_QUEUE",
         "continue": "break", "break": "continue"}
KEYWORDS = {"if", "else", "for", "while", "do", "switch", "case", "default", "return", "break", "continue", "goto",
            "struct", "union", "enum", "const", "static", "sizeof", "typedef", "extern", "unsigned", "int", "void",
            "char", "bool", "double", "float", "long"}
# Statements without which a program only grows, or is only checked less: sanitizers and limits see to these.
NOT_DROPPED = re.compile(r"free|.*_free|.*_fini|.*_unref|vec_reserve|arena_rewind|arena_reset|assert|LOG|QUEUE_CHECKED"
                         r"|__builtin_prefetch|va_end|va_start")
RULES = ("relation", "logic", "negate", "not", "constant", "word", "arithmetic", "drop", "return", "event", "member")


@dataclass(frozen=True)
class Mutant:
    file: str       # as src/sched/queue.c
    rule: str
    start: int      # bytes that are replaced
    end: int
    new: str
    line: int
    function: str   # "" outside of functions
    text: str       # what stands there, for people
    body: tuple = ()  # first and last line of the function
    name: str = ""    # a stable number

    def change(self):
        old = " ".join(self.text.split())
        new = " ".join(self.new.split())
        return f"drop {cut(old)}" if new in ("", ";") else f"{cut(old)} -> {cut(new)}"

    def apply(self, source):
        return source[:self.start] + self.new + source[self.end:]


def cut(text, most=70):
    return text if len(text) <= most else text[:most - 3] + "..."


@dataclass
class Token:
    kind: str
    text: str
    start: int
    end: int
    depth: int = 0       # of braces
    function: str = ""   # whose body it is in
    returns: str = ""    # what that function returns
    body: tuple = ()     # its first and last byte
    checked: bool = False  # inside of an assertion
    pair: int = -1       # the other bracket
    block: bool = False  # a brace of statements, not of values
    head: bool = False   # between the parentheses of a for


def tokens_of(source):
    found = []
    for m in TOKEN.finditer(source):
        if m.lastgroup not in ("comment", "pre"):
            found.append(Token(m.lastgroup, m.group(), m.start(), m.end()))
    pair_brackets(found)
    find_functions(found)
    mark_blocks(found)
    mark_heads_and_assertions(found)
    return found


def pair_brackets(tokens):
    opened = []
    for i, t in enumerate(tokens):
        if t.kind == "op" and t.text in "({[":
            opened.append(i)
        elif t.kind == "op" and t.text in ")}]" and opened:
            t.pair = opened.pop()
            tokens[t.pair].pair = i


def find_functions(tokens):
    """At the outermost level, a { after a ) begins a body."""
    i, begin = 0, 0
    while i < len(tokens):
        t = tokens[i]
        if t.text == "{" and i and tokens[i - 1].text == ")":
            head = tokens[begin:tokens[i - 1].pair]
            if head and head[-1].kind == "word":
                for inner in tokens[i:t.pair + 1]:
                    inner.body = (t.start, tokens[t.pair].end)
                    inner.function = head[-1].text
                    inner.returns = " ".join(x.text for x in head[:-1] if x.text not in ("static", "inline"))
        if t.text == "{":
            i = t.pair
        if tokens[i].text in (";", "}"):
            begin = i + 1
        i += 1


def heads_statement(tokens, opening):
    return opening > 0 and tokens[opening - 1].text in ("if", "for", "while", "switch")


def mark_blocks(tokens):
    """A brace is one of a block after the head of a statement, or where a block's statements begin."""
    for i, t in enumerate(tokens):
        if t.text != "{" or not t.function or t.pair < 0:
            continue
        before = tokens[i - 1]
        if before.text == ")":
            t.block = not before.function or heads_statement(tokens, before.pair)
        else:
            t.block = before.text in ("else", "do", ";") or (before.text in "{}" and before.block)
        tokens[t.pair].block = t.block


def mark_heads_and_assertions(tokens):
    for i, t in enumerate(tokens):
        if t.text == "for":
            for inner in tokens[i + 1:tokens[i + 1].pair]:
                inner.head = True
        if t.text in ("assert", "_Static_assert", "sizeof", "__attribute__") and tokens[i + 1].text == "(":
            for inner in tokens[i:tokens[i + 1].pair + 1]:
                inner.checked = True


class Finder:
    def __init__(self, file, source):
        self.file, self.source, self.tokens = file, source, tokens_of(source)
        self.found = []

    def line_of(self, at):
        return self.source.count("\n", 0, at) + 1

    def add(self, rule, start, end, new, t):
        """t: a token of the function that is changed."""
        old = self.source[start:end]
        new += "\n" * (old.count("\n") - new.count("\n"))
        body = tuple(map(self.line_of, t.body))
        self.found.append(Mutant(self.file, rule, start, end, new, self.line_of(start), t.function, old, body))

    def swap(self, rule, t, new):
        self.add(rule, t.start, t.end, new, t)

    def run(self):
        for i, t in enumerate(self.tokens):
            if t.checked:
                continue
            if t.function:
                self.in_function(i, t)
            else:
                self.in_table(i, t)
        return [self.named(m, n) for n, m in enumerate(self.found)]

    def named(self, m, n):
        same = sum((o.rule, o.function, o.text, o.new) == (m.rule, m.function, m.text, m.new) for o in self.found[:n])
        key = f"{m.file}|{m.function}|{m.rule}|{m.text}|{m.new}|{same}"
        return Mutant(**{**m.__dict__, "name": hashlib.sha256(key.encode()).hexdigest()[:12]})

    def in_function(self, i, t):
        before, after = self.tokens[i - 1], self.tokens[i + 1] if i + 1 < len(self.tokens) else None
        if t.kind == "op":
            self.operators(i, t, before, after)
        elif t.kind == "number":
            self.constants(t, before, after)
        elif t.text in WORDS:
            self.swap("word", t, WORDS[t.text])
        elif t.text == "if" and after.text == "(":
            inside = self.source[after.end:self.tokens[after.pair].start]
            self.add("negate", after.start, self.tokens[after.pair].end, f"(!({inside}))", t)
        elif t.text == "return":
            self.returns(i, t)
        self.statements(i, t, before)

    def operators(self, i, t, before, after):
        if t.text in RELATIONS:
            self.swap("relation", t, RELATIONS[t.text])
        elif t.text in LOGIC:
            self.swap("logic", t, LOGIC[t.text])
        elif t.text in ("+", "-", "+=", "-="):
            is_binary = before.kind in ("word", "number") and before.text not in KEYWORDS or before.text in (")", "]")
            if is_binary:
                self.swap("arithmetic", t, ARITHMETIC[t.text])
        elif t.text == "!":
            self.swap("not", t, "")
        elif t.text == "{" and not before.function and t.returns == "void" and t.pair > i + 1:
            self.add("return", t.start, t.end, "{ return;", t)

    def constants(self, t, before, after):
        m = re.fullmatch(r"(\d+)([uUlL]*)", t.text)
        if not m or before.text in ("case", "[") or (before.text == "{" and after.text == "}"):
            return
        value = int(m.group(1))
        self.swap("constant", t, f"{value + 1}{m.group(2)}")
        if value:
            self.swap("constant", t, f"{value - 1}{m.group(2)}")

    def returns(self, i, t):
        end = next(k for k in range(i, len(self.tokens)) if self.tokens[k].text == ";")
        words = self.source[self.tokens[i + 1].start:self.tokens[end].start]
        if t.returns == "bool" and words not in ("true", "false"):
            self.add("return", self.tokens[i + 1].start, self.tokens[end].start, f"!({words})", t)

    def statements(self, i, t, before):
        """An expression that is a statement: it begins after the end of another and has no declaration's look."""
        begins = before.text in (";", "else") or before.block
        begins |= before.text == ")" and heads_statement(self.tokens, before.pair)
        is_expression = (t.kind == "word" or t.text == "*") and t.text not in KEYWORDS
        if not begins or t.head or not is_expression or NOT_DROPPED.fullmatch(t.text):
            return
        after = self.tokens[i + 1]
        if t.kind == "word" and (after.kind == "word" or after.text in ("*", ":")):
            return
        end = self.statement_end(i)
        if end:
            self.add("drop", t.start, self.tokens[end].end, ";", t)

    def statement_end(self, i):
        while i < len(self.tokens):
            t = self.tokens[i]
            if t.text == ";":
                return i
            if t.text in ("(", "[", "{"):
                i = t.pair
            elif t.text in (")", "]", "}"):
                return None
            i += 1
        return None

    def in_table(self, i, t):
        before = self.tokens[i - 1] if i else None
        if t.text == "{" and re.fullmatch(r"RES_\w+", self.tokens[i + 1].text) and before.text in ("{", ","):
            self.event_row(i, t)
        elif t.text == "." and before and before.text in ("{", ","):
            self.member(i)

    def event_row(self, i, t):
        row = self.tokens[i:t.pair + 1]
        end = self.tokens[t.pair + 1]
        if len(row) < 6 or end.text != "," or not row[3].text.startswith("ACT_"):
            return
        self.add("event", t.start, end.end, "", t)
        if row[-2].text != "NULL":
            self.swap("event", row[-2], "NULL")
        bits = [x for x in row if x.text.startswith("ACT_")]
        for bit in bits if len(bits) > 1 else []:
            self.swap("event", bit, "0")

    def member(self, i):
        """.filter = filter, in a table: without it the plugin lacks the function."""
        name, is_, value, end = self.tokens[i + 1:i + 5]
        if is_.text == "=" and value.kind == "word" and end.text == "," and name.text not in ("name", "init", "fini"):
            self.add("member", self.tokens[i].start, end.end, "", self.tokens[i])


def mutants_of(file, source):
    return Finder(file, source).run()

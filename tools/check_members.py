#!/usr/bin/env python3
"""Finds members of structs in src/ that are only written, only read, or neither: wires that are not connected.

It reads tokens, not types: members of one name count together, wherever they are. So it misses some, and what it
finds is worth a look. Writes are assignments, initializers and taken addresses, which are reads as well. A struct
that is somewhere initialized without the names of its members counts as written.

Members that are meant to be like that are in ALLOWED, with the reason."""
import pathlib
import re
import sys

# Headers of these are interfaces that only tests use until there is a daemon.
OPEN_FOLDERS = ("client", "http")
# By struct, or by struct and member.
ALLOWED = {
    # generated tables, which the API server and its discovery are to read
    "field": "schema tables", "type": "schema tables", "resource": "schema tables", "union_rule": "schema tables",
    "union_member": "schema tables", "wire": "schema tables: filled by tools/schema_gen.py",
    # what a daemon puts together with the scheduler
    "store_facts": "for the metrics of an API server",
    "dynamic_resources_args": "devices are not allocated yet",
    # tests and measurements
    "reviews_counts": "read by tests",
    "intake_counts": "read by tests", "snapshot.n_copied": "read by tests",
    "sched.n_repeated": "read by tests",
    # used in a way that tokens do not show
    "stamp": "compared as bytes", "source_in.id2": "filled by a table of offsets",
    "scheduler_flags": "filled by a table of offsets; flags of the daemon are read there",
    "apiserver_flags": "filled by a table of offsets",
    "controllers_flags": "filled by a table of offsets",
    "scheduler_tls": "the daemon's",
    "profile.weights": "filled by a function that is given the array",
}

TOKEN = re.compile(r'''"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[A-Za-z_]\w*|\d[\w.]*|'''
                   r'''->|\+\+|--|<<=|>>=|[-+*/%&|^!=<>]=|&&|\|\||<<|>>|\.\.\.|.''', re.S)
COMMENT = re.compile(r'/\*.*?\*/', re.S)
CONTINUED = re.compile(r'\\\n')
DIRECTIVE = re.compile(r'^[ \t]*#[ \t]*(define|(include|pragma|if|ifdef|ifndef|else|elif|endif|undef|error).*$)', re.M)
NAME = re.compile(r'[A-Za-z_]\w*$')
FILLS = {'memcpy', 'memset', 'memmove', 'snprintf', 'strcpy', 'stpcpy', 'bitset_set', 'bitset_zero'}
ASSIGNS = {'=', '+=', '-=', '*=', '/=', '%=', '&=', '|=', '^=', '<<=', '>>='}
KEYWORDS = {'const', 'unsigned', 'signed', 'struct', 'union', 'enum', 'int', 'char', 'bool', 'void', 'long', 'short',
            'double', 'float', 'volatile', 'static', '_Atomic'}


def tokens_of(path):
    text = COMMENT.sub(' ', CONTINUED.sub(' ', path.read_text()))
    text = DIRECTIVE.sub('', text)
    return [t for t in TOKEN.findall(text) if not t.isspace()]


def matching(tokens, i):
    """The index behind the bracket that closes the one at i."""
    depth = 0
    while i < len(tokens):
        if tokens[i] in ('(', '[', '{'):
            depth += 1
        elif tokens[i] in (')', ']', '}'):
            depth -= 1
            if depth == 0:
                return i + 1
        i += 1
    return i


def declared(statement):
    """Names that one statement of a struct declares."""
    for i, t in enumerate(statement[:-2]):
        if t == '(' and statement[i + 1] == '*' and NAME.match(statement[i + 2]):
            return [statement[i + 2]]
    names, last, depth = [], None, 0
    for t in statement + [',']:
        if t in ('(', '['):
            depth += 1
        elif t in (')', ']'):
            depth -= 1
        elif depth == 0 and t in (',', ':'):
            if last:
                names.append(last)
            last = None
        elif depth == 0 and NAME.match(t) and t not in KEYWORDS:
            last = t
    return names


def members_of(tokens, start, end):
    """Member names between the braces of a struct; those of structs inside it, too."""
    names, statement, i = [], [], start
    while i < end:
        if tokens[i] == '{':
            close = matching(tokens, i)
            names += members_of(tokens, i + 1, close - 1)
            statement = []
            i = close
        elif tokens[i] == ';':
            names += declared(statement)
            statement = []
            i += 1
        else:
            statement.append(tokens[i])
            i += 1
    return names


def find_structs(tokens, path, structs, positional):
    for i in range(len(tokens) - 2):
        if tokens[i] != 'struct' or (i and tokens[i - 1] == '('):
            continue
        at = i + 2 if NAME.match(tokens[i + 1]) else i + 1
        if tokens[at] != '{':
            continue
        name = tokens[i + 1] if at == i + 2 else ''
        behind = matching(tokens, at)
        if '=' in tokens[behind:tokens.index(';', behind)]:  # a table of its own
            positional.add(name)
        for member in members_of(tokens, at + 1, matching(tokens, at) - 1):
            structs.setdefault(member, set()).add((name, str(path)))


class Uses:
    def __init__(self):
        self.read, self.written, self.positional = set(), set(), set()

    def address(self, name):
        self.read.add(name)
        self.written.add(name)

    def chain(self, tokens, i):
        """A use of a member at i, behind its dot or arrow: what becomes of the whole expression?"""
        name, end = tokens[i], i + 1
        through = False
        while end < len(tokens) and tokens[end] in ('[', '.', '->'):
            through |= tokens[end] == '->'
            end = matching(tokens, end) if tokens[end] == '[' else end + 2
        after = tokens[end] if end < len(tokens) else ''
        begin = self.begin(tokens, i)
        before = tokens[begin - 1] if begin else ''
        designates = tokens[i - 1] == '.' and tokens[i - 2] in ('{', ',', '}')
        if designates and after == '=':
            self.written.add(name)
        elif after in ASSIGNS or after in ('++', '--') or before in ('++', '--'):
            self.written.add(name)
            if through or self.is_value(tokens, begin, end):
                self.read.add(name)
        elif before == '&' and tokens[begin - 2] in ('(', ',', '=', '?', ':', 'return', '{'):
            self.address(name)
        else:
            self.read.add(name)
        if after != '(' and self.is_array_argument(tokens, i):
            self.address(name)

    @staticmethod
    def is_value(tokens, begin, end):
        """Whether the value of an assignment or increment is used, as in x = y->z++ or f(y->z = 1)."""
        before = tokens[begin - 1] if begin else ''
        if before in ('++', '--'):
            before = tokens[begin - 2]
        steps = tokens[end] in ('++', '--') or tokens[begin - 1] in ('++', '--')
        return before not in (';', '{', '}', ')', ':', 'else', ',') or (before == ',' and steps)

    @staticmethod
    def is_array_argument(tokens, i):
        """memcpy(x->name, ...) and its like change what they are given."""
        k = i
        while k and tokens[k] != '(':
            if tokens[k] in (',', ';', ')'):
                return False
            k -= 1
        return tokens[k - 1] in FILLS

    @staticmethod
    def begin(tokens, i):
        """The first token of the expression that ends with the member at i."""
        i -= 1
        while i > 0:
            if tokens[i] in ('.', '->'):
                i -= 1
            elif tokens[i] in (')', ']'):
                depth = 0
                while i >= 0:
                    depth += tokens[i] in (')', ']')
                    depth -= tokens[i] in ('(', '[')
                    i -= 1
                    if depth == 0:
                        break
            elif NAME.match(tokens[i]) and tokens[i] not in ('return', 'else', 'case', 'sizeof'):
                if tokens[i - 1] in ('.', '->'):
                    i -= 1
                else:
                    return i
            else:
                return i + 1
        return i

    def initializer(self, tokens, i):
        """(struct name){ x or struct name y = { x: written by position, unless x is a designator."""
        k = i + 2
        if tokens[i - 1] == '(' or (tokens[i - 1] == 'const' and tokens[i - 2] == '('):
            if tokens[k] == '[':
                k = matching(tokens, k)
            if tokens[k] != ')':
                return
            k += 1
        else:
            while tokens[k] in ('const', '*') or NAME.match(tokens[k]):
                k += 1
            while tokens[k] == '[':
                k = matching(tokens, k)
            if tokens[k] != '=':
                return
            k += 1
        if tokens[k] != '{':
            return
        while tokens[k] == '{':
            k += 1
            if tokens[k] == '[':  # [INDEX] =
                k = matching(tokens, k) + 1
        if tokens[k] not in ('.', '}', '0'):
            self.positional.add(tokens[i + 1])

    def look(self, tokens):
        for i in range(1, len(tokens) - 3):
            if tokens[i - 1] in ('.', '->') and NAME.match(tokens[i]):
                self.chain(tokens, i)
            if tokens[i] == 'struct' and NAME.match(tokens[i + 1]):
                self.initializer(tokens, i)
                if tokens[i + 2] == ',' and NAME.match(tokens[i + 3]):  # offsetof, HEAP_ITEM and tables by offset
                    self.address(tokens[i + 3])


def main():
    root = pathlib.Path(__file__).resolve().parent.parent / 'src'
    structs, uses = {}, Uses()
    for path in sorted(root.rglob('*.[ch]')):
        tokens = tokens_of(path)
        find_structs(tokens, path.relative_to(root), structs, uses.positional)
        uses.look(tokens)
    found = 0
    met = set()
    for name, where in sorted(structs.items()):
        written = name in uses.written or any(not struct or struct in uses.positional for struct, _ in where)
        read = name in uses.read
        if (read and written) or any(p.startswith(OPEN_FOLDERS) and p.endswith('.h') for _, p in where):
            continue
        allowed = {key for struct, _ in where for key in (struct, f'{struct}.{name}') if key in ALLOWED}
        met |= allowed
        if allowed:
            continue
        what = 'only written' if written else 'only read' if read else 'neither read nor written'
        print(f'members: {name} is {what}: ' + ', '.join(sorted(f'struct {s} in {p}' for s, p in where)))
        found += 1
    for key in sorted(set(ALLOWED) - met):
        print(f'members: {key} is allowed, but need not be')
        found += 1
    if not found:
        print(f'members: {len(structs)} names of members are all written and read')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
"""Changes the code in small ways, one at a time, and reports the changes that no test notices.

    tools/mutants.py [-n N] [--seed S] [--files GLOB,...] [--rules RULE,...] [--tests GLOB,...] [-o text|json] [--list]

A change (mutant) that makes a test fail, crash or run on for ever is killed. One that survives is either
equivalent (no caller can tell), or shows what the tests do not look at. Those that are known to be equivalent
stand in tests/mutants.txt with their reason and are counted, not reported.

Everything happens in a copy of the tree, in build-mutants/; the work tree is only read, so one may edit while it runs.
Which tests execute which line is measured once (gcov), so a mutant runs only tests that reach it: the test that is
named like the file first, then the fast ones, until one fails. What was decided is kept in
build-mutants/results.json: a run that was interrupted goes on where it stopped, killed mutants stay killed until their
file changes, and survivors are tried again when tests have changed."""
import argparse
import collections
import fnmatch
import gzip
import hashlib
import json
import os
import pathlib
import random
import re
import resource
import shlex
import shutil
import subprocess
import sys
import time

import mutate_c

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILES = "src/sched/*.c,src/plugins/*.c"
MEMORY_BYTES_MAX = 4 << 30
WALL_SECONDS_MAX = 300
# Programs that would only repeat what others show, or need more than a file: pages, commands, corpora.
LEFT_OUT = re.compile(r"tests/(replay_.*|fuzz_.*)")


def say(text):
    print(text, file=sys.stderr, flush=True)


def sha(*parts):
    h = hashlib.sha256()
    for part in parts:
        h.update(part if isinstance(part, bytes) else str(part).encode())
        h.update(b"\0")
    return h.hexdigest()


def run(command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          **more)


def must(command, **more):
    done = run(command, **more)
    if done.returncode:
        sys.exit(f"{shlex.join(map(str, command))[:300]}\n{done.stdout[-4000:]}")
    return done.stdout


# ---- The copy and its build ----

class Copy:
    """The tree as it was when the run began, and its objects."""

    def __init__(self, at, tests):
        self.at, self.tree, self.build, self.tests = at, at / "tree", at / "build", tests.split(",")
        self.sync()
        self.configure()
        self.read_build()

    def sync(self):
        names = must(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT).split("\0")
        names = {n for n in names if n and (ROOT / n).is_file()}
        for name in names:
            old, new = self.tree / name, ROOT / name
            content = new.read_bytes()
            if old.is_file() and old.read_bytes() == content:
                continue
            old.parent.mkdir(parents=True, exist_ok=True)
            old.write_bytes(content)
            shutil.copymode(new, old)
        for path in [p for p in self.tree.rglob("*") if p.is_file()]:
            if str(path.relative_to(self.tree)) not in names:
                path.unlink()

    def configure(self):
        if not (self.build / "build.ninja").exists():
            env = {**os.environ}
            if shutil.which("mold"):
                env["LDFLAGS"] = env.get("LDFLAGS", "") + " -fuse-ld=mold"
            must(["meson", "setup", self.build, self.tree, "-Dbuildtype=plain", "-Doptimization=1"], env=env)
        must(["ninja", "-C", self.build, "build.ninja"])

    def read_build(self):
        """From ninja's file: what an archive or a program is made of. From the compile commands: how."""
        text = (self.build / "build.ninja").read_text().replace("$\n", "")
        self.inputs, self.link_args = {}, {}
        rule = re.compile(r"^build (\S+): (STATIC_LINKER|c_LINKER)\w* ([^|\n]*)[^\n]*\n((?: [^\n]*\n)*)", re.M)
        for m in rule.finditer(text):
            self.inputs[m.group(1)] = m.group(3).split()
            args = re.search(r"^ LINK_ARGS = (.*)$", m.group(4), re.M)
            self.link_args[m.group(1)] = shlex.split(args.group(1)) if args else []
        self.commands = {}
        for c in json.loads((self.build / "compile_commands.json").read_text()):
            self.commands[c["output"]] = c
        self.source_of = {o: self.relative(c["file"]) for o, c in self.commands.items()}

    def sources(self):
        return sorted(str(p.relative_to(self.tree)) for p in (self.tree / "src").rglob("*.c"))

    def relative(self, file):
        path = os.path.normpath(self.build / file)
        return os.path.relpath(path, self.tree) if path.startswith(str(self.tree)) else file

    def test_programs(self):
        names = [n for n in self.inputs if n.startswith("tests/") and not n.endswith((".a", ".so"))]
        wanted = [f"tests/{p}{t}" for t in self.tests for p in ("", "test_")]
        return [n for n in names if not LEFT_OUT.fullmatch(n) and any(fnmatch.fnmatch(n, w) for w in wanted)]

    def objects_of(self, program):
        """Its own objects, and those of its archives whose source it does not bring itself."""
        own = self.inputs[program]
        sources = {self.source_of[o] for o in own} | {f for o in own for f in self.included(self.source_of[o])}
        rest = [o for arg in self.link_args[program] if arg in self.inputs for o in self.inputs[arg]]
        return own, [o for o in rest if self.source_of.get(o) not in sources]

    def included(self, test):
        """Source files that a test includes as a whole."""
        path = self.tree / test
        found = re.findall(r'^#include "([^"]+\.c)"', path.read_text(), re.M) if path.is_file() else []
        return ["src/" + f for f in found]

    def make(self):
        programs = self.test_programs()
        wanted = {o for p in programs for o in self.inputs[p]} | {a for p in programs for a in self.link_args[p]}
        wanted |= {n for n in self.inputs if n.startswith("tests/") and n.endswith(".so")}
        must(["ninja", "-C", self.build, *sorted(w for w in wanted if w in self.inputs or w in self.commands)])


# ---- Programs and the tests in them ----

class Program:
    """Test programs of one file each, with the same libraries, are linked as one."""

    def __init__(self, name, own, rest, link_args):
        self.name, self.own, self.objects, self.link_args = name, own, own + rest, link_args


class Unit:
    """The tests of one file: what is run and judged as a whole."""

    def __init__(self, name, source, program, args, digest):
        self.name, self.source, self.program, self.args, self.digest = name, source, program, args, digest
        self.seconds, self.lines = 0.0, {}


def find_programs(copy):
    alone, together = [], collections.defaultdict(list)
    for name in copy.test_programs():
        own = copy.inputs[name]
        is_simple = len(own) == 1 and not copy.included(copy.source_of[own[0]]) and "PLUGIN_DIR" not in \
            copy.commands[own[0]]["command"]
        (together[tuple(copy.link_args[name])] if is_simple else alone).append(name)
    programs = []
    for names in [*together.values(), *[[n] for n in alone]]:
        own = [o for n in names for o in copy.inputs[n]]
        name = os.path.basename(names[0]) + ("_and_others" if len(names) > 1 else "")
        programs.append((Program(name, own, copy.objects_of(names[0])[1], copy.link_args[names[0]]), names))
    return programs


def find_units(copy):
    support = sha(*[p.read_bytes() for p in sorted((copy.tree / "tests").rglob("*"))
                    if p.is_file() and p.suffix in (".h", ".c") and not p.name.startswith("test_")])
    units = []
    for program, names in find_programs(copy):
        for name in names:
            source = copy.source_of[copy.inputs[name][0]]
            text = (copy.tree / source).read_text()
            tests = re.findall(r"^TEST\((\w+)\)", text, re.M)
            args = [str(copy.tree / "tests/vectors/data")] if name == "tests/vectors" else \
                tests if len(names) > 1 else []
            units.append(Unit(os.path.basename(name), source, program, args, sha(support, text)))
    return units


# ---- Compiling and linking ----

class Workshop:
    """A folder with the layout of the copy, in which one file at a time is another one. Commands run in its build
    folder, so that a file keeps the name under which its assertions know it."""

    def __init__(self, copy, at, flags=()):
        self.copy, self.at, self.flags = copy, at, list(flags)
        (at / "build").mkdir(parents=True, exist_ok=True)

    def compile(self, output, to):
        """An object of the copy, with the workshop's version of the file. None, or what the compiler says."""
        words = shlex.split(self.copy.commands[output]["command"])
        if words[0].endswith("ccache"):
            words = words[1:]
        kept, skip = [], False
        for w in words[1:]:
            if skip:
                skip = False
            elif w in ("-o", "-MF", "-MQ"):
                skip = True
            elif w.startswith("-I"):
                kept.append("-I" + str(self.copy.build / w[2:]))
            elif w == self.copy.commands[output]["file"] and not (self.at / "build" / w).exists():
                kept.append(str(self.copy.build / w))  # a test that includes the file
            elif w not in ("-MD", "-c", "-Werror") and not w.startswith("-W"):
                kept.append(w)
        done = run([words[0], "-I../tree/src", "-w", *kept, *self.flags, "-c", "-o", str(to)], cwd=self.at / "build")
        return done.stdout if done.returncode else None

    def link(self, program, changed, to):
        """Changed objects come first: then nothing asks for those in the archives."""
        objects = [str(changed.get(o) or self.copy.build / o) for o in program.own]
        objects += [str(to) for o, to in changed.items() if o in program.objects and o not in program.own]
        listing = to.with_suffix(".objects")
        listing.write_text("\n".join(objects))
        must(["gcc", "-o", str(to), f"@{listing}", *self.flags, *program.link_args], cwd=self.copy.build)

    def put(self, file, text):
        path = self.at / "tree" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def affected(self, file):
        """Objects that are made from the file: its own, and those of tests that include it."""
        found = []
        for output, source in self.copy.source_of.items():
            if source == file or file in self.copy.included(source):
                found.append(output)
        return found


def run_unit(unit, executable, cpu_seconds):
    """True when all its tests pass. Fresh memory is not zero, as under meson."""
    def limits():
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES_MAX, MEMORY_BYTES_MAX))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    process = subprocess.Popen([str(executable), *unit.args], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               preexec_fn=limits, start_new_session=True, cwd=executable.parent,
                               env={**os.environ, "MALLOC_PERTURB_": "165"})
    try:
        return process.wait(WALL_SECONDS_MAX) == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        try:
            os.killpg(process.pid, 9)
        except ProcessLookupError:
            pass
        process.wait()


# ---- Which tests reach which line ----

class Coverage:
    def __init__(self, copy, units, files):
        self.copy, self.units, self.files = copy, units, files
        self.shop = Workshop(copy, copy.at / "coverage", ["--coverage", "-O0", "-fprofile-update=single"])
        self.path = copy.at / "coverage.json.gz"
        sources = sorted(p for p in (copy.tree / "src").rglob("*") if p.suffix in (".c", ".h", ".txt"))
        self.digest = sha(*files, *[p.read_bytes() for p in sources])
        self.kept = json.loads(gzip.decompress(self.path.read_bytes())) if self.path.exists() else {}
        if self.kept.get("code") != self.digest:
            self.kept = {"code": self.digest}

    def measure(self):
        todo = [u for u in self.units if u.digest not in self.kept]
        if todo:
            say(f"measuring which lines {len(todo)} test programs reach")
            built = self.build({u.program for u in todo})
            for u in todo:
                self.kept[u.digest] = self.measure_one(u, built[u.program])
            self.path.write_bytes(gzip.compress(json.dumps(self.kept).encode()))
        for u in self.units:
            found = self.kept[u.digest]
            u.seconds, u.lines = found["seconds"], {f: set(l) for f, l in found["lines"].items()}

    def build(self, programs):
        needed = {o for p in programs for o in p.objects}
        changed = {}
        for file in self.files:
            self.shop.put(file, (self.copy.tree / file).read_text())
            for output in self.shop.affected(file):
                if output not in needed or output in changed:
                    continue
                to = self.shop.at / "objects" / (output.replace("/", "_"))
                to.parent.mkdir(exist_ok=True)
                trouble = self.shop.compile(output, to)
                if trouble:
                    sys.exit(trouble)
                changed[output] = to
        built = {}
        for p in programs:
            built[p] = self.shop.at / "build" / p.name
            self.shop.link(p, changed, built[p])
        return built

    def measure_one(self, unit, executable):
        objects = self.shop.at / "objects"
        for old in objects.glob("*.gcda"):
            old.unlink()
        begin = time.monotonic()
        if not run_unit(unit, executable, 600):
            sys.exit(f"{unit.name} fails without any change")
        seconds = time.monotonic() - begin
        data = sorted(str(p) for p in objects.glob("*.gcda"))
        lines = collections.defaultdict(set)
        for at in range(0, len(data), 50):
            out = subprocess.run(["gcov", "--json-format", "--stdout", *data[at:at + 50]], cwd=self.shop.at / "build",
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
            for text in out.splitlines():
                self.add_lines(json.loads(text), lines)
        return {"seconds": seconds, "lines": {f: sorted(l) for f, l in lines.items()}}

    def add_lines(self, report, lines):
        for f in report["files"]:
            name = os.path.normpath(f["file"]).removeprefix("../tree/").removeprefix(str(self.shop.at) + "/tree/")
            for line in f["lines"]:
                if line["count"]:
                    lines[name].add(line["line_number"])


def reaching(units, mutant):
    """The units that execute the change or, where that cannot be told, its function. A table may be read by anybody."""
    if not mutant.function:
        return units
    for first, last in ((mutant.line, mutant.line + mutant.text.count("\n")), mutant.body):
        found = [u for u in units if any(n in u.lines.get(mutant.file, ()) for n in range(first, last + 1))]
        if found:
            return found
    return []


# ---- One mutant ----

class Bench:
    def __init__(self, copy, units):
        self.copy, self.units = copy, units
        self.shop = Workshop(copy, copy.at / "mutant")
        self.originals = {}
        self.kills = collections.Counter()  # (file, unit): who killed mutants of this file before

    def original(self, file, output):
        """The object without a change, made as the changed ones are: equal bytes are equal code."""
        if output not in self.originals:
            self.shop.put(file, (self.copy.tree / file).read_text())
            to = self.shop.at / "original.o"
            if self.shop.compile(output, to):
                sys.exit(f"{file} does not compile")
            self.originals[output] = to.read_bytes()
        return self.originals[output]

    def order(self, mutant):
        stem = pathlib.Path(mutant.file).stem

        def key(u):
            is_named = u.name in (f"test_{stem}", f"test_{stem.split('_')[0]}")
            kills = self.kills[mutant.file, u.name]
            return (not is_named, -kills if u.seconds < 1 else 0, u.seconds)
        return sorted(reaching(self.units, mutant), key=key)

    def judge(self, mutant):
        """(verdict, by whom)"""
        source = (self.copy.tree / mutant.file).read_text()
        outputs = self.shop.affected(mutant.file)
        main = next((o for o in outputs if o.startswith("src/")), None)
        if not main:
            return "not reached", ""  # a file of a program, not of a library
        units = self.order(mutant)
        before = self.original(mutant.file, main)
        self.shop.put(mutant.file, mutant.apply(source))
        changed = {main: self.shop.at / "changed.o"}
        if self.shop.compile(main, changed[main]):
            return "invalid", ""
        if changed[main].read_bytes() == before:
            return "same code", ""
        if not units:
            return "not reached", ""
        linked = {}
        for unit in units:
            if unit.program not in linked:
                linked[unit.program] = self.link(unit.program, outputs, changed)
            if not linked[unit.program]:
                return "invalid", ""
            if not run_unit(unit, linked[unit.program], 5 + int(unit.seconds * 20)):
                self.kills[mutant.file, unit.name] += 1
                return "killed", unit.name
        return "survived", ""

    def link(self, program, outputs, changed):
        for i, output in enumerate(o for o in outputs if o in program.objects and o not in changed):
            changed[output] = self.shop.at / f"changed_{len(changed)}_{i}.o"
            if self.shop.compile(output, changed[output]):
                return None
        to = self.shop.at / "build" / program.name
        self.shop.link(program, changed, to)
        return to


# ---- All of them ----

def pick(copy, options):
    patterns = options.files.split(",")
    files = [f for f in copy.sources() if any(fnmatch.fnmatch(f, p) or os.path.basename(f) == p for p in patterns)]
    rules = options.rules.split(",") if options.rules else mutate_c.RULES
    unknown = set(rules) - set(mutate_c.RULES)
    if unknown or not files:
        sys.exit(f"no such rule: {', '.join(unknown)}" if unknown else f"no file is called {options.files}")
    found = [m for f in files for m in mutate_c.mutants_of(f, (copy.tree / f).read_text()) if m.rule in rules]
    random.Random(options.seed).shuffle(found)
    return files, found[:options.n] if options.n else found


def read_known(copy):
    """tests/mutants.txt: (file, function, change, line of code) -> reason."""
    path = copy.tree / "tests/mutants.txt"
    known = {}
    for entry in path.read_text().split("\n\n") if path.exists() else []:
        lines = [line.strip() for line in entry.splitlines() if not line.startswith("#")]
        if len(lines) >= 3:
            where, change = lines[0].split(": ", 1)
            known[where, change, lines[1]] = " ".join(lines[2:])
    return known


class Results:
    def __init__(self, copy, units):
        self.copy = copy
        self.path = copy.at / "results.json"
        self.kept = json.loads(self.path.read_text()) if self.path.exists() else {}
        self.tests = sha(*sorted(u.digest for u in units))

    def key(self, mutant):
        return mutant.name + sha((self.copy.tree / mutant.file).read_text())[:12]

    def find(self, mutant):
        found = self.kept.get(self.key(mutant))
        is_open = found and found[0] in ("survived", "not reached")
        return None if not found or (is_open and found[2] != self.tests) else found

    def add(self, mutant, verdict, by):
        self.kept[self.key(mutant)] = [verdict, by, self.tests]
        self.path.with_suffix(".new").write_text(json.dumps(self.kept))
        self.path.with_suffix(".new").replace(self.path)


def judge_all(copy, units, mutants):
    results, bench, judged = Results(copy, units), Bench(copy, units), []
    for m in mutants:
        found = results.find(m)
        if found and found[0] == "killed":
            bench.kills[m.file, found[1]] += 1
    try:
        for i, m in enumerate(mutants):
            found = results.find(m)
            if not found:
                begin = time.monotonic()
                verdict, by = bench.judge(m)
                results.add(m, verdict, by)
                say(f"[{i + 1}/{len(mutants)}] {m.file}:{m.line} {m.change()}: {verdict}{' by ' + by if by else ''}, "
                    f"{time.monotonic() - begin:.1f} s")
                found = verdict, by
            judged.append((m, found[0], found[1]))
    except KeyboardInterrupt:
        say(f"stopped after {len(judged)} of {len(mutants)}; the same command goes on from here")
    return judged


def report(copy, judged, form):
    known = read_known(copy)
    counts, rows = collections.Counter(), []
    for m, verdict, by in judged:
        line = (copy.tree / m.file).read_text().splitlines()[m.line - 1].strip()
        reason = known.get((f"{m.file} {m.function}".strip(), m.change(), line))
        if verdict in ("survived", "not reached") and reason:
            verdict = "equivalent"
        counts[verdict] += 1
        rows.append({"file": m.file, "line": m.line, "function": m.function, "rule": m.rule, "change": m.change(),
                     "code": line, "verdict": verdict, "by": by, "reason": reason or "", "name": m.name})
    if form == "json":
        print(json.dumps({"counts": counts, "mutants": rows}, indent=1))
    else:
        for r in sorted(rows, key=lambda r: (r["file"], r["line"])):
            if r["verdict"] in ("survived", "not reached"):
                print(f"{r['file']}:{r['line']} {r['function']}: {r['change']}: {r['verdict']}\n    {r['code']}")
        tested = sum(counts[v] for v in ("killed", "survived", "not reached", "equivalent"))
        print(f"{tested} mutants: {counts['killed']} killed, {counts['survived']} survived, {counts['not reached']} "
              f"not reached by any test, {counts['equivalent']} known to be equivalent; besides, "
              f"{counts['same code']} made no difference to the compiler and {counts['invalid']} did not compile")
    return counts["survived"] + counts["not reached"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", type=int, default=300, help="how many (default 300; 0: all)")
    parser.add_argument("--seed", type=int, default=1, help="which ones")
    parser.add_argument("--files", default=FILES, help=f"patterns or names (default {FILES})")
    parser.add_argument("--rules", default="", help=f"out of {','.join(mutate_c.RULES)} (default all)")
    parser.add_argument("--tests", default="*", help="patterns of the tests that may notice (default all)")
    parser.add_argument("-o", choices=("text", "json"), default="text", dest="form")
    parser.add_argument("--list", action="store_true", help="only print what would be changed")
    parser.add_argument("--scratch", type=pathlib.Path, default=ROOT / "build-mutants")
    options = parser.parse_args()
    options.scratch.mkdir(exist_ok=True)
    copy = Copy(options.scratch.resolve(), options.tests)
    files, mutants = pick(copy, options)
    if options.list:
        for m in mutants:
            print(f"{m.file}:{m.line}: {m.rule}: {m.change()}")
        return 0
    say("building the tests")
    copy.make()
    units = find_units(copy)
    usual = {f for f in copy.sources() if any(fnmatch.fnmatch(f, p) for p in FILES.split(","))}
    Coverage(copy, units, sorted(usual | set(files))).measure()
    return 1 if report(copy, judge_all(copy, units, mutants), options.form) else 0


if __name__ == "__main__":
    sys.exit(main())

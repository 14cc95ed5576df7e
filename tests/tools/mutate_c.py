"""What tools/mutate_c.py changes: a piece of code a row, and all changes of it in order."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import mutate_c  # noqa: E402

ROWS = [
    ("a relation, a constant and a result that is a truth",
     "static bool f(int a)\n{\n    return a < 1;\n}\n",
     ["a < 1 -> !(a < 1)", "< -> <=", "1 -> 2", "1 -> 0"]),
    ("a condition is negated, both halves of it are looked at",
     "int f(int a)\n{\n    if (a && !b)\n        return 0;\n    return a;\n}\n",
     ["(a && !b) -> (!(a && !b))", "&& -> ||", "drop !", "0 -> 1"]),
    ("a function without result does nothing, or not all",
     "static void f(void)\n{\n    g();\n    x += 2;\n}\n",
     ["{ -> { return;", "drop g();", "drop x += 2;", "+= -> -=", "2 -> 3", "2 -> 1"]),
    ("declarations, assertions, memory that is given back and unused parameters stay",
     "int f(int *a)\n{\n    (void)a;\n    struct x y;\n    int b;\n    assert(a > 1);\n    free(a);\n"
     "    return b;\n}\n", []),
    ("the head of a loop is no statement",
     "int f(void)\n{\n    for (i = 0; i < n; i++)\n        go(i);\n    return x;\n}\n",
     ["0 -> 1", "< -> <=", "drop go(i);"]),
    ("values in braces are no statements",
     "int f(void)\n{\n    struct x y = { a, .b = c };\n    g((struct x){ 0 });\n    return y;\n}\n",
     ["drop g((struct x){ 0 });"]),
    ("loops end early or go on",
     "int f(void)\n{\n    while (a) {\n        if (b)\n            continue;\n        break;\n    }\n"
     "    return x;\n}\n",
     ["(b) -> (!(b))", "continue -> break", "break -> continue"]),
    ("comments, texts and preprocessor lines are left alone",
     "#define X (a < b)\nint f(void)\n{\n    /* a < b */\n    return \"a < b\"[x];\n}\n", []),
    ("a row of events goes, its hint goes, each of its events goes",
     "const struct plugin p = {\n    .name = \"P\",\n    .filter = filter,\n"
     "    .events = (const struct plugin_event[]){\n"
     "        { RES_NODE, ACT_ADD | ACT_DELETE, hint },\n        { RES_POD, ACT_ADD, NULL },\n        { 0 } },\n};\n",
     ["drop .filter = filter,", "drop { RES_NODE, ACT_ADD | ACT_DELETE, hint },", "hint -> NULL", "ACT_ADD -> 0",
      "ACT_DELETE -> 0", "drop { RES_POD, ACT_ADD, NULL },"]),
    ("hints say the opposite", "enum hint f(void)\n{\n    return a ? HINT_QUEUE : HINT_SKIP;\n}\n",
     ["HINT_QUEUE -> HINT_SKIP", "HINT_SKIP -> HINT_QUEUE"]),
    ("a sign is no subtraction", "int f(void)\n{\n    return -a + b;\n}\n", ["+ -> -"]),
]


class Changes(unittest.TestCase):
    def test_rows(self):
        for what, source, changes in ROWS:
            with self.subTest(what):
                found = mutate_c.mutants_of("f.c", source)
                self.assertEqual([m.change() for m in found], changes)

    def test_a_change_keeps_the_number_of_lines(self):
        for what, source, _ in ROWS:
            for m in mutate_c.mutants_of("f.c", source):
                self.assertEqual(m.apply(source).count("\n"), source.count("\n"), what)
                self.assertNotEqual(m.apply(source), source, what)

    def test_names_last(self):
        source = "int f(void)\n{\n    return a < b && c < d;\n}\n"
        before = {m.name for m in mutate_c.mutants_of("f.c", source)}
        after = {m.name for m in mutate_c.mutants_of("f.c", "/* more */\n" + source)}
        self.assertEqual(len(before), 3)
        self.assertEqual(before, after)


if __name__ == "__main__":
    unittest.main()

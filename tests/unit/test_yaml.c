/* YAML: what texts mean, maps, aliases, faults and their words, limits; printing; streams of documents. */
#include "codec/yaml.h"

#include <stdlib.h>

#include "tests/test.h"

struct row {
    const char *what, *in, *out;
};

/* JSON, or the error's text behind "! ". */
static struct str convert(struct arena *a, struct str yaml, struct findings *findings)
{
    struct str json;
    struct err e;
    err_init(&e, a);
    if (!yaml_to_json(a, WORK_OWN, yaml, findings, &json, &e))
        return json;
    CHECK(e.code == ERR_BAD_REQUEST || e.code == ERR_TOO_LARGE);
    return str_of(arena_printf(a, "! %s", e.message));
}

static void check_rows(const struct row *rows, size_t n)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < n; i++)
        CHECK_STR(rows[i].what, convert(&a, str_of(rows[i].in), NULL), str_of(rows[i].out));
    arena_fini(&a);
}
#define CHECK_ROWS(rows) check_rows((rows), sizeof(rows) / sizeof((rows)[0]))

TEST(plain_texts_mean_what_yaml_1_1_says)
{
    static const struct row rows[] = {
        { "booleans", "[y, Yes, on, TRUE, n, NO, Off, false]",
          "[true,true,true,true,false,false,false,false]" },
        { "nearly booleans", "[yEs, oN, T, nO]", "[\"yEs\",\"oN\",\"T\",\"nO\"]" },
        { "nulls", "[~, null, Null, NULL, nUll]", "[null,null,null,null,\"nUll\"]" },
        { "nothing at all", "- \n-\n", "[null,null]" },
        { "integers", "[0, -1, +2, 1_000, -_1]", "[0,-1,2,1000,-1]" },
        { "bases", "[017, 0o17, 0x1F, -0xf, 0b101, 0B1, 08, 0b-11]", "[15,15,31,-15,5,1,8,-3]" },
        { "ends of 64 bits",
          "[9223372036854775807, -9223372036854775808, 18446744073709551615]",
          "[9223372036854775807,-9223372036854775808,18446744073709551615]" },
        { "beyond 64 bits", "[18446744073709551616, -9223372036854775809]",
          "[18446744073709552000,-9223372036854776000]" },
        { "floats", "[1.5, 1., .5, -.5, 1e3, 1E-7, .5_0, 1_0.5, -0.0, 1e21]",
          "[1.5,1,0.5,-0.5,1000,1e-7,0.5,10.5,-0,1e+21]" },
        { "not floats", "[1e400, ._5, ., +, -, 1e, 1.2.3, 1:30, 0x]",
          "[\"1e400\",\"._5\",\".\",\"+\",\"-\",\"1e\",\"1.2.3\",\"1:30\",\"0x\"]" },
        { "too small is 0", "1e-400", "0" },
        { "timestamps stay texts", "[2001-01-01, 2001-12-14t21:59:43.10-05:00]",
          "[\"2001-01-01\",\"2001-12-14t21:59:43.10-05:00\"]" },
        { "in quotes all are strings", "['1', \"true\", '']", "[\"1\",\"true\",\"\"]" },
        { "merge sign as a value", "<<", "\"\\u003c\\u003c\"" },
        { "infinity", "a: .inf", "! json: unsupported value: +Inf" },
        { "minus infinity", "-.INF", "! json: unsupported value: -Inf" },
        { "not a number", "[.nan]", "! json: unsupported value: NaN" },
    };
    CHECK_ROWS(rows);
}

TEST(tags_ask_for_a_type)
{
    static const struct row rows[] = {
        { "string of a number", "!!str 1", "\"1\"" },
        { "number in quotes", "!!int \"0x10\"", "16" },
        { "float of an integer", "!!float 3", "3" },
        { "null", "!!null ~", "null" },
        { "timestamp", "!!timestamp 2001-01-01", "\"2001-01-01\"" },
        { "own tag leaves a string", "!own 1", "\"1\"" },
        { "so does the empty one", "! 12", "\"12\"" },
        { "verbatim", "!<tag:yaml.org,2002:int> 5", "5" },
        { "binary", "!!binary aGVsbG8=", "\"hello\"" },
        { "binary over lines", "!!binary |\n  aGVs\n  bG8=\n", "\"hello\"" },
        { "binary that is no text", "!!binary gIE=", "\"\\ufffd\\ufffd\"" },
        { "padding in the midst", "!!binary a=bc", "! yaml: !!binary value contains invalid base64 data" },
        { "padding missing", "!!binary aGVsbG8", "! yaml: !!binary value contains invalid base64 data" },
        { "nothing but padding", "!!binary ==", "! yaml: !!binary value contains invalid base64 data" },
        { "word as integer", "!!int abc", "! yaml: cannot decode !!str `abc` as a !!int" },
        { "integer as boolean", "!!bool 1", "! yaml: cannot decode !!int `1` as a !!bool" },
        { "large integer as float", "!!float 18446744073709551615",
          "! yaml: cannot decode !!int `18446744073709551615` as a !!float" },
        { "date as integer", "!!int 2001-01-01", "! yaml: cannot decode !!str `2001-01-01` as a !!int" },
        { "no date", "!!timestamp 2001-02-30",
          "! yaml: cannot decode !!str `2001-02-30` as a !!timestamp" },
    };
    CHECK_ROWS(rows);
}

TEST(keys_become_sorted_strings)
{
    static const struct row rows[] = {
        { "types", "{b: 1, 1: 2, true: 3, 1.5: 4, 0x10: 5, no: 6}",
          "{\"1\":2,\"1.5\":4,\"16\":5,\"b\":1,\"false\":6,\"true\":3}" },
        { "floats by 32 bits", "{0.1: a, 16777217.5: b, 1e300: c}",
          "{\".inf\":\"c\",\"0.1\":\"a\",\"1.6777218e+07\":\"b\"}" },
        { "the last one wins", "a: 1\nb: 2\na: 3\n", "{\"a\":3,\"b\":2}" },
        { "and one text of two types too", "1: a\n\"1\": b\n", "{\"1\":\"b\"}" },
        { "no value", "{a, b: }", "{\"a\":null,\"b\":null}" },
        { "null", "{~: 1}", "! unsupported map key of type: %!s(<nil>), key: <nil>, value: 1" },
        { "above 63 bits", "18446744073709551615: [x]",
          "! unsupported map key of type: uint64, key: 0xffffffffffffffff, value: "
          "[]interface {}{\"x\"}" },
        { "a template that was not filled in", "a: {{ .Values.x }}",
          "! yaml: invalid map key: map[interface {}]interface {}{\".Values.x\":interface {}(nil)}" },
        { "list", "? [1, a]\n: b", "! yaml: invalid map key: []interface {}{1, \"a\"}" },
        { "bad keys go before bad values", "{a: .nan, ~: 1}",
          "! unsupported map key of type: %!s(<nil>), key: <nil>, value: 1" },
    };
    CHECK_ROWS(rows);
}

TEST(aliases_and_merges)
{
    static const struct row rows[] = {
        { "alias", "a: &x [1]\nb: *x", "{\"a\":[1],\"b\":[1]}" },
        { "latest anchor", "[&x 1, *x, &x 2, *x]", "[1,1,2,2]" },
        { "alias as key", "{&x a: 1, b: {*x : 2}}", "{\"a\":1,\"b\":{\"a\":2}}" },
        { "merge, own keys behind it win", "a: &x {k: 1, l: 2}\nb:\n  <<: *x\n  k: 3\n",
          "{\"a\":{\"k\":1,\"l\":2},\"b\":{\"k\":3,\"l\":2}}" },
        { "own keys before it lose", "a: &x {k: 1}\nb:\n  k: 3\n  <<: *x\n",
          "{\"a\":{\"k\":1},\"b\":{\"k\":1}}" },
        { "of several the first wins", "<<: [{k: 1}, {k: 2, l: 2}]", "{\"k\":1,\"l\":2}" },
        { "merge of a merge", "{<<: {<<: {a: 1}, b: 2}}", "{\"a\":1,\"b\":2}" },
        { "in quotes it is a key", "\"<<\": {a: 1}", "{\"\\u003c\\u003c\":{\"a\":1}}" },
        { "merge of a scalar", "<<: 1",
          "! yaml: map merge requires map or sequence of maps as the value" },
        { "merge of scalars", "<<: [{}, 1]",
          "! yaml: map merge requires map or sequence of maps as the value" },
        { "unknown anchor", "a: *n", "! yaml: unknown anchor 'n' referenced" },
        { "within itself", "&a [*a]", "! yaml: anchor 'a' value contains itself" },
        { "merged into itself", "&a {<<: *a}", "! yaml: anchor 'a' value contains itself" },
    };
    CHECK_ROWS(rows);
}

TEST(texts_and_documents)
{
    static const struct row rows[] = {
        { "nothing", "", "null" },
        { "comments", "# a\n\n# b\n", "null" },
        { "empty document", "---\n...\n", "null" },
        { "only the first one", "a\n---\n*b", "\"a\"" },
        { "byte order mark", "\xEF\xBB\xBF" "a: 1", "{\"a\":1}" },
        { "line ends of two bytes", "a: 1\r\nb: |\r\n  x\r\n", "{\"a\":1,\"b\":\"x\\n\"}" },
        { "literal and folded", "[\"a\\tb\", 'it''s']", "[\"a\\tb\",\"it's\"]" },
        { "escapes of JSON", "\"<&>\\u2028\\x01\\x7f\\\"\\\\\"",
          "\"\\u003c\\u0026\\u003e\\u2028\\u0001\x7f\\\"\\\\\"" },
        { "a quote escaped in vain", "[\"it\\'s\", \"\\\\\\'\\\"\", '\\']", "[\"it's\",\"\\\\'\\\"\",\"\\\\\"]" },
        { "and another escape behind it", "a: \"\\'\\q\"", "! yaml: found unknown escape character" },
    };
    CHECK_ROWS(rows);
}

TEST(faults_are_worded_as_upstream)
{
    static const struct row rows[] = {
        { "in the first line there is no number", "a: b: c\n",
          "! yaml: mapping values are not allowed in this context" },
        { "line", "a: 1\nb: c: d\n", "! yaml: line 2: mapping values are not allowed in this context" },
        { "tab", "a:\n\tb: 1\n", "! yaml: line 2: found character that cannot start any token" },
        { "parser's lines are one less", "a: 1\nb: [\n", "! yaml: line 2: did not find expected node content" },
        { "key", "a: 1\n b: 2\n", "! yaml: line 2: mapping values are not allowed in this context" },
        { "outdented", "a:\n  - 1\n b: 2\n", "! yaml: line 2: did not find expected key" },
        { "quote", "a: \"x\n", "! yaml: line 2: found unexpected end of stream" },
        { "control character", "a: \x01", "! yaml: control characters are not allowed" },
        { "not UTF-8", "a: \xff", "! yaml: invalid leading UTF-8 octet" },
        { "cut UTF-8", "a: \xc3", "! yaml: incomplete UTF-8 octet sequence" },
        { "version", "%YAML 1.2\n---\na", "! yaml: found incompatible YAML document" },
        { "behind a comment", "# c\n%YAML 1.2\n---\na",
          "! yaml: line 1: found incompatible YAML document" },
        { "tag handle", "a:\n  !x!y 1", "! yaml: line 1: found undefined tag handle" },
    };
    CHECK_ROWS(rows);
}

TEST(keys_given_twice_are_found)
{
    static const struct row rows[] = {
        { "none", "a: 1\nb: {a: 1}\n", "" },
        { "nested before outer", "a:\n  k: 1\n  k: 2\na: 3\n",
          "yaml: unmarshal errors:\n  line 3: key \"k\" already set in map\n"
          "  line 4: key \"a\" already set in map" },
        { "the value's line", "a: 1\na:\n\n  - x\n",
          "yaml: unmarshal errors:\n  line 4: key \"a\" already set in map" },
        { "all but the first", "{1: a, 1: b, 0x1: c}",
          "yaml: unmarshal errors:\n  line 1: key 1 already set in map\n"
          "  line 1: key 1 already set in map" },
        { "types differ", "{1: a, '1': b, 1.0: c, true: d}", "" },
        { "other types", "{yes: a, on: b, 1.5: c, 1.50: d}",
          "yaml: unmarshal errors:\n  line 1: key true already set in map\n"
          "  line 1: key 1.5 already set in map" },
        { "by a merge", "x: &x {k: 1}\ny:\n  k: 2\n  <<: *x\n",
          "yaml: unmarshal errors:\n  line 1: key \"k\" already set in map" },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct findings findings = { 0 };
        CHECK(convert(&a, str_of(rows[i].in), &findings).p[0] != '!');
        CHECK_INT(rows[i].what, findings.n, rows[i].out[0] != '\0');
        CHECK_TEXT(rows[i].what, findings.n ? findings.texts[0] : "", rows[i].out);
    }
    arena_fini(&a);
}

/* ---- Limits ---- */

/* In a file overriding what was merged is what merging is for; texts without findings are upstream's strict ones. */
TEST(keys_given_twice_in_files)
{
    static const struct {
        const char *what, *yaml, *strict, *of_file[3];
    } rows[] = {
        { "set over a merged one", "base: &c {name: a, x: 1}\nuse:\n  <<: *c\n  name: b\n",
          "yaml: unmarshal errors:\n  line 4: key \"name\" already set in map", { NULL } },
        { "merged over a set one", "base: &c {name: a, x: 1}\nuse:\n  name: b\n  <<: *c\n",
          "yaml: unmarshal errors:\n  line 1: key \"name\" already set in map", { NULL } },
        { "merged twice", "a: &a {x: 1}\nb: &b {x: 2}\nc:\n  <<: [*a, *b]\n",
          "yaml: unmarshal errors:\n  line 1: key \"x\" already set in map", { NULL } },
        { "set twice over a merged one", "c:\n  <<: {x: 1}\n  x: 2\n  x: 3\n",
          "yaml: unmarshal errors:\n  line 3: key \"x\" already set in map\n  line 4: key \"x\" already set in map",
          { "line 4: key \"x\" already set in map" } },
        { "set, merged and set", "c:\n  x: 0\n  <<: {x: 1}\n  x: 2\n",
          "yaml: unmarshal errors:\n  line 3: key \"x\" already set in map\n  line 4: key \"x\" already set in map",
          { "line 4: key \"x\" already set in map" } },
        { "twice in what is merged", "a: &a {x: 1, x: 2}\nc:\n  <<: *a\n",
          "yaml: unmarshal errors:\n  line 1: key \"x\" already set in map\n  line 1: key \"x\" already set in map",
          { "line 1: key \"x\" already set in map" } },
        { "twice in a value that is merged", "c:\n  <<: {v: {x: 1, x: 2}}\n  k: 1\n  k: 2\n",
          "yaml: unmarshal errors:\n  line 2: key \"x\" already set in map\n  line 4: key \"k\" already set in map",
          { "line 2: key \"x\" already set in map", "line 4: key \"k\" already set in map" } },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct findings strict = { 0 }, of_file = { .of_file = true };
        (void)convert(&a, str_of(rows[i].yaml), &strict);
        (void)convert(&a, str_of(rows[i].yaml), &of_file);
        CHECK_INT(rows[i].what, strict.n, 1);
        CHECK_TEXT(rows[i].what, strict.texts[0], rows[i].strict);
        unsigned n = 0;
        for (; rows[i].of_file[n]; n++)
            CHECK_TEXT(rows[i].what, n < of_file.n ? of_file.texts[n] : "(none)", rows[i].of_file[n]);
        CHECK_INT(rows[i].what, of_file.n, n);
    }
    arena_fini(&a);
}

static struct str repeated(struct arena *a, const char *before, const char *part, size_t n, const char *after)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    strbuf_add_text(&b, before);
    while (n--)
        strbuf_add_text(&b, part);
    strbuf_add_text(&b, after);
    struct str text = arena_str(a, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

TEST(what_aliases_expand_to_is_limited)
{
    struct arena a;
    arena_init(&a);
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    strbuf_add_text(&b, "a: &a [x, x, x, x, x, x, x, x, x]\n");
    for (char c = 'b'; c <= 'i'; c++)
        strbuf_printf(&b, "%c: &%c [*%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c]\n", c, c, c - 1, c - 1, c - 1,
                      c - 1, c - 1, c - 1, c - 1, c - 1, c - 1);
    CHECK_STR("a billion nodes", convert(&a, strbuf_str(&b), NULL),
              STR("! yaml: document contains excessive aliasing"));
    strbuf_fini(&b);
    struct str text = repeated(&a, "a: &a \"", "0123456789abcdef", 1 << 16, "\"\nb: [*a");
    char *many = arena_printf(&a, "%.*s%.*s]", STR_ARG(text), STR_ARG(repeated(&a, "", ", *a", 80, "")));
    CHECK_STR("80 MiB of text", convert(&a, str_of(many), NULL),
              STR("! the body expands to more than 64 times its length"));
    arena_fini(&a);
}

TEST(nesting_is_limited)
{
    struct arena a;
    arena_init(&a);
    char *fits = arena_printf(&a, "%.*s%.*s", STR_ARG(repeated(&a, "", "[", YAML_DEPTH_MAX, "")),
                              STR_ARG(repeated(&a, "", "]", YAML_DEPTH_MAX, "")));
    CHECK_STR("as deep as may be", convert(&a, str_of(fits), NULL), str_of(fits));
    CHECK_STR("lists", convert(&a, repeated(&a, "", "[", 1 << 20, ""), NULL),
              STR("! yaml: line 1: exceeded max depth of 1000"));
    CHECK_STR("maps", convert(&a, repeated(&a, "", "{a: ", 1 << 20, ""), NULL),
              STR("! yaml: line 1: exceeded max depth of 1000"));
    CHECK_STR("block lists", convert(&a, repeated(&a, "", "- ", 1 << 20, ""), NULL),
              STR("! yaml: line 1: exceeded max depth of 1000"));
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    strbuf_add_text(&b, "- &a0 [x]\n");
    for (int i = 1; i < 12; i++) {
        strbuf_printf(&b, "- &a%d", i);
        strbuf_add_str(&b, repeated(&a, " ", "[", 100, ""));
        strbuf_printf(&b, "*a%d", i - 1);
        strbuf_add_str(&b, repeated(&a, "", "]", 100, "\n"));
    }
    CHECK_STR("aliases", convert(&a, strbuf_str(&b), NULL), STR("! yaml: exceeded max depth of 1000"));
    strbuf_fini(&b);
    arena_fini(&a);
}

TEST(tag_directives_are_limited)
{
    struct arena a;
    arena_init(&a);
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    for (int i = 0; i < 100000; i++)
        strbuf_printf(&b, "%%TAG !a%d! x\n", i);
    strbuf_add_text(&b, "--- a");
    CHECK_STR("many", convert(&a, strbuf_str(&b), NULL), STR("! yaml: too many %TAG directives"));
    strbuf_fini(&b);
    arena_fini(&a);
}

/* ---- Printing ---- */

static void check_printed(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct strbuf b;
        strbuf_init(&b, STRBUF_NO_MAX);
        yaml_from_json(&b, str_of(rows[i].in));
        CHECK_STR(rows[i].what, strbuf_str(&b), str_of(rows[i].out));
        strbuf_fini(&b);
    }
}
#define CHECK_PRINTED(rows) check_printed((rows), sizeof(rows) / sizeof((rows)[0]))

TEST(objects_print_in_block_style)
{
    static const struct row rows[] = {
        { "an object", "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"labels\":{}},\"items\":[]}",
          "items: []\nkind: Pod\nmetadata:\n  labels: {}\n  name: a\n" },
        { "lists are not indented", "{\"a\":[{\"b\":1,\"c\":[1,[2,3],{}]},\"x\"]}",
          "a:\n- b: 1\n  c:\n  - 1\n  - - 2\n    - 3\n  - {}\n- x\n" },
        { "list of lists", "[[1],[],[[2]]]", "- - 1\n- []\n- - - 2\n" },
        { "words and numbers", "[true,false,null,-1,1.0,1e6,123456789.5,1e400,18446744073709551616,-0.0]",
          "- true\n- false\n- null\n- -1\n- 1\n- 1e+06\n- 1.234567895e+08\n- 1e400\n"
          "- 1.8446744073709552e+19\n- -0\n" },
        { "root scalars", "\"a\"", "a\n" },
        { "root number", "1", "1\n" },
        { "keys that repeat", "{\"a\":1,\"b\":2,\"a\":3}", "a: 3\nb: 2\n" },
        { "a key of two lines", "{\"a\\nb\":{\"c\":1},\"d\\n\":[1]}", "? |-\n  a\n  b\n: c: 1\n? |\n  d\n: - 1\n" },
    };
    CHECK_PRINTED(rows);
}

/* The same document, but nothing in it that a terminal would obey or hide. */
TEST(what_is_not_printable_is_escaped_on_request)
{
    static const struct row rows[] = {
        { "plain otherwise", "{\"a\xE2\x80\xAE\":\"b\xC2\x9B\",\"c\":\"d\"}", "\"a\\u202E\": \"b\\x9B\"\nc: d\n" },
        { "quoted otherwise", "[\" a\xE2\x80\x8B\"]", "- \" a\\u200B\"\n" },
        { "lines otherwise", "[\"a\\nb\xE2\x81\xA6\",\"a\\nb\"]", "- \"a\\nb\\u2066\"\n- |-\n  a\n  b\n" },
        { "a letter that nobody sees", "[\"\xE3\x85\xA4\"]", "- \"\\u3164\"\n" },
        { "letters stay", "[\"\xC3\xA9\"]", "- \xC3\xA9\n" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct strbuf b;
        strbuf_init(&b, STRBUF_NO_MAX);
        yaml_from_json_visible(&b, str_of(rows[i].in));
        CHECK_STR(rows[i].what, strbuf_str(&b), str_of(rows[i].out));
        strbuf_fini(&b);
    }
}

TEST(keys_sort_as_people_count)
{
    static const struct row rows[] = {
        { "numbers by value", "{\"a10\":0,\"a2\":0,\"a1\":0,\"a02\":0,\"a\":0}",
          "a: 0\na1: 0\na2: 0\na02: 0\na10: 0\n" },
        { "letters behind the rest", "{\"ab\":0,\"a.b\":0,\"a/b\":0,\"a1\":0,\"A\":0,\"_\":0}",
          "_: 0\nA: 0\na.b: 0\na/b: 0\na1: 0\nab: 0\n" },
        { "beyond ASCII", "{\"\xC3\xBC\":0,\"z\":0,\"\xCE\xB1\":0}", "z: 0\n\xC3\xBC: 0\n\xCE\xB1: 0\n" },
        { "zeros within a number", "{\"a100\":0,\"a10\":0,\"a1001\":0}", "a10: 0\na100: 0\na1001: 0\n" },
    };
    CHECK_PRINTED(rows);
}

TEST(strings_get_the_quotes_they_need)
{
    static const struct row rows[] = {
        { "plain", "[\"a b\",\"a:b\",\"a#b\",\"-a\",\"a-\",\"\xC3\xA9\",\"<<\"]",
          "- a b\n- a:b\n- a#b\n- -a\n- a-\n- \xC3\xA9\n- <<\n" },
        { "other types", "[\"\",\"yes\",\"1\",\"1_0\",\"0x1\",\"~\",\".5\",\"1e3\",\".inf\"]",
          "- \"\"\n- \"yes\"\n- \"1\"\n- \"1_0\"\n- \"0x1\"\n- \"~\"\n- \".5\"\n- \"1e3\"\n- \".inf\"\n" },
        { "timestamps", "[\"2001-01-01\",\"2001-1-1 1:2:3\",\"2024-02-29T10:00:00Z\",\"2023-02-29\","
          "\"2001-01-01T10:00:00\"]",
          "- \"2001-01-01\"\n- \"2001-1-1 1:2:3\"\n- \"2024-02-29T10:00:00Z\"\n- 2023-02-29\n"
          "- 2001-01-01T10:00:00\n" },
        { "base 60", "[\"12:30\",\"1:2:3.5\",\"1:60\",\"1_0:5\"]",
          "- \"12:30\"\n- \"1:2:3.5\"\n- 1:60\n- \"1_0:5\"\n" },
        { "no base 60", "[\"1:\",\"1:x\",\":1\",\"a:1\"]", "- '1:'\n- 1:x\n- :1\n- a:1\n" },
        { "indicators", "[\"a: b\",\"a #b\",\"- a\",\"? a\",\"{a\",\"*a\",\"%a\",\"it's: \",\"--- a\",\"#\"]",
          "- 'a: b'\n- 'a #b'\n- '- a'\n- '? a'\n- '{a'\n- '*a'\n- '%a'\n- 'it''s: '\n- '--- a'\n- '#'\n" },
        { "blanks around", "[\" a\",\"a \",\"a\\tb\"]", "- ' a'\n- 'a '\n- \"a\\tb\"\n" },
        { "escapes", "[\"\\u0000\\u0007\\u001b\\u007f\\\"\\\\\\r\\u2028\",\"\\ufeffa b\",\"\\ud83d\\ude00\"]",
          "- \"\\0\\a\\e\\x7F\\\"\\\\\\r\\L\"\n- \"\\uFEFF\\x61\\x20\\x62\"\n- \"\\U0001F600\"\n" },
        { "keys", "{\"\":0,\"1\":0,\"a: b\":0,\"no\":0}", "\"\": 0\n\"1\": 0\n'a: b': 0\n\"no\": 0\n" },
    };
    CHECK_PRINTED(rows);
}

TEST(long_and_many_lines)
{
#define FIFTEEN "word word word word word word word word word word word word word word word"
#define WORDS FIFTEEN " word"
    static const struct row rows[] = {
        { "literal", "{\"a\":\"one\\n two\\n\\nthree\\n\",\"b\":[\"x\\ny\"]}",
          "a: |\n  one\n   two\n\n  three\nb:\n- |-\n  x\n  y\n" },
        { "kept line ends", "[\"a\\n\\n\",\"\\n\",\"\\na\"]", "- |+\n  a\n\n- |2+\n\n- |2-\n\n  a\n" },
        { "leading blank", "[\" a\\nb\\n\"]", "- |2\n   a\n  b\n" },
        { "blank before a line end", "\"a \\nb\"", "\"a \\nb\"\n" },
        { "root", "\"a\\nb\"", "|-\n  a\n  b\n" },
        { "plain is folded behind column 80", "{\"a\":\"" WORDS " " WORDS "\"}",
          "a: " WORDS "\n  " WORDS "\n" },
        { "double blanks are no place for it", "{\"a\":\"" WORDS "  " WORDS "\"}",
          "a: " WORDS "  word\n  " FIFTEEN "\n" },
        { "quoted", "{\"a\":\"#" WORDS " " WORDS "\"}", "a: '#" WORDS "\n  " WORDS "'\n" },
        { "double quoted escapes the blank that follows", "{\"a\":\"" WORDS "  " WORDS "\\u0001\"}",
          "a: \"" WORDS "\n  \\ " WORDS "\\x01\"\n" },
        { "a long key", "{\"" WORDS " " WORDS "\":1}", "? " WORDS "\n  " WORDS "\n: 1\n" },
    };
#undef WORDS
#undef FIFTEEN
    CHECK_PRINTED(rows);
}

/* ---- Streams ---- */

/* Documents in ( ), an error behind "! ". */
static struct str split(struct arena *a, const char *text)
{
    struct yaml_stream s;
    struct strbuf b;
    struct err e;
    err_init(&e, a);
    strbuf_init(&b, STRBUF_NO_MAX);
    yaml_stream_init(&s, str_of(text));
    for (;;) {
        struct str document;
        if (yaml_next_document(&s, &document, &e)) {
            strbuf_printf(&b, "! %s", e.message);
            break;
        }
        if (!document.p)
            break;
        strbuf_printf(&b, "(%.*s)", STR_ARG(document));
    }
    struct str parts = arena_str(a, strbuf_str(&b));
    strbuf_fini(&b);
    return parts;
}

TEST(streams_are_parted_as_kubectl_does)
{
    static const struct row rows[] = {
        { "nothing", "", "" },
        { "one", "a: 1\n", "(a: 1\n)" },
        { "two", "a: 1\n---\nb: 2", "(a: 1\n)(---\nb: 2)" },
        { "empty ones", "---\n---\n# c\n---\n\na: 1\n---\n---\n", "(---\n\na: 1\n)" },
        { "comment behind the separator", "a: 1\n--- # c\nb: 2\n", "(a: 1\n)(--- # c\nb: 2\n)" },
        { "text behind it", "a: 1\n--- x\n", "! invalid Yaml document separator: x" },
        { "a fourth dash", "----\n", "! invalid Yaml document separator: -" },
        { "not at the beginning", "a: |\n  x\n  ---\n", "(a: |\n  x\n  ---\n)" },
        { "line ends of two bytes", "a: 1\r\n---\r\nb: 2\r\n", "(a: 1\r\n)(---\r\nb: 2\r\n)" },
        { "JSON", "{\"a\":1}{\"b\":2}\n null [1]", "({\"a\":1})({\"b\":2})([1])" },
        { "JSON, then YAML", "{\"a\":1}\n---\nb: 2\n", "({\"a\":1})(---\nb: 2\n)" },
        { "YAML in braces", "{a: 1}\n---\n{}{}", "({a: 1}\n)(---\n{}{})" },
        { "twice JSON stays it", "{} {} x", "({})({})! invalid character 'x' looking for beginning of value" },
    };
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        CHECK_STR(rows[i].what, split(&a, rows[i].in), str_of(rows[i].out));
    arena_fini(&a);
}

/* tests/vectors/main.c - `vectors DIR [FAMILY...]`: runs every file of DIR that it knows, a row a file, and
 * ends with "vectors: N cases, M mismatched". Exit 0 only if M is 0 and something ran. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "base/strbuf.h"
#include "tests/vectors/vectors.h"

enum { MISMATCHES_SHOWN = 10, LINE_BYTES_MAX = 64 << 20 };

#define SCHEDULING { check_requests, check_effective, check_scheduling }

#define LEGACY { check_legacy_start, check_scheduling }

static const struct vector_family families[] = {
    { "codec", { check_codec, check_typed } },
    { "codec-unknown", { check_codec_unknown, check_typed_lenient } },
    { "codec-maps", { check_codec_unknown, check_typed_lenient } }, /* damaged entries of protobuf maps */
    { "kinds", { check_kinds } },
    { "strict", { check_strict } },
    { "quantity", { check_quantity } },
    { "selectors", { check_selectors } },
    { "names", { check_names } },
    { "patches", { check_patches } },
    { "ssa", { check_apply } },
    { "applies", { check_apply } }, /* of a whole server: tests/golden/apiserver */
    { "resources", SCHEDULING },
    { "scoring-strategies", SCHEDULING },
    { "balanced", SCHEDULING },
    { "taints", SCHEDULING },
    { "nodeaffinity", SCHEDULING },
    { "ports", SCHEDULING },
    { "images", SCHEDULING },
    { "interpod", SCHEDULING },
    { "spread", SCHEDULING },
    { "volumes", SCHEDULING },
    { "preemption", SCHEDULING },
    { "gates", SCHEDULING },
    { "mixed", SCHEDULING },
    { "config", SCHEDULING },
    { "default-provider", LEGACY },
    { "autoscaler-provider", LEGACY },
    { "policy-predicates", LEGACY },
    { "policy-priorities", LEGACY },
    { "policy-mixed", LEGACY },
    { "policy-invalid", { check_legacy_start } },
    { NULL, { NULL } },
};

void vector_mismatch(struct vector_case *c, const char *format, ...)
{
    c->mismatched = true;
    if (c->n_shown++ >= MISMATCHES_SHOWN)
        return;
    printf("  %s line %zu: ", c->family, c->line);
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

bool vector_text(struct vector_case *c, const char *what, struct str got, struct str want)
{
    if (str_eq(got, want))
        return true;
    vector_mismatch(c, "%s\n    got  %.*s\n    want %.*s", what, STR_ARG(got), STR_ARG(want));
    return false;
}

bool vector_int(struct vector_case *c, const char *what, int64_t got, int64_t want)
{
    if (got == want)
        return true;
    vector_mismatch(c, "%s: got %lld, want %lld", what, (long long)got, (long long)want);
    return false;
}

struct str vector_str(yyjson_val *object, const char *name)
{
    yyjson_val *v = yyjson_obj_get(object, name);
    return (struct str){ yyjson_get_str(v), yyjson_get_len(v) };
}

int64_t vector_num(yyjson_val *object, const char *name)
{
    return yyjson_get_sint(yyjson_obj_get(object, name));
}

bool vector_bool(yyjson_val *object, const char *name)
{
    return yyjson_get_bool(yyjson_obj_get(object, name));
}

bool vector_has(yyjson_val *object, const char *name)
{
    return yyjson_obj_get(object, name) != NULL;
}

struct str vector_base64(struct arena *a, struct str text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *bytes = arena_alloc(a, text.n / 4 * 3 + 3);
    size_t n = 0;
    uint32_t bits = 0;
    int n_bits = 0;
    for (size_t i = 0; i < text.n && text.p[i] != '='; i++) {
        bits = bits << 6 | (uint32_t)(strchr(digits, text.p[i]) - digits);
        n_bits += 6;
        if (n_bits >= 8) {
            n_bits -= 8;
            bytes[n++] = (char)(bits >> n_bits);
        }
    }
    return (struct str){ bytes, n };
}

struct str vector_bytes(struct vector_case *c, const char *name)
{
    if (vector_has(c->record, name))
        return vector_str(c->record, name);
    return vector_base64(c->arena, vector_str(c->record, arena_printf(c->arena, "%sBase64", name)));
}

struct str vector_json(struct vector_case *c, yyjson_val *value)
{
    size_t n;
    char *text = yyjson_val_write(value, YYJSON_WRITE_ALLOW_INVALID_UNICODE, &n);
    struct str copy = arena_str(c->arena, (struct str){ text, n });
    free(text);
    return copy;
}

/* One line without its newline into `line`; false at the end of the file. */
static bool read_line(gzFile f, struct strbuf *line)
{
    strbuf_reset(line);
    char part[65536];
    while (gzgets(f, part, sizeof(part))) {
        size_t n = strlen(part);
        bool whole = n && part[n - 1] == '\n';
        strbuf_add(line, part, n - whole);
        if (whole)
            return true;
    }
    return line->n > 0;
}

struct totals {
    size_t n_cases, n_mismatched;
};

static void run_line(const struct vector_family *family, struct vector_case *c, struct str line)
{
    yyjson_doc *doc = yyjson_read(line.p, line.n, 0);
    if (!doc) {
        fprintf(stderr, "vectors: %s line %zu is not JSON\n", family->name, c->line);
        exit(2);
    }
    c->record = yyjson_doc_get_root(doc);
    c->mismatched = false;
    for (size_t i = 0; i < VECTOR_CHECKS_MAX && family->checks[i]; i++)
        family->checks[i](c);
    yyjson_doc_free(doc);
    arena_reset(c->arena);
}

static void run_family(const struct vector_family *family, gzFile f, struct totals *totals)
{
    struct arena arena;
    arena_init(&arena);
    struct strbuf line;
    strbuf_init(&line, LINE_BYTES_MAX);
    struct vector_case c = { .arena = &arena, .family = family->name };
    struct totals mine = { 0 };
    while (read_line(f, &line)) {
        c.line++;
        run_line(family, &c, strbuf_str(&line));
        mine.n_cases++;
        mine.n_mismatched += c.mismatched;
    }
    printf("%-20s %7zu cases %7zu mismatched\n", family->name, mine.n_cases, mine.n_mismatched);
    fflush(stdout);
    totals->n_cases += mine.n_cases;
    totals->n_mismatched += mine.n_mismatched;
    strbuf_fini(&line);
    arena_fini(&arena);
}

static bool wanted(const char *name, int n_names, char **names)
{
    for (int i = 0; i < n_names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return n_names == 0;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: vectors DIR [FAMILY...]\n");
        return 2;
    }
    struct totals totals = { 0 };
    for (const struct vector_family *family = families; family->name; family++) {
        if (!wanted(family->name, argc - 2, argv + 2))
            continue;
        char path[PATH_MAX];
        snprintf(path, sizeof(path), "%s/%s.jsonl.gz", argv[1], family->name);
        if (access(path, R_OK) != 0)
            snprintf(path, sizeof(path), "%s/%s.jsonl", argv[1], family->name);
        gzFile f = access(path, R_OK) == 0 ? gzopen(path, "rb") : NULL;
        if (!f)
            continue;
        run_family(family, f, &totals);
        gzclose(f);
    }
    printf("vectors: %zu cases, %zu mismatched\n", totals.n_cases, totals.n_mismatched);
    return totals.n_mismatched > 0 || totals.n_cases == 0;
}

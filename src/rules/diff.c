/* rules/diff.c - see diff.h. */
#include "rules/diff.h"

#include "base/map.h"
#include "base/strbuf.h"

enum { CONTEXT = 3, POPULAR_FROM = 200 }; /* lines around a change; lines from which on popular ones are left out */

struct lines {
    struct str *at;
    int n;
    bool too_many;
};

struct block {
    int a, b, n;
};

struct matcher {
    struct arena *arena;
    struct lines a, b;
    int *next_same;      /* of a line of b: the next equal one, -1: none */
    struct map_str first; /* by text: the first line of b; popular ones are not in it */
    int *length, *previous; /* scratch: of matches that end at a line of b */
    struct block *blocks;
    int n_blocks;
};

/* ---- Lines ---- */

static void end_line(struct arena *a, struct lines *to, struct strbuf *line)
{
    if (to->n == DIFF_LINES_MAX) {
        to->too_many = true;
    } else {
        to->at[to->n++] = arena_str(a, strbuf_str(line));
    }
    strbuf_reset(line);
}

static void indent(struct strbuf *line, int depth)
{
    for (int i = 0; i < depth; i++)
        strbuf_add_char(line, ' ');
}

/* The end of the string that begins at `i`. */
static size_t skip_string(struct str json, size_t i)
{
    for (i++; i < json.n && json.p[i] != '"'; i++)
        if (json.p[i] == '\\')
            i++;
    return i < json.n ? i + 1 : json.n;
}

/* Compact JSON as json.MarshalIndent would have written it with one space. */
static struct lines split(struct arena *a, struct str json)
{
    struct lines to = { .at = ARENA_NEW_N(a, struct str, DIFF_LINES_MAX) };
    struct strbuf line;
    int depth = 0;
    strbuf_init(&line, STRBUF_NO_MAX);
    for (size_t i = 0; i < json.n && !to.too_many; i++) {
        char c = json.p[i];
        bool opens = c == '{' || c == '[', closes = c == '}' || c == ']';
        bool is_empty = opens && i + 1 < json.n && (json.p[i + 1] == '}' || json.p[i + 1] == ']');
        if (c == '"') {
            size_t end = skip_string(json, i);
            strbuf_add(&line, json.p + i, end - i);
            i = end - 1;
            continue;
        }
        if (closes) {
            end_line(a, &to, &line);
            indent(&line, --depth);
        }
        strbuf_add_char(&line, c);
        if (c == ':')
            strbuf_add_char(&line, ' ');
        if (is_empty)
            strbuf_add_char(&line, json.p[++i]);
        if ((opens && !is_empty) || c == ',') {
            depth += opens;
            end_line(a, &to, &line);
            indent(&line, depth);
        }
    }
    end_line(a, &to, &line);
    strbuf_fini(&line);
    return to;
}

/* ---- Matching blocks ---- */

static void index_lines(struct matcher *m)
{
    struct map_str count;
    map_str_init(&count);
    map_str_init(&m->first);
    m->next_same = ARENA_NEW_N(m->arena, int, (size_t)m->b.n);
    for (int i = 0; i < m->b.n; i++)
        map_str_put(&count, m->b.at[i], NULL)->num++;
    uint64_t most = m->b.n >= POPULAR_FROM ? (uint64_t)m->b.n / 100 + 1 : UINT64_MAX;
    for (int i = m->b.n - 1; i >= 0; i--) {
        bool is_new;
        m->next_same[i] = -1;
        if (map_str_find(&count, m->b.at[i])->num > most)
            continue;
        union map_value *first = map_str_put(&m->first, m->b.at[i], &is_new);
        m->next_same[i] = is_new ? -1 : (int)first->num;
        first->num = (uint64_t)i;
    }
    map_str_fini(&count);
}

static bool same_line(const struct matcher *m, int i, int j)
{
    return str_eq(m->a.at[i], m->b.at[j]);
}

/* The longest run of equal lines in a[alo, ahi) and b[blo, bhi): the first in a, then the first in b. */
static struct block longest(struct matcher *m, int alo, int ahi, int blo, int bhi)
{
    struct block best = { alo, blo, 0 };
    memset(m->previous, 0, (size_t)(m->b.n + 1) * sizeof(int));
    for (int i = alo; i < ahi; i++) {
        const union map_value *first = map_str_find(&m->first, m->a.at[i]);
        memset(m->length, 0, (size_t)(m->b.n + 1) * sizeof(int));
        for (int j = first ? (int)first->num : -1; j >= 0 && j < bhi; j = m->next_same[j]) {
            if (j < blo)
                continue;
            int n = m->length[j + 1] = m->previous[j] + 1;
            if (n > best.n)
                best = (struct block){ i - n + 1, j - n + 1, n };
        }
        int *other = m->previous;
        m->previous = m->length;
        m->length = other;
    }
    while (best.a > alo && best.b > blo && same_line(m, best.a - 1, best.b - 1))
        best = (struct block){ best.a - 1, best.b - 1, best.n + 1 };
    while (best.a + best.n < ahi && best.b + best.n < bhi && same_line(m, best.a + best.n, best.b + best.n))
        best.n++;
    return best;
}

/* In order; at most DIFF_LINES_MAX deep, as every level has a line of its own. */
static void find_blocks(struct matcher *m, int alo, int ahi, int blo, int bhi)
{
    struct block best = longest(m, alo, ahi, blo, bhi);
    if (best.n == 0)
        return;
    if (alo < best.a && blo < best.b)
        find_blocks(m, alo, best.a, blo, best.b);
    struct block *last = m->n_blocks ? &m->blocks[m->n_blocks - 1] : NULL;
    if (last && last->a + last->n == best.a && last->b + last->n == best.b)
        last->n += best.n;
    else
        m->blocks[m->n_blocks++] = best;
    if (best.a + best.n < ahi && best.b + best.n < bhi)
        find_blocks(m, best.a + best.n, ahi, best.b + best.n, bhi);
}

/* ---- Output ---- */

static void add_range(struct strbuf *to, int from, int until)
{
    int n = until - from;
    if (n == 1)
        strbuf_printf(to, "%d", from + 1);
    else
        strbuf_printf(to, "%d,%d", n ? from + 1 : from, n);
}

static void add_lines(struct strbuf *to, char mark, const struct lines *lines, int from, int until)
{
    for (int i = from; i < until; i++) {
        strbuf_add_char(to, mark);
        strbuf_add_str(to, lines->at[i]);
        strbuf_add_char(to, '\n');
    }
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static bool changes_after(const struct matcher *m, int block)
{
    const struct block *here = &m->blocks[block], *next = here + 1;
    return block + 1 < m->n_blocks && (here->a + here->n < next->a || here->b + here->n < next->b);
}

/* Changes with few equal lines between them share a hunk. `first` is the block before the first change; returns the block
 * after the last one. */
static int add_hunk(struct strbuf *to, const struct matcher *m, int first)
{
    const struct block *blocks = m->blocks;
    int last = first + 1;
    while (changes_after(m, last) && blocks[last].n <= 2 * CONTEXT)
        last++;
    int before = smaller(blocks[first].n, CONTEXT), after = smaller(blocks[last].n, CONTEXT);
    int a = blocks[first].a + blocks[first].n, b = blocks[first].b + blocks[first].n;
    STRBUF_ADD_LIT(to, "@@ -");
    add_range(to, a - before, blocks[last].a + after);
    STRBUF_ADD_LIT(to, " +");
    add_range(to, b - before, blocks[last].b + after);
    STRBUF_ADD_LIT(to, " @@\n");
    add_lines(to, ' ', &m->a, a - before, a);
    for (int i = first + 1; i <= last; i++) {
        add_lines(to, '-', &m->a, a, blocks[i].a);
        add_lines(to, '+', &m->b, b, blocks[i].b);
        int n = i == last ? after : blocks[i].n;
        add_lines(to, ' ', &m->a, blocks[i].a, blocks[i].a + n);
        a = blocks[i].a + blocks[i].n;
        b = blocks[i].b + blocks[i].n;
    }
    return last;
}

/* An empty block stands at the end, and one at the beginning when the texts begin with a change. */
static void add_hunks(struct strbuf *to, struct matcher *m)
{
    m->blocks[m->n_blocks++] = (struct block){ m->a.n, m->b.n, 0 };
    for (int i = 0; i + 1 < m->n_blocks;)
        i = changes_after(m, i) ? add_hunk(to, m, i) : i + 1;
}

const char *rules_diff_text(struct arena *a, const char *text, struct str old_json, struct str new_json)
{
    struct matcher m = { .arena = a, .a = split(a, old_json), .b = split(a, new_json) };
    struct strbuf out;
    strbuf_init(&out, STRBUF_NO_MAX);
    strbuf_printf(&out, "%s\n", text);
    if (!m.a.too_many && !m.b.too_many) {
        m.length = ARENA_NEW_N(a, int, (size_t)m.b.n + 1);
        m.previous = ARENA_NEW_N(a, int, (size_t)m.b.n + 1);
        m.blocks = ARENA_NEW_N(a, struct block, (size_t)m.a.n + 3);
        m.n_blocks = 1; /* the empty one at the beginning */
        index_lines(&m);
        find_blocks(&m, 0, m.a.n, 0, m.b.n);
        add_hunks(&out, &m);
        map_str_fini(&m.first);
    }
    const char *all = arena_cstr(a, strbuf_str(&out));
    strbuf_fini(&out);
    return all;
}

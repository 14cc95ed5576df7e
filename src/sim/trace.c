/* sim/trace.c - see trace.h. */
#include "sim/trace.h"

#include "api/duration.h"
#include "api/names.h"
#include "api/quantity.h"
#include "base/sort.h"
#include "base/strbuf.h"

enum {
    SHOWN_BYTES_MAX = 60,  /* of a value, in a message */
    NAME_BYTES_MAX = 200,  /* leaves room for the number that is added */
    TEMPLATE_BYTES_MAX = 600,
};

enum column_id { ARRIVAL, DURATION, CPU, MEMORY, PRIORITY, COUNT, TEMPLATE, NAME, NAMESPACE, N_COLUMNS };

struct reader {
    struct trace *t;
    const char *at, *end;
    const char *record;        /* where the record begins */
    uint32_t line, next_line;  /* of the record; of what follows */
    struct arena fields_arena; /* quoted fields of the record */
    struct str fields[N_COLUMNS];
    uint32_t n_fields;
    uint8_t columns[N_COLUMNS]; /* enum column_id by place */
    uint32_t n_columns;
    struct err *e;
};

void trace_init(struct trace *t, const char *file)
{
    *t = (struct trace){ .file = file };
    arena_init(&t->arena);
    map_str_init(&t->text_ids);
    vec_push(&t->texts, "");
}

void trace_fini(struct trace *t)
{
    vec_fini(&t->rows);
    vec_fini(&t->texts);
    map_str_fini(&t->text_ids);
    arena_fini(&t->arena);
}

/* ---- Records and fields ---- */

#define FAIL(r, ...) \
    (err_set((r)->e, ERR_INVALID, __VA_ARGS__), err_wrap((r)->e, "%s, line %u", (r)->t->file, (r)->line))

/* The text in quotes and without anything that a terminal would act on. */
static const char *shown(struct reader *r, struct str text)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    strbuf_add_quoted(&b, str_first(text, SHOWN_BYTES_MAX));
    if (text.n > SHOWN_BYTES_MAX)
        STRBUF_ADD_LIT(&b, "...");
    char *copy = arena_cstr(r->e->arena, strbuf_str(&b));
    strbuf_fini(&b);
    return copy;
}

static bool at_line_end(const struct reader *r)
{
    return r->at == r->end || *r->at == '\n' || (*r->at == '\r' && (r->at + 1 == r->end || r->at[1] == '\n'));
}

static void skip_line_end(struct reader *r)
{
    if (r->at < r->end && *r->at == '\r')
        r->at++;
    if (r->at < r->end && *r->at == '\n')
        r->at++;
    r->next_line++;
}

static bool too_long(const struct reader *r)
{
    return r->at - r->record > TRACE_LINE_BYTES_MAX;
}

static enum err_code fail_long(struct reader *r)
{
    return FAIL(r, "the line is longer than %d bytes", TRACE_LINE_BYTES_MAX);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Behind the opening quote. A quote inside is written twice. */
static enum err_code read_quoted(struct reader *r, struct str *ret_field)
{
    const char *from = r->at;
    size_t n_doubled = 0;
    for (;; r->at++) {
        if (r->at == r->end)
            return FAIL(r, "a quote is not closed");
        if (too_long(r))
            return fail_long(r);
        if (*r->at == '\n')
            r->next_line++;
        if (*r->at != '"')
            continue;
        if (r->at + 1 == r->end || r->at[1] != '"')
            break;
        r->at++;
        n_doubled++;
    }
    *ret_field = str_range(from, r->at++);
    if (!n_doubled)
        return ERR_OK;
    char *copy = arena_alloc(&r->fields_arena, ret_field->n);
    size_t n = 0;
    for (size_t i = 0; i < ret_field->n; i++) {
        copy[n++] = ret_field->p[i];
        i += ret_field->p[i] == '"';
    }
    *ret_field = (struct str){ copy, n };
    return ERR_OK;
}

static enum err_code read_plain(struct reader *r, struct str *ret_field)
{
    const char *from = r->at;
    for (; !at_line_end(r) && *r->at != ','; r->at++) {
        if (*r->at == '"')
            return FAIL(r, "a quote inside a field that does not begin with one");
        if (too_long(r))
            return fail_long(r);
    }
    const char *to = r->at;
    while (to > from && is_blank(to[-1]))
        to--;
    *ret_field = str_range(from, to);
    return ERR_OK;
}

static void skip_blanks(struct reader *r)
{
    while (r->at < r->end && is_blank(*r->at) && !too_long(r))
        r->at++;
}

static enum err_code read_field(struct reader *r, struct str *ret_field)
{
    skip_blanks(r);
    if (r->at == r->end || *r->at != '"')
        return read_plain(r, ret_field);
    r->at++;
    if (read_quoted(r, ret_field))
        return r->e->code;
    skip_blanks(r);
    if (too_long(r))
        return fail_long(r);
    return at_line_end(r) || *r->at == ',' ? ERR_OK : FAIL(r, "text behind a closing quote");
}

static void skip_comment(struct reader *r)
{
    const char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
    r->at = newline ? newline : r->end;
}

/* To the next line that counts; false at the end. */
static bool find_record(struct reader *r)
{
    while (r->at < r->end) {
        r->record = r->at;
        skip_blanks(r);
        if (r->at < r->end && *r->at == '#')
            skip_comment(r);
        else if (!at_line_end(r))
            break;
        skip_line_end(r);
    }
    if (r->at == r->end)
        return false;
    r->at = r->record;
    r->line = r->next_line;
    return true;
}

static enum err_code read_record(struct reader *r)
{
    r->n_fields = 0;
    arena_reset(&r->fields_arena);
    for (;;) {
        struct str field;
        if (read_field(r, &field))
            return r->e->code;
        if (r->n_fields == N_COLUMNS)
            return FAIL(r, "more than %d fields", N_COLUMNS);
        r->fields[r->n_fields++] = field;
        if (at_line_end(r))
            break;
        r->at++; /* the comma */
    }
    skip_line_end(r);
    return ERR_OK;
}

/* ---- Values ---- */

static enum err_code read_ms(struct reader *r, struct str text, int64_t *ret_ms)
{
    char last = text.p[text.n - 1];
    bool seconds = (last >= '0' && last <= '9') || last == '.';
    int64_t ms = 0, ns = 0;
    bool failed = seconds ? quantity_parse_scaled(text, QUANTITY_MILLI, &ms, r->e) != ERR_OK
                          : duration_parse(text, &ns, r->e) != ERR_OK;
    if (failed)
        return err_set(r->e, ERR_INVALID, "%s is neither seconds nor a duration such as 1h30m", shown(r, text));
    if (!seconds)
        ms = ns / 1000000 + (ns % 1000000 > 0);
    if (ms < 0 || ns < 0)
        return err_set(r->e, ERR_INVALID, "%s is before zero", shown(r, text));
    if (ms > TRACE_MS_MAX)
        return err_set(r->e, ERR_INVALID, "%s is longer than 100 years", shown(r, text));
    *ret_ms = ms;
    return ERR_OK;
}

static enum err_code read_amount(struct reader *r, struct str text, int32_t scale, int64_t max, int64_t *ret_amount)
{
    int64_t amount;
    if (quantity_parse_scaled(text, scale, &amount, r->e))
        return err_wrap(r->e, "%s", shown(r, text));
    if (amount < 0)
        return err_set(r->e, ERR_INVALID, "%s is less than nothing", shown(r, text));
    if (amount > max)
        return err_set(r->e, ERR_INVALID, "%s is too much", shown(r, text));
    *ret_amount = amount;
    return ERR_OK;
}

static enum err_code read_number(struct reader *r, struct str text, int64_t min, int64_t max, int64_t *ret_number)
{
    bool minus = text.p[0] == '-';
    int64_t n = 0;
    bool good = text.n > minus && text.n <= 12;
    for (size_t i = minus; good && i < text.n; i++) {
        good = text.p[i] >= '0' && text.p[i] <= '9';
        n = n * 10 + (text.p[i] - '0');
    }
    n = minus ? -n : n;
    if (!good || n < min || n > max)
        return err_set(r->e, ERR_INVALID, "%s is not a whole number from %lld to %lld", shown(r, text), (long long)min,
                       (long long)max);
    *ret_number = n;
    return ERR_OK;
}

static uint32_t intern(struct trace *t, struct str text)
{
    union map_value *known = map_str_find(&t->text_ids, text);
    if (known)
        return (uint32_t)known->num;
    struct str copy = arena_str(&t->arena, text);
    map_str_put(&t->text_ids, copy, NULL)->num = t->texts.n;
    vec_push(&t->texts, copy.p);
    return (uint32_t)(t->texts.n - 1);
}

static enum err_code read_name(struct reader *r, struct str text, name_check *check, uint32_t *ret_id)
{
    struct name_errors errors = check(text);
    if (errors.n)
        return err_set(r->e, ERR_INVALID, "%s: %s", shown(r, text), errors.at[0]);
    if (text.n > NAME_BYTES_MAX)
        return err_set(r->e, ERR_INVALID, "%s is longer than %d bytes", shown(r, text), NAME_BYTES_MAX);
    *ret_id = intern(r->t, text);
    return ERR_OK;
}

/* What it names is looked up later. */
static enum err_code read_template(struct reader *r, struct str text, uint32_t *ret_id)
{
    bool good = text.n <= TEMPLATE_BYTES_MAX;
    for (size_t i = 0; good && i < text.n; i++)
        good = text.p[i] > ' ' && text.p[i] < 0x7f;
    if (!good)
        return err_set(r->e, ERR_INVALID, "%s is not the name of an object", shown(r, text));
    *ret_id = intern(r->t, text);
    return ERR_OK;
}

/* An empty field is as good as none. */
static enum err_code read_value(struct reader *r, enum column_id column, struct str text, struct trace_row *row)
{
    int64_t number;
    enum err_code code;
    switch (column) {
    case ARRIVAL:
        return read_ms(r, text, &row->arrival_ms);
    case DURATION:
        return read_ms(r, text, &row->duration_ms);
    case CPU:
        return read_amount(r, text, QUANTITY_MILLI, TRACE_MILLI_CPU_MAX, &row->milli_cpu);
    case MEMORY:
        return read_amount(r, text, 0, TRACE_MEMORY_MAX, &row->memory);
    case PRIORITY:
        code = read_number(r, text, INT32_MIN, INT32_MAX, &number);
        row->priority = code ? 0 : (int32_t)number;
        row->has_priority = true;
        return code;
    case COUNT:
        code = read_number(r, text, 0, TRACE_PODS_MAX, &number);
        row->count = code ? 0 : (uint32_t)number;
        return code;
    case TEMPLATE:
        return read_template(r, text, &row->template);
    case NAME:
        return read_name(r, text, name_dns1123_subdomain, &row->name);
    case NAMESPACE:
        return read_name(r, text, name_dns1123_label, &row->ns);
    case N_COLUMNS:
        break;
    }
    return ERR_OK;
}

/* ---- Lines ---- */

static const char *const column_names[N_COLUMNS] = {
    [ARRIVAL] = "arrival", [DURATION] = "duration", [CPU] = "cpu",   [MEMORY] = "memory",       [PRIORITY] = "priority",
    [COUNT] = "count",     [TEMPLATE] = "template", [NAME] = "name", [NAMESPACE] = "namespace",
};

static enum column_id find_column(struct str name)
{
    for (int i = 0; i < N_COLUMNS; i++)
        if (str_is(name, column_names[i]))
            return (enum column_id)i;
    return N_COLUMNS;
}

static enum err_code check_columns(struct reader *r, uint32_t seen)
{
    uint32_t needed = 1u << ARRIVAL | 1u << DURATION;
    if (!(seen >> TEMPLATE & 1))
        needed |= 1u << CPU | 1u << MEMORY;
    for (int i = 0; i < N_COLUMNS; i++)
        if ((needed & ~seen) >> i & 1)
            return FAIL(r, "column \"%s\" is missing", column_names[i]);
    return ERR_OK;
}

static enum err_code read_header(struct reader *r)
{
    if (str_starts(str_range(r->at, r->end), STR("\xef\xbb\xbf"))) /* what some editors put first */
        r->at += 3;
    if (!find_record(r)) {
        r->line = r->next_line;
        return FAIL(r, "there is no line with the names of the columns");
    }
    if (read_record(r))
        return r->e->code;
    uint32_t seen = 0;
    for (uint32_t i = 0; i < r->n_fields; i++) {
        enum column_id id = find_column(r->fields[i]);
        if (id == N_COLUMNS)
            return FAIL(r,
                        "unknown column %s: there are arrival, duration, cpu, memory, priority, count, template, name, "
                        "namespace",
                        shown(r, r->fields[i]));
        if (seen >> id & 1)
            return FAIL(r, "column \"%s\" is there twice", column_names[id]);
        seen |= 1u << id;
        r->columns[i] = (uint8_t)id;
    }
    r->n_columns = r->n_fields;
    return check_columns(r, seen);
}

static enum err_code read_row(struct reader *r, struct trace_row *row)
{
    if (r->n_fields != r->n_columns)
        return FAIL(r, "%u fields, the columns are %u", r->n_fields, r->n_columns);
    *row = (struct trace_row){ .arrival_ms = TRACE_NOT_GIVEN,
                               .duration_ms = TRACE_FOREVER,
                               .milli_cpu = TRACE_NOT_GIVEN,
                               .memory = TRACE_NOT_GIVEN,
                               .count = 1,
                               .line = r->line };
    for (uint32_t i = 0; i < r->n_fields; i++)
        if (r->fields[i].n && read_value(r, r->columns[i], r->fields[i], row))
            return err_wrap(r->e, "%s, line %u, column \"%s\"", r->t->file, r->line, column_names[r->columns[i]]);
    return row->arrival_ms == TRACE_NOT_GIVEN ? FAIL(r, "column \"arrival\" is empty") : ERR_OK;
}

static enum err_code read_rows(struct reader *r)
{
    struct trace *t = r->t;
    while (find_record(r)) {
        struct trace_row row;
        if (read_record(r) || read_row(r, &row))
            return r->e->code;
        t->n_pods += row.count;
        if (t->rows.n == TRACE_ROWS_MAX || t->n_pods > TRACE_PODS_MAX)
            return FAIL(r, "more than %d lines or %d pods", TRACE_ROWS_MAX, TRACE_PODS_MAX);
        vec_push(&t->rows, row);
    }
    return ERR_OK;
}

static int compare_arrivals(const void *a, const void *b)
{
    int64_t x = ((const struct trace_row *)a)->arrival_ms, y = ((const struct trace_row *)b)->arrival_ms;
    return (x > y) - (x < y);
}

static void sort_rows(struct trace *t)
{
    if (t->rows.n == 0 || sort_in_order(t->rows.at, t->rows.n, sizeof(*t->rows.at), compare_arrivals))
        return;
    struct arena scratch;
    arena_init(&scratch);
    sort_stable(&scratch, t->rows.at, t->rows.n, sizeof(*t->rows.at), compare_arrivals);
    arena_fini(&scratch);
}

enum err_code trace_read(struct trace *t, struct str csv, struct err *e)
{
    const char *from = csv.n ? csv.p : "";
    struct reader r = { .t = t, .at = from, .end = from + csv.n, .record = from, .line = 1, .next_line = 1, .e = e };
    arena_init(&r.fields_arena);
    enum err_code code = read_header(&r);
    if (!code)
        code = read_rows(&r);
    arena_fini(&r.fields_arena);
    if (!code)
        sort_rows(t);
    return code;
}

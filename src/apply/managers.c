/* apply/managers.c - see managers.h. */
#include "apply/managers.h"

#include "base/sort.h"
#include "codec/json.h"


/* ---- Who is who ---- */

int managed_compare(const struct managed_entry *a, const struct managed_entry *b)
{
    int order = str_cmp(a->manager, b->manager);
    if (!order)
        order = b->applied - a->applied;
    if (!order && !a->applied)
        order = str_cmp(a->api_version, b->api_version);
    return order ? order : str_cmp(a->subresource, b->subresource);
}

static int compare_entries(const void *a, const void *b)
{
    return managed_compare(a, b);
}

struct str managed_identity(struct arena *a, const struct managed_entry *entry)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    const struct { const char *name; struct str text; } parts[] = {
        { "manager", entry->manager },
        { "operation", entry->applied ? STR("Apply") : STR("Update") },
        { "apiVersion", entry->applied ? STR("") : entry->api_version },
        { "subresource", entry->subresource },
    };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (!parts[i].text.n)
            continue;
        strbuf_printf(&b, "%c\"%s\":", b.n ? ',' : '{', parts[i].name);
        json_add_string(&b, parts[i].text);
    }
    strbuf_add_char(&b, '}');
    struct str text = arena_str(a, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

struct str managed_shown(struct arena *a, const struct managed_entry *entry)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    strbuf_add_quoted(&b, entry->manager);
    if (entry->subresource.n) {
        STRBUF_ADD_LIT(&b, " with subresource ");
        strbuf_add_quoted(&b, entry->subresource);
    }
    if (!entry->applied)
        strbuf_printf(&b, " using %.*s", STR_ARG(entry->api_version));
    struct str text = arena_str(a, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

/* ---- Reading ---- */

static enum err_code read_entry(struct arena *a, const struct value *v, uint32_t i, struct managed_entry *to,
                                struct err *e)
{
    struct str operation = value_text(value_slot(v, ENTRY_OPERATION));
    struct str fields_type = value_text(value_slot(v, ENTRY_FIELDS_TYPE));
    const struct value *fields = value_slot(v, ENTRY_FIELDS);
    *to = (struct managed_entry){
        .manager = value_text(value_slot(v, ENTRY_MANAGER)),
        .api_version = value_text(value_slot(v, ENTRY_API_VERSION)),
        .subresource = value_text(value_slot(v, ENTRY_SUBRESOURCE)),
        .applied = str_is(operation, "Apply"),
        .time = *value_slot(v, ENTRY_TIME),
    };
    if (!to->applied && !str_is(operation, "Update"))
        return err_set(e, ERR_INTERNAL, "operation must be `Apply` or `Update`");
    if (!to->api_version.n)
        return err_set(e, ERR_INTERNAL, "apiVersion must not be empty");
    if (!fields_type.n)
        return err_set(e, ERR_INTERNAL, "missing fieldsType in managed fields entry %u", i);
    if (!str_is(fields_type, "FieldsV1"))
        return err_set(e, ERR_INTERNAL, "invalid fieldsType \"%.*s\" in managed fields entry %u",
                       STR_ARG(err_shown(e, fields_type)), i);
    if (fields->kind == VALUE_RAW && fields->n && !set_parse(a, value_text(fields), &to->set))
        return err_set(e, ERR_INTERNAL, "error decoding set of managed fields entry %u", i);
    return ERR_OK;
}

/* Of two entries that say they are the same, the later one counts. */
static uint32_t drop_doubles(struct managed_entry *entries, uint32_t n)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        bool again = i + 1 < n && managed_compare(&entries[i], &entries[i + 1]) == 0;
        if (!again)
            entries[kept++] = entries[i];
    }
    return kept;
}

enum err_code managed_read(struct arena *a, const struct value *list, struct managed *ret_managed, struct err *e)
{
    uint32_t n = list->kind == VALUE_LIST ? list->n : 0;
    struct managed m = { .n = n, .cap = n + 2 };
    m.entries = arena_alloc(a, m.cap * sizeof(*m.entries));
    for (uint32_t i = 0; i < n; i++)
        if (read_entry(a, &list->items[i], i, &m.entries[i], e))
            return e->code;
    if (!sort_in_order(m.entries, n, sizeof(*m.entries), compare_entries))
        sort_stable(a, m.entries, n, sizeof(*m.entries), compare_entries);
    m.n = drop_doubles(m.entries, n);
    *ret_managed = m;
    return ERR_OK;
}

/* ---- Writing ---- */

static int64_t seconds_of(const struct managed_entry *entry)
{
    return entry->time.kind == VALUE_TIME ? entry->time.i : 0;
}

static int compare_shown(const void *a, const void *b)
{
    const struct managed_entry *x = *(const struct managed_entry *const *)a;
    const struct managed_entry *y = *(const struct managed_entry *const *)b;
    int64_t x_s = seconds_of(x), y_s = seconds_of(y);
    int order = y->applied - x->applied;
    if (!order)
        order = (x_s > y_s) - (x_s < y_s);
    if (!order)
        order = str_cmp(x->manager, y->manager);
    if (!order)
        order = str_cmp(x->api_version, y->api_version);
    return order ? order : str_cmp(x->subresource, y->subresource);
}

static struct value write_text(struct str text)
{
    return text.n ? value_string(text) : (struct value){ 0 };
}

static struct value write_entry(struct arena *a, const struct managed_entry *entry)
{
    struct value v = { .kind = VALUE_STRUCT, .n = ENTRY_SLOTS, .slots = ARENA_NEW_N(a, struct value, ENTRY_SLOTS) };
    v.slots[ENTRY_MANAGER] = write_text(entry->manager);
    v.slots[ENTRY_OPERATION] = value_string(entry->applied ? STR("Apply") : STR("Update"));
    v.slots[ENTRY_API_VERSION] = write_text(entry->api_version);
    v.slots[ENTRY_TIME] = entry->time;
    v.slots[ENTRY_FIELDS_TYPE] = value_string(STR("FieldsV1"));
    v.slots[ENTRY_FIELDS] = value_raw(set_text(a, entry->set));
    v.slots[ENTRY_SUBRESOURCE] = write_text(entry->subresource);
    return v;
}

struct value managed_write(struct arena *a, const struct managed *m)
{
    const struct managed_entry **order = arena_alloc(a, m->n * sizeof(*order));
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n; i++)
        if (m->entries[i].set.n)
            order[n++] = &m->entries[i];
    if (n == 0)
        return (struct value){ 0 };
    sort_stable(a, order, n, sizeof(*order), compare_shown);
    struct value list = value_list(arena_alloc(a, n * sizeof(struct value)), n);
    for (uint32_t i = 0; i < n; i++)
        list.items[i] = write_entry(a, order[i]);
    return list;
}

/* ---- Changing ---- */

struct managed_entry *managed_entry_of(struct arena *a, struct managed *m, struct managed_entry who)
{
    uint32_t at = 0;
    int order = 1;
    while (at < m->n && (order = managed_compare(&m->entries[at], &who)) < 0)
        at++;
    if (at < m->n && order == 0)
        return &m->entries[at];
    if (m->n == m->cap) {
        struct managed_entry *more = arena_alloc(a, (m->cap + 2) * sizeof(*more));
        if (m->n)
            memcpy(more, m->entries, m->n * sizeof(*more));
        m->entries = more;
        m->cap += 2;
    }
    memmove(m->entries + at + 1, m->entries + at, (m->n - at) * sizeof(*m->entries));
    m->entries[at] = who;
    m->n++;
    return &m->entries[at];
}

struct updater {
    struct managed_entry entry;
    struct str identity;
    bool merged;
};

static int compare_age(const void *a, const void *b)
{
    const struct updater *x = a, *y = b;
    int64_t x_s = seconds_of(&x->entry), y_s = seconds_of(&y->entry);
    int order = (x_s > y_s) - (x_s < y_s);
    return order ? order : str_cmp(x->identity, y->identity);
}

static bool is_bucket(const struct managed_entry *entry)
{
    return str_is(entry->manager, "ancient-changes") && !entry->subresource.n;
}

/* What takes the oldest updates of a version in: an entry that is there for it, or else the oldest of them. */
struct bucket {
    struct str api_version;
    struct updater *oldest, *holder; /* holder is NULL until something is merged */
};

static struct updater *find_holder(struct updater *updaters, uint32_t n, struct str api_version)
{
    for (uint32_t i = 0; i < n; i++)
        if (is_bucket(&updaters[i].entry) && str_eq(updaters[i].entry.api_version, api_version))
            return &updaters[i];
    return NULL;
}

/* Versions are few: a kind has two or three, and entries of others have been dropped. */
static struct bucket *bucket_of(struct bucket *buckets, uint32_t n, struct str api_version)
{
    for (uint32_t i = 0; i < n; i++)
        if (str_eq(buckets[i].api_version, api_version))
            return &buckets[i];
    return NULL;
}

static void merge_into(struct arena *a, struct bucket *bucket, struct updater *updater)
{
    if (!bucket->holder) {
        bucket->holder = bucket->oldest;
        bucket->holder->entry.manager = STR("ancient-changes");
        bucket->holder->entry.subresource = STR("");
    }
    bucket->holder->entry.set = set_union(a, updater->entry.set, bucket->holder->entry.set);
    bucket->holder->entry.time = updater->entry.time;
    updater->merged = true; /* as upstream also when it is the holder itself: what it held is lost */
    if (updater == bucket->holder)
        bucket->holder = NULL;
}

static void merge_oldest(struct arena *a, struct updater *updaters, uint32_t n)
{
    struct bucket *buckets = arena_alloc(a, n * sizeof(*buckets));
    uint32_t left = n, n_buckets = 0;
    for (uint32_t i = 0; i < n && left > UPDATE_MANAGERS_MAX; i++) {
        struct str api_version = updaters[i].entry.api_version;
        struct bucket *bucket = bucket_of(buckets, n_buckets, api_version);
        if (!bucket) {
            buckets[n_buckets++] = (struct bucket){ api_version, &updaters[i], find_holder(updaters, n, api_version) };
            continue;
        }
        merge_into(a, bucket, &updaters[i]);
        left--;
    }
}

void managed_cap(struct arena *a, struct managed *m)
{
    struct updater *updaters = NULL;
    uint32_t n = 0, n_kept = 0;
    for (uint32_t i = 0; i < m->n; i++)
        n += !m->entries[i].applied && m->entries[i].set.n;
    if (n <= UPDATE_MANAGERS_MAX)
        return;
    updaters = arena_zalloc(a, n * sizeof(*updaters));
    n = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        struct managed_entry *entry = &m->entries[i];
        if (!entry->applied && entry->set.n)
            updaters[n++] = (struct updater){ .entry = *entry, .identity = managed_identity(a, entry) };
        else
            m->entries[n_kept++] = *entry;
    }
    sort_stable(a, updaters, n, sizeof(*updaters), compare_age);
    merge_oldest(a, updaters, n);
    for (uint32_t i = 0; i < n; i++)
        if (!updaters[i].merged)
            m->entries[n_kept++] = updaters[i].entry;
    m->n = n_kept;
    sort_stable(a, m->entries, m->n, sizeof(*m->entries), compare_entries);
}

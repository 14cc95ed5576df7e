/* daemon/debugger.c - see debugger.h. */
#include "daemon/debugger.h"

#include <stdlib.h>

#include "api/schema_slots.h"
#include "base/log.h"
#include "client/watch_frame.h"
#include "daemon/watched.h"
#include "forms/inputs.h"
#include "sched/compare.h"
#include "sched/dump.h"

enum { PAGE_OBJECTS = 500, PAGE_TIMEOUT_MS = 60 * 1000 };

/* What was listed. */
struct listed {
    struct arena arena;
    VEC(struct str) nodes, pods; /* names; uids */
};

struct debugger {
    struct engine *engine;
    const struct api *api;
    struct listed *listed; /* NULL: nothing is under way */
    enum watched resource; /* being listed */
    api_call call;
    _Atomic bool with_engine;
};

/* ---- On the scheduling thread ---- */

static void add_names(struct strbuf *to, struct strs names)
{
    strbuf_add_char(to, '[');
    for (size_t i = 0; i < names.n; i++)
        strbuf_printf(to, "%s%.*s", i ? " " : "", STR_ARG(names.at[i]));
    strbuf_add_char(to, ']');
}

static void tell_mismatch(const struct mismatch *m, const char *missed_key, const char *redundant_key)
{
    struct strbuf missed, redundant;
    if (mismatch_is_empty(m))
        return;
    strbuf_init(&missed, LOG_VALUE_BYTES_MAX);
    strbuf_init(&redundant, LOG_VALUE_BYTES_MAX);
    add_names(&missed, m->missed);
    add_names(&redundant, m->redundant);
    LOG(0, "Cache mismatch", KS(missed_key, strbuf_str(&missed)), KS(redundant_key, strbuf_str(&redundant)));
    strbuf_fini(&missed);
    strbuf_fini(&redundant);
}

static void compare(struct engine *e, struct listed *l)
{
    struct sched *s = engine_sched(e);
    LOG(3, "Cache comparer started");
    struct mismatch nodes = compare_nodes(sched_cache(s), (struct strs){ l->nodes.at, l->nodes.n }, &l->arena);
    tell_mismatch(&nodes, "missedNodes", "redundantNodes");
    struct mismatch pods =
        compare_pods(sched_cache(s), sched_queue(s), (struct strs){ l->pods.at, l->pods.n }, &l->arena);
    tell_mismatch(&pods, "missedPods", "redundantPods");
    LOG(3, "Cache comparer finished");
}

static void dump(struct engine *e)
{
    struct sched *s = engine_sched(e);
    struct strbuf text, summary;
    strbuf_init(&text, LOG_VALUE_BYTES_MAX);
    strbuf_init(&summary, LOG_VALUE_BYTES_MAX);
    dump_nodes(sched_cache(s), sched_nominator(s), &text);
    LOG(0, "Dump of cached NodeInfo", KS("nodes", strbuf_str(&text)));
    strbuf_reset(&text);
    dump_queue_summary(sched_queue(s), &summary);
    dump_queue_pods(sched_queue(s), engine_syms(e), &text);
    LOG(0, "Dump of scheduling queue", KS("summary", strbuf_str(&summary)), KS("pods", strbuf_str(&text)));
    strbuf_fini(&text);
    strbuf_fini(&summary);
}

static void listed_free(struct listed *l)
{
    arena_fini(&l->arena);
    vec_fini(&l->nodes);
    vec_fini(&l->pods);
    free(l);
}

struct compare_mail {
    struct engine_mail mail;
    struct debugger *debugger;
    struct listed *listed; /* NULL: they could not be had */
};

static void run_compare(struct engine_mail *own_mail, struct engine *e)
{
    struct compare_mail *m = MAIL_ITEM(own_mail, struct compare_mail, mail.mail);
    if (m->listed) {
        compare(e, m->listed);
        listed_free(m->listed);
    }
    dump(e);
    atomic_store(&m->debugger->with_engine, false);
    free(m);
}

/* ---- On the loop ---- */

static void ask_page(struct debugger *d, struct str token);

static void hand_over(struct debugger *d, bool complete)
{
    struct compare_mail *m = mem_zalloc(sizeof(*m));
    *m = (struct compare_mail){ .mail.run = run_compare, .debugger = d, .listed = d->listed };
    if (!complete) {
        listed_free(m->listed);
        m->listed = NULL;
    }
    d->listed = NULL;
    atomic_store(&d->with_engine, true);
    engine_post(d->engine, &m->mail);
}

struct named_in {
    struct meta_in meta;
};

static const struct fill_row pod_rows[] = {
    [SLOT_core_v1_Pod_metadata] = FILL_STRUCT(struct named_in, meta, &fill_meta),
};
static const struct fill_row node_rows[] = {
    [SLOT_core_v1_Node_metadata] = FILL_STRUCT(struct named_in, meta, &fill_meta),
};
static const struct fill_type named_pod = FILL_TYPE(core_v1_Pod, struct named_in, pod_rows);
static const struct fill_type named_node = FILL_TYPE(core_v1_Node, struct named_in, node_rows);

static enum err_code add_item(struct debugger *d, const struct watch_object *item, struct arena *scratch, struct err *e)
{
    struct listed *l = d->listed;
    bool is_pod = d->resource == WATCHED_PODS;
    struct named_in in = { 0 };
    struct work work = work_init(API_ANSWER_BYTES_MAX);
    if (fill_decode(scratch, &work, is_pod ? &named_pod : &named_node, item->format, item->bytes, &in, e))
        return e->code;
    struct str name = arena_str(&l->arena, is_pod ? in.meta.uid : in.meta.name);
    if (is_pod)
        vec_push(&l->pods, name);
    else
        vec_push(&l->nodes, name);
    if (l->pods.n > DEBUGGER_OBJECTS_MAX || l->nodes.n > DEBUGGER_OBJECTS_MAX)
        return err_set(e, ERR_TOO_LARGE, "the list is longer than %d objects", DEBUGGER_OBJECTS_MAX);
    return ERR_OK;
}

static enum err_code take_page(struct debugger *d, const struct api_answer *answer, struct arena *scratch,
                               struct str *ret_next, struct err *e)
{
    struct list_page page;
    if (!api_ok(answer))
        return err_set(e, ERR_IO, "%s", api_problem(scratch, answer));
    if (list_page_read(scratch, answer->media, answer->body, &page, e))
        return e->code;
    for (size_t i = 0; i < page.n_items; i++)
        if (add_item(d, &page.items[i], scratch, e))
            return e->code;
    *ret_next = page.next;
    return ERR_OK;
}

static void on_page(void *context, const struct api_answer *answer)
{
    struct debugger *d = context;
    struct arena scratch;
    struct err e;
    struct str next;
    d->call = 0;
    arena_init(&scratch);
    err_init(&e, &scratch);
    if (take_page(d, answer, &scratch, &next, &e)) {
        LOG_ERROR(e.message, "Unable to list for the cache comparer", KS("path", watched_rows[d->resource].path));
        hand_over(d, false);
    } else if (next.n) {
        ask_page(d, next);
    } else if (d->resource == WATCHED_NODES) {
        d->resource = WATCHED_PODS;
        ask_page(d, (struct str){ NULL, 0 });
    } else {
        hand_over(d, true);
    }
    arena_fini(&scratch);
}

static void ask_page(struct debugger *d, struct str token)
{
    const struct watched_row *row = &watched_rows[d->resource];
    struct strbuf target;
    strbuf_init(&target, STRBUF_NO_MAX);
    strbuf_printf(&target, "%s?limit=%d", row->path, PAGE_OBJECTS);
    if (row->selector)
        strbuf_printf(&target, "&%s", row->selector);
    if (token.n) {
        STRBUF_ADD_LIT(&target, "&continue=");
        api_add_escaped(&target, token);
    }
    struct api_request request = { .lane = API_LANE_READ, .method = "GET", .target = strbuf_str(&target),
                                   .timeout_ms = PAGE_TIMEOUT_MS };
    d->call = d->api->send(d->api->context, &request, on_page, d);
    strbuf_fini(&target);
}

void debugger_run(struct debugger *d)
{
    if (d->listed || atomic_load(&d->with_engine))
        return;
    d->listed = mem_zalloc(sizeof(*d->listed));
    arena_init(&d->listed->arena);
    d->resource = WATCHED_NODES;
    ask_page(d, (struct str){ NULL, 0 });
}

struct debugger *debugger_new(struct engine *e, const struct api *api)
{
    struct debugger *d = mem_zalloc(sizeof(*d));
    *d = (struct debugger){ .engine = e, .api = api };
    return d;
}

void debugger_free(struct debugger *d)
{
    if (!d)
        return;
    if (d->call)
        d->api->cancel(d->api->context, d->call);
    if (d->listed)
        listed_free(d->listed);
    free(d);
}

/* tests/fuzz/fuzz_report.c - a cluster from any bytes, run, and told in every way.
 *
 * The first byte says what is asked beside: nothing, a change, how much more fits, how many nodes are needed. The rest
 * is the cluster's file. Printed as commands print it, nothing is left that a terminal would obey; JSON is JSON for another
 * parser, YAML says the same, and nothing on the page ends its script. Clusters are small, so that an input takes a moment. */
#include <yyjson.h>

#include "base/mem.h"
#include "base/printable.h"
#include "base/utf8.h"
#include "codec/yaml.h"
#include "plugins/plugins.h"
#include "sim/changed.h"
#include "sim/report_page.h"
#include "sim/report_what_if.h"
#include "tests/test.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { BYTES_MAX = 8192, OBJECTS_MAX = 40, REPLICAS_MAX = 12, COPIES_MAX = 400, NARROW = 60 /* columns */ };

static struct sym_table syms;
static struct setup setup;
static struct sim_runner how = { &setup, 1 };

enum asked { ASK_NOTHING, ASK_CORDON, ASK_DRAIN, ASK_REMOVE, ASK_ADD, ASK_SCALE, ASK_CAPACITY, ASK_NEEDED, N_ASKED };

/* ---- What comes out ---- */

/* As commands print it, nothing is left that a terminal would obey. */
static void check_printable(const char *what, const struct strbuf *shown)
{
    for (struct str rest = strbuf_str(shown); rest.n;) {
        uint32_t rune;
        size_t n = utf8_decode(rest, &rune);
        if (n == 0 || (rune != '\n' && !printable_rune(rune)))
            FAIL("%s: U+%04x at %zu", what, n ? rune : (uint8_t)rest.p[0], shown->n - rest.n);
        rest = str_from(rest, n);
    }
}

static yyjson_doc *read_json(const char *what, struct str json)
{
    yyjson_read_err why;
    yyjson_doc *doc = yyjson_read_opts((char *)(uintptr_t)json.p, json.n, YYJSON_READ_NOFLAG, NULL, &why);
    if (!doc)
        FAIL("%s: %s at %zu of %zu", what, why.msg, why.pos, json.n);
    return doc;
}

static void check_same_json(const char *what, struct str got, struct str want)
{
    yyjson_doc *of_got = read_json(what, got), *of_want = read_json(what, want);
    if (!yyjson_equals(yyjson_doc_get_root(of_got), yyjson_doc_get_root(of_want)))
        FAIL("%s says something else", what);
    yyjson_doc_free(of_want);
    yyjson_doc_free(of_got);
}

/* As it is, and as commands print it. */
static void check_json(struct str json)
{
    struct strbuf shown;
    strbuf_init(&shown, STRBUF_NO_MAX);
    printable_add_json(&shown, json);
    check_printable("JSON", &shown);
    check_same_json("JSON", strbuf_str(&shown), json);
    strbuf_fini(&shown);
}

/* The same document. */
static void check_yaml(const struct strbuf *yaml, const struct strbuf *json)
{
    struct arena a;
    struct err e;
    struct str of_yaml;
    arena_init(&a);
    err_init(&e, &a);
    if (yaml_to_json(&a, WORK_OWN, strbuf_str(yaml), NULL, &of_yaml, &e))
        FAIL("YAML: %s", e.message);
    check_same_json("YAML", of_yaml, strbuf_str(json));
    arena_fini(&a);
}

static void check_page(const struct strbuf *page)
{
    struct str all = strbuf_str(page);
    CHECK(str_starts(all, report_page_head) && str_ends(all, report_page_tail));
    struct str data = { all.p + report_page_head.n, all.n - report_page_head.n - report_page_tail.n };
    CHECK(!memchr(data.p, '<', data.n));
    check_json(data);
}

/* ---- Telling ---- */

static void tell_people(const struct sim_world *w, const struct sim_what_if *asked, unsigned width)
{
    struct strbuf text, shown;
    strbuf_init(&text, STRBUF_NO_MAX);
    strbuf_init(&shown, STRBUF_NO_MAX);
    if (sim_what_if_any(asked))
        sim_report_what_if(&text, asked, width);
    sim_report_text(&text, w, width);
    sim_report_wide(&text, w);
    sim_report_names(&text, w);
    printable_add_lines(&shown, strbuf_str(&text));
    check_printable("text", &shown);
    strbuf_fini(&shown);
    strbuf_fini(&text);
}

static void tell_programs(const struct sim_world *w, const struct sim_sections *more)
{
    struct strbuf json, yaml, page;
    strbuf_init(&json, STRBUF_NO_MAX);
    strbuf_init(&yaml, STRBUF_NO_MAX);
    strbuf_init(&page, STRBUF_NO_MAX);
    sim_report_json(&json, w, more);
    check_json(strbuf_str(&json));
    sim_report_yaml(&yaml, w, more);
    check_yaml(&yaml, &json);
    sim_report_page(&page, w, more);
    check_page(&page);
    strbuf_fini(&page);
    strbuf_fini(&yaml);
    strbuf_fini(&json);
}

static void tell(const struct sim_world *w, const struct sim_what_if *asked)
{
    struct strbuf what_if;
    strbuf_init(&what_if, STRBUF_NO_MAX);
    if (sim_what_if_any(asked))
        sim_what_if_json(&what_if, asked);
    struct sim_section section = { "whatIf", strbuf_str(&what_if) };
    tell_people(w, asked, 0);
    tell_people(w, asked, NARROW);
    tell_programs(w, &(struct sim_sections){ &section, sim_what_if_any(asked) });
    strbuf_fini(&what_if);
}

/* ---- Questions ---- */

static const struct sim_object *first_of(const struct sim_input *in, const char *kind)
{
    for (size_t i = 0; i < in->objects.n; i++)
        if (strcmp(in->objects.at[i].kind, kind) == 0 && !in->objects.at[i].removed)
            return &in->objects.at[i];
    return NULL;
}

/* With the change beside without, and the difference. */
static void tell_change(const struct sim_input *in, const struct sim_change *change, struct err *e)
{
    struct sim_changed *c = mem_zalloc(sizeof(*c));
    struct sim_change_list list = { change, 1, change->n & 1 };
    if (!sim_changed_init(c, in, &list, &how, e)) {
        struct sim_difference d;
        sim_difference_init(&d, &c->before.world, &c->after.world);
        tell(&c->after.world, &(struct sim_what_if){ .world = &c->after.world, .changes = change, .n_changes = 1,
                                                    .done = &c->done, .difference = &d,
                                                    .drain = c->after.drain.names.n ? &c->after.drain : NULL });
        sim_difference_fini(&d);
    }
    sim_changed_fini(c);
    free(c);
}

static void tell_scale(const struct sim_input *in, struct err *e)
{
    static const char *const kinds[] = { "Deployment", "StatefulSet", "ReplicaSet", "Job", "ReplicationController" };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const struct sim_object *o = first_of(in, kinds[i]);
        if (!o)
            continue;
        const char *what = arena_printf(e->arena, "%s/%s/%s=3", o->kind, o->ns, o->name);
        tell_change(in, &(struct sim_change){ .kind = SIM_SCALE, .name = what, .n = 3 }, e);
        return;
    }
}

static int64_t room_for_pods(const struct sim_world *w)
{
    int64_t n = 0;
    for (size_t i = 0; i < w->nodes.n && n <= COPIES_MAX; i++)
        n += w->nodes.at[i].allocatable.pods > COPIES_MAX ? COPIES_MAX + 1 : w->nodes.at[i].allocatable.pods;
    return n;
}

static void tell_capacity(struct sim_world *w, struct sim_what_if *asked)
{
    struct sim_capacity c;
    if (!w->pods.n || room_for_pods(w) > COPIES_MAX)
        return;
    sim_capacity_init(&c, w, w->pods.at[0].form, "Pod");
    asked->capacity = &c;
    tell(w, asked);
    sim_capacity_fini(&c);
}

static void tell_needed(struct sim_run *run, struct sim_what_if *asked, struct err *e)
{
    const struct sim_object *node = first_of(&run->in, "Node");
    struct sim_needed n;
    if (!node)
        return;
    if (!sim_needed_init(&n, run, &how, node->name, e)) {
        asked->needed = &n;
        tell(&run->world, asked);
    }
    sim_needed_fini(&n);
}

static void tell_plain(const struct sim_input *in, enum asked asked, struct err *e)
{
    struct sim_run *run = mem_zalloc(sizeof(*run));
    sim_run_init(run, in, NULL);
    if (!sim_run_start(run, &how, e)) {
        struct sim_what_if nothing = { .world = &run->world };
        tell(&run->world, &nothing);
        if (asked == ASK_CAPACITY)
            tell_capacity(&run->world, &nothing);
        else if (asked == ASK_NEEDED)
            tell_needed(run, &nothing, e);
    }
    sim_run_fini(run);
    free(run);
}

static void ask(const struct sim_input *in, uint8_t choice, struct err *e)
{
    static const enum sim_change_kind changes[] = { [ASK_CORDON] = SIM_CORDON, [ASK_DRAIN] = SIM_DRAIN,
                                                    [ASK_REMOVE] = SIM_REMOVE_NODE, [ASK_ADD] = SIM_ADD_NODES };
    enum asked asked = choice % N_ASKED;
    const struct sim_object *node = first_of(in, "Node");
    if (asked >= ASK_CORDON && asked <= ASK_ADD && node)
        tell_change(in, &(struct sim_change){ .kind = changes[asked], .name = node->name, .n = 1 + choice / N_ASKED % 3 }, e);
    else if (asked == ASK_SCALE)
        tell_scale(in, e);
    else
        tell_plain(in, asked, e);
}

/* ---- The whole ---- */

static bool is_small(const struct sim_input *in)
{
    static const char *const numbers[] = { "spec.replicas", "spec.parallelism" };
    for (size_t i = 0; i < in->objects.n; i++)
        for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++)
            if (sim_int(&in->objects.at[i], numbers[k], 0) > REPLICAS_MAX)
                return false;
    return in->objects.n <= OBJECTS_MAX;
}

static void prepare(struct err *e)
{
    sym_init(&syms);
    if (setup_from_text(&setup, &syms, (struct str){ NULL, 0 }, plugin_registry, e))
        FAIL("%s", e->message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct sim_input in;
    struct arena a;
    struct err e;
    if (n < 2 || n > BYTES_MAX)
        return 0;
    arena_init(&a);
    err_init(&e, &a);
    if (!setup.profiles)
        prepare(&e);
    sim_input_init(&in, &syms);
    if (!sim_input_text(&in, "file", (struct str){ (const char *)data + 1, n - 1 }, &e) && !sim_input_complete(&in, &e) &&
        is_small(&in))
        ask(&in, data[0], &e);
    sim_input_fini(&in);
    arena_fini(&a);
    return 0;
}

/* insight/remedies_json.c - see explain_json.h: what would place a pending pod. */
#include "codec/json.h"
#include "insight/explain_json.h"

static void add_text(struct strbuf *to, const char *key, const char *text)
{
    if (!text)
        return;
    strbuf_printf(to, ",\"%s\":", key);
    json_add_string(to, str_of(text));
}

static void add_texts(struct strbuf *to, const char *key, const char *const *texts, uint32_t n)
{
    if (!n)
        return;
    strbuf_printf(to, ",\"%s\":[", key);
    for (uint32_t i = 0; i < n; i++) {
        strbuf_add_text(to, i ? "," : "");
        json_add_string(to, str_of(texts[i]));
    }
    strbuf_add_char(to, ']');
}

static void add_amounts(struct strbuf *to, const struct remedy *r)
{
    if (!r->n_amounts)
        return;
    STRBUF_ADD_LIT(to, ",\"amounts\":[");
    for (uint32_t i = 0; i < r->n_amounts; i++) {
        const struct remedy_amount *m = &r->amounts[i];
        strbuf_add_text(to, i ? ",{\"resource\":" : "{\"resource\":");
        json_add_string(to, str_of(m->resource));
        strbuf_printf(to, ",\"missing\":%lld,\"free\":%lld,\"wanted\":%lld}", (long long)m->missing, (long long)m->free,
                      (long long)m->wanted);
    }
    strbuf_add_char(to, ']');
}

static void add_victims(struct strbuf *to, const struct remedy *r)
{
    if (!r->n_victims)
        return;
    STRBUF_ADD_LIT(to, ",\"victims\":[");
    for (uint32_t i = 0; i < r->n_victims; i++) {
        const struct remedy_pod *v = &r->victims[i];
        strbuf_add_text(to, i ? ",{\"namespace\":" : "{\"namespace\":");
        json_add_string(to, str_of(v->ns));
        add_text(to, "name", v->name);
        strbuf_printf(to, ",\"priority\":%d}", (int)v->priority);
    }
    strbuf_add_char(to, ']');
}

static bool has_index(enum relaxed relaxed)
{
    return relaxed == RELAX_MAX_SKEW || relaxed == RELAX_SPREAD || relaxed == RELAX_POD_AFFINITY ||
           relaxed == RELAX_POD_ANTI_AFFINITY || relaxed == RELAX_HOST_PORT;
}

static void add_relaxed(struct strbuf *to, const struct remedy *r)
{
    if (r->kind != REMEDY_RELAX)
        return;
    add_text(to, "relaxed", remedy_relaxed_name(r->relaxed));
    if (has_index(r->relaxed))
        strbuf_printf(to, ",\"index\":%u", r->index);
    if (r->relaxed == RELAX_MAX_SKEW || r->relaxed == RELAX_REQUEST)
        strbuf_printf(to, ",\"before\":%lld,\"now\":%lld", (long long)r->before, (long long)r->now);
    if (r->relaxed == RELAX_HOST_PORT) {
        strbuf_printf(to, ",\"port\":%d", (int)r->port);
        add_text(to, "protocol", r->protocol);
        add_text(to, "hostIP", r->host_ip);
    }
}

static void add_remedy(struct strbuf *to, const struct remedy *r)
{
    struct arena a;
    arena_init(&a);
    STRBUF_ADD_LIT(to, "{\"kind\":");
    json_add_string(to, str_of(remedy_kind_name(r->kind)));
    add_text(to, "text", remedy_text(r, &a));
    add_text(to, "node", r->node);
    add_text(to, "goesTo", r->goes_to);
    strbuf_printf(to, ",\"feasibleNodes\":%u", r->n_feasible);
    add_texts(to, "alike", r->alike, r->n_alike);
    add_text(to, "key", r->key);
    add_text(to, "value", r->key ? r->value : NULL);
    add_text(to, "effect", r->effect);
    add_relaxed(to, r);
    add_amounts(to, r);
    add_victims(to, r);
    add_texts(to, "gates", r->gates, r->n_gates);
    add_texts(to, "names", r->names, r->n_names);
    add_text(to, "hint", r->hint);
    add_text(to, "newName", r->new_name);
    strbuf_add_char(to, '}');
    arena_fini(&a);
}

void remedies_add_json(struct strbuf *to, const struct remedies *r)
{
    STRBUF_ADD_LIT(to, ",\n\"remedies\":[");
    for (uint32_t i = 0; i < r->n; i++) {
        strbuf_add_text(to, i ? ",\n" : "\n");
        add_remedy(to, &r->at[i]);
    }
    strbuf_printf(to, "],\n\"remediesTried\":%u,\"remediesCut\":%s", r->n_tried, r->cut ? "true" : "false");
}

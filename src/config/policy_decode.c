/* config/policy_decode.c - a chapter of policy.h: from the text of a Policy to its entries.
 *
 * Documents without kind or without both are Policies too, as v1.20 read them; one that names a kind but no version is
 * refused there and accepted by lenient levels. Extenders are read on their own: their names match in any case, and
 * timeouts are nanoseconds. */
#include <strings.h>

#include "codec/json.h"
#include "codec/type_meta.h"
#include "codec/yaml.h"
#include "config/defaults.h"
#include "config/policy.h"
#include "config/slots.h"

#define POLICY_TYPE CONFIG_API_VERSION ".Policy"
#define EXTENDER_TYPE CONFIG_API_VERSION ".Extender"
#define SCHEME "pkg/scheduler/apis/config/scheme/scheme.go:32" /* how upstream names its registry of kinds */

static bool is_blank(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] != ' ' && text.p[i] != '\n' && text.p[i] != '\t' && text.p[i] != '\r')
            return false;
    return true;
}

static bool is_object(struct str json)
{
    size_t i = 0;
    while (i < json.n && (json.p[i] == ' ' || json.p[i] == '\n' || json.p[i] == '\t' || json.p[i] == '\r'))
        i++;
    return i < json.n && json.p[i] == '{';
}

/* ---- What it says it is ---- */

static enum err_code check_identity(struct arena *a, const struct level *level, struct str json, struct err *e)
{
    struct str version, kind;
    if (!is_object(json))
        return err_set(e, ERR_BAD_REQUEST, "couldn't get version/kind; json parse error: the document is no object");
    if (type_meta_read(a, json, &version, &kind, e))
        return err_wrap(e, "couldn't get version/kind; json parse error");
    if (version.n == 0 && kind.n && !level->lenient)
        return err_set(e, ERR_BAD_REQUEST, "strict decoder error for %.*s: apiVersion is missing", STR_ARG(json));
    bool known_version = version.n == 0 || str_is(version, "v1") || str_is(version, CONFIG_API_VERSION);
    if (known_version && (kind.n == 0 || str_is(kind, "Policy")))
        return ERR_OK;
    return err_set(e, ERR_BAD_REQUEST, "no kind \"%.*s\" is registered for version \"%.*s\" in scheme \"" SCHEME "\"",
                   STR_ARG(kind), STR_ARG(version));
}

/* ---- Extenders ---- */

/* Names of extenders in the schema's spelling. */
static const char *const extender_names[] = {
    "urlPrefix", "filterVerb", "preemptVerb", "prioritizeVerb", "weight", "bindVerb", "enableHTTPS", "tlsConfig",
    "httpTimeout", "nodeCacheCapable", "managedResources", "ignorable", "name", "ignoredByScheduler", "insecure",
    "serverName", "certFile", "keyFile", "caFile", "certData", "keyData", "caData",
};

static struct str spelled(struct str key)
{
    for (size_t i = 0; i < sizeof(extender_names) / sizeof(extender_names[0]); i++)
        if (strlen(extender_names[i]) == key.n && strncasecmp(extender_names[i], key.p, key.n) == 0)
            return str_of(extender_names[i]);
    return key;
}

/* The last of several spellings of one name counts, as for upstream's decoder. */
static void respell(struct value *v)
{
    for (uint32_t i = 0; v->kind == VALUE_LIST && i < v->n; i++)
        respell(&v->items[i]);
    if (v->kind != VALUE_MAP)
        return;
    for (uint32_t i = 0; i < v->n; i++) {
        v->members[i].key = spelled(v->members[i].key);
        respell(&v->members[i].value);
    }
    v->n = value_sort_members(v->members, v->n);
}

/* Nanoseconds become the text of a duration, which is what the schema reads. */
static enum err_code read_timeout(struct arena *a, const struct level *level, struct value *extender, struct err *e)
{
    struct value *timeout = value_member(extender, STR("httpTimeout"));
    if (!timeout)
        return ERR_OK;
    if (timeout->kind == VALUE_STRING && !level->lenient)
        return err_set(e, ERR_BAD_REQUEST,
                       "json: cannot unmarshal string into Go struct field LegacyExtender.httpTimeout of type time.Duration");
    if (timeout->kind == VALUE_INT)
        *timeout = value_string(str_of(arena_printf(a, "%lldns", (long long)timeout->i)));
    return ERR_OK;
}

static enum err_code read_extender(struct arena *a, const struct level *level, struct value *plain,
                                   struct extender_config *ret_extender, struct err *e)
{
    struct value v;
    struct strbuf json;
    struct work work = work_init(CONFIG_JSON_BYTES_MAX);
    if (read_timeout(a, level, plain, e))
        return e->code;
    strbuf_init(&json, STRBUF_NO_MAX);
    json_encode_plain(&json, plain);
    struct str text = arena_str(a, strbuf_str(&json));
    strbuf_fini(&json);
    if (json_decode(a, &work, schema_type(STR(EXTENDER_TYPE)), text, NULL, &v, e))
        return e->code;
    *ret_extender = config_read_extender(a, &v);
    return ERR_OK;
}

static enum err_code read_extenders(struct arena *a, const struct level *level, struct str raw, struct policy *p,
                                    struct err *e)
{
    struct value list;
    struct work work = work_init(CONFIG_JSON_BYTES_MAX);
    if (!raw.p)
        return ERR_OK;
    if (json_decode_plain(a, &work, raw, &list, e))
        return e->code;
    if (list.kind == VALUE_NULL)
        return ERR_OK;
    if (list.kind != VALUE_LIST || list.n > CONFIG_ITEMS_MAX)
        return err_set(e, ERR_BAD_REQUEST, "extenders: a list of at most %d extenders is expected", CONFIG_ITEMS_MAX);
    respell(&list);
    p->n_extenders = list.n;
    p->extenders = ARENA_NEW_N(a, struct extender_config, list.n);
    for (uint32_t i = 0; i < list.n; i++)
        if (read_extender(a, level, &list.items[i], &p->extenders[i], e))
            return err_wrap(e, "extenders[%u]", i);
    return ERR_OK;
}

/* ---- Entries ---- */

static const struct policy_labels *read_labels(struct arena *a, const struct value *v, unsigned labels, bool presence)
{
    struct policy_labels *l = ARENA_NEW(a, struct policy_labels);
    const struct value *items = slot_items(v, labels, &l->n);
    struct str *texts = ARENA_NEW_N(a, struct str, l->n);
    for (size_t i = 0; i < l->n; i++)
        texts[i] = value_text(&items[i]);
    l->at = texts;
    l->presence = presence;
    return l;
}

static struct policy_predicate read_predicate(struct arena *a, const struct value *v)
{
    const struct value *argument = value_slot(v, SLOT(PredicatePolicy, argument));
    struct policy_predicate p = { .name = slot_text(v, SLOT(PredicatePolicy, name)),
                                  .has_argument = argument->kind == VALUE_STRUCT };
    if (!p.has_argument)
        return p;
    const struct value *service = value_slot(argument, SLOT(PredicateArgument, serviceAffinity));
    const struct value *presence = value_slot(argument, SLOT(PredicateArgument, labelsPresence));
    if (service->kind == VALUE_STRUCT)
        p.service_affinity = read_labels(a, service, SLOT(ServiceAffinity, labels), false);
    if (presence->kind == VALUE_STRUCT)
        p.labels_presence = read_labels(a, presence, SLOT(LabelsPresence, labels),
                                        slot_bool(presence, SLOT(LabelsPresence, presence), false));
    return p;
}

static struct policy_priority read_priority(struct arena *a, const struct value *v)
{
    const struct value *argument = value_slot(v, SLOT(PriorityPolicy, argument));
    struct policy_priority p = { .name = slot_text(v, SLOT(PriorityPolicy, name)),
                                 .weight = slot_int(v, SLOT(PriorityPolicy, weight), 0),
                                 .has_argument = argument->kind == VALUE_STRUCT };
    if (!p.has_argument)
        return p;
    const struct value *anti = value_slot(argument, SLOT(PriorityArgument, serviceAntiAffinity));
    const struct value *label = value_slot(argument, SLOT(PriorityArgument, labelPreference));
    const struct value *ratio = value_slot(argument, SLOT(PriorityArgument, requestedToCapacityRatioArguments));
    if (anti->kind == VALUE_STRUCT) {
        struct str *text = ARENA_NEW(a, struct str);
        *text = slot_text(anti, SLOT(ServiceAntiAffinity, label));
        p.service_anti_affinity = text;
    }
    if (label->kind == VALUE_STRUCT) {
        struct policy_preference *preference = ARENA_NEW(a, struct policy_preference);
        *preference = (struct policy_preference){ slot_text(label, SLOT(LabelPreference, label)),
                                                  slot_bool(label, SLOT(LabelPreference, presence), false) };
        p.label_preference = preference;
    }
    if (ratio->kind == VALUE_STRUCT)
        p.capacity_ratio = ratio;
    return p;
}

static void read_entries(struct arena *a, const struct value *v, struct policy *p)
{
    const struct value *predicates = slot_items(v, SLOT(Policy, predicates), &p->n_predicates);
    const struct value *priorities = slot_items(v, SLOT(Policy, priorities), &p->n_priorities);
    if (value_slot(v, SLOT(Policy, predicates))->kind == VALUE_LIST) {
        struct policy_predicate *list = ARENA_NEW_N(a, struct policy_predicate, p->n_predicates + 1);
        for (size_t i = 0; i < p->n_predicates; i++)
            list[i] = read_predicate(a, &predicates[i]);
        p->predicates = list;
    }
    if (value_slot(v, SLOT(Policy, priorities))->kind == VALUE_LIST) {
        struct policy_priority *list = ARENA_NEW_N(a, struct policy_priority, p->n_priorities + 1);
        for (size_t i = 0; i < p->n_priorities; i++)
            list[i] = read_priority(a, &priorities[i]);
        p->priorities = list;
    }
}

/* ---- The document ---- */

static enum err_code decode(struct arena *a, const struct level *level, struct str text, struct policy *p,
                            struct err *e)
{
    struct str json;
    struct value v;
    struct findings *f = ARENA_NEW(a, struct findings);
    struct work work = work_init(CONFIG_JSON_BYTES_MAX);
    if (is_blank(text))
        return ERR_OK;
    text = arena_str(a, text);
    if (is_object(text))
        json = text;
    else if (yaml_to_json(a, &work, text, f, &json, e))
        return e->code;
    if (check_identity(a, level, json, e) ||
        json_decode(a, &work, schema_type(STR(POLICY_TYPE)), json, f, &v, e))
        return e->code;
    if (f->n)
        return err_set(e, ERR_BAD_REQUEST, "strict decoder error for %.*s: %s", STR_ARG(err_shown(e, json)),
                       f->texts[0]);
    read_entries(a, &v, p);
    if (p->n_predicates > CONFIG_ITEMS_MAX || p->n_priorities > CONFIG_ITEMS_MAX)
        return err_set(e, ERR_BAD_REQUEST, "more than %d entries", CONFIG_ITEMS_MAX);
    p->hard_pod_affinity_weight = slot_int(&v, SLOT(Policy, hardPodAffinitySymmetricWeight), 0);
    p->always_check_all = slot_bool(&v, SLOT(Policy, alwaysCheckAllPredicates), false);
    return read_extenders(a, level, value_text(value_slot(&v, SLOT(Policy, extenders))), p, e);
}

enum err_code policy_decode(struct arena *a, const struct level *level, struct str text, struct policy **ret_policy,
                            struct err *e)
{
    assert(level);
    struct policy *p = ARENA_NEW(a, struct policy);
    if (text.n > CONFIG_BYTES_MAX)
        return err_set(e, ERR_TOO_LARGE, "invalid policy: more than %d bytes", CONFIG_BYTES_MAX);
    if (decode(a, level, text, p, e))
        return err_wrap(e, "invalid policy");
    *ret_policy = p;
    return ERR_OK;
}

/* hollow/node_shapes.c - see node_shapes.h. */
#include "hollow/node_shapes.h"

#include "api/quantity.h"
#include "api/schema_slots.h"
#include "base/map.h"
#include "codec/yaml.h"
#include "controllers/read.h"
#include "hollow/node_object.h"
#include "rules/rules.h"

#define API_VERSION "berth.dev/v1alpha1"
#define KIND "HollowNodes"
#define SHAPE(field) SLOT_berth_dev_v1alpha1_HollowNodeShape_##field

static const char default_shape[] = "{\"nodes\":[{\"name\":\"node\",\"count\":%u,\"zones\":[\"zone-a\",\"zone-b\",\"zone-c\"]}]}";

enum { ADDRESS_BITS = 23 }; /* of all pods together: 10.128.0.0/9 */

/* ---- Reading ---- */

static enum err_code decode(struct arena *a, struct str text, struct value *ret_root, struct err *e)
{
    struct findings *f = ARENA_NEW(a, struct findings);
    struct work work = work_init(NODE_SHAPES_BYTES_MAX);
    struct str json;
    f->of_file = true;
    if (text.n > NODE_SHAPES_BYTES_MAX)
        return err_set(e, ERR_BAD_REQUEST, "it has more than %d bytes", NODE_SHAPES_BYTES_MAX);
    if (yaml_to_json(a, &work, text, f, &json, e))
        return e->code;
    if (json_decode(a, &work, schema_object_type(STR(API_VERSION), STR(KIND)), json, f, ret_root, e))
        return f->fault.path ? err_set(e, ERR_BAD_REQUEST, "%s: %s", f->fault.path, f->fault.what) : e->code;
    return f->n ? err_set(e, ERR_BAD_REQUEST, "%s", f->texts[0]) : ERR_OK;
}

static enum err_code check_kind(const struct value *root, struct err *e)
{
    struct str kind = value_text(value_slot(root, SLOT_KIND)), version = value_text(value_slot(root, SLOT_API_VERSION));
    if ((kind.n && !str_is(kind, KIND)) || (version.n && !str_is(version, API_VERSION)))
        return err_set(e, ERR_BAD_REQUEST, "this is \"%.*s\" of \"%.*s\", not " KIND " of " API_VERSION, STR_ARG(kind),
                       STR_ARG(version));
    return ERR_OK;
}

/* ---- Checks ---- */

static enum err_code check_zones(const struct value *zones, struct err *e)
{
    for (uint32_t i = 0; i < list_length(zones); i++) {
        struct name_errors wrong = name_label_value(value_text(&zones->items[i]));
        if (wrong.n || value_text(&zones->items[i]).n == 0)
            return err_set(e, ERR_BAD_REQUEST, "zones[%u]: %s", i, wrong.n ? wrong.at[0] : "is empty");
    }
    return ERR_OK;
}

static enum err_code check_count(const struct value *shape, uint32_t n_before, uint32_t *ret_n, struct err *e)
{
    const struct value *count = value_slot(shape, SHAPE(count));
    int64_t n = count->kind == VALUE_INT ? count->i : 1;
    if (value_text(value_slot(shape, SHAPE(name))).n == 0)
        return err_set(e, ERR_BAD_REQUEST, "name: Required value");
    if (n < 0 || n > HOLLOW_NODES_MAX - (int64_t)n_before)
        return err_set(e, ERR_BAD_REQUEST, "count: there may be 0 to %d nodes in all", HOLLOW_NODES_MAX);
    *ret_n = (uint32_t)n;
    return ERR_OK;
}

/* As the API server would see the first one. */
static enum err_code check_node(struct arena *a, const struct node_shape *s, struct err *e)
{
    struct value node = node_object(a, s, 0);
    struct rules_settings settings = { 0 };
    struct warnings warnings = { .arena = a };
    struct rules_context c = { .arena = a, .type = schema_type(STR("core/v1.Node")), .settings = &settings, .warnings = &warnings };
    struct field_errors errs;
    field_errors_init(&errs, a);
    rules_of(c.type)->validate_create(&c, &node, &errs);
    return errs.n ? err_set(e, ERR_BAD_REQUEST, "%.*s", STR_ARG(field_errors_text(a, &errs))) : ERR_OK;
}

static enum err_code pods_of(const struct value *shape, uint32_t *ret_n, struct err *e)
{
    struct str text = member_text(value_slot(shape, SHAPE(capacity)), STR("pods"));
    int64_t n = NODE_DEFAULT_PODS;
    if (text.n && quantity_parse_scaled(text, 0, &n, e))
        return err_wrap(e, "capacity[pods]");
    if (n < 0 || n > HOLLOW_NODE_PODS_MAX)
        return err_set(e, ERR_BAD_REQUEST, "capacity[pods]: a node may have 0 to %d pods", HOLLOW_NODE_PODS_MAX);
    *ret_n = (uint32_t)n;
    return ERR_OK;
}

/* ---- Nodes ---- */

static void add_nodes(struct arena *a, const struct value *shape, uint32_t n, struct node_shapes *to)
{
    struct str name = value_text(value_slot(shape, SHAPE(name)));
    const struct value *zones = value_slot(shape, SHAPE(zones));
    bool numbered = value_slot(shape, SHAPE(count))->kind == VALUE_INT;
    for (uint32_t i = 0; i < n; i++) {
        struct node_shape *s = &to->at[to->n];
        s->shape = shape;
        s->name = numbered ? str_of(arena_printf(a, "%.*s-%u", STR_ARG(name), i)) : name;
        s->zone = list_length(zones) ? value_text(&zones->items[i % zones->n]) : (struct str){ NULL, 0 };
        s->number = to->n++;
    }
}

static enum err_code check_names(const struct node_shapes *s, struct err *e)
{
    struct map_str seen;
    enum err_code rc = ERR_OK;
    map_str_init(&seen);
    for (uint32_t i = 0; !rc && i < s->n; i++) {
        bool is_new;
        map_str_put(&seen, s->at[i].name, &is_new);
        if (!is_new)
            rc = err_set(e, ERR_BAD_REQUEST, "two nodes are named \"%.*s\"", STR_ARG(s->at[i].name));
    }
    map_str_fini(&seen);
    return rc;
}

/* All pods' networks are of one size, as --node-cidr-mask-size has it: for the largest node, with the addresses that nobody
 * has, of the network and of its bridge. */
static enum err_code share_addresses(struct node_shapes *s, uint32_t pods_max, struct err *e)
{
    enum { HOST_BITS_MIN = 8, RESERVED = 3 };
    uint32_t bits = HOST_BITS_MIN;
    while (1u << bits < pods_max + RESERVED)
        bits++;
    if ((uint64_t)s->n << bits > 1u << ADDRESS_BITS)
        return err_set(e, ERR_BAD_REQUEST, "%u nodes with up to %u pods have not enough addresses in 10.128.0.0/9", s->n, pods_max);
    for (uint32_t i = 0; i < s->n; i++)
        s->at[i].host_bits = bits;
    return ERR_OK;
}

static enum err_code take_shape(struct arena *a, const struct value *shape, struct node_shapes *to, uint32_t *pods_max, struct err *e)
{
    uint32_t n = 0, n_pods = 0, first = to->n;
    if (check_count(shape, to->n, &n, e) || check_zones(value_slot(shape, SHAPE(zones)), e) || pods_of(shape, &n_pods, e))
        return e->code;
    if (n_pods > *pods_max)
        *pods_max = n_pods;
    add_nodes(a, shape, n, to);
    return n ? check_node(a, &to->at[first], e) : ERR_OK;
}

enum err_code node_shapes_parse(struct arena *a, struct str text, struct node_shapes *ret_shapes, struct err *e)
{
    struct value root;
    struct node_shapes s = { .at = ARENA_NEW_N(a, struct node_shape, HOLLOW_NODES_MAX) };
    uint32_t pods_max = 0;
    if (decode(a, text, &root, e) || check_kind(&root, e))
        return e->code;
    struct value *shapes = ARENA_NEW(a, struct value);
    *shapes = *value_slot(&root, SLOT_berth_dev_v1alpha1_HollowNodes_nodes);
    for (uint32_t i = 0; i < list_length(shapes); i++)
        if (take_shape(a, &shapes->items[i], &s, &pods_max, e))
            return err_wrap(e, "nodes[%u]", i);
    if (check_names(&s, e) || share_addresses(&s, pods_max, e))
        return e->code;
    *ret_shapes = s;
    return ERR_OK;
}

enum err_code node_shapes_default(struct arena *a, int64_t n, struct node_shapes *ret_shapes, struct err *e)
{
    if (n < 0 || n > HOLLOW_NODES_MAX)
        return err_set(e, ERR_BAD_REQUEST, "there may be 0 to %d nodes", HOLLOW_NODES_MAX);
    return node_shapes_parse(a, str_of(arena_printf(a, default_shape, (unsigned)n)), ret_shapes, e);
}

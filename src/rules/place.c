/* rules/place.c - see place.h. */
#include "rules/place.h"

#include <assert.h>
#include <stdarg.h>

#include "api/label_selector.h"
#include "api/netaddr.h"
#include "api/quantity.h"
#include "api/schema_slots.h"
#include "codec/json.h"
#include "rules/go_form.h"

/* ---- Places ---- */

struct place place_root(const struct rules_context *c, const struct value *object, struct field_errors *errs)
{
    return (struct place){ .errs = errs, .type = c->type, .value = object, .is_root = true };
}

static const struct field_path *path_of(const struct place *p)
{
    return p->is_root ? NULL : &p->path;
}

static const struct field *field_of(const struct place *p, const char *name)
{
    int slot = p->type ? schema_slot(p->type, str_of(name)) : -1;
    assert(slot >= 0);
    return &p->type->fields[slot];
}

const struct value *child_value(const struct place *p, const char *name)
{
    return value_slot(p->value, (unsigned)(field_of(p, name) - p->type->fields));
}

struct place place_child(const struct place *p, const char *name)
{
    const struct field *f = field_of(p, name);
    return (struct place){ .errs = p->errs, .field = f, .type = f->kind == KIND_STRUCT ? f->type : NULL,
                           .value = child_value(p, name), .path = field_child(path_of(p), name) };
}

struct place place_item(const struct place *list, uint32_t i)
{
    assert(i < place_n(list));
    return (struct place){ .errs = list->errs, .field = list->field, .type = list->type, .value = &list->value->items[i],
                           .path = field_index(&list->path, i), .is_item = true };
}

struct place place_member(const struct place *map, uint32_t i)
{
    assert(i < place_n(map));
    const struct member *m = &map->value->members[i];
    return (struct place){ .errs = map->errs, .field = map->field, .type = map->type, .value = &m->value,
                           .path = field_key(&map->path, m->key), .is_item = true };
}

struct place place_named(const struct place *parent, const struct place *p, const char *name)
{
    struct place named = *p;
    named.path = field_child(path_of(parent), name);
    return named;
}

uint32_t child_n(const struct place *p, const char *name)
{
    const struct value *v = child_value(p, name);
    return v->kind == VALUE_LIST || v->kind == VALUE_MAP ? v->n : 0;
}

int64_t child_int(const struct place *p, const char *name)
{
    const struct value *v = child_value(p, name);
    return v->kind == VALUE_INT ? v->i : 0;
}

bool child_bool(const struct place *p, const char *name)
{
    const struct value *v = child_value(p, name);
    return v->kind == VALUE_BOOL && v->b;
}

const struct value *object_annotation(const struct place *root, const char *key)
{
    struct place meta = place_child(root, "metadata");
    const struct value *annotations = child_value(&meta, "annotations");
    return annotations->kind == VALUE_MAP ? value_member(annotations, str_of(key)) : NULL;
}

/* ---- Semantic equality ---- */

static bool is_empty(const struct field *f, bool is_item, const struct value *v)
{
    if (v->kind == VALUE_ABSENT || ((v->kind == VALUE_LIST || v->kind == VALUE_MAP) && v->n == 0))
        return true;
    if (!f || is_item || f->shape != SHAPE_ONE || f->flags & FIELD_PTR)
        return false;
    if (v->kind == VALUE_STRING || v->kind == VALUE_BYTES)
        return v->n == 0;
    if (v->kind == VALUE_INT || v->kind == VALUE_BOOL)
        return v->kind == VALUE_INT ? v->i == 0 : !v->b;
    for (uint32_t i = 0; v->kind == VALUE_STRUCT && i < v->n; i++)
        if (!is_empty(&f->type->fields[i], false, &v->slots[i]))
            return false;
    return v->kind == VALUE_STRUCT;
}

static bool same_amount(const struct value *a, const struct value *b)
{
    struct arena scratch;
    arena_init_small(&scratch);
    struct err e;
    err_init(&e, &scratch);
    struct quantity x, y;
    bool same = !quantity_parse(&scratch, value_text(a), &x, &e) && !quantity_parse(&scratch, value_text(b), &y, &e) &&
                quantity_cmp(&x, &y) == 0;
    arena_fini(&scratch);
    return same;
}

static bool same_one(const struct field *f, const struct type *t, const struct value *a, const struct value *b);

bool rules_same(const struct field *f, const struct value *a, const struct value *b)
{
    if (is_empty(f, false, a) || is_empty(f, false, b))
        return is_empty(f, false, a) && is_empty(f, false, b);
    const struct type *t = f->kind == KIND_STRUCT ? f->type : NULL;
    if (f->shape == SHAPE_ONE)
        return same_one(f, t, a, b);
    if (a->kind != b->kind || a->n != b->n)
        return false;
    for (uint32_t i = 0; i < a->n; i++) {
        bool map = a->kind == VALUE_MAP;
        if (map && !str_eq(a->members[i].key, b->members[i].key))
            return false;
        if (!same_one(f, t, map ? &a->members[i].value : &a->items[i], map ? &b->members[i].value : &b->items[i]))
            return false;
    }
    return true;
}

static bool same_one(const struct field *f, const struct type *t, const struct value *a, const struct value *b)
{
    if (a->kind == VALUE_STRUCT && b->kind == VALUE_STRUCT && t) {
        for (uint32_t i = 0; i < t->n_fields; i++)
            if (!rules_same(&t->fields[i], &a->slots[i], &b->slots[i]))
                return false;
        return true;
    }
    if (f && f->kind == KIND_QUANTITY && a->kind == VALUE_STRING && b->kind == VALUE_STRING)
        return value_equal(a, b) || same_amount(a, b);
    return value_equal(a, b);
}

bool place_same(const struct place *a, const struct place *b)
{
    return a->field && !a->is_item ? rules_same(a->field, a->value, b->value)
                                   : same_one(a->field, a->type, a->value, b->value);
}

/* ---- Values in errors ---- */

/* What Go has where nothing was given. */
static struct field_value shown_zero(const struct field *f)
{
    bool has_zero = f->shape == SHAPE_ONE && !(f->flags & FIELD_PTR);
    if (has_zero && f->kind == KIND_STRING)
        return field_str(STR(""));
    if (has_zero && (f->kind == KIND_INT32 || f->kind == KIND_INT64 || f->kind == KIND_UINT32))
        return field_int(0);
    if (has_zero && f->kind == KIND_BOOL)
        return field_bool(false);
    if (has_zero && f->kind == KIND_QUANTITY)
        return field_str(STR("0"));
    return field_json(STR("null"));
}

struct field_value place_shown(const struct place *p)
{
    if (!p->field)
        return field_json(STR("null"));
    if (!place_is_set(p))
        return shown_zero(p->field);
    struct field one = *p->field;
    if (p->is_item)
        one.shape = SHAPE_ONE;
    if (p->value->kind == VALUE_STRING) /* also an IntOrString and an amount */
        return one.go_type && one.kind == KIND_STRING && !p->is_item ? field_enum(place_text(p)) : field_str(place_text(p));
    return rules_shown(p->errs->arena, &one, p->value);
}

void place_add_go_member(struct strbuf *to, const struct place *p)
{
    go_form_add_member(to, NULL, p->field, p->value);
}

struct field_value place_shown_as_go(const struct place *p)
{
    struct field one = *p->field;
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    if (p->is_item) {
        one.shape = SHAPE_ONE;
        one.flags &= (unsigned)~FIELD_PTR;
    }
    go_form_add(&json, &one, p->value);
    return field_json(field_take_text(p->errs->arena, &json));
}

void place_required(const struct place *p, const char *detail)
{
    field_required(p->errs, path_of(p), str_of(detail));
}

void place_forbidden(const struct place *p, const char *detail)
{
    field_forbidden(p->errs, path_of(p), str_of(detail));
}

/* What nobody is going to read is not made: a list may be wrong as often as it has items. */
void place_invalid(const struct place *p, const char *detail)
{
    struct field_value shown = field_errors_full(p->errs) ? field_str(STR("")) : place_shown(p);
    field_invalid(p->errs, path_of(p), shown, str_of(detail));
}

void place_invalidf(const struct place *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    place_invalid(p, arena_vprintf(p->errs->arena, format, args));
    va_end(args);
}

void place_duplicate(const struct place *p)
{
    field_duplicate(p->errs, path_of(p), place_shown(p));
}

void place_not_supported(const struct place *p, const char *const *values)
{
    size_t n = 0;
    while (values[n])
        n++;
    field_not_supported(p->errs, path_of(p), place_shown(p), values, n);
}

/* ---- Common checks ---- */

bool text_is_one_of(struct str text, const char *const *values)
{
    for (; *values; values++)
        if (str_is(text, *values))
            return true;
    return false;
}

void place_check_supported(const struct place *p, const char *const *values)
{
    if (!text_is_one_of(place_text(p), values))
        place_not_supported(p, values);
}

void place_check_choice(const struct place *p, const char *const *values)
{
    if (place_text(p).n == 0)
        place_required(p, "");
    else
        place_check_supported(p, values);
}

void place_check_names(const struct place *p, struct name_errors found)
{
    if (found.n)
        validate_name_errors(found, place_shown(p), path_of(p), p->errs);
}

void place_check_required_name(const struct place *p, name_check *check)
{
    if (place_text(p).n == 0)
        place_required(p, "");
    else
        place_check_names(p, check(place_text(p)));
}

void place_check_not_negative(const struct place *p)
{
    validate_not_negative(place_int(p), path_of(p), p->errs);
}

void place_check_port_number(const struct place *p)
{
    place_check_names(p, name_port_number(place_int(p)));
}

void place_check_qualified_name(const struct place *p)
{
    place_check_names(p, name_label_key(place_text(p)));
}

void place_check_immutable(const struct place *p, const struct place *old)
{
    if (!place_same(p, old))
        field_invalid(p->errs, path_of(p), p->type ? place_shown_as_go(p) : place_shown(p), STR("field is immutable"));
}

static struct labels labels_of(struct arena *a, const struct value *map)
{
    if (map->kind != VALUE_MAP)
        return (struct labels){ NULL, 0 };
    struct label *at = ARENA_NEW_N(a, struct label, map->n);
    for (uint32_t i = 0; i < map->n; i++)
        at[i] = (struct label){ map->members[i].key, value_text(&map->members[i].value) };
    return (struct labels){ at, map->n };
}

static struct strs strs_of(struct arena *a, const struct value *list)
{
    if (list->kind != VALUE_LIST)
        return (struct strs){ NULL, 0 };
    struct str *at = ARENA_NEW_N(a, struct str, list->n);
    for (uint32_t i = 0; i < list->n; i++)
        at[i] = value_text(&list->items[i]);
    return (struct strs){ at, list->n };
}

bool place_check_selector(const struct place *p, bool allow_invalid_values)
{
    struct arena *a = p->errs->arena;
    struct place expressions = place_child(p, "matchExpressions");
    uint32_t n = place_n(&expressions);
    struct match_expression *at = ARENA_NEW_N(a, struct match_expression, n);
    for (uint32_t i = 0; i < n; i++) {
        struct place e = place_item(&expressions, i);
        at[i] = (struct match_expression){ child_text(&e, "key"), child_text(&e, "operator"),
                                           strs_of(a, child_value(&e, "values")) };
    }
    struct label_selector selector = { labels_of(a, child_value(p, "matchLabels")), at, n };
    struct label_selector_rules rules = { .allow_invalid_values = allow_invalid_values };
    size_t before = p->errs->n;
    label_selector_validate(&selector, rules, path_of(p), p->errs);
    return p->errs->n == before;
}

void place_check_labels(const struct place *p)
{
    validate_labels(labels_of(p->errs->arena, p->value), path_of(p), p->errs);
}

void place_check_annotations(const struct place *p)
{
    validate_annotations(labels_of(p->errs->arena, p->value), path_of(p), p->errs);
}

/* A list of faulty addresses is searched for each of them: more than so many are not forgiven. */
enum { OLD_TEXTS_MAX = 1000 };

static bool list_has(const struct value *list, struct str text)
{
    uint32_t n = list && list->kind == VALUE_LIST ? list->n : 0;
    for (uint32_t i = 0; i < n && i < OLD_TEXTS_MAX; i++)
        if (str_eq(value_text(&list->items[i]), text))
            return true;
    return false;
}

void place_check_ip(const struct place *p, const struct value *old)
{
    size_t before = p->errs->n;
    validate_legacy_ip(place_text(p), true, path_of(p), p->errs);
    if (p->errs->n > before && list_has(old, place_text(p)))
        p->errs->n = before; /* what was stored in laxer days may stay */
}

void place_check_cidr(const struct place *p, const struct value *old)
{
    size_t before = p->errs->n;
    validate_legacy_cidr(place_text(p), true, path_of(p), p->errs);
    if (p->errs->n > before && list_has(old, place_text(p)))
        p->errs->n = before;
}

static bool is_in(const struct ip_addr *ip, const char *range)
{
    struct ip_addr network;
    unsigned bits;
    bool known = cidr_parse(str_of(range), &network, &bits);
    assert(known);
    if (ip_is_v4_mapped(ip) != ip_is_v4_mapped(&network))
        return false;
    bits += network.written_as_v4 ? 96 : 0;
    for (unsigned i = 0; i < bits; i++)
        if ((ip->bytes[i / 8] ^ network.bytes[i / 8]) >> (7 - i % 8) & 1)
            return false;
    return true;
}

void place_check_endpoint_ip(const struct place *p)
{
    static const struct {
        const char *v4, *v6, *fault;
    } ranges[] = {
        { "127.0.0.0/8", "::1/128", "may not be in the loopback range (127.0.0.0/8, ::1/128)" },
        { "169.254.0.0/16", "fe80::/10", "may not be in the link-local range (169.254.0.0/16, fe80::/10)" },
        { "224.0.0.0/24", "ff02::/16", "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)" },
    };
    struct ip_addr ip;
    if (!ip_parse(place_text(p), &ip)) {
        place_invalid(p, "must be a valid IP address");
        return;
    }
    if (is_in(&ip, "0.0.0.0/32") || is_in(&ip, "::/128"))
        place_invalidf(p, "may not be unspecified (%.*s)", STR_ARG(place_text(p)));
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
        if (is_in(&ip, ranges[i].v4) || is_in(&ip, ranges[i].v6))
            place_invalid(p, ranges[i].fault);
}

int place_amount_sign(const struct place *p)
{
    struct err e;
    err_init(&e, p->errs->arena);
    struct quantity q;
    return quantity_parse(p->errs->arena, place_text(p), &q, &e) ? 0 : quantity_sign(&q);
}

void place_check_amount(const struct place *p)
{
    if (place_amount_sign(p) < 0)
        place_invalid(p, "must be greater than or equal to 0");
}

bool seen_before(struct seen *s, struct str text)
{
    bool is_new;
    map_str_put(&s->texts, text.p ? text : STR(""), &is_new);
    return !is_new;
}

/* ---- Warnings ---- */

void warn_about_ip(const struct rules_context *c, const struct field_path *at, struct str text)
{
    struct ip_addr ip;
    if (!ip_parse(text, &ip))
        return;
    char good[IP_TEXT_MAX];
    ip_print(&ip, good);
    struct str path = field_path_text(c->arena, at);
    bool odd = ip.leading_zeros || (ip_is_v4_mapped(&ip) && !ip.written_as_v4);
    if (odd)
        warnings_add(c->warnings, "%.*s: non-standard IP address \"%.*s\" is invalid: use \"%s\"", STR_ARG(path),
                     STR_ARG(text), good);
    else if (!ip.written_as_v4 && !str_is(text, good))
        warnings_add(c->warnings, "%.*s: IPv6 address \"%.*s\" should be in RFC 5952 canonical format (\"%s\")",
                     STR_ARG(path), STR_ARG(text), good);
}

static void clear_host_bits(struct ip_addr *ip, unsigned bits)
{
    for (unsigned i = bits + (ip->written_as_v4 ? 96 : 0); i < 128; i++)
        ip->bytes[i / 8] &= (uint8_t)~(0x80 >> i % 8);
}

void warn_about_cidr(const struct rules_context *c, const struct field_path *at, struct str text)
{
    struct ip_addr ip;
    unsigned bits;
    if (!cidr_parse(text, &ip, &bits))
        return;
    char one[IP_TEXT_MAX], good[CIDR_TEXT_MAX];
    ip_print(&ip, one);
    struct ip_addr network = ip;
    clear_host_bits(&network, bits);
    cidr_print(&network, bits, good);
    struct str path = field_path_text(c->arena, at);
    bool ambiguous = ip_has_host_bits(&ip, bits), odd = ip.leading_zeros || (ip_is_v4_mapped(&ip) && !ip.written_as_v4);
    if (ambiguous)
        warnings_add(c->warnings, "%.*s: CIDR value \"%.*s\" is ambiguous in this context (should be \"%s\" or \"%s/%d\"?)",
                     STR_ARG(path), STR_ARG(text), good, one, ip.written_as_v4 ? 32 : 128);
    if (odd)
        warnings_add(c->warnings, "%.*s: non-standard CIDR value \"%.*s\" is invalid: use \"%s\"", STR_ARG(path),
                     STR_ARG(text), good);
    if (!ambiguous && !odd && !ip.written_as_v4 && !str_is(text, good))
        warnings_add(c->warnings, "%.*s: IPv6 CIDR value \"%.*s\" should be in RFC 5952 canonical format (\"%s\")",
                     STR_ARG(path), STR_ARG(text), good);
}

/* rules/pod_shown.c - see pod_priv.h: values in errors.
 *
 * Upstream checks internal types, which have no names for JSON: a struct in an error is all of its Go fields, by the
 * names that they have in Go. The few types that errors show are listed here. */
#include "codec/json.h"
#include "rules/pod_priv.h"

enum { SHOWN_FIELDS_MAX = 12 };

static const struct shown_type {
    const char *type;
    const char *fields[SHOWN_FIELDS_MAX + 1]; /* in the order of Go; of slots in the order of the schema */
} shown_types[] = {
    { "core/v1.AppArmorProfile", { "Type", "LocalhostProfile" } },
    { "core/v1.Capabilities", { "Add", "Drop" } },
    { "core/v1.HostIP", { "IP" } },
    { "core/v1.NodeSelectorRequirement", { "Key", "Operator", "Values" } },
    { "core/v1.NodeSelectorTerm", { "MatchExpressions", "MatchFields" } },
    { "core/v1.PodIP", { "IP" } },
    { "core/v1.PodResourceClaim", { "Name", "ResourceClaimName", "ResourceClaimTemplateName" } },
    { "core/v1.SELinuxOptions", { "User", "Role", "Type", "Level" } },
    { "core/v1.SeccompProfile", { "Type", "LocalhostProfile" } },
    { "core/v1.SecurityContext",
      { "Capabilities", "Privileged", "SELinuxOptions", "WindowsOptions", "RunAsUser", "RunAsGroup", "RunAsNonRoot",
        "ReadOnlyRootFilesystem", "AllowPrivilegeEscalation", "ProcMount", "SeccompProfile", "AppArmorProfile" } },
    { "core/v1.WindowsSecurityContextOptions",
      { "GMSACredentialSpecName", "GMSACredentialSpec", "RunAsUserName", "HostProcess" } },
};

static const char *go_name(const struct type *t, unsigned slot)
{
    for (size_t i = 0; i < N_OF(shown_types); i++)
        if (str_is(t->name, shown_types[i].type))
            return shown_types[i].fields[slot];
    return NULL;
}

static void show_struct(struct strbuf *to, const struct type *t, const struct value *v);

static void show_one(struct strbuf *to, const struct field *f, const struct value *v)
{
    if (v->kind == VALUE_STRUCT)
        show_struct(to, f->type, v);
    else if (v->kind == VALUE_STRING)
        field_add_json_string(to, value_text(v));
    else if (v->kind == VALUE_INT)
        strbuf_add_int(to, v->i);
    else if (v->kind == VALUE_BOOL)
        strbuf_add_text(to, v->b ? "true" : "false");
    else
        STRBUF_ADD_LIT(to, "null");
}

/* What is not a pointer has a value even if nobody gave one; a list of nothing is null. */
static void show_field(struct strbuf *to, const struct field *f, const struct value *v)
{
    bool plain_text = f->kind == KIND_STRING && f->shape == SHAPE_ONE && !(f->flags & FIELD_PTR);
    if (v->kind == VALUE_ABSENT && plain_text) {
        STRBUF_ADD_LIT(to, "\"\"");
        return;
    }
    if (v->kind != VALUE_LIST) {
        show_one(to, f, v);
        return;
    }
    strbuf_add_char(to, '[');
    for (uint32_t i = 0; i < v->n; i++) {
        strbuf_add_text(to, i ? "," : "");
        show_one(to, f, &v->items[i]);
    }
    strbuf_add_char(to, ']');
}

static void show_struct(struct strbuf *to, const struct type *t, const struct value *v)
{
    strbuf_add_char(to, '{');
    for (unsigned i = 0; i < t->n_fields; i++) {
        const char *name = go_name(t, i);
        strbuf_printf(to, "%s\"%s\":", i ? "," : "", name ? name : "");
        show_field(to, &t->fields[i], value_slot(v, i));
    }
    strbuf_add_char(to, '}');
}

struct field_value pod_shown(struct arena *a, const struct type *t, const struct value *v)
{
    struct strbuf json;
    struct field as = { .type = t, .kind = KIND_STRUCT };
    strbuf_init(&json, STRBUF_NO_MAX);
    show_field(&json, &as, v);
    return field_json(field_take_text(a, &json));
}

struct field_value pod_shown_map(struct arena *a, const struct value *map)
{
    struct strbuf json;
    strbuf_init(&json, STRBUF_NO_MAX);
    if (map->kind == VALUE_MAP)
        json_encode_plain(&json, map);
    else
        STRBUF_ADD_LIT(&json, "null");
    return field_json(field_take_text(a, &json));
}

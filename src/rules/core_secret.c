/* rules/core_secret.c - ConfigMap and Secret: keys, size, what a type of secret must hold. */
#include "api/edit.h"
#include "codec/json_scan.h"
#include "rules/core_priv.h"

enum { DATA_BYTES_MAX = 1 << 20 }; /* of all values of a ConfigMap or Secret; as upstream */

/* ---- Both ---- */

/* Checks keys; returns the bytes of the values. */
static size_t check_keys(const struct place *data)
{
    size_t n_bytes = 0;
    for (uint32_t i = 0; i < place_n(data); i++) {
        struct place entry = place_member(data, i);
        struct str key = data->value->members[i].key;
        validate_name_errors(name_config_map_key(key), field_str(key), &entry.path, entry.errs);
        n_bytes += place_text(&entry).n;
    }
    return n_bytes;
}

/* What was made immutable stays so, and so does the data in the children. */
static void check_frozen(const struct place *root, const struct place *old, const char *const *names)
{
    static const char detail[] = "field is immutable when `immutable` is set";
    if (!child_bool(old, "immutable"))
        return;
    struct place immutable = place_child(root, "immutable");
    if (!place_bool(&immutable))
        place_forbidden(&immutable, detail);
    for (; *names; names++) {
        struct place data = place_child(root, *names), was = place_child(old, *names);
        if (!place_same(&data, &was))
            place_forbidden(&data, detail);
    }
}

/* ---- ConfigMap ---- */

static void check_config_map(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    struct place root = place_root(c, new, errs);
    struct place data = place_child(&root, "data"), binary = place_child(&root, "binaryData");
    size_t n_bytes = 0;
    rules_check_meta(c, new, NULL, errs);
    for (uint32_t i = 0; i < place_n(&data); i++) {
        struct place entry = place_member(&data, i);
        struct str key = data.value->members[i].key;
        validate_name_errors(name_config_map_key(key), field_str(key), &entry.path, errs);
        if (binary.value->kind == VALUE_MAP && value_member(binary.value, key))
            field_invalid(errs, &entry.path, field_str(key), STR("duplicate of key present in binaryData"));
        n_bytes += place_text(&entry).n;
    }
    n_bytes += check_keys(&binary);
    if (n_bytes > DATA_BYTES_MAX) {
        struct field_path whole = field_key(NULL, STR("")); /* upstream's path without a name reads [] */
        field_too_long(errs, &whole, DATA_BYTES_MAX);
    }
}

void config_map_validate_create(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    check_config_map(c, new, errs);
}

void config_map_validate_update(const struct rules_context *c, const struct value *new, const struct value *old,
                                struct field_errors *errs)
{
    static const char *const frozen[] = { "data", "binaryData", NULL };
    struct place root = place_root(c, new, errs), before = place_root(c, old, errs);
    rules_check_meta_update(c, new, old, errs);
    check_frozen(&root, &before, frozen);
    check_config_map(c, new, errs);
}

/* ---- Secret ---- */

/* Data that must be a JSON object; what is wrong with it is told without showing it. */
static void check_json(const struct place *data, const char *key)
{
    struct field_path at = field_key(&data->path, str_of(key));
    const struct value *found = data->value->kind == VALUE_MAP ? value_member(data->value, str_of(key)) : NULL;
    if (!found) {
        field_required(data->errs, &at, STR(""));
        return;
    }
    struct err e;
    err_init(&e, data->errs->arena);
    struct json_scan s = json_scan_init(value_text(found));
    char first = json_peek(&s);
    const char *fault = NULL;
    if (!json_skip_value(&s) || !json_at_end(&s))
        fault = json_check(value_text(found), &e) ? e.message : NULL;
    else if (first != '{' && first != 'n')
        fault = arena_printf(data->errs->arena,
                             "json: cannot unmarshal %s into Go value of type map[string]interface {}",
                             json_kind_name(first));
    if (fault)
        field_invalid(data->errs, &at, field_str(STR("<secret contents redacted>")), str_of(fault));
}

static void require_key(const struct place *data, const char *key)
{
    struct field_path at = field_key(&data->path, str_of(key));
    field_required(data->errs, &at, STR(""));
}

static bool has_key(const struct place *data, const char *key)
{
    return data->value->kind == VALUE_MAP && value_member(data->value, str_of(key));
}

static void require_keys(const struct place *data, const char *const *keys)
{
    for (; *keys; keys++)
        if (!has_key(data, *keys))
            require_key(data, *keys);
}

static void check_account_token(const struct place *root)
{
    static const char key[] = "kubernetes.io/service-account.name";
    struct place annotations = place_at(root, "metadata.annotations");
    struct field_path at = field_key(&annotations.path, STR("kubernetes.io/service-account.name"));
    if (!place_entry(&annotations, key).n)
        field_required(root->errs, &at, STR(""));
}

static void check_contents(const struct place *root, const struct place *data)
{
    static const char *const basic[] = { "username", "password", NULL }, *const tls[] = { "tls.crt", "tls.key", NULL };
    struct str type = child_text(root, "type");
    if (str_is(type, "kubernetes.io/service-account-token"))
        check_account_token(root);
    else if (str_is(type, "kubernetes.io/dockercfg"))
        check_json(data, ".dockercfg");
    else if (str_is(type, "kubernetes.io/dockerconfigjson"))
        check_json(data, ".dockerconfigjson");
    else if (str_is(type, "kubernetes.io/basic-auth") && !has_key(data, basic[0]) && !has_key(data, basic[1]))
        require_keys(data, basic);
    else if (str_is(type, "kubernetes.io/ssh-auth") && !place_entry(data, "ssh-privatekey").n)
        require_key(data, "ssh-privatekey");
    else if (str_is(type, "kubernetes.io/tls"))
        require_keys(data, tls);
}

/* stringData is for writing: it becomes data. */
static struct value with_string_data(const struct rules_context *c, const struct value *secret)
{
    const struct value *texts = value_path(c->type, secret, "stringData");
    if (texts->kind != VALUE_MAP)
        return *secret;
    struct value data = *value_path(c->type, secret, "data");
    uint32_t n = data.kind == VALUE_MAP ? data.n : 0;
    struct member *all = ARENA_NEW_N(c->arena, struct member, n + texts->n);
    if (n)
        memcpy(all, data.members, n * sizeof(*all));
    for (uint32_t i = 0; i < texts->n; i++)
        all[n + i] = (struct member){ texts->members[i].key, value_bytes(value_text(&texts->members[i].value)) };
    data = value_map(all, value_sort_members(all, n + texts->n));
    struct value changed = edit_set(c->arena, c->type, secret, "data", data);
    return edit_set(c->arena, c->type, &changed, "stringData", (struct value){ 0 });
}

struct value secret_prepare_create(const struct rules_context *c, const struct value *new)
{
    return with_string_data(c, new);
}

struct value secret_prepare_update(const struct rules_context *c, const struct value *new, const struct value *old)
{
    (void)old;
    return with_string_data(c, new);
}

static void check_secret(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    struct place root = place_root(c, new, errs), data = place_child(&root, "data");
    rules_check_meta(c, new, NULL, errs);
    if (check_keys(&data) > DATA_BYTES_MAX)
        field_too_long(errs, &data.path, DATA_BYTES_MAX);
    check_contents(&root, &data);
}

void secret_validate_create(const struct rules_context *c, const struct value *new, struct field_errors *errs)
{
    check_secret(c, new, errs);
}

void secret_validate_update(const struct rules_context *c, const struct value *new, const struct value *old,
                            struct field_errors *errs)
{
    static const char *const frozen[] = { "data", NULL };
    struct place root = place_root(c, new, errs), before = place_root(c, old, errs);
    struct place type = place_child(&root, "type"), old_type = place_child(&before, "type");
    rules_check_meta_update(c, new, old, errs);
    place_check_immutable(&type, &old_type);
    check_frozen(&root, &before, frozen);
    check_secret(c, new, errs);
}

/* ---- Warnings about certificates ---- */

/* The type of the next PEM block, from *at on, which moves behind its first line; false when there is none. */
static bool next_pem_block(struct str *left, struct str *ret_type)
{
    static const char begin[] = "-----BEGIN ", dashes[] = "-----";
    const char *found = left->n ? memmem(left->p, left->n, begin, sizeof(begin) - 1) : NULL;
    if (!found)
        return false;
    struct str rest = str_from(*left, (size_t)(found - left->p) + sizeof(begin) - 1);
    const char *end = memmem(rest.p, rest.n, dashes, sizeof(dashes) - 1);
    if (!end)
        return false;
    *ret_type = str_range(rest.p, end);
    *left = str_from(rest, (size_t)(end - rest.p) + sizeof(dashes) - 1);
    return true;
}

static bool is_key_type(struct str type)
{
    return str_is(type, "PRIVATE KEY") || str_ends(type, STR(" PRIVATE KEY"));
}

static bool has_block(struct str pem, bool (*is_wanted)(struct str type))
{
    struct str type;
    while (next_pem_block(&pem, &type))
        if (is_wanted(type))
            return true;
    return false;
}

static bool is_certificate(struct str type)
{
    return str_is(type, "CERTIFICATE");
}

/* Go's words for inputs without any PEM block; what is inside of blocks is not looked at. */
void secret_warn(const struct rules_context *c, const struct value *new, const struct value *old)
{
    struct field_errors none;
    struct str type;
    (void)old;
    field_errors_init(&none, c->arena);
    struct place root = place_root(c, new, &none), data = place_child(&root, "data");
    if (!str_is(child_text(&root, "type"), "kubernetes.io/tls"))
        return;
    struct str certificate = place_entry(&data, "tls.crt"), key = place_entry(&data, "tls.key");
    struct str rest = certificate;
    if (!next_pem_block(&rest, &type))
        warnings_add(c->warnings, "tls: failed to find any PEM data in certificate input");
    else if (has_block(certificate, is_certificate) && !has_block(key, is_key_type) && !next_pem_block(&key, &type))
        warnings_add(c->warnings, "tls: failed to find any PEM data in key input");
}

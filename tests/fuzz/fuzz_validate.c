/* tests/fuzz/fuzz_validate.c - any bytes as names, keys, addresses and whole metadata.
 *
 * The bytes are cut at line ends into texts; every check sees every text. What is found wrong can be said: each error
 * has its reason, all of them make one text, which is bounded, and a cause as JSON for another parser. A valid name
 * stays valid when it is looked at again, and is within its length. */
#include <yyjson.h>

#include "api/netaddr.h"
#include "api/object_meta.h"
#include "tests/test.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { BYTES_MAX = 300, TEXTS_MAX = 12 };

struct texts {
    struct str at[TEXTS_MAX];
    size_t n;
};

static const struct {
    name_check *check;
    size_t bytes_max; /* 0: no limit of its own */
} checks[] = {
    { name_dns1123_label, NAME_DNS1123_LABEL_MAX },
    { name_dns1123_subdomain, NAME_DNS1123_SUBDOMAIN_MAX },
    { name_dns1123_subdomain_with_underscore, NAME_DNS1123_SUBDOMAIN_MAX },
    { name_dns1035_label, NAME_DNS1035_LABEL_MAX },
    { name_wildcard_dns1123_subdomain, NAME_DNS1123_SUBDOMAIN_MAX },
    { name_label_key, NAME_DNS1123_SUBDOMAIN_MAX + 1 + NAME_LABEL_KEY_MAX },
    { name_label_value, NAME_LABEL_VALUE_MAX },
    { name_port, NAME_PORT_MAX },
    { name_c_identifier, 0 },
    { name_env_var, 0 },
    { name_relaxed_env_var, 0 },
    { name_config_map_key, NAME_DNS1123_SUBDOMAIN_MAX },
    { name_http_header, 0 },
    { name_percent, 0 },
    { name_decimal_integer, 0 },
    { name_path_segment, 0 },
    { name_path_segment_prefix, 0 },
};

static void check_names(struct str text)
{
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        struct name_errors found = checks[i].check(text);
        CHECK(found.n <= NAME_ERRORS_MAX);
        for (size_t k = 0; k < found.n; k++)
            CHECK(found.at[k] && *found.at[k]);
        CHECK(found.n || !checks[i].bytes_max || text.n <= checks[i].bytes_max);
    }
    /* Every label is a subdomain, and every 1035 label a 1123 one. */
    CHECK(name_dns1123_label(text).n || !name_dns1123_subdomain(text).n);
    CHECK(name_dns1035_label(text).n || !name_dns1123_label(text).n);
    CHECK(name_path_segment(text).n || !name_path_segment_prefix(text).n);
}

static void check_fields(struct str text, const struct field_path *at, struct field_errors *errs)
{
    validate_fully_qualified_name(text, at, errs);
    validate_fully_qualified_domain_name(text, at, errs);
    validate_domain_prefixed_path(text, at, errs);
    validate_domain_prefixed_key(text, at, errs);
    validate_ip(text, at, errs);
    validate_cidr(text, at, errs);
    for (int strict = 0; strict < 2; strict++) {
        validate_legacy_ip(text, strict, at, errs);
        validate_legacy_cidr(text, strict, at, errs);
    }
    validate_field_manager(text, at, errs);
    validate_finalizer_name(text, at, errs);
    validate_label_name(text, at, errs);
    validate_not_negative((int64_t)text.n - 2, at, errs);
}

/* ---- Metadata out of the texts ---- */

static struct str text_of(const struct texts *t, size_t i)
{
    return t->n ? t->at[i % t->n] : (struct str){ "", 0 };
}

static void check_meta(const struct texts *t, const struct field_path *at, struct field_errors *errs)
{
    static name_rule *const rules[] = { name_is_dns_subdomain, name_is_dns_label, name_is_dns1035_label,
                                        name_is_path_segment };
    struct label pairs[TEXTS_MAX];
    struct owner_reference owners[4];
    struct managed_fields_entry entries[4];
    for (size_t i = 0; i < t->n; i++)
        pairs[i] = (struct label){ t->at[i], text_of(t, i + 1) };
    for (size_t i = 0; i < 4; i++) {
        owners[i] = (struct owner_reference){ text_of(t, i), text_of(t, i + 1), text_of(t, i + 2), text_of(t, i + 3),
                                              t->n % 3, i % 3 };
        entries[i] = (struct managed_fields_entry){ text_of(t, i), text_of(t, i + 1), text_of(t, i + 2),
                                                    text_of(t, i + 3) };
    }
    struct object_meta meta = { .name = text_of(t, 0), .generate_name = text_of(t, 1), .namespace = text_of(t, 2),
                                .generation = (int64_t)t->n - 2, .labels = { pairs, t->n },
                                .annotations = { pairs, t->n },
                                .owner_references = owners, .n_owner_references = 4, .finalizers = { t->at, t->n },
                                .managed_fields = entries, .n_managed_fields = 4 };
    validate_object_meta(&meta, t->n % 2, rules[t->n / 2 % 4], at, errs);
}

/* ---- What is said ---- */

static void check_json_string(struct str text)
{
    struct strbuf b;
    yyjson_read_err why;
    strbuf_init(&b, STRBUF_NO_MAX);
    field_add_json_string(&b, text);
    yyjson_doc *doc = yyjson_read_opts(b.p, b.n, YYJSON_READ_NOFLAG, NULL, &why);
    if (!doc)
        FAIL("%s at %zu", why.msg, why.pos);
    yyjson_doc_free(doc);
    strbuf_fini(&b);
}

static void check_errors(struct arena *a, const struct field_errors *errs)
{
    for (size_t i = 0; i < errs->n; i++)
        CHECK(*field_error_reason(errs->at[i].type) && errs->at[i].path.n);
    struct str all = field_errors_text(a, errs);
    CHECK_INT("text", all.n == 0, errs->n == 0);
    CHECK(all.n <= 8 * errs->n_bytes + 256 * errs->n + 2); /* a byte becomes four, at most, and is told with a reason */
    if (errs->n)
        check_json_string(field_error_text(a, &errs->at[errs->n - 1]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct texts t = { .n = 0 };
    struct arena a;
    struct field_errors errs;
    struct str rest = { (const char *)data, n };
    if (n > BYTES_MAX)
        return 0;
    while (t.n < TEXTS_MAX && rest.n) {
        const char *end = memchr(rest.p, '\n', rest.n);
        size_t n_text = end ? (size_t)(end - rest.p) : rest.n;
        t.at[t.n++] = str_first(rest, n_text);
        rest = str_from(rest, n_text + (end != NULL));
    }
    arena_init(&a);
    field_errors_init(&errs, &a);
    struct field_path root = field_child(NULL, "metadata"), keyed = field_key(&root, text_of(&t, 0));
    for (size_t i = 0; i < t.n; i++) {
        struct field_path at = field_index(&keyed, i);
        check_names(t.at[i]);
        check_fields(t.at[i], &at, &errs);
        check_json_string(t.at[i]);
    }
    check_meta(&t, &root, &errs);
    check_errors(&a, &errs);
    arena_fini(&a);
    return 0;
}

/* codec/type_meta.c - see type_meta.h. Upstream: apimachinery runtime/serializer/json/meta.go, v1.36. */
#include "codec/type_meta.h"

#include "codec/json_priv.h"

#define META_GO_TYPE                                                                                                   \
    "struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string "                                   \
    "\"json:\\\"kind,omitempty\\\"\" }"

struct meta {
    struct str api_version, kind;
    const char *mismatch; /* first value of a wrong type, NULL: none */
};

/* One member of the document; all but the two are passed over. */
static bool read_member(struct arena *a, struct json_scan *s, struct meta *m)
{
    struct json_text key, text;
    if (!json_scan_key(s, &key))
        return false;
    struct str name = json_unescape(a, key);
    bool is_kind = json_equal_fold(name, STR("kind")), is_version = json_equal_fold(name, STR("apiVersion"));
    char c = json_peek(s);
    if ((!is_kind && !is_version) || c == 'n')
        return json_skip_value(s);
    if (c == '"') {
        if (!json_scan_string(s, &text))
            return false;
        *(is_kind ? &m->kind : &m->api_version) = json_unescape(a, text);
        return true;
    }
    if (!m->mismatch)
        m->mismatch = arena_printf(a, "json: cannot unmarshal %s into Go struct field .%s of type string",
                                   json_kind_name(c), is_kind ? "kind" : "apiVersion");
    return json_skip_value(s);
}

enum err_code type_meta_read(struct arena *a, struct str json, struct str *ret_api_version, struct str *ret_kind,
                             struct err *e)
{
    struct json_scan s = json_scan_init(json);
    struct meta m = { .api_version = STR(""), .kind = STR("") };
    char c = json_peek(&s);
    bool ok, first = true, fault = false;
    if (c == '{') {
        ok = json_enter(&s, '{');
        while (ok && json_next(&s, '}', &first, &fault))
            ok = read_member(a, &s, &m);
    } else {
        ok = json_skip_value(&s);
        if (c != 'n')
            m.mismatch =
                arena_printf(a, "json: cannot unmarshal %s into Go value of type " META_GO_TYPE, json_kind_name(c));
    }
    if ((!ok || fault || !json_at_end(&s)) && json_check(json, e))
        return err_wrap(e, "couldn't get version/kind; json parse error");
    if (m.mismatch)
        return err_set(e, ERR_BAD_REQUEST, "couldn't get version/kind; json parse error: %s", m.mismatch);
    *ret_api_version = m.api_version;
    *ret_kind = m.kind;
    return ERR_OK;
}

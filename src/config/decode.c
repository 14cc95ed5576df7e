/* config/decode.c - see decode.h. Upstream: pkg/scheduler/apis/config/scheme,
 * kube-scheduler/config/v1/types.go (DecodeNestedObjects), apimachinery runtime/serializer, v1.36.
 *
 * Text that begins with a brace is one JSON document. Anything else is YAML, of which upstream reads
 * the first document. */
#include "config/decode.h"

#include "codec/json.h"
#include "codec/type_meta.h"
#include "codec/yaml.h"
#include "config/args.h"
#include "config/slots.h"

#define GROUP "kubescheduler.config.k8s.io"
#define SCHEME "pkg/scheduler/apis/config/scheme/scheme.go:29" /* how upstream names its registry of kinds */
#define BERTH_API_VERSION "berth.dev/v1alpha1"
#define BERTH_KIND "BerthConfiguration"

/* What a document says it is, or is taken for. */
struct identity {
    struct str api_version, kind;
};

/* Everything that strict decoding complains about. */
struct complaints {
    struct strbuf text; /* joined */
};

static void complain(struct complaints *c, struct str text)
{
    if (c->text.n)
        STRBUF_ADD_LIT(&c->text, ", ");
    strbuf_add_str(&c->text, text);
}

static void complain_all(struct complaints *c, const struct findings *f)
{
    for (unsigned i = 0; i < f->n; i++)
        complain(c, str_of(f->texts[i]));
}

static const char *quoted(struct arena *a, struct str s)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    strbuf_add_quoted(&b, s);
    const char *text = arena_cstr(a, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

static bool looks_like_json(struct str text)
{
    while (text.n && (text.p[0] == ' ' || (text.p[0] >= '\t' && text.p[0] <= '\r')))
        text = str_from(text, 1);
    return text.n && text.p[0] == '{';
}

static enum err_code to_json(struct arena *a, struct str text, struct findings *f, struct str *ret_json, struct err *e)
{
    struct work work = work_init(CONFIG_BYTES_MAX);
    if (!looks_like_json(text))
        return yaml_to_json(a, &work, text, f, ret_json, e);
    *ret_json = text;
    return ERR_OK;
}

/* ---- Kinds ---- */

static enum err_code check_api_version(struct str text, struct err *e)
{
    struct str group, version;
    schema_split_api_version(text, &group, &version);
    if (str_index(version, '/') == version.n || str_is(text, "/"))
        return ERR_OK;
    return err_set(e, ERR_BAD_REQUEST, "unexpected GroupVersion string: %.*s", STR_ARG(text));
}

/* What the document leaves out is taken from `fallback`. */
static enum err_code identify(struct arena *a, struct str json, struct identity fallback, struct identity *ret_id,
                              struct err *e)
{
    struct identity id;
    if (type_meta_read(a, json, &id.api_version, &id.kind, e) || check_api_version(id.api_version, e))
        return e->code;
    struct str group, version;
    schema_split_api_version(id.api_version, &group, &version);
    if (id.kind.n == 0)
        id.kind = fallback.kind;
    if (version.n == 0)
        id.api_version = group.n == 0 || str_is(group, GROUP) ? fallback.api_version : STR("");
    else if (group.n == 0)
        id.api_version = version;
    *ret_id = id;
    return ERR_OK;
}

/* `text` is shown when something is missing. */
static enum err_code find_type(struct arena *a, struct identity id, struct str text, const struct type **ret_type,
                               struct err *e)
{
    if (id.kind.n == 0 || id.api_version.n == 0)
        return err_set(e, ERR_BAD_REQUEST, "Object '%s' is missing in '%.*s'", id.kind.n == 0 ? "Kind" : "apiVersion",
                       STR_ARG(text));
    bool ours = str_is(id.api_version, CONFIG_API_VERSION);
    *ret_type = ours ? schema_object_type(id.api_version, id.kind) : NULL;
    if (*ret_type && str_starts((*ret_type)->name, STR(GROUP)))
        return ERR_OK;
    if (str_is(id.api_version, GROUP "/__internal"))
        return err_set(e, ERR_BAD_REQUEST,
                       "no kind %s is registered for the internal version of group \"" GROUP "\" in scheme \"" SCHEME
                       "\"",
                       quoted(a, id.kind));
    return err_set(e, ERR_BAD_REQUEST, "no kind %s is registered for version %s in scheme \"" SCHEME "\"",
                   quoted(a, id.kind), quoted(a, id.api_version));
}

/* ---- Limits ---- */

/* No list is so long that the code behind becomes slow, and no text holds a NUL, which would end it
 * early in C. NULL when all is well. The schema bounds the depth. */
static const char *limit_passed(const struct value *v)
{
    const char *problem = NULL;
    bool container = v->kind == VALUE_LIST || v->kind == VALUE_STRUCT;
    if ((v->kind == VALUE_LIST || v->kind == VALUE_MAP) && v->n > CONFIG_ITEMS_MAX)
        return "a list that is too long";
    if (v->kind == VALUE_STRING && v->n && memchr(v->s, 0, v->n))
        return "a text with a NUL character";
    for (uint32_t i = 0; container && !problem && i < v->n; i++)
        problem = limit_passed(v->kind == VALUE_LIST ? &v->items[i] : &v->slots[i]);
    return problem;
}

static enum err_code decode_limited(struct arena *a, const struct type *t, struct str json, struct findings *f,
                                    struct value *ret_value, struct err *e)
{
    struct value v;
    struct work work = work_init(CONFIG_JSON_BYTES_MAX);
    if (json_decode(a, &work, t, json, f, &v, e))
        return e->code;
    const char *problem = limit_passed(&v);
    if (problem)
        return err_set(e, ERR_BAD_REQUEST, "configuration holds %s", problem);
    *ret_value = v;
    return ERR_OK;
}

/* ---- Arguments of plugins ---- */

static enum err_code decode_given_args(struct arena *a, struct str json, const struct args_kind *kind,
                                       struct findings *f, struct value *ret_args, struct err *e)
{
    struct identity id, fallback = { STR(CONFIG_API_VERSION), str_of(kind->kind) };
    const struct type *type;
    struct value args;
    bool failed = identify(a, json, fallback, &id, e) || find_type(a, id, json, &type, e) ||
                  decode_limited(a, type, json, f, &args, e);
    if (failed)
        return err_wrap(e, "decoding args for plugin %s", kind->plugin);
    if (!str_is(id.kind, kind->kind))
        return err_set(e, ERR_BAD_REQUEST, "args for plugin %s were not of type %s." GROUP ", got %.*s." GROUP,
                       kind->plugin, kind->kind, STR_ARG(id.kind));
    *ret_args = args;
    return ERR_OK;
}

/* The `args` slot of an entry becomes a struct if the plugin has a kind for it. */
static enum err_code decode_args(struct arena *a, struct value *entry, struct findings *f, struct err *e)
{
    struct value *slot = &entry->slots[SLOT(PluginConfig, args)];
    const struct args_kind *kind = args_kind_of(slot_text(entry, SLOT(PluginConfig, name)));
    if (!kind)
        return ERR_OK;
    if (slot->kind != VALUE_RAW) {
        *slot = args_empty(a, kind);
        return ERR_OK;
    }
    return decode_given_args(a, value_text(slot), kind, f, slot, e);
}

static void complain_of_args(struct complaints *c, size_t i, size_t k, struct str plugin, const struct findings *f)
{
    struct complaints inner;
    strbuf_init(&inner.text, STRBUF_NO_MAX);
    complain_all(&inner, f);
    if (c->text.n)
        STRBUF_ADD_LIT(&c->text, ", ");
    strbuf_printf(&c->text, "decoding .profiles[%zu].pluginConfig[%zu]: strict decoding error: ", i, k);
    strbuf_printf(&c->text, "decoding args for plugin %.*s: strict decoding error: ", STR_ARG(plugin));
    strbuf_add_str(&c->text, strbuf_str(&inner.text));
    strbuf_fini(&inner.text);
}

static enum err_code decode_all_args(struct arena *a, const struct value *root, struct complaints *c, struct err *e)
{
    size_t n_profiles, n_entries;
    struct findings *f = ARENA_NEW(a, struct findings);
    struct value *profiles = slot_items(root, SLOT(KubeSchedulerConfiguration, profiles), &n_profiles);
    for (size_t i = 0; i < n_profiles; i++) {
        struct value *entries = slot_items(&profiles[i], SLOT(KubeSchedulerProfile, pluginConfig), &n_entries);
        for (size_t k = 0; k < n_entries; k++) {
            f->n = 0;
            if (decode_args(a, &entries[k], f, e))
                return err_wrap(e, "decoding .profiles[%zu].pluginConfig[%zu]", i, k);
            if (f->n)
                complain_of_args(c, i, k, slot_text(&entries[k], SLOT(PluginConfig, name)), f);
        }
    }
    return ERR_OK;
}

/* ---- Documents ---- */

static enum err_code decode_root(struct arena *a, struct str text, struct complaints *c, struct value *ret_root,
                                 struct err *e)
{
    struct str json;
    struct identity id, nothing = { STR(""), STR("") };
    const struct type *type;
    struct findings *f = ARENA_NEW(a, struct findings);
    if (to_json(a, text, f, &json, e) || identify(a, json, nothing, &id, e) || find_type(a, id, text, &type, e) ||
        decode_limited(a, type, json, f, ret_root, e))
        return e->code;
    complain_all(c, f);
    bool is_config = str_is(type->kind, "KubeSchedulerConfiguration");
    if (is_config && decode_all_args(a, ret_root, c, e))
        return e->code;
    if (c->text.n)
        return err_set(e, ERR_BAD_REQUEST, "strict decoding error: %s", strbuf_cstr(&c->text));
    if (!is_config)
        return err_set(e, ERR_BAD_REQUEST,
                       "couldn't decode as KubeSchedulerConfiguration, got " CONFIG_API_VERSION ", Kind=%.*s: ",
                       STR_ARG(type->kind));
    return ERR_OK;
}

enum err_code decode_config(struct arena *a, struct str text, struct value *ret_root, struct err *e)
{
    struct complaints c;
    strbuf_init(&c.text, STRBUF_NO_MAX);
    enum err_code rc = decode_root(a, text, &c, ret_root, e);
    strbuf_fini(&c.text);
    return rc;
}

static enum err_code read_berth(struct arena *a, struct str json, struct findings *f, struct berth_config *ret_berth,
                                struct err *e)
{
    struct value v;
    const struct type *type = schema_object_type(STR(BERTH_API_VERSION), STR(BERTH_KIND));
    if (decode_limited(a, type, json, f, &v, e))
        return e->code;
    if (f->n) {
        struct complaints c;
        strbuf_init(&c.text, STRBUF_NO_MAX);
        complain_all(&c, f);
        err_set(e, ERR_BAD_REQUEST, "strict decoding error: %s", strbuf_cstr(&c.text));
        strbuf_fini(&c.text);
        return e->code;
    }
    size_t n;
    const struct value *items = slot_items(&v, SLOT_berth_dev_v1alpha1_BerthConfiguration_pluginLibraries, &n);
    struct str *paths = ARENA_NEW_N(a, struct str, n);
    for (size_t i = 0; i < n; i++)
        paths[i] = value_text(&items[i]);
    *ret_berth = (struct berth_config){ paths, n };
    return ERR_OK;
}

/* One document behind the first; passed over unless it is ours. */
static enum err_code decode_extra(struct arena *a, struct str document, bool *seen, struct berth_config *ret_berth,
                                  struct err *e)
{
    struct str json;
    struct identity id, nothing = { STR(""), STR("") };
    struct findings *f = ARENA_NEW(a, struct findings);
    struct work work = work_init(CONFIG_BYTES_MAX);
    if (yaml_to_json(a, &work, document, f, &json, e) || identify(a, json, nothing, &id, e))
        return e->code;
    struct str group, version;
    schema_split_api_version(id.api_version, &group, &version);
    if (!str_is(group, "berth.dev"))
        return ERR_OK;
    if (!str_is(id.api_version, BERTH_API_VERSION) || !str_is(id.kind, BERTH_KIND))
        return err_set(e, ERR_BAD_REQUEST,
                       "no kind %s is known of version %s, only " BERTH_KIND " of " BERTH_API_VERSION,
                       quoted(a, id.kind), quoted(a, id.api_version));
    if (*seen)
        return err_set(e, ERR_BAD_REQUEST, "more than one " BERTH_KIND);
    *seen = true;
    return read_berth(a, json, f, ret_berth, e);
}

enum err_code decode_berth(struct arena *a, struct str text, struct berth_config *ret_berth, struct err *e)
{
    struct yaml_stream stream;
    struct str document;
    bool seen = false;
    *ret_berth = (struct berth_config){ 0 };
    if (looks_like_json(text))
        return ERR_OK;
    yaml_stream_init(&stream, text);
    for (unsigned i = 0;; i++) {
        if (yaml_next_document(&stream, &document, e))
            return err_wrap(e, "document %u", i + 1);
        if (!document.p)
            return ERR_OK;
        if (i > 0 && decode_extra(a, document, &seen, ret_berth, e))
            return err_wrap(e, "document %u", i + 1);
    }
}

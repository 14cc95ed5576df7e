/* config/scheduler_check.c - see scheduler_check.h. Upstream: apiserver/pkg/server/options/{serving,authentication}.go,
 * component-base/logs/api/v1/options.go, component-base/metrics/api/v1/config.go,
 * component-base/cli/flag/{ciphersuites,curves}_flag.go, v1.36. */
#include "config/scheduler_check.h"

#include "api/duration.h"
#include "api/field_error.h"
#include "base/sort.h"
#include "codec/json.h"
#include "codec/yaml.h"
#include "config/config.h"

enum { PORT_MAX = 65535, DECISIONS_MAX = 10000000 };

static void push(struct arena *a, struct flag_strings *list, const char *text)
{
    flag_strings_push(a, list, str_of(text));
}

/* One text alone, several as a list in which none stands twice. */
static enum err_code joined(const struct flag_strings *problems, struct err *e)
{
    struct strbuf b;
    size_t n = 0;
    strbuf_init(&b, STRBUF_NO_MAX);
    for (size_t i = 0; i < problems->n; i++) {
        bool again = false;
        for (size_t k = 0; k < i; k++)
            again |= str_eq(problems->at[k], problems->at[i]);
        if (again)
            continue;
        strbuf_add_text(&b, n++ ? ", " : "");
        strbuf_add_str(&b, problems->at[i]);
    }
    if (n)
        err_set(e, ERR_INVALID, n > 1 ? "[%s]" : "%s", strbuf_cstr(&b));
    strbuf_fini(&b);
    return n ? e->code : ERR_OK;
}

static struct str duration_json(struct arena *a, int64_t ns)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    strbuf_add_char(&b, '"');
    duration_add(&b, ns);
    strbuf_add_char(&b, '"');
    return field_take_text(a, &b);
}

/* ---- Logs ---- */

static void check_form_options(bool split, int64_t buffer_bytes, const char *form, const struct gates *g,
                               struct field_errors *errs)
{
    struct field_path options = field_child(NULL, "options"), at = field_child(&options, form);
    struct field_path stream = field_child(&at, "splitStream"), buffer = field_child(&at, "infoBufferSize");
    if (gate_on(g, GATE_LoggingAlphaOptions))
        return;
    if (split)
        field_forbidden(errs, &stream, STR("Feature LoggingAlphaOptions is disabled"));
    if (buffer_bytes)
        field_forbidden(errs, &buffer, STR("Feature LoggingAlphaOptions is disabled"));
}

enum err_code scheduler_check_logs(const struct scheduler_flags *f, const struct gates *g, struct err *e)
{
    struct field_errors errs;
    struct field_path flush = field_child(NULL, "flushFrequency"), format = field_child(NULL, "format");
    struct field_path vmodule = field_child(NULL, "vmodule");
    bool text = str_is(f->logging_format, "text"), json = str_is(f->logging_format, "json");
    field_errors_init(&errs, e->arena);
    if (f->log_flush_frequency_ns <= 0)
        field_invalid(&errs, &flush, field_json(duration_json(e->arena, f->log_flush_frequency_ns)),
                      STR("Must be greater than zero"));
    if (!text && !json)
        field_invalid(&errs, &format, field_str(f->logging_format), STR("Unsupported log format"));
    else if (json && !gate_on(g, GATE_LoggingBetaOptions))
        field_forbidden(&errs, &format, STR("Log format json is disabled, see LoggingBetaOptions feature"));
    if (f->vmodule.n && !text && f->logging_format.n)
        field_forbidden(&errs, &vmodule, STR("Only supported for text log format"));
    check_form_options(f->log_text_split_stream, f->log_text_info_buffer_size.value, "text", g, &errs);
    check_form_options(f->log_json_split_stream, f->log_json_info_buffer_size.value, "json", g, &errs);
    struct str all = field_errors_text(e->arena, &errs);
    return errs.n ? err_set(e, ERR_INVALID, "%.*s", STR_ARG(all)) : ERR_OK;
}

/* ---- Headers of front proxies ---- */

static void check_blank(struct arena *a, const struct flag_strings *names, const char *flag, struct flag_strings *problems)
{
    bool blank = false;
    for (size_t i = 0; i < names->n; i++)
        blank |= flag_trimmed(names->at[i]).n == 0;
    if (blank)
        push(a, problems, arena_printf(a, "empty value in \"%s\"", flag));
}

static bool lacks(const struct flag_strings *names, const char *standard)
{
    for (size_t i = 0; i < names->n; i++)
        if (names->at[i].n == strlen(standard) && strncasecmp(names->at[i].p, standard, names->at[i].n) == 0)
            return false;
    return names->n > 0;
}

#define WITHOUT_STANDARD(flag, header) \
    "--" flag " is set without specifying the standard " header " - API aggregation will not work"

static void check_headers(const struct scheduler_flags *f, const struct gates *g, struct arena *a,
                          struct flag_strings *problems, struct flag_strings *warnings)
{
    check_blank(a, &f->requestheader_username_headers, "requestheader-username-headers", problems);
    check_blank(a, &f->requestheader_group_headers, "requestheader-group-headers", problems);
    check_blank(a, &f->requestheader_extra_headers_prefix, "requestheader-extra-headers-prefix", problems);
    check_blank(a, &f->requestheader_allowed_names, "requestheader-allowed-names", problems);
    if (lacks(&f->requestheader_username_headers, "X-Remote-User"))
        push(a, warnings, WITHOUT_STANDARD("requestheader-username-headers", "X-Remote-User header"));
    if (lacks(&f->requestheader_group_headers, "X-Remote-Group"))
        push(a, warnings, WITHOUT_STANDARD("requestheader-group-headers", "X-Remote-Group header"));
    if (lacks(&f->requestheader_extra_headers_prefix, "X-Remote-Extra-"))
        push(a, warnings, WITHOUT_STANDARD("requestheader-extra-headers-prefix", "X-Remote-Extra- header prefix"));
    if (!gate_on(g, GATE_RemoteRequestHeaderUID)) {
        if (f->requestheader_uid_headers.n)
            push(a, problems,
                 "--requestheader-uid-headers requires the \"RemoteRequestHeaderUID\" feature to be enabled");
        return;
    }
    check_blank(a, &f->requestheader_uid_headers, "requestheader-uid-headers", problems);
    if (lacks(&f->requestheader_uid_headers, "X-Remote-Uid"))
        push(a, problems, WITHOUT_STANDARD("requestheader-uid-headers", "X-Remote-Uid header"));
}

/* ---- Metrics ---- */

#define METRIC_NAME "[a-zA-Z_:][a-zA-Z0-9_:]*"
#define LABEL_NAME "[a-zA-Z_][a-zA-Z0-9_]*"
#define PREVIOUS_VERSION "1.35"

static bool is_name(struct str name, bool with_colons)
{
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool letter = ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_' || (c == ':' && with_colons);
        if (!letter && (i == 0 || c < '0' || c > '9'))
            return false;
    }
    return name.n > 0;
}

static bool is_label_key(struct str key)
{
    struct str label = key, metric = flag_take_until(&label, ',');
    return is_name(metric, true) && is_name(label, false);
}

static int compare_keys(const void *a, const void *b)
{
    return str_cmp(((const struct flag_pair *)a)->key, ((const struct flag_pair *)b)->key);
}

static void add_pairs_json(struct strbuf *b, struct arena *a, const struct flag_pairs *pairs)
{
    struct flag_pair *sorted = ARENA_NEW_N(a, struct flag_pair, pairs->n);
    if (pairs->n)
        memcpy(sorted, pairs->at, pairs->n * sizeof(*sorted));
    sort_stable(a, sorted, pairs->n, sizeof(*sorted), compare_keys);
    for (size_t i = 0; i < pairs->n; i++) {
        strbuf_add_char(b, i ? ',' : '{');
        field_add_json_string(b, sorted[i].key);
        strbuf_add_char(b, ':');
        field_add_json_string(b, sorted[i].value);
    }
    strbuf_add_text(b, pairs->n ? "}" : "{}");
}

static void check_label_keys(const struct flag_pairs *labels, const struct field_path *at, struct field_errors *errs)
{
    bool fine = true;
    struct strbuf json;
    for (size_t i = 0; i < labels->n; i++)
        fine &= is_label_key(labels->at[i].key);
    if (fine)
        return;
    strbuf_init(&json, STRBUF_NO_MAX);
    add_pairs_json(&json, errs->arena, labels);
    field_invalid(errs, at, field_json(field_take_text(errs->arena, &json)),
                  STR("must have keys with format `metricName,labelName` where metricName matches \"" METRIC_NAME
                      "\" and labelName matches \"" LABEL_NAME "\""));
}

/* A map whose values are texts, or what can be read as one. */
static enum err_code read_manifest(struct arena *a, const char *path, struct flag_pairs *ret_labels, struct err *e)
{
    struct str text, json;
    struct value root;
    struct work work = work_init(CONFIG_BYTES_MAX);
    if (config_read_file(a, path, &text, e))
        return err_wrap(e, "failed to read allow list manifest");
    if (yaml_to_json(a, &work, text, NULL, &json, e) || json_decode_plain(a, &work, json, &root, e))
        return err_wrap(e, "failed to parse allow list manifest");
    bool fine = root.kind == VALUE_MAP || root.kind == VALUE_NULL;
    size_t n = root.kind == VALUE_MAP ? root.n : 0;
    struct flag_pair *pairs = ARENA_NEW_N(a, struct flag_pair, n);
    for (size_t i = 0; i < n; i++) {
        const struct member *m = &root.members[i];
        pairs[i] = (struct flag_pair){ m->key, m->value.kind == VALUE_STRING ? value_text(&m->value) : STR("") };
        fine &= m->value.kind == VALUE_STRING || m->value.kind == VALUE_NULL;
    }
    if (!fine)
        return err_set(e, ERR_INVALID, "failed to parse allow list manifest: not a map of texts");
    *ret_labels = (struct flag_pairs){ pairs, n, n };
    return ERR_OK;
}

static void check_manifest(const struct scheduler_flags *f, const struct field_path *at, struct field_errors *errs)
{
    struct err e;
    struct flag_pairs labels;
    struct field_errors inside;
    err_init(&e, errs->arena);
    if (f->allow_metric_labels_manifest.n == 0)
        return;
    if (read_manifest(errs->arena, arena_cstr(errs->arena, f->allow_metric_labels_manifest), &labels, &e)) {
        field_invalid(errs, at, field_str(f->allow_metric_labels_manifest), str_of(e.message));
        return;
    }
    field_errors_init(&inside, errs->arena);
    check_label_keys(&labels, at, &inside);
    if (inside.n)
        field_invalid(errs, at, field_str(f->allow_metric_labels_manifest),
                      str_of(arena_printf(errs->arena, "invalid allow list mapping in manifest: [%.*s]",
                                          STR_ARG(field_errors_text(errs->arena, &inside)))));
}

/* All four settings as one JSON object. */
static struct str metrics_json(const struct scheduler_flags *f, struct arena *a)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    strbuf_add_char(&b, '{');
    if (f->show_hidden_metrics_for_version.n) {
        STRBUF_ADD_LIT(&b, "\"showHiddenMetricsForVersion\":");
        field_add_json_string(&b, f->show_hidden_metrics_for_version);
        strbuf_add_char(&b, ',');
    }
    for (size_t i = 0; i < f->disabled_metrics.n; i++) {
        strbuf_add_text(&b, i ? "," : "\"disabledMetrics\":[");
        field_add_json_string(&b, f->disabled_metrics.at[i]);
    }
    strbuf_add_text(&b, f->disabled_metrics.n ? "],\"allowListMapping\":" : "\"allowListMapping\":");
    add_pairs_json(&b, a, &f->allow_metric_labels);
    STRBUF_ADD_LIT(&b, ",\"allowListMappingManifest\":");
    field_add_json_string(&b, f->allow_metric_labels_manifest);
    strbuf_add_char(&b, '}');
    return field_take_text(a, &b);
}

static void check_disabled(const struct flag_strings *names, const struct field_path *at, struct field_errors *errs)
{
    size_t i = 0;
    while (i < names->n && is_name(names->at[i], true))
        i++;
    if (i < names->n)
        field_invalid(errs, at, field_strs(names->at, names->n),
                      str_of(arena_printf(errs->arena,
                                          "must be fully qualified metric names matching \"^" METRIC_NAME "$\", got %s",
                                          flag_quoted(errs->arena, names->at[i]))));
}

static void check_metrics(const struct scheduler_flags *f, struct arena *a, struct flag_strings *problems)
{
    struct field_errors errs;
    struct field_path at = field_child(NULL, "metrics"), hidden = field_child(&at, "showHiddenMetricsForVersion");
    struct field_path disabled = field_child(&at, "disabledMetrics"), labels = field_child(&at, "allowListMapping");
    struct field_path manifest = field_child(&at, "allowListMappingManifest");
    field_errors_init(&errs, a);
    if (f->show_hidden_metrics_for_version.n && !str_is(f->show_hidden_metrics_for_version, PREVIOUS_VERSION))
        field_invalid(&errs, &hidden, field_str(f->show_hidden_metrics_for_version),
                      STR("must be omitted or have the value '" PREVIOUS_VERSION
                          "'; only the previous minor version is allowed"));
    check_disabled(&f->disabled_metrics, &disabled, &errs);
    check_label_keys(&f->allow_metric_labels, &labels, &errs);
    check_manifest(f, &manifest, &errs);
    if (FLAG_GIVEN(f, allow_metric_labels) && f->allow_metric_labels_manifest.n)
        field_invalid(&errs, &at, field_json(metrics_json(f, a)),
                      STR("cannot specify both allowListMapping and allowListMappingManifest"));
    for (size_t i = 0; i < errs.n; i++)
        flag_strings_push(a, problems, field_error_text(a, &errs.at[i]));
}

enum err_code scheduler_metric_labels(const struct scheduler_flags *f, struct arena *a, struct flag_pairs *ret_labels,
                                      struct err *e)
{
    if (f->allow_metric_labels_manifest.n)
        return read_manifest(a, arena_cstr(a, f->allow_metric_labels_manifest), ret_labels, e);
    *ret_labels = f->allow_metric_labels;
    return ERR_OK;
}

/* ---- All that is looked at first ---- */

static void check_port(const struct scheduler_flags *f, struct arena *a, struct flag_strings *problems)
{
    const char *rule = NULL;
    if (f->secure_port > PORT_MAX) /* upstream's text is that of servers which must have a port */
        rule = "must be between 1 and 65535, inclusive. It cannot be turned off with 0";
    else if (f->secure_port < 0)
        rule = "must be between 0 and 65535, inclusive. 0 for turning off secure port";
    if (rule)
        push(a, problems, arena_printf(a, "--secure-port %lld %s", (long long)f->secure_port, rule));
}

static void check_own(const struct scheduler_flags *f, struct arena *a, struct flag_strings *problems)
{
    if (f->decisions < 0 || f->decisions > DECISIONS_MAX)
        push(a, problems, arena_printf(a, "--decisions %lld must be between 0 and %d, inclusive", (long long)f->decisions,
                                       DECISIONS_MAX));
    if (f->record_max_bytes.value <= 0)
        push(a, problems, arena_printf(a, "--record-max-bytes %.*s must be greater than 0",
                                       STR_ARG(f->record_max_bytes.text)));
}

enum err_code scheduler_check_flags(const struct scheduler_flags *f, const struct gates *g,
                                    struct flag_strings *warnings, struct err *e)
{
    struct flag_strings problems = { 0 };
    component_versions_check(&g->versions, e->arena, &problems);
    check_port(f, e->arena, &problems);
    check_headers(f, g, e->arena, &problems, warnings);
    check_metrics(f, e->arena, &problems);
    check_own(f, e->arena, &problems);
    return joined(&problems, e);
}

/* ---- The secure port ---- */

static const struct numbered_name {
    const char *name;
    uint16_t number;
} suites[] = {
    { "TLS_AES_128_GCM_SHA256", 0x1301 },
    { "TLS_AES_256_GCM_SHA384", 0x1302 },
    { "TLS_CHACHA20_POLY1305_SHA256", 0x1303 },
    { "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", 0xc009 },
    { "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256", 0xc023 },
    { "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", 0xc02b },
    { "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", 0xc00a },
    { "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", 0xc02c },
    { "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305", 0xcca9 }, /* an old name */
    { "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", 0xcca9 },
    { "TLS_ECDHE_ECDSA_WITH_RC4_128_SHA", 0xc007 },
    { "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA", 0xc012 },
    { "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", 0xc013 },
    { "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256", 0xc027 },
    { "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", 0xc02f },
    { "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", 0xc014 },
    { "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", 0xc030 },
    { "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305", 0xcca8 }, /* an old name */
    { "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", 0xcca8 },
    { "TLS_ECDHE_RSA_WITH_RC4_128_SHA", 0xc011 },
    { "TLS_RSA_WITH_3DES_EDE_CBC_SHA", 0x000a },
    { "TLS_RSA_WITH_AES_128_CBC_SHA", 0x002f },
    { "TLS_RSA_WITH_AES_128_CBC_SHA256", 0x003c },
    { "TLS_RSA_WITH_AES_128_GCM_SHA256", 0x009c },
    { "TLS_RSA_WITH_AES_256_CBC_SHA", 0x0035 },
    { "TLS_RSA_WITH_AES_256_GCM_SHA384", 0x009d },
    { "TLS_RSA_WITH_RC4_128_SHA", 0x0005 },
    { NULL, 0 },
}, versions[] = {
    { "", 0x0303 },
    { "VersionTLS10", 0x0301 },
    { "VersionTLS11", 0x0302 },
    { "VersionTLS12", 0x0303 },
    { "VersionTLS13", 0x0304 },
    { NULL, 0 },
};

/* What upstream's Go knows: P-256, P-384, P-521, X25519, and the three with ML-KEM. */
static const uint16_t known_groups[] = { 23, 24, 25, 29, 4587, 4588, 4589 };

/* 0 when there is none. */
static uint16_t number_of(const struct numbered_name *table, struct str name)
{
    while (table->name && !str_is(name, table->name))
        table++;
    return table->number;
}

static enum err_code check_suites(const struct scheduler_flags *f, struct arena *a, struct scheduler_tls *tls,
                                  struct err *e)
{
    tls->suites = ARENA_NEW_N(a, uint16_t, f->tls_cipher_suites.n);
    for (size_t i = 0; i < f->tls_cipher_suites.n; i++) {
        uint16_t number = number_of(suites, f->tls_cipher_suites.at[i]);
        if (!number)
            return err_set(e, ERR_INVALID, "Cipher suite %.*s not supported or doesn't exist",
                           STR_ARG(f->tls_cipher_suites.at[i]));
        tls->suites[tls->n_suites++] = number;
    }
    return ERR_OK;
}

static enum err_code check_group(const struct flag_ints *given, size_t i, struct err *e)
{
    int32_t number = given->at[i];
    bool known = false;
    if (number <= 0 || number > UINT16_MAX)
        return err_set(e, ERR_INVALID, "curve preference %d is out of range (must be 1-%d)", number, UINT16_MAX);
    for (size_t k = 0; k < i; k++)
        if (given->at[k] == number)
            return err_set(e, ERR_INVALID, "duplicate curve preference %d", number);
    for (size_t k = 0; k < sizeof(known_groups) / sizeof(known_groups[0]); k++)
        known |= known_groups[k] == number;
    if (!known)
        return err_set(e, ERR_INVALID, "curve preference %d is not supported by the current Go version", number);
    return ERR_OK;
}

static enum err_code check_groups(const struct scheduler_flags *f, struct arena *a, struct scheduler_tls *tls,
                                  struct err *e)
{
    tls->groups = ARENA_NEW_N(a, uint16_t, f->tls_curve_preferences.n);
    for (size_t i = 0; i < f->tls_curve_preferences.n; i++) {
        if (check_group(&f->tls_curve_preferences, i, e))
            return e->code;
        tls->groups[tls->n_groups++] = (uint16_t)f->tls_curve_preferences.at[i];
    }
    return ERR_OK;
}

static enum err_code check_files(const struct scheduler_flags *f, struct err *e)
{
    if ((f->tls_cert_file.n == 0) != (f->tls_private_key_file.n == 0))
        return err_set(e, ERR_INVALID, "missing filename for serving cert");
    return ERR_OK;
}

static enum err_code check_sni(const struct scheduler_flags *f, struct err *e)
{
    for (size_t i = 0; i < f->tls_sni_cert_key.n; i++)
        if (f->tls_sni_cert_key.at[i].cert_file.n == 0 || f->tls_sni_cert_key.at[i].key_file.n == 0)
            return err_set(e, ERR_INVALID, "failed to load SNI cert and key: missing filename for serving cert");
    return ERR_OK;
}

static enum err_code check_open_paths(const struct scheduler_flags *f, struct err *e)
{
    for (size_t i = 0; i < f->authorization_always_allow_paths.n; i++) {
        struct str path = f->authorization_always_allow_paths.at[i];
        if (str_starts(path, STR("/")))
            path = str_from(path, 1);
        if (str_index(path, '*') + 1 < path.n)
            return err_set(e, ERR_INVALID, "only trailing * allowed in %s", flag_quoted(e->arena, path));
    }
    return ERR_OK;
}

enum err_code scheduler_check_serving(const struct scheduler_flags *f, struct arena *a, struct scheduler_tls *ret_tls,
                                      struct err *e)
{
    struct scheduler_tls tls = { .min_version = number_of(versions, f->tls_min_version) };
    if (f->secure_port > 0) {
        if (check_files(f, e) || check_suites(f, a, &tls, e) || check_groups(f, a, &tls, e))
            return e->code;
        if (!tls.min_version)
            return err_set(e, ERR_INVALID, "unknown tls version %s", flag_quoted(e->arena, f->tls_min_version));
        if (check_sni(f, e) || check_open_paths(f, e))
            return e->code;
    }
    *ret_tls = tls;
    return ERR_OK;
}

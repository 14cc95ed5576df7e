/* apiserver/pod_security.c - see pod_security.h. */
#include "apiserver/pod_security_priv.h"

#define LABEL(mode) "pod-security.kubernetes.io/" mode

/* The newest release that changed anything; later ones mean the same. */
enum { SECURITY_MINOR_MAX = 35 };

static const char *const level_names[] = { "privileged", "baseline", "restricted" };

/* ---- Policies ---- */

static bool read_level(struct str text, enum security_level *ret_level)
{
    for (unsigned i = 0; i < 3; i++)
        if (str_is(text, level_names[i])) {
            *ret_level = (enum security_level)i;
            return true;
        }
    return false;
}

/* "latest" or "v1.x", x a number without leading zeros. */
static bool read_version(struct str text, int *ret_minor)
{
    if (str_is(text, "latest")) {
        *ret_minor = SECURITY_LATEST;
        return true;
    }
    if (!str_starts(text, STR("v1.")))
        return false;
    struct str digits = str_from(text, 3);
    int64_t minor = 0;
    if (!digits.n || digits.n > 9 || (digits.n > 1 && digits.p[0] == '0'))
        return false;
    for (size_t i = 0; i < digits.n; i++) {
        if (digits.p[i] < '0' || digits.p[i] > '9')
            return false;
        minor = 10 * minor + (digits.p[i] - '0');
    }
    *ret_minor = (int)minor;
    return true;
}

static void add_error(struct field_errors *errs, const char *label, struct str value, const char *detail)
{
    struct field_path metadata = field_child(NULL, "metadata"), labels = field_child(&metadata, "labels");
    struct field_path at = field_key(&labels, str_of(label));
    field_invalid(errs, &at, field_str(value), str_of(detail));
}

/* One of the three modes. `wrong` is the level that a label has which nobody understands. True when a level is given
 * and understood. */
static bool read_mode(const struct value *labels, const char *level_label, const char *version_label,
                      enum security_level wrong, struct security_policy *p, struct field_errors *errs)
{
    const struct value *level = value_member(labels, str_of(level_label));
    const struct value *version = value_member(labels, str_of(version_label));
    bool known = level && read_level(value_text(level), &p->level);
    if (level && !known) {
        p->level = wrong;
        add_error(errs, level_label, value_text(level), "must be one of privileged, baseline, restricted");
    }
    if (version && !read_version(value_text(version), &p->minor)) {
        p->minor = SECURITY_LATEST;
        add_error(errs, version_label, value_text(version), "must be \"latest\" or \"v1.x\"");
    }
    return known;
}

struct security_policies security_policies_read(const struct value *labels, struct field_errors *errs)
{
    const struct security_policy open = { SECURITY_PRIVILEGED, SECURITY_LATEST };
    struct security_policies p = { open, open, open };
    bool enforced = read_mode(labels, LABEL("enforce"), LABEL("enforce-version"), SECURITY_RESTRICTED, &p.enforce,
                              errs);
    read_mode(labels, LABEL("audit"), LABEL("audit-version"), SECURITY_PRIVILEGED, &p.audit, errs);
    read_mode(labels, LABEL("warn"), LABEL("warn-version"), SECURITY_PRIVILEGED, &p.warn, errs);
    /* Who makes templates is warned of what will be refused, unless the namespace says what to warn of. */
    if (enforced && !value_member(labels, STR(LABEL("warn"))) && p.enforce.level > p.warn.level) {
        p.warn.level = p.enforce.level;
        if (!value_member(labels, STR(LABEL("warn-version"))))
            p.warn.minor = p.enforce.minor;
    }
    return p;
}

const char *security_policy_text(struct arena *a, struct security_policy p)
{
    if (p.minor == SECURITY_LATEST)
        return arena_printf(a, "%s:latest", level_names[p.level]);
    return arena_printf(a, "%s:v1.%d", level_names[p.level], p.minor);
}

/* ---- Checks ---- */

static bool is_replaced(const char *id, int minor)
{
    for (const struct security_row *row = security_rows; row->id; row++)
        if (row->replaces && row->from <= minor && strcmp(row->replaces, id) == 0)
            return true;
    return false;
}

static bool is_part(const struct security_row *row, enum security_level level, int minor)
{
    if (row->from > minor || row->level > level)
        return false;
    return row->level == level || !is_replaced(row->id, minor);
}

static const char *taken(struct arena *a, struct strbuf *own_text)
{
    const char *text = arena_cstr(a, strbuf_str(own_text));
    strbuf_fini(own_text);
    return text;
}

struct security_findings security_check(struct arena *a, struct security_policy p, const struct value *meta,
                                        const struct value *spec)
{
    int minor = p.minor == SECURITY_LATEST || p.minor > SECURITY_MINOR_MAX ? SECURITY_MINOR_MAX : p.minor;
    struct security_pod pod = { .arena = a, .minor = minor, .meta = meta, .spec = spec };
    struct strbuf reasons, details;
    strbuf_init(&reasons, ERR_MESSAGE_BYTES_MAX);
    strbuf_init(&details, ERR_MESSAGE_BYTES_MAX);
    pod.n_containers = spec_containers(a, spec, &pod.containers);
    for (const struct security_row *row = security_rows; row->id && p.level != SECURITY_PRIVILEGED; row++) {
        if (!is_part(row, p.level, minor) || row->rule(&pod))
            continue;
        const char *between = reasons.n ? ", " : "";
        strbuf_printf(&reasons, "%s%s", between, pod.reason);
        strbuf_printf(&details, *pod.detail ? "%s%s (%s)" : "%s%s", between, pod.reason, pod.detail);
    }
    const char *words = taken(a, &reasons);
    return (struct security_findings){ words, taken(a, &details) };
}

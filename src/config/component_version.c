/* config/component_version.c - see component_version.h. */
#include "config/component_version.h"

#include "config/flag_value.h"

enum { PARTS_MAX = 16 };

struct parsed {
    uint64_t parts[PARTS_MAX];
    size_t n;
    struct str extra; /* what stands behind the numbers, of three-part versions */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The numbers with their dots, without what stands before and behind; empty when there are none. */
static struct str numbers_of(struct str text)
{
    struct str s = text;
    while (s.n && (s.p[0] == ' ' || (s.p[0] >= '\t' && s.p[0] <= '\r' && s.p[0] != '\v')))
        s = str_from(s, 1);
    if (s.n && s.p[0] == 'v')
        s = str_from(s, 1);
    size_t n = 0;
    while (n < s.n && (is_digit(s.p[n]) || (n && s.p[n] == '.' && n + 1 < s.n && is_digit(s.p[n + 1]))))
        n++;
    return str_first(s, n);
}

static enum err_code parse_part(struct str part, struct str text, uint64_t *ret_number, struct err *e)
{
    uint64_t number = 0;
    bool over = false;
    for (size_t i = 0; i < part.n; i++)
        over |= __builtin_mul_overflow(number, 10u, &number) ||
                __builtin_add_overflow(number, (uint64_t)(part.p[i] - '0'), &number);
    if (over)
        return err_set(e, ERR_BAD_REQUEST,
                       "illegal non-numeric version component %s in %s: strconv.ParseUint: parsing %s: value out of range",
                       flag_quoted(e->arena, part), flag_quoted(e->arena, text), flag_quoted(e->arena, part));
    *ret_number = number;
    return ERR_OK;
}

/* `three`: exactly three numbers, none with a leading zero; otherwise two or more, and only the first one counts. */
static enum err_code parse(struct str text, bool three, struct parsed *v, struct err *e)
{
    struct str numbers = numbers_of(text), rest = numbers;
    *v = (struct parsed){ .extra = str_from(text, (size_t)(numbers.p - text.p) + numbers.n) };
    if (numbers.n == 0)
        return err_set(e, ERR_BAD_REQUEST, "could not parse %s as version", flag_quoted(e->arena, text));
    size_t n = 1;
    for (size_t i = 0; i < numbers.n; i++)
        n += numbers.p[i] == '.';
    if (three ? n != 3 : n < 2)
        return err_set(e, ERR_BAD_REQUEST, "illegal version string %s", flag_quoted(e->arena, text));
    for (; v->n < n && v->n < PARTS_MAX; v->n++) {
        struct str part = flag_take_until(&rest, '.');
        if ((v->n == 0 || three) && part.n > 1 && part.p[0] == '0')
            return err_set(e, ERR_BAD_REQUEST, "illegal zero-prefixed version component %s in %s",
                           flag_quoted(e->arena, part), flag_quoted(e->arena, text));
        if (parse_part(part, text, &v->parts[v->n], e))
            return e->code;
    }
    return ERR_OK;
}

static const char *shown(struct arena *a, const struct parsed *v)
{
    struct strbuf b;
    strbuf_init(&b, STRBUF_NO_MAX);
    for (size_t i = 0; i < v->n; i++)
        strbuf_printf(&b, "%s%llu", i ? "." : "", (unsigned long long)v->parts[i]);
    if (v->n == 3)
        strbuf_add_str(&b, flag_trimmed(v->extra));
    const char *text = arena_cstr(a, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

/* The one version that the flag's values give, if any. */
static enum err_code read_flag(const struct flag_strings *values, bool *ret_given, struct component_version *ret_version,
                               struct err *e)
{
    struct parsed first = { .n = 0 };
    struct str stranger = { NULL, 0 };
    for (size_t i = 0; i < values->n; i++) {
        struct str text = values->at[i], component = STR("kube");
        struct parsed v;
        if (str_index(text, '=') < text.n) {
            component = flag_trimmed(flag_take_until(&text, '='));
            text = flag_trimmed(text);
        }
        if (parse(text, false, &v, e))
            return e->code;
        bool is_kube = str_is(component, "kube");
        if (v.n > 2 && v.parts[2])
            return err_set(e, ERR_BAD_REQUEST, "patch version not allowed, got: %.*s=%s", STR_ARG(component),
                           shown(e->arena, &v));
        if (is_kube && first.n)
            return err_set(e, ERR_BAD_REQUEST, "duplicate version flag, kube=%s and kube=%s", shown(e->arena, &first),
                           shown(e->arena, &v));
        if (is_kube)
            first = v;
        else if (!stranger.p)
            stranger = component.n ? component : STR("");
    }
    if (stranger.p)
        return err_set(e, ERR_BAD_REQUEST, "component not registered: %.*s", STR_ARG(stranger));
    *ret_given = first.n > 0;
    *ret_version = (struct component_version){ first.parts[0], first.parts[1] };
    return ERR_OK;
}

static int compare(struct component_version a, struct component_version b)
{
    if (a.major != b.major)
        return a.major < b.major ? -1 : 1;
    return a.minor < b.minor ? -1 : a.minor > b.minor;
}

static const struct component_version newest = { VERSION_MAJOR, VERSION_MINOR };
static const struct component_version floor_version = { VERSION_MAJOR, VERSION_MINOR_FLOOR };

struct component_versions component_versions_default(void)
{
    return (struct component_versions){ newest, { VERSION_MAJOR, VERSION_MINOR - 1 } };
}

enum err_code component_versions_set(struct component_versions *v, const struct flag_strings *emulated,
                                     const struct flag_strings *min_compatible, struct err *e)
{
    bool given;
    struct component_version version;
    if (read_flag(emulated, &given, &version, e))
        return e->code;
    if (given) {
        struct component_version before = { version.major, version.minor ? version.minor - 1 : 0 };
        v->emulated = version;
        v->min_compatible = compare(before, floor_version) < 0 ? floor_version : before;
    }
    if (read_flag(min_compatible, &given, &version, e))
        return e->code;
    if (given)
        v->min_compatible = version;
    return ERR_OK;
}

static const char *pair_text(struct arena *a, struct component_version v)
{
    return arena_printf(a, "%llu.%llu", (unsigned long long)v.major, (unsigned long long)v.minor);
}

void component_versions_check(const struct component_versions *v, struct arena *a, struct flag_strings *problems)
{
    if (compare(v->emulated, newest) > 0 || compare(v->emulated, floor_version) < 0)
        flag_strings_push(a, problems,
                          str_of(arena_printf(a, "emulation version %s is not between [%s, %s.0]",
                                              pair_text(a, v->emulated), pair_text(a, floor_version),
                                              pair_text(a, newest))));
    if (compare(v->min_compatible, v->emulated) > 0 || compare(v->min_compatible, floor_version) < 0)
        flag_strings_push(a, problems,
                          str_of(arena_printf(a, "minCompatibilityVersion version %s is not between [%s, %s]",
                                              pair_text(a, v->min_compatible), pair_text(a, floor_version),
                                              pair_text(a, v->emulated))));
}

unsigned component_versions_gates(const struct component_versions *v)
{
    if (compare(v->emulated, floor_version) < 0)
        return VERSION_MINOR_FLOOR;
    return compare(v->emulated, newest) > 0 ? VERSION_MINOR : (unsigned)v->emulated.minor;
}

/* Behind three numbers: `-pre.release` and `+build`, dots and identifiers. */
static bool is_extra(struct str s)
{
    s = flag_trimmed(s);
    if (s.n == 0)
        return true;
    if (s.p[0] != '-' && s.p[0] != '+')
        return false;
    bool build = s.p[0] == '+', after = false;
    for (size_t i = 1; i < s.n; i++) {
        char c = s.p[i];
        bool word = is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '-';
        if (!word && (!after || (c != '.' && (c != '+' || build))))
            return false;
        build |= c == '+';
        after = word;
    }
    return after;
}

enum err_code component_version_matches(struct str text, struct str own, struct err *e)
{
    struct parsed given, mine;
    if (str_eq(text, own))
        return ERR_OK;
    if (parse(text, true, &given, e) || parse(own, true, &mine, e))
        return e->code;
    if (!is_extra(given.extra))
        return err_set(e, ERR_BAD_REQUEST, "could not parse pre-release/metadata (%.*s) in version %s",
                       STR_ARG(err_shown(e, given.extra)), flag_quoted(e->arena, text));
    if (memcmp(given.parts, mine.parts, sizeof(given.parts)) != 0)
        return err_set(e, ERR_BAD_REQUEST, "version %s must match major/minor/patch of default version %s",
                       flag_quoted(e->arena, text), flag_quoted(e->arena, own));
    return ERR_OK;
}

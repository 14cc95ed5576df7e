/* rules/pod_text.c - see pod_priv.h: checks of single texts and numbers. */
#include <stdarg.h>

#include "base/utf8.h"
#include "rules/pod_priv.h"

bool pod_require(struct str text, const struct field_path *at, const char *name, struct field_errors *errs)
{
    if (!text.n)
        field_required(errs, AT_NAME(at, name), STR(""));
    return text.n > 0;
}

void pod_check_name(struct name_errors found, struct str value, const struct field_path *at, struct field_errors *errs)
{
    validate_name_errors(found, field_str(value), at, errs);
}

bool pod_check_one_of(struct str value, const char *const *supported, const struct field_path *at,
                      struct field_errors *errs)
{
    size_t n = 0;
    for (; supported[n]; n++)
        if (str_is(value, supported[n]))
            return true;
    field_not_supported(errs, at, field_enum(value), supported, n);
    return false;
}

void pod_check_choice(struct str value, const char *const *supported, const struct field_path *at,
                      struct field_errors *errs)
{
    if (value.n)
        pod_check_one_of(value, supported, at, errs);
    else
        field_required(errs, at, STR(""));
}

void pod_check_range(int64_t value, int64_t min, int64_t max, const struct field_path *at, struct field_errors *errs)
{
    if (value < min || value > max)
        field_invalid(errs, at, field_int(value),
                      pod_detail(errs, "must be between %lld and %lld, inclusive", (long long)min, (long long)max));
}

void pod_check_file_mode(const struct value *mode, const struct field_path *at, struct field_errors *errs)
{
    if (mode->kind == VALUE_INT && (mode->i > 0777 || mode->i < 0))
        field_invalid(errs, at, field_int(mode->i), STR("must be a number between 0 and 0777 (octal), both inclusive"));
}

bool pod_has_backstep(struct str path)
{
    for (size_t slash; path.n > 0; path = str_from(path, slash + 1)) {
        slash = str_index(path, '/');
        if (str_is(str_first(path, slash), ".."))
            return true;
    }
    return false;
}

void pod_check_no_backsteps(struct str path, const struct field_path *at, struct field_errors *errs)
{
    if (pod_has_backstep(path))
        field_invalid(errs, at, field_str(path), STR("must not contain '..'"));
}

void pod_check_descending_path(struct str path, const struct field_path *at, struct field_errors *errs)
{
    if (str_starts(path, STR("/")))
        field_invalid(errs, at, field_str(path), STR("must be a relative path"));
    pod_check_no_backsteps(path, at, errs);
}

void pod_check_local_path(struct str path, const struct field_path *at, struct field_errors *errs)
{
    pod_check_descending_path(path, at, errs);
    if (str_starts(path, STR("..")) && !str_starts(path, STR("../")))
        field_invalid(errs, at, field_str(path), STR("must not start with '..'"));
}

/* White space as Go's unicode.IsSpace has it. */
static bool is_space(uint32_t rune)
{
    return (rune >= 9 && rune <= 13) || rune == ' ' || rune == 0x85 || rune == 0xA0 || rune == 0x1680 ||
           (rune >= 0x2000 && rune <= 0x200A) || rune == 0x2028 || rune == 0x2029 || rune == 0x202F || rune == 0x205F ||
           rune == 0x3000;
}

/* Bytes of the last rune, 0 when it is no space. */
static size_t last_space(struct str text)
{
    for (size_t n = 1; n <= 3 && n <= text.n; n++) {
        uint32_t rune;
        struct str tail = str_from(text, text.n - n);
        if (utf8_decode(tail, &rune) == n)
            return is_space(rune) ? n : 0;
    }
    return 0;
}

struct str pod_trim_space(struct str text)
{
    uint32_t rune;
    for (size_t n; text.n && (n = utf8_decode(text, &rune)) > 0 && is_space(rune);)
        text = str_from(text, n);
    for (size_t n; (n = last_space(text)) > 0;)
        text = str_first(text, text.n - n);
    return text;
}

bool pod_same(const struct type *t, const struct value *a, const struct value *b)
{
    struct field as = { .type = t, .kind = KIND_STRUCT };
    return rules_same(&as, a, b);
}

struct labels pod_labels(struct arena *a, const struct value *map)
{
    uint32_t n = map->kind == VALUE_MAP ? map->n : 0;
    struct label *at = ARENA_NEW_N(a, struct label, n);
    for (uint32_t i = 0; i < n; i++)
        at[i] = (struct label){ map->members[i].key, value_text(&map->members[i].value) };
    return (struct labels){ at, n };
}

struct strs pod_strs(struct arena *a, const struct value *list)
{
    if (list->kind != VALUE_LIST)
        return (struct strs){ NULL, 0 };
    struct str *at = ARENA_NEW_N(a, struct str, list->n);
    for (uint32_t i = 0; i < list->n; i++)
        at[i] = value_text(&list->items[i]);
    return (struct strs){ at, list->n };
}

struct str pod_detail(struct field_errors *errs, const char *format, ...)
{
    if (field_errors_full(errs))
        return STR("");
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(errs->arena, format, args);
    va_end(args);
    return str_of(text);
}

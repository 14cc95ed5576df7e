/* forms/resources.c - see resources.h. */
#include "forms/resources.h"

#include "api/names.h"
#include "api/quantity.h"
#include "base/sort.h"

int64_t amounts_scalar(const struct amounts *a, sym name)
{
    for (uint32_t i = 0; i < a->n_scalars; i++)
        if (a->scalars[i].name == name)
            return a->scalars[i].amount;
    return 0;
}

bool amounts_equal(const struct amounts *a, const struct amounts *b)
{
    bool same = a->milli_cpu == b->milli_cpu && a->memory == b->memory && a->pods == b->pods &&
                a->ephemeral_storage == b->ephemeral_storage && a->n_scalars == b->n_scalars;
    for (uint32_t i = 0; same && i < a->n_scalars; i++)
        same = a->scalars[i].name == b->scalars[i].name && a->scalars[i].amount == b->scalars[i].amount;
    return same;
}

/* ---- Names ---- */

static bool is_prefixed_native(struct str name)
{
    return memmem(name.p, name.n, "kubernetes.io/", 14) != NULL;
}

bool resource_is_huge_pages(struct str name)
{
    return str_starts(name, STR("hugepages-"));
}

bool resource_is_extended(struct str name)
{
    bool native = str_index(name, '/') == name.n || is_prefixed_native(name);
    if (native || str_starts(name, STR("requests.")))
        return false;
    /* As a quota would name it. */
    char quota[sizeof("requests.") + NAME_DNS1123_SUBDOMAIN_MAX + 1 + NAME_LABEL_KEY_MAX];
    size_t n_prefix = sizeof("requests.") - 1;
    if (n_prefix + name.n > sizeof(quota))
        return false;
    memcpy(quota, "requests.", n_prefix);
    memcpy(quota + n_prefix, name.p, name.n);
    return name_label_key((struct str){ quota, n_prefix + name.n }).n == 0;
}

enum resource_kind resource_kind_of(struct str name)
{
    if (str_eq(name, STR("cpu")))
        return RESOURCE_CPU;
    if (str_eq(name, STR("memory")))
        return RESOURCE_MEMORY;
    if (str_eq(name, STR("ephemeral-storage")))
        return RESOURCE_EPHEMERAL;
    if (str_eq(name, STR("pods")))
        return RESOURCE_PODS;
    if (name.n == 0)
        return RESOURCE_IGNORED;
    bool scalar = resource_is_huge_pages(name) || str_starts(name, STR("attachable-volumes-")) ||
                  is_prefixed_native(name) || resource_is_extended(name);
    return scalar ? RESOURCE_SCALAR : RESOURCE_IGNORED;
}

/* ---- Amounts ---- */

/* Billionths of a unit with that suffix, 0 for none that is simple. */
static nano simple_suffix(struct str suffix)
{
    static const struct {
        char text[3];
        int64_t factor; /* of billionths up to k, of units beyond */
    } known[] = {
        { "", 1000000000 }, { "m", 1000000 }, { "Mi", 1 << 20 }, { "Gi", 1 << 30 }, { "Ki", 1 << 10 },
        { "M", 1000000 },   { "G", 1000000000 }, { "k", 1000 }, { "u", 1000 }, { "n", 1 },
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        if (suffix.n != strlen(known[i].text) || memcmp(suffix.p, known[i].text, suffix.n) != 0)
            continue;
        bool fraction = i == 0 || i == 1 || i >= 8;
        return (nano)known[i].factor * (fraction ? 1 : NANO_PER_UNIT);
    }
    return 0;
}

enum { SIMPLE_DIGITS_MAX = 9 }; /* times Gi still fits in int64 units */

/* Few digits and a usual suffix. */
static bool parse_simple(struct str text, nano *ret_amount)
{
    int64_t digits = 0;
    size_t i = 0;
    for (; i < text.n && i <= SIMPLE_DIGITS_MAX && text.p[i] >= '0' && text.p[i] <= '9'; i++)
        digits = digits * 10 + (text.p[i] - '0');
    if (i == 0 || i > SIMPLE_DIGITS_MAX)
        return false;
    nano factor = simple_suffix(str_from(text, i));
    *ret_amount = digits * factor;
    return factor != 0;
}

enum err_code nano_parse(struct str text, nano *ret_amount, struct err *e)
{
    if (parse_simple(text, ret_amount))
        return ERR_OK;
    struct quantity q;
    if (quantity_parse(e->arena, text, &q, e))
        return e->code;
    int64_t units = quantity_value(&q);
    *ret_amount = (nano)units * NANO_PER_UNIT;
    if (units == INT64_MAX || units == INT64_MIN)
        return ERR_OK;
    struct quantity whole = quantity_make(units, 0, QUANTITY_DECIMAL_SI);
    if (quantity_sub(e->arena, &q, &whole, e))
        return e->code;
    *ret_amount += quantity_scaled(&q, QUANTITY_NANO);
    return ERR_OK;
}

int64_t nano_round(nano amount, int64_t unit)
{
    if (amount == (int64_t)amount) { /* 128-bit division costs ten times as much */
        int64_t small = (int64_t)amount;
        return small / unit + (small % unit > 0) - (small % unit < 0);
    }
    nano rounded = amount / unit + (amount % unit > 0) - (amount % unit < 0);
    if (rounded > INT64_MAX)
        return INT64_MAX;
    return rounded < INT64_MIN ? INT64_MIN : (int64_t)rounded;
}

/* ---- Axes ---- */

static bool has_scalar(const struct resource_axes *x, struct str name)
{
    for (uint32_t i = 0; i < x->n_scalars; i++)
        if (str_eq(x->scalars[i], name))
            return true;
    return false;
}

enum err_code axes_add(struct resource_axes *x, const fill_map *list)
{
    for (uint32_t i = 0; i < list->n; i++) {
        struct str name = list->at[i].key;
        if (resource_kind_of(name) != RESOURCE_SCALAR || has_scalar(x, name))
            continue;
        if (x->n_scalars == RESOURCE_SCALARS_MAX)
            return err_set(x->e, ERR_INVALID, "more than %d resources", RESOURCE_SCALARS_MAX);
        if (!x->scalars)
            x->scalars = ARENA_NEW_N(x->arena, struct str, RESOURCE_SCALARS_MAX);
        x->scalars[x->n_scalars++] = name;
    }
    return ERR_OK;
}

void axes_seal(struct resource_axes *x)
{
    if (x->n_scalars > 1)
        sort_stable(x->arena, x->scalars, x->n_scalars, sizeof(*x->scalars), sort_compare_strs);
}

struct portion *axes_vector(const struct resource_axes *x)
{
    return ARENA_NEW_N(x->arena, struct portion, axes_count(x));
}

/* The axis of a name, or -1. */
static int find_axis(const struct resource_axes *x, struct str name)
{
    switch (resource_kind_of(name)) {
    case RESOURCE_CPU:
        return AXIS_CPU;
    case RESOURCE_MEMORY:
        return AXIS_MEMORY;
    case RESOURCE_EPHEMERAL:
        return AXIS_EPHEMERAL;
    case RESOURCE_SCALAR:
        break;
    default:
        return -1;
    }
    for (uint32_t i = 0; i < x->n_scalars; i++)
        if (str_eq(x->scalars[i], name))
            return (int)(N_FIXED_AXES + i);
    return -1;
}

enum err_code axes_parse(const struct resource_axes *x, const fill_map *list, struct portion **ret_vector)
{
    struct portion *vector = axes_vector(x);
    for (uint32_t i = 0; i < list->n; i++) {
        int axis = find_axis(x, list->at[i].key);
        if (axis < 0)
            continue;
        vector[axis].given = true;
        if (nano_parse(list->at[i].value, &vector[axis].amount, x->e))
            return err_wrap(x->e, "%.*s", STR_ARG(list->at[i].key));
    }
    *ret_vector = vector;
    return ERR_OK;
}

struct amounts axes_amounts(const struct resource_axes *x, struct sym_table *syms, const struct portion *vector)
{
    struct amounts a = {
        .milli_cpu = nano_round(vector[AXIS_CPU].amount, NANO_PER_MILLI),
        .memory = nano_round(vector[AXIS_MEMORY].amount, NANO_PER_UNIT),
        .ephemeral_storage = nano_round(vector[AXIS_EPHEMERAL].amount, NANO_PER_UNIT),
    };
    if (x->n_scalars == 0)
        return a;
    struct scalar_amount *scalars = ARENA_NEW_N(x->arena, struct scalar_amount, x->n_scalars);
    for (uint32_t i = 0; i < x->n_scalars; i++) {
        const struct portion *p = &vector[N_FIXED_AXES + i];
        if (p->given)
            scalars[a.n_scalars++] = (struct scalar_amount){ sym_intern(syms, x->scalars[i]),
                                                             nano_round(p->amount, NANO_PER_UNIT) };
    }
    a.scalars = scalars;
    return a;
}

/* config/config.c - see config.h: loading, and what extenders and plugins change in a loaded
 * configuration. */
#include "config/config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sort.h"
#include "config/args.h"
#include "config/decode.h"
#include "config/defaults.h"
#include "config/slots.h"

#define EXTENDER_TIMEOUT_NS ((int64_t)5 * 1000000000)

struct config *config_default(struct arena *a, const struct features *f)
{
    assert(f);
    static const struct value absent;
    return complete_config(a, &absent, f);
}

enum err_code config_load(struct arena *a, struct str text, const struct features *f, struct config **ret_config,
                          struct err *e)
{
    assert(f);
    if (text.n > CONFIG_BYTES_MAX)
        return err_set(e, ERR_TOO_LARGE, "a configuration of more than %d bytes", CONFIG_BYTES_MAX);
    struct str kept = arena_str(a, text); /* values point into it */
    struct value root;
    struct berth_config berth;
    if (decode_config(a, kept, &root, e) || decode_berth(a, kept, &berth, e))
        return e->code;
    *ret_config = complete_config(a, &root, f);
    (*ret_config)->berth = berth;
    return ERR_OK;
}

static enum err_code file_error(struct err *e, const char *verb, const char *path)
{
    char *reason = arena_printf(e->arena, "%s", strerror(errno));
    if (reason[0] >= 'A' && reason[0] <= 'Z')
        reason[0] |= 32; /* as Go words it */
    return err_set(e, ERR_IO, "%s %s: %s", verb, path, reason);
}

/* All of a file that is not larger than a configuration may be. */
static enum err_code read_file(struct arena *a, int fd, const char *path, struct str *ret_text, struct err *e)
{
    char *bytes = arena_alloc(a, CONFIG_BYTES_MAX + 1);
    size_t n = 0;
    while (n <= CONFIG_BYTES_MAX) {
        ssize_t got = read(fd, bytes + n, CONFIG_BYTES_MAX + 1 - n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return file_error(e, "read", path);
        if (got == 0)
            break;
        n += (size_t)got;
    }
    *ret_text = (struct str){ bytes, n };
    return ERR_OK;
}

enum err_code config_read_file(struct arena *a, const char *path, struct str *ret_text, struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return file_error(e, "open", path);
    enum err_code rc = read_file(a, fd, path, ret_text, e);
    close(fd);
    return rc;
}

enum err_code config_load_file(struct arena *a, const char *path, const struct features *f, struct config **ret_config,
                               struct err *e)
{
    struct arena scratch;
    struct str text;
    arena_init(&scratch);
    enum err_code rc = config_read_file(&scratch, path, &text, e);
    if (!rc)
        rc = config_load(a, text, f, ret_config, e);
    arena_fini(&scratch);
    return rc;
}

/* ---- Copies ---- */

static void *copy_array(struct arena *a, const void *from, size_t n, size_t size)
{
    void *to = arena_zalloc_n(a, n, size);
    if (n)
        memcpy(to, from, n * size);
    return to;
}

static struct value copy_args(struct arena *a, const struct plugin_config *c)
{
    if (!c->kind || c->args.kind == VALUE_ABSENT)
        return c->args;
    const struct type *type = schema_type(str_of(c->kind->type));
    struct value args = value_struct(a, type);
    memcpy(args.slots, c->args.slots, type->n_fields * sizeof(*args.slots));
    return args;
}

struct config *config_copy(struct arena *a, const struct config *c)
{
    struct config *copy = copy_array(a, c, 1, sizeof(*c));
    copy->extenders = copy_array(a, c->extenders, c->n_extenders, sizeof(*c->extenders));
    copy->profiles = copy_array(a, c->profiles, c->n_profiles, sizeof(*c->profiles));
    for (size_t i = 0; i < c->n_profiles; i++) {
        struct profile_config *p = &copy->profiles[i];
        p->plugin_config = copy_array(a, p->plugin_config, p->n_plugin_config, sizeof(*p->plugin_config));
        for (size_t k = 0; k < p->n_plugin_config; k++)
            p->plugin_config[k].args = copy_args(a, &p->plugin_config[k]);
    }
    return copy;
}

/* ---- Extenders ---- */

/* Names of resources that extenders manage alone, as a list value; absent when there are none. */
static struct value ignored_resources(struct arena *a, const struct config *c)
{
    size_t n_max = 0, n = 0;
    for (size_t i = 0; i < c->n_extenders; i++)
        n_max += c->extenders[i].n_managed_resources;
    struct value *names = ARENA_NEW_N(a, struct value, n_max);
    for (size_t i = 0; i < c->n_extenders; i++)
        for (size_t k = 0; k < c->extenders[i].n_managed_resources; k++)
            if (c->extenders[i].managed_resources[k].ignored_by_scheduler)
                names[n++] = value_string(c->extenders[i].managed_resources[k].name);
    return n ? value_list(names, (uint32_t)n) : (struct value){ 0 };
}

static struct plugin_config *find_plugin_config(struct profile_config *p, const char *name)
{
    for (size_t i = 0; i < p->n_plugin_config; i++)
        if (str_is(p->plugin_config[i].name, name))
            return &p->plugin_config[i];
    return NULL;
}

enum err_code config_apply_extenders(struct arena *a, struct config *c, struct err *e)
{
    for (size_t i = 0; i < c->n_extenders; i++)
        if (c->extenders[i].http_timeout_ns == 0)
            c->extenders[i].http_timeout_ns = EXTENDER_TIMEOUT_NS;
    struct value ignored = ignored_resources(a, c);
    if (ignored.kind == VALUE_ABSENT)
        return ERR_OK;
    for (size_t i = 0; i < c->n_profiles; i++) {
        struct plugin_config *fit = find_plugin_config(&c->profiles[i], "NodeResourcesFit");
        if (!fit)
            return err_set(e, ERR_INVALID,
                           "couldn't build extenders: can't find NodeResourcesFitArgs in plugin config");
        fit->args.slots[SLOT(NodeResourcesFitArgs, ignoredResources)] = ignored;
    }
    return ERR_OK;
}

const struct extender_config **config_extender_order(struct arena *a, const struct config *c)
{
    const struct extender_config **order = ARENA_NEW_N(a, const struct extender_config *, c->n_extenders);
    size_t n = 0;
    for (int ignorable = 0; ignorable < 2; ignorable++)
        for (size_t i = 0; i < c->n_extenders; i++)
            if (c->extenders[i].ignorable == (ignorable == 1))
                order[n++] = &c->extenders[i];
    return order;
}

/* ---- The running configuration ---- */

static bool in_registry(const struct plugin *const *registry, struct str name)
{
    for (; *registry; registry++)
        if (str_is(name, (*registry)->name))
            return true;
    return false;
}

static bool enables(const struct profile_config *p, struct str name)
{
    for (unsigned i = 0; i < N_SETS; i++)
        for (size_t k = 0; k < p->sets[i].enabled.n; k++)
            if (str_eq(p->sets[i].enabled.at[k].name, name))
                return true;
    return false;
}

static int compare_names(const void *a, const void *b)
{
    return str_cmp(((const struct plugin_config *)a)->name, ((const struct plugin_config *)b)->name);
}

void config_trim_args(struct arena *a, struct config *c, const struct plugin *const *registry)
{
    for (size_t i = 0; i < c->n_profiles; i++) {
        struct profile_config *p = &c->profiles[i];
        size_t n = 0;
        for (size_t k = 0; k < p->n_plugin_config; k++) {
            struct plugin_config *entry = &p->plugin_config[k];
            if (entry->args.kind != VALUE_ABSENT && enables(p, entry->name) && in_registry(registry, entry->name))
                p->plugin_config[n++] = *entry;
        }
        p->n_plugin_config = n;
        sort_stable(a, p->plugin_config, n, sizeof(*p->plugin_config), compare_names);
    }
}

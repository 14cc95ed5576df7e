/* sched/plugin_library.c - see plugin_library.h: finding, checking and keeping shared objects. */
#include "sched/plugin_library.h"

#include <dlfcn.h>

#include "base/mem.h"
#include "sched/plugin_host.h"
#include "sched/plugin_wrap.h"

enum { NAME_BYTES_MAX = 63, REGISTRATIONS_MAX = 256, TABLE_BYTES_MAX = 64 << 10 };

struct library {
    void *handle;
    struct wrapped_plugin wrapped;
};

struct plugin_libraries {
    VEC(struct library *) at;
    const struct plugin **registry;
};

/* ---- Checks ---- */

static bool is_name(const char *name)
{
    size_t n = name ? strnlen(name, NAME_BYTES_MAX + 1) : 0;
    if (n == 0 || n > NAME_BYTES_MAX)
        return false;
    return strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") == n;
}

/* The table with what it does not have as NULL. What it has and we do not know must not be in use. */
static enum err_code copy_table(const struct berth_plugin *from, struct berth_plugin *ret_table, struct err *e)
{
    if (from->abi_version != BERTH_ABI_VERSION)
        return err_set(e, ERR_INVALID, "it was built for version %u of the plugin ABI, this berth has version %u",
                       from->abi_version, BERTH_ABI_VERSION);
    if (from->n_bytes < offsetof(struct berth_plugin, name) + sizeof(from->name) || from->n_bytes > TABLE_BYTES_MAX)
        return err_set(e, ERR_INVALID, "its table of functions says that it has %u bytes", from->n_bytes);
    for (size_t i = sizeof(*ret_table); i < from->n_bytes; i++)
        if (((const char *)from)[i])
            return err_set(e, ERR_INVALID, "it uses functions that only a newer berth has");
    memset(ret_table, 0, sizeof(*ret_table));
    memcpy(ret_table, from, from->n_bytes < sizeof(*ret_table) ? from->n_bytes : sizeof(*ret_table));
    return ERR_OK;
}

static enum err_code check_events(const struct berth_plugin *table, struct err *e)
{
    if (table->n_events > REGISTRATIONS_MAX)
        return err_set(e, ERR_INVALID, "it registers for %u events, at most %d are allowed", table->n_events,
                       REGISTRATIONS_MAX);
    for (uint32_t i = 0; table->events && i < table->n_events; i++) {
        const struct berth_registration *r = &table->events[i];
        if (r->resource > BERTH_RES_DEVICE_CLASS)
            return err_set(e, ERR_INVALID, "it registers for resource %u, which is not known", r->resource);
        if (r->actions == 0 || r->actions & ~(uint32_t)BERTH_ACT_ALL)
            return err_set(e, ERR_INVALID, "it registers for actions %#x, which are not known", r->actions);
    }
    return ERR_OK;
}

static enum err_code check_table(const struct berth_plugin *table, struct err *e)
{
    if (!is_name(table->name))
        return err_set(e, ERR_INVALID, "its plugin has no valid name");
    if (!table->filter && (table->add_pod || table->remove_pod))
        return err_set(e, ERR_INVALID, "plugin %s has add_pod or remove_pod, but no filter", table->name);
    if (table->normalize && !table->score)
        return err_set(e, ERR_INVALID, "plugin %s has normalize, but no score", table->name);
    if (table->unreserve && !table->reserve)
        return err_set(e, ERR_INVALID, "plugin %s has unreserve, but no reserve", table->name);
    return check_events(table, e);
}

static enum err_code check_unique(const struct plugin *const *registry, const char *name, struct err *e)
{
    for (size_t i = 0; registry[i]; i++)
        if (strcmp(registry[i]->name, name) == 0)
            return err_set(e, ERR_INVALID, "there is a plugin of the name %s already", name);
    return ERR_OK;
}

/* ---- Opening ---- */

static enum err_code enter(struct library *lib, struct err *e)
{
    void *symbol = dlsym(lib->handle, BERTH_PLUGIN_ENTRY);
    if (!symbol)
        return err_set(e, ERR_INVALID, "it does not export %s", BERTH_PLUGIN_ENTRY);
    berth_plugin_entry_fn *entry;
    memcpy(&entry, &symbol, sizeof(entry)); /* ISO C has no cast from object to function */
    const struct berth_plugin *table = entry(&plugin_host);
    if (!table)
        return err_set(e, ERR_INVALID, "it does not want to be loaded");
    if (copy_table(table, &lib->wrapped.table, e))
        return e->code;
    return check_table(&lib->wrapped.table, e);
}

static void close_library(struct library *lib)
{
    plugin_unwrap(&lib->wrapped);
    if (lib->handle)
        dlclose(lib->handle);
    free(lib);
}

static enum err_code open_library(struct str path, const struct plugin *const *registry, struct library **ret_library,
                                  struct err *e)
{
    struct library *lib = mem_zalloc(sizeof(*lib));
    if (memchr(path.p, '/', path.n)) /* other names would be looked for in the system's folders */
        lib->handle = dlopen(arena_cstr(e->arena, path), RTLD_NOW | RTLD_LOCAL);
    enum err_code code = ERR_OK;
    if (!memchr(path.p, '/', path.n))
        code = err_set(e, ERR_INVALID, "the name of a file needs a slash, as in ./%.*s", STR_ARG(path));
    else if (!lib->handle)
        code = err_set(e, ERR_INVALID, "%s", dlerror());
    if (!code)
        code = enter(lib, e);
    if (!code)
        code = check_unique(registry, lib->wrapped.table.name, e);
    if (code) {
        close_library(lib);
        return err_wrap(e, "plugin library %.*s", STR_ARG(path));
    }
    plugin_wrap(&lib->wrapped);
    *ret_library = lib;
    return ERR_OK;
}

enum err_code plugin_libraries_open(const struct str *paths, size_t n, const struct plugin *const *built_in,
                                    struct plugin_libraries **ret_libraries, struct err *e)
{
    if (n > PLUGIN_LIBRARIES_MAX)
        return err_set(e, ERR_INVALID, "%zu plugin libraries, at most %d are allowed", n, PLUGIN_LIBRARIES_MAX);
    size_t n_known = 0;
    while (built_in[n_known])
        n_known++;
    struct plugin_libraries *l = mem_zalloc(sizeof(*l));
    l->registry = mem_zalloc((n_known + n + 1) * sizeof(*l->registry));
    memcpy(l->registry, built_in, n_known * sizeof(*l->registry));
    for (size_t i = 0; i < n; i++) {
        struct library *lib = NULL;
        if (open_library(paths[i], l->registry, &lib, e)) {
            plugin_libraries_close(l);
            return e->code;
        }
        vec_push(&l->at, lib);
        l->registry[n_known++] = &lib->wrapped.plugin;
    }
    *ret_libraries = l;
    return ERR_OK;
}

void plugin_libraries_close(struct plugin_libraries *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->at.n; i++)
        close_library(l->at.at[i]);
    vec_fini(&l->at);
    free(l->registry);
    free(l);
}

const struct plugin *const *plugin_libraries_registry(const struct plugin_libraries *l)
{
    return l->registry;
}

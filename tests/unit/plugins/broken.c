/* tests/unit/plugins/broken.c - plugins that must not be loaded; CASE says what is wrong. */
#include <berth/plugin.h>

enum { FINE, WRONG_VERSION, NO_ENTRY, REFUSES, NO_NAME, BAD_NAME, TAKEN, TOO_SHORT, NEWER, BAD_RESOURCE, BAD_ACTION,
       NORMALIZE_ALONE, OLDER };

static void normalize(void *data, struct berth_call *call, int64_t *scores, uint32_t n)
{
    (void)data;
    (void)call;
    (void)scores;
    (void)n;
}

static const struct berth_registration events[] = {
    { CASE == BAD_RESOURCE ? 99 : BERTH_RES_NODE, CASE == BAD_ACTION ? 1 << 20 : BERTH_ACT_ADD, NULL },
};

static const struct {
    struct berth_plugin plugin;
    void *later[2]; /* what a newer header might have added */
} table = {
    .plugin = {
        .abi_version = CASE == WRONG_VERSION ? BERTH_ABI_VERSION + 1 : BERTH_ABI_VERSION,
        .n_bytes = CASE == TOO_SHORT ? 8
                   : CASE == OLDER ? offsetof(struct berth_plugin, normalize)
                                   : sizeof(struct berth_plugin) + 2 * sizeof(void *),
        .name = CASE == NO_NAME ? 0 : CASE == BAD_NAME ? "not a name" : CASE == TAKEN ? "NodeResourcesFit" : "Broken",
        .normalize = CASE == NORMALIZE_ALONE || CASE == OLDER ? normalize : 0,
        .events = events,
        .n_events = 1,
    },
    .later = { 0, CASE == NEWER ? (void *)normalize : 0 },
};

#if CASE == 2
#define berth_plugin_entry some_other_entry
#endif

BERTH_EXPORT const struct berth_plugin *berth_plugin_entry(const struct berth_host *host);

const struct berth_plugin *berth_plugin_entry(const struct berth_host *host)
{
    return CASE == REFUSES || host->abi_version != BERTH_ABI_VERSION ? 0 : &table.plugin;
}

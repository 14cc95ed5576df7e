/* cmd/cluster_files.c - see cluster_files.h. */
#include "cmd/cluster_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/large_file.h"

struct loading {
    struct large_file file;
    struct sim_progress outer; /* who else wants to know */
};

static void passed(void *context, enum sim_phase phase, size_t done, size_t total)
{
    struct loading *l = context;
    large_file_passed(&l->file, done);
    sim_tell(&l->outer, phase, done, total);
}

static enum err_code load_file(struct sim_input *in, const char *path, struct err *e)
{
    struct loading l = { .outer = in->progress };
    if (large_file_open(&l.file, path, e))
        return e->code;
    in->progress = (struct sim_progress){ &l, passed };
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    enum err_code code = sim_input_text(in, name, (struct str){ l.file.p, l.file.n }, e);
    in->progress = l.outer;
    large_file_close(&l.file);
    return code;
}

static int is_manifest(const struct dirent *d)
{
    struct str name = str_of(d->d_name);
    return name.p[0] != '.' &&
           (str_ends(name, STR(".yaml")) || str_ends(name, STR(".yml")) || str_ends(name, STR(".json")));
}

static enum err_code load_folder(struct sim_input *in, const char *path, struct err *e)
{
    struct dirent **entries;
    int n = scandir(path, &entries, is_manifest, alphasort);
    if (n < 0)
        return err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
    enum err_code code = n ? ERR_OK : err_set(e, ERR_INVALID, "%s: no .yaml, .yml or .json file is there", path);
    for (int i = 0; i < n; i++) {
        if (!code)
            code = load_file(in, arena_printf(&in->arena, "%s/%s", path, entries[i]->d_name), e);
        free(entries[i]);
    }
    free(entries);
    return code;
}

static enum err_code load(struct sim_input *in, const char *path, struct err *e)
{
    struct stat s;
    if (strcmp(path, "-") != 0 && stat(path, &s) == 0 && S_ISDIR(s.st_mode))
        return load_folder(in, path, e);
    return load_file(in, path, e);
}

enum err_code cmd_load_cluster(struct sim_input *in, const char *const *paths, int n_paths, struct err *e)
{
    for (int i = 0; i < n_paths; i++)
        if (load(in, paths[i], e))
            return e->code;
    if (in->objects.n)
        return ERR_OK;
    return err_set(e, ERR_INVALID, in->n_ignored ? "nothing that takes part in scheduling was read, only other kinds of objects"
                                                 : "no object was read");
}

void cmd_print_warnings(const struct command *c, const struct sim_input *in)
{
    for (size_t i = 0; i < in->warnings.n; i++)
        cmd_say(c, "warning: %s", in->warnings.at[i]);
    if (in->n_more_warnings)
        cmd_say(c, "warning: and %u more like these", in->n_more_warnings);
}

/* daemon/ca_file.c - see ca_file.h. */
#include "daemon/ca_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"

struct ca_file {
    struct loop *loop;
    char *path;
    int64_t look_ms;
    ca_file_use use;
    void *context;
    struct loop_timer timer;
    struct strbuf known, fresh; /* in use; as the worker read it */
    char error[256];            /* of the worker; empty when it could read */
    bool busy, freed;
};

static bool read_file(const char *path, struct strbuf *to, char *error, size_t n_error)
{
    FILE *f = fopen(path, "re");
    strbuf_reset(to);
    if (!f) {
        snprintf(error, n_error, "open %s: %s", path, strerror(errno));
        return false;
    }
    for (char *room; (room = strbuf_reserve(to, 4096));) {
        size_t n = fread(room, 1, 4096, f);
        if (n == 0)
            break;
        strbuf_commit(to, n);
    }
    bool good = !ferror(f) && !to->overflow;
    if (!good)
        snprintf(error, n_error, "read %s: %s", path, to->overflow ? "it is too large" : strerror(EIO));
    fclose(f);
    return good;
}

static enum err_code offer(struct ca_file *f, struct err *e)
{
    if (f->fresh.n == f->known.n && str_eq(strbuf_str(&f->fresh), strbuf_str(&f->known)))
        return ERR_OK;
    if (f->use(f->context, strbuf_str(&f->fresh), e))
        return e->code;
    struct strbuf old = f->known;
    f->known = f->fresh;
    f->fresh = old;
    return ERR_OK;
}

static void work(void *context)
{
    struct ca_file *f = context;
    f->error[0] = '\0';
    read_file(f->path, &f->fresh, f->error, sizeof(f->error));
}

static void file_free(struct ca_file *f)
{
    strbuf_fini(&f->known);
    strbuf_fini(&f->fresh);
    free(f->path);
    free(f);
}

static void worked(void *context)
{
    struct ca_file *f = context;
    f->busy = false;
    if (f->freed) {
        file_free(f);
        return;
    }
    struct arena arena;
    struct err e;
    arena_init(&arena);
    err_init(&e, &arena);
    if (!f->error[0] && offer(f, &e))
        snprintf(f->error, sizeof(f->error), "%s", e.message);
    arena_fini(&arena);
    if (f->error[0])
        LOG_ERROR(f->error, "Unable to use a file of authorities; the old ones stay", KS("file", f->path));
    loop_timer_set(f->loop, &f->timer, loop_now_ms(f->loop) + f->look_ms);
}

static void look(struct loop_timer *t)
{
    struct ca_file *f = HEAP_ITEM(&t->node, struct ca_file, timer.node);
    f->busy = true;
    loop_work(f->loop, work, worked, f);
}

enum err_code ca_file_new(struct loop *l, const char *path, int64_t look_ms, ca_file_use use, void *context,
                          struct ca_file **ret_file, struct err *e)
{
    struct ca_file *f = mem_zalloc(sizeof(*f));
    f->loop = l;
    f->path = strdup(path);
    f->look_ms = look_ms ? look_ms : CA_FILE_LOOK_MS;
    f->use = use;
    f->context = context;
    f->timer.fire = look;
    strbuf_init(&f->known, CA_FILE_BYTES_MAX);
    strbuf_init(&f->fresh, CA_FILE_BYTES_MAX);
    if (!read_file(path, &f->fresh, f->error, sizeof(f->error)))
        err_set(e, ERR_IO, "%s", f->error);
    else if (f->fresh.n == 0)
        err_set(e, ERR_INVALID, "%s has no PEM-encoded certificate", path);
    else if (!offer(f, e)) {
        loop_timer_set(l, &f->timer, loop_now_ms(l) + f->look_ms);
        *ret_file = f;
        return ERR_OK;
    }
    file_free(f);
    return e->code;
}

void ca_file_free(struct ca_file *f)
{
    if (!f)
        return;
    loop_timer_stop(f->loop, &f->timer);
    if (f->busy)
        f->freed = true;
    else
        file_free(f);
}

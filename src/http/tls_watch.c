/* http/tls_watch.c - re-reads the files of a TLS context when they change: see tls.h.
 *
 * A look is one job on a worker: stat every file, and only when one differs from what was taken last, read all of them.
 * What a file is: device, inode, size, and both times, so that a swapped symbolic link counts and so does a
 * file written in place. A set that does not load (half written, key not yet there) is tried again at the next look. */
#include <stdlib.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "http/loop.h"
#include "http/tls_priv.h"

struct stamp {
    dev_t device;
    ino_t inode;
    off_t n_bytes;
    struct timespec modified, changed;
};

struct tls_watch {
    struct loop *loop;
    struct tls_context *context;
    struct loop_timer timer;
    int64_t period_ms;
    tls_watch_told told;
    void *told_context;
    bool busy, again, freed;
    /* The rest belongs to the worker while it is busy. */
    const char **files;
    struct stamp *stamps, *taken;
    size_t n_files;
    struct tls_material *material; /* NULL: nothing changed, or it failed */
    struct arena arena;
    struct err error;
};

static void note_file(struct tls_watch *w, const char *path)
{
    if (path)
        w->files[w->n_files++] = path;
}

static void note_files(struct tls_watch *w)
{
    const struct tls_options *o = &w->context->options;
    size_t n_max = 2 * o->n_certs + 1;
    w->files = mem_zalloc(mem_product(n_max, sizeof(w->files[0])));
    w->stamps = mem_zalloc(mem_product(n_max, sizeof(w->stamps[0])));
    w->taken = mem_zalloc(mem_product(n_max, sizeof(w->taken[0])));
    for (size_t i = 0; i < o->n_certs; i++) {
        note_file(w, o->certs[i].cert_file);
        note_file(w, o->certs[i].key_file);
    }
    note_file(w, o->ca_file);
}

static void stamp_files(struct tls_watch *w, struct stamp *ret_stamps)
{
    for (size_t i = 0; i < w->n_files; i++) {
        struct stat st;
        memset(&ret_stamps[i], 0, sizeof(ret_stamps[i])); /* padding too: they are compared as bytes */
        if (stat(w->files[i], &st) != 0)
            continue;
        ret_stamps[i].device = st.st_dev;
        ret_stamps[i].inode = st.st_ino;
        ret_stamps[i].n_bytes = st.st_size;
        ret_stamps[i].modified = st.st_mtim;
        ret_stamps[i].changed = st.st_ctim;
    }
}

/* On a worker. Stamps are taken before reading: a change in between is seen at the next look. */
static void look(void *context)
{
    struct tls_watch *w = context;
    stamp_files(w, w->stamps);
    if (memcmp(w->stamps, w->taken, w->n_files * sizeof(w->stamps[0])) == 0)
        return;
    if (tls_material_new(&w->context->options, &w->material, &w->error))
        w->material = NULL;
}

static void release(struct tls_watch *w)
{
    tls_material_unref(w->material);
    tls_context_unref(w->context);
    arena_fini(&w->arena);
    free(w->files);
    free(w->stamps);
    free(w->taken);
    free(w);
}

static void looked(void *context)
{
    struct tls_watch *w = context;
    w->busy = false;
    if (w->freed) {
        release(w);
        return;
    }
    const char *error = w->error.code ? w->error.message : NULL;
    bool news = w->material || error;
    if (w->material) {
        memcpy(w->taken, w->stamps, w->n_files * sizeof(w->taken[0]));
        tls_context_take(w->context, w->material);
        w->material = NULL;
    }
    loop_timer_set(w->loop, &w->timer, loop_now_ms(w->loop) + (w->again ? 0 : w->period_ms));
    w->again = false;
    if (news && w->told)
        w->told(w->told_context, error); /* last: it may free the watch */
}

static void on_timer(struct loop_timer *t)
{
    tls_watch_poke(HEAP_ITEM(&t->node, struct tls_watch, timer.node));
}

void tls_watch_poke(struct tls_watch *w)
{
    if (w->busy) {
        w->again = true;
        return;
    }
    w->busy = true;
    arena_reset(&w->arena);
    err_init(&w->error, &w->arena);
    loop_work(w->loop, look, looked, w);
}

struct tls_watch *tls_watch_new(struct loop *l, struct tls_context *c, int64_t period_ms, tls_watch_told told,
                                void *context)
{
    struct tls_watch *w = mem_zalloc(sizeof(*w));
    w->loop = l;
    w->context = tls_context_ref(c);
    w->period_ms = period_ms;
    w->told = told;
    w->told_context = context;
    w->timer.fire = on_timer;
    arena_init(&w->arena);
    note_files(w);
    stamp_files(w, w->taken);
    loop_timer_set(l, &w->timer, loop_now_ms(l) + period_ms);
    return w;
}

void tls_watch_free(struct tls_watch *w)
{
    if (!w)
        return;
    loop_timer_stop(w->loop, &w->timer);
    w->freed = true;
    if (!w->busy)
        release(w);
}

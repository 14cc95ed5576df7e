/* insight/record_segments.c - see record_segments.h. */
#include "insight/record_segments.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "insight/record_file.h"

enum what { A_NODE, A_POD, AN_OBJECT };

/* Where the newest bytes of an object are, in the segment under way. */
struct known {
    char *key; /* heap; NULL: it is gone */
    uint64_t at;
    uint32_t n_bytes;
    uint8_t what, format, kind; /* kind: of an object */
};

struct closed_file {
    uint64_t number, n_bytes;
};

struct record_segments {
    char *path; /* FILE */
    struct record_start start;
    struct sym_table *syms;
    uint64_t bytes_max, segment_max;
    struct record_file *file, *before; /* before: from rotate to feed, to read from */
    struct recorder *recorder;
    char *file_path;
    uint64_t number;
    VEC(struct closed_file) closed; /* oldest first */
    VEC(struct known) known;        /* in the order in which they came */
    struct map_str by_key;          /* -> index in known */
    size_t n_gone;
    struct strbuf scratch;
    const char *stopped;
};

/* ---- Files ---- */

static const char *path_of(const struct record_segments *r, uint64_t number, struct strbuf *to)
{
    strbuf_reset(to);
    strbuf_printf(to, "%s.%llu", r->path, (unsigned long long)number);
    return strbuf_cstr(to);
}

/* The number behind FILE's own name; 0: it is another file. */
static uint64_t number_of(const char *name, struct str base)
{
    if (strlen(name) <= base.n + 1 || memcmp(name, base.p, base.n) != 0 || name[base.n] != '.')
        return 0;
    const char *digits = name + base.n + 1;
    char *end;
    errno = 0;
    unsigned long long number = *digits >= '1' && *digits <= '9' ? strtoull(digits, &end, 10) : 0;
    return number && !*end && !errno && number < UINT64_MAX ? number : 0;
}

static int by_number(const void *a, const void *b)
{
    const struct closed_file *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* Segments of earlier runs. */
static enum err_code find_files(struct record_segments *r, struct err *e)
{
    const char *slash = strrchr(r->path, '/');
    struct str base = str_of(slash ? slash + 1 : r->path);
    char *folder = slash ? strndup(r->path, slash == r->path ? 1 : (size_t)(slash - r->path)) : strdup(".");
    DIR *dir = opendir(folder);
    if (!dir) {
        enum err_code code = err_set(e, ERR_IO, "%s: %s", folder, strerror(errno));
        free(folder);
        return code;
    }
    for (struct dirent *entry; (entry = readdir(dir)) && r->closed.n < RECORD_SEGMENTS_FILES_MAX;) {
        uint64_t number = number_of(entry->d_name, base);
        struct stat st;
        if (number && stat(path_of(r, number, &r->scratch), &st) == 0 && S_ISREG(st.st_mode))
            vec_push(&r->closed, (struct closed_file){ number, (uint64_t)st.st_size });
    }
    closedir(dir);
    free(folder);
    if (r->closed.n)
        qsort(r->closed.at, r->closed.n, sizeof(*r->closed.at), by_number);
    r->number = r->closed.n ? vec_last(&r->closed)->number : 0;
    return ERR_OK;
}

static uint64_t closed_bytes(const struct record_segments *r)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < r->closed.n; i++)
        sum += r->closed.at[i].n_bytes;
    return sum;
}

/* So that one more segment has room, whatever comes into it. */
static void remove_oldest(struct record_segments *r)
{
    while (r->closed.n && closed_bytes(r) + r->segment_max > r->bytes_max) {
        (void)unlink(path_of(r, r->closed.at[0].number, &r->scratch)); /* if it is gone, so much the better */
        vec_remove(&r->closed, 0);
    }
}

static enum err_code begin_segment(struct record_segments *r, struct err *e)
{
    remove_oldest(r);
    const char *path = path_of(r, r->number + 1, &r->scratch);
    if (record_file_create(path, &r->file, e))
        return e->code;
    r->number++;
    free(r->file_path);
    r->file_path = strdup(path);
    r->recorder = recorder_new(&(struct recorder_options){ record_file_write, r->file, r->segment_max, r->start });
    return ERR_OK;
}

static void free_all(struct record_segments *r)
{
    for (size_t i = 0; i < r->known.n; i++)
        free(r->known.at[i].key);
    vec_fini(&r->known);
    vec_fini(&r->closed);
    map_str_fini(&r->by_key);
    strbuf_fini(&r->scratch);
    free(r->path);
    free(r->file_path);
    free(r);
}

enum err_code record_segments_open(const struct record_segments_options *options, struct record_segments **ret, struct err *e)
{
    struct record_segments *r = mem_zalloc(sizeof(*r));
    r->path = strdup(options->path);
    r->start = options->start;
    r->syms = options->syms;
    r->bytes_max = options->bytes_max < RECORD_SEGMENTS_BYTES_MIN ? RECORD_SEGMENTS_BYTES_MIN : options->bytes_max;
    r->segment_max = r->bytes_max / RECORD_SEGMENTS;
    map_str_init(&r->by_key);
    strbuf_init(&r->scratch, STRBUF_NO_MAX);
    if (!find_files(r, e) && !begin_segment(r, e)) {
        *ret = r;
        return ERR_OK;
    }
    free_all(r); /* no file is open */
    return e->code;
}

enum err_code record_segments_close(struct record_segments *r, struct err *e)
{
    assert(!r->before);
    recorder_end(r->recorder);
    recorder_free(r->recorder);
    enum err_code code = record_file_close(r->file, e);
    free_all(r);
    return code;
}

struct recorder *record_segments_recorder(const struct record_segments *r)
{
    return r->recorder;
}

const char *record_segments_stopped(const struct record_segments *r)
{
    return r->stopped ? r->stopped : recorder_stopped(r->recorder);
}

const char *record_segments_path(const struct record_segments *r)
{
    return r->file_path;
}

uint64_t record_segments_bytes(const struct record_segments *r)
{
    return closed_bytes(r) + recorder_bytes(r->recorder);
}

/* ---- Objects ---- */

static struct str key_of(struct record_segments *r, enum what what, unsigned kind, struct str ns, struct str name)
{
    strbuf_reset(&r->scratch);
    strbuf_printf(&r->scratch, "%d %u %.*s/%.*s", (int)what, kind, STR_ARG(ns), STR_ARG(name));
    return strbuf_str(&r->scratch);
}

/* The bytes stand at the end of the frame that was written last. */
static void remember(struct record_segments *r, struct str key, enum what what, unsigned kind, enum typed_format format,
                     size_t n_bytes)
{
    union map_value *found = map_str_find(&r->by_key, key);
    size_t i = found ? found->num : r->known.n;
    if (!found) {
        char *own = mem_alloc(key.n + 1);
        memcpy(own, key.p, key.n);
        own[key.n] = '\0';
        vec_push(&r->known, (struct known){ .key = own });
        map_str_put(&r->by_key, (struct str){ own, key.n }, NULL)->num = i;
    }
    struct known *k = &r->known.at[i];
    *k = (struct known){ k->key, recorder_bytes(r->recorder) - n_bytes, (uint32_t)n_bytes, (uint8_t)what, (uint8_t)format,
                         (uint8_t)kind };
}

static void close_gaps(struct record_segments *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->known.n; i++) {
        if (!r->known.at[i].key)
            continue;
        r->known.at[n] = r->known.at[i];
        map_str_find(&r->by_key, str_of(r->known.at[n].key))->num = n;
        n++;
    }
    r->known.n = n;
    r->n_gone = 0;
}

static void forget(struct record_segments *r, struct str key)
{
    union map_value index;
    if (!map_str_remove(&r->by_key, key, &index))
        return;
    free(r->known.at[index.num].key);
    r->known.at[index.num].key = NULL;
    if (++r->n_gone > 64 && r->n_gone > r->known.n / 2)
        close_gaps(r);
}

/* Whether what was just given to the recorder is in the file. */
static bool is_written(struct record_segments *r)
{
    return !record_segments_stopped(r);
}

void record_segments_node(struct record_segments *r, const struct node *node, enum typed_format format, struct str bytes)
{
    if (!r)
        return;
    record_node(r->recorder, format, bytes);
    if (is_written(r))
        remember(r, key_of(r, A_NODE, 0, STR(""), str_of(node->meta.name)), A_NODE, 0, format, bytes.n);
}

void record_segments_node_removed(struct record_segments *r, struct str name)
{
    if (!r)
        return;
    record_node_removed(r->recorder, name);
    forget(r, key_of(r, A_NODE, 0, STR(""), name));
}

void record_segments_pod(struct record_segments *r, const struct pod *pod, enum typed_format format, struct str bytes)
{
    if (!r)
        return;
    record_pod(r->recorder, format, bytes);
    struct str key = key_of(r, A_POD, 0, STR(""), str_of(pod->meta.uid));
    if (pod->flags & POD_FINISHED)
        forget(r, key);
    else if (is_written(r))
        remember(r, key, A_POD, 0, format, bytes.n);
}

void record_segments_pod_removed(struct record_segments *r, const char *uid)
{
    if (!r)
        return;
    record_pod_removed(r->recorder, uid);
    forget(r, key_of(r, A_POD, 0, STR(""), str_of(uid)));
}

void record_segments_object(struct record_segments *r, enum object_kind kind, struct str ns, struct str name,
                            enum typed_format format, struct str bytes)
{
    if (!r)
        return;
    record_object(r->recorder, kind, format, bytes);
    if (is_written(r))
        remember(r, key_of(r, AN_OBJECT, kind, ns, name), AN_OBJECT, kind, format, bytes.n);
}

void record_segments_object_removed(struct record_segments *r, enum object_kind kind, struct str ns, struct str name)
{
    if (!r)
        return;
    record_object_removed(r->recorder, kind, ns, name);
    forget(r, key_of(r, AN_OBJECT, kind, ns, name));
}

/* ---- Rotating ---- */

/* Three quarters: what comes while attempts rest must still have room. */
bool record_segments_due(const struct record_segments *r)
{
    return r && !record_segments_stopped(r) && recorder_bytes(r->recorder) >= r->segment_max / 4 * 3;
}

/* No answer is awaited, and every pod that was bound has been seen on its node: objects tell all. */
bool record_segments_can_rotate(const struct sched *s)
{
    struct sched_counts counts = sched_counts(s);
    const struct cache *cache = sched_cache((struct sched *)(uintptr_t)s);
    if (counts.binding || counts.evicting)
        return false;
    for (size_t i = 0; i < cache->rows.n; i++)
        for (size_t k = 0; k < cache->rows.at[i].pods.n; k++)
            if (cache->rows.at[i].pods.at[k]->assumed)
                return false;
    return true;
}

static uint64_t known_bytes(const struct record_segments *r)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < r->known.n; i++)
        sum += r->known.at[i].key ? r->known.at[i].n_bytes : 0;
    return sum;
}

enum err_code record_segments_rotate(struct record_segments *r, struct err *e)
{
    assert(!r->before);
    if (record_segments_stopped(r))
        return err_set(e, ERR_IO, "%s: %s", r->file_path, record_segments_stopped(r));
    if (known_bytes(r) > r->segment_max / 2) {
        r->stopped = "the objects alone take more than half of a segment: allow more bytes";
        recorder_end(r->recorder);
        return err_set(e, ERR_TOO_LARGE, "%s: %s", r->file_path, r->stopped);
    }
    recorder_end(r->recorder);
    struct closed_file closed = { r->number, recorder_bytes(r->recorder) };
    struct recorder *recorder = r->recorder;
    struct record_file *file = r->file;
    vec_push(&r->closed, closed);
    if (begin_segment(r, e)) { /* the recorder that has ended stays, and says so */
        r->file = file;
        r->recorder = recorder;
        r->stopped = "the next segment could not be made";
        return e->code;
    }
    recorder_free(recorder);
    r->before = file;
    return ERR_OK;
}

static enum err_code feed_node(struct record_segments *r, struct sched *s, enum typed_format format, struct str bytes,
                               struct err *e)
{
    const struct node *node;
    if (node_decode(r->syms, format, bytes, &node, e))
        return e->code;
    record_segments_node(r, node, format, bytes);
    sched_node_set(s, node);
    node_unref(r->syms, node);
    return ERR_OK;
}

static enum err_code feed_pod(struct record_segments *r, struct sched *s, enum typed_format format, struct str bytes,
                              struct err *e)
{
    const struct pod *pod;
    if (pod_decode(r->syms, format, bytes, &pod, e))
        return e->code;
    record_segments_pod(r, pod, format, bytes);
    sched_pod_set(s, pod);
    pod_unref(r->syms, pod);
    return ERR_OK;
}

static enum err_code feed_object(struct record_segments *r, struct sched *s, const struct known *k, struct str bytes,
                                 struct err *e)
{
    const void *form;
    enum typed_format format = (enum typed_format)k->format;
    enum object_kind kind = (enum object_kind)k->kind;
    if (object_form_decode(kind, r->syms, format, bytes, &form, e))
        return e->code;
    record_object(r->recorder, kind, format, bytes);
    if (is_written(r))
        remember(r, str_of(k->key), AN_OBJECT, kind, format, bytes.n);
    sched_object_set(s, kind, form);
    object_unref(r->syms, kind, form);
    return ERR_OK;
}

static enum err_code feed_one(struct record_segments *r, struct sched *s, struct known k, struct strbuf *buffer,
                              struct err *e)
{
    strbuf_reset(buffer);
    char *to = strbuf_reserve(buffer, k.n_bytes ? k.n_bytes : 1);
    if (!to || !record_file_read(r->before, k.at, k.n_bytes, to))
        return err_set(e, ERR_IO, "%s.%llu: an object cannot be read back", r->path, (unsigned long long)r->number - 1);
    struct str bytes = { to, k.n_bytes };
    if (k.what == A_NODE)
        return feed_node(r, s, (enum typed_format)k.format, bytes, e);
    if (k.what == A_POD)
        return feed_pod(r, s, (enum typed_format)k.format, bytes, e);
    return feed_object(r, s, &k, bytes, e);
}

/* Other objects first, then nodes, then pods: as a scheduler that starts waits for its informers. The index does not
 * change meanwhile but for where the bytes are. */
enum err_code record_segments_feed(struct record_segments *r, struct sched *s, struct err *e)
{
    static const enum what order[] = { AN_OBJECT, A_NODE, A_POD };
    struct strbuf buffer;
    strbuf_init(&buffer, STRBUF_NO_MAX);
    enum err_code code = ERR_OK;
    close_gaps(r);
    for (size_t w = 0; w < sizeof(order) / sizeof(*order); w++)
        for (size_t i = 0; i < r->known.n && !code; i++)
            if (r->known.at[i].what == order[w])
                code = feed_one(r, s, r->known.at[i], &buffer, e);
    strbuf_fini(&buffer);
    struct record_file *before = r->before;
    r->before = NULL;
    struct err closing;
    err_init(&closing, e->arena);
    if (record_file_close(before, &closing)) /* the new one has all that matters */
        LOG_ERROR(closing.message, "A segment of the recording may not be complete");
    if (code)
        r->stopped = "the objects could not be read back";
    return code;
}

/* http/gzip.c - see gzip.h. */
#include "http/gzip.h"

#include <assert.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/mem.h"
#include "http/deflate.h"
#include "http/headers.h"

enum { GZIP_WINDOW = 15 + 16, PIECE_BYTES = 32768 };

struct inflater {
    z_stream z;
    bool done;
    unsigned char room[PIECE_BYTES];
};

struct deflater {
    struct deflate deflate;
    uLong crc;
    uint32_t n; /* plain bytes; wraps around */
    bool begun;
};

struct inflater *inflater_new(void)
{
    struct inflater *i = mem_zalloc(sizeof(*i));
    int rc = inflateInit2(&i->z, GZIP_WINDOW);
    assert(rc == Z_OK);
    return i;
}

void inflater_free(struct inflater *i)
{
    if (!i)
        return;
    inflateEnd(&i->z);
    free(i);
}

static bool is_bomb(const z_stream *z)
{
    return z->total_out > GZIP_FREE_BYTES && z->total_out / GZIP_RATIO_MAX > z->total_in;
}

const char *inflater_input(struct inflater *i, struct str bytes, bool (*use)(void *context, struct str plain),
                           void *context)
{
    i->z.next_in = (unsigned char *)(uintptr_t)bytes.p;
    i->z.avail_in = (unsigned)bytes.n;
    while (i->z.avail_in || i->z.avail_out == 0) {
        if (i->done && i->z.avail_in)
            return "bytes after the end of a gzip body";
        i->z.next_out = i->room;
        i->z.avail_out = sizeof(i->room);
        int rc = inflate(&i->z, Z_NO_FLUSH);
        struct str plain = { (char *)i->room, sizeof(i->room) - i->z.avail_out };
        if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
            return "malformed gzip body";
        if (is_bomb(&i->z))
            return "gzip body grows beyond its limit";
        i->done = rc == Z_STREAM_END;
        if (plain.n && !use(context, plain))
            return NULL;
        if (i->done && !i->z.avail_in)
            return NULL;
        if (rc == Z_BUF_ERROR)
            return NULL; /* wants more */
    }
    return NULL;
}

bool inflater_is_done(const struct inflater *i)
{
    return i->done;
}

struct deflater *deflater_new(void)
{
    struct deflater *d = mem_alloc(sizeof(*d));
    deflate_init(&d->deflate);
    d->crc = crc32(0, NULL, 0);
    d->n = 0;
    d->begun = false;
    return d;
}

void deflater_free(struct deflater *d)
{
    if (!d)
        return;
    deflate_fini(&d->deflate);
    free(d);
}

static void add_word(struct strbuf *to, uint32_t word)
{
    for (int i = 0; i < 4; i++)
        strbuf_add_char(to, (char)(word >> 8 * i));
}

void deflater_input(struct deflater *d, struct str plain, bool flush, bool end, struct strbuf *to)
{
    if (!d->begun)
        strbuf_add(to, "\x1f\x8b\x08\0\0\0\0\0\x04\xff", 10); /* no name, no time, fastest, any system */
    d->begun = true;
    if (plain.n)
        d->crc = crc32_z(d->crc, (const unsigned char *)plain.p, plain.n);
    d->n += (uint32_t)plain.n;
    deflate_input(&d->deflate, plain, to);
    if (end) {
        deflate_end(&d->deflate, to);
        add_word(to, (uint32_t)d->crc);
        add_word(to, d->n);
    } else if (flush) {
        deflate_flush(&d->deflate, to);
    }
}

static struct str trim(struct str s)
{
    while (s.n && (s.p[0] == ' ' || s.p[0] == '\t'))
        s = str_from(s, 1);
    while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
        s.n--;
    return s;
}

/* "gzip", "gzip;q=0.5", not "gzip;q=0" */
static bool item_is_gzip(struct str item)
{
    struct str coding = trim(str_first(item, str_index(item, ';')));
    struct str rest = trim(str_from(item, str_index(item, ';') + 1));
    if (!str_is_nocase(coding, "gzip") && !str_is(coding, "*"))
        return false;
    if (!str_starts(rest, STR("q=")))
        return true;
    struct str weight = str_from(rest, 2);
    for (size_t i = 0; i < weight.n; i++)
        if (weight.p[i] >= '1' && weight.p[i] <= '9')
            return true;
    return false;
}

bool accepts_gzip(const struct headers *h)
{
    for (uint32_t i = 0; i < h->n; i++) {
        struct str list = h->at[i].value;
        while (str_is(h->at[i].name, "accept-encoding") && list.n) {
            struct str item = str_first(list, str_index(list, ','));
            list = str_from(list, item.n + 1);
            if (item_is_gzip(item))
                return true;
        }
    }
    return false;
}

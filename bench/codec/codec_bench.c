/* bench/codec/codec_bench.c - what reading and writing a pod costs.
 *
 * usage: codec_bench POD.json; prints one line a measurement: name, nanoseconds a call (best of several
 * batches), and the sizes in bytes. One form of the pod is kept all the time, as the other pods of a
 * deployment would be: its names are interned already. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "codec/json.h"
#include "codec/proto.h"
#include "forms/pod.h"

enum { BATCHES = 7, TEXT_BYTES_MAX = 16 << 20 };
static const double batch_ns = 60e6;

struct bench {
    struct arena arena;
    struct err e;
    struct sym_table syms;
    struct str json, message;
    const struct type *type;
    struct value value;
    struct strbuf out;
};

static _Noreturn void give_up(const char *what)
{
    fprintf(stderr, "codec_bench: %s\n", what);
    exit(1);
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ---- What is measured ---- */

static void typed_from(struct bench *b, enum typed_format format, struct str bytes)
{
    const struct pod *pod;
    if (pod_decode(&b->syms, format, bytes, &pod, &b->e))
        give_up(b->e.message);
    pod_unref(&b->syms, pod);
}

static void json_decode_typed(struct bench *b)
{
    typed_from(b, TYPED_JSON, b->json);
}

static void proto_decode_typed(struct bench *b)
{
    typed_from(b, TYPED_PROTOBUF, b->message);
}

static void json_decode_generic(struct bench *b)
{
    struct arena_mark mark = arena_save(&b->arena);
    struct value v;
    if (json_decode(&b->arena, WORK_OWN, b->type, b->json, NULL, &v, &b->e))
        give_up(b->e.message);
    arena_rewind(&b->arena, mark);
}

static void proto_decode_generic(struct bench *b)
{
    struct arena_mark mark = arena_save(&b->arena);
    struct value v;
    if (proto_decode(&b->arena, WORK_OWN, b->type, b->message, &v, &b->e))
        give_up(b->e.message);
    arena_rewind(&b->arena, mark);
}

static void json_encode_generic(struct bench *b)
{
    strbuf_reset(&b->out);
    json_encode(&b->out, b->type, &b->value);
}

static void measure(struct bench *b, const char *name, void (*call)(struct bench *))
{
    size_t n_calls = 1;
    for (;; n_calls *= 2) {
        double start = now_ns();
        for (size_t i = 0; i < n_calls; i++)
            call(b);
        if (now_ns() - start > batch_ns / 10)
            break;
    }
    n_calls *= 10;
    double best = 1e18;
    for (int batch = 0; batch < BATCHES; batch++) {
        double start = now_ns();
        for (size_t i = 0; i < n_calls; i++)
            call(b);
        double ns = (now_ns() - start) / (double)n_calls;
        best = ns < best ? ns : best;
    }
    printf("%s %.0f\n", name, best);
}

/* ---- Set-up ---- */

static struct str read_file(struct arena *a, const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        give_up("cannot open the pod");
    char *text = arena_alloc(a, TEXT_BYTES_MAX);
    size_t n = fread(text, 1, TEXT_BYTES_MAX, f);
    fclose(f);
    return (struct str){ text, n };
}

int main(int argc, char **argv)
{
    if (argc != 2)
        give_up("usage: codec_bench POD.json");
    struct bench b = { .type = schema_type(STR("core/v1.Pod")) };
    struct arena texts;
    arena_init(&texts);
    arena_init(&b.arena);
    err_init(&b.e, &b.arena);
    sym_init(&b.syms);
    strbuf_init(&b.out, STRBUF_NO_MAX);
    b.json = read_file(&texts, argv[1]);
    if (json_decode(&texts, WORK_OWN, b.type, b.json, NULL, &b.value, &b.e))
        give_up(b.e.message);
    proto_encode(&b.out, b.type, &b.value);
    b.message = arena_str(&texts, strbuf_str(&b.out));
    const struct pod *kept;
    if (pod_decode(&b.syms, TYPED_JSON, b.json, &kept, &b.e))
        give_up(b.e.message);

    printf("json_bytes %zu\nproto_bytes %zu\ntyped_bytes %u\n", b.json.n, b.message.n, kept->typed.n_bytes);
    measure(&b, "json_decode", json_decode_typed);
    measure(&b, "proto_decode", proto_decode_typed);
    measure(&b, "json_encode", json_encode_generic);
    measure(&b, "json_decode_generic", json_decode_generic);
    measure(&b, "proto_decode_generic", proto_decode_generic);

    pod_unref(&b.syms, kept);
    strbuf_fini(&b.out);
    sym_fini(&b.syms);
    arena_fini(&b.arena);
    arena_fini(&texts);
    return 0;
}

/* tests/fuzz/fuzz_proto.c - any bytes as an object in a protobuf envelope.
 *
 * What decodes is encoded, decoded and encoded again, and must come out as the same bytes and the same JSON. */
#include <stdlib.h>

#include "codec/json.h"
#include "codec/proto.h"
#include "tests/fuzz/effort.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void must(bool condition)
{
    if (!condition)
        abort();
}

/* Both encodings of what `bytes` hold; false when they do not decode. */
static bool transcode(struct arena *a, struct str bytes, struct strbuf *proto, struct strbuf *json)
{
    struct err e;
    err_init(&e, a);
    const struct type *t = NULL;
    struct value v;
    if (proto_decode_object(a, WORK_OWN, bytes, STR("v1"), STR("Pod"), &t, &v, &e)) {
        must(e.message && *e.message);
        return false;
    }
    proto_encode_object(proto, t, &v);
    json_encode(json, t, &v);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena a;
    arena_init(&a);
    effort_begin(n);
    struct strbuf proto[2], json[2];
    for (int i = 0; i < 2; i++) {
        strbuf_init(&proto[i], STRBUF_NO_MAX);
        strbuf_init(&json[i], STRBUF_NO_MAX);
    }
    if (transcode(&a, (struct str){ (const char *)data, n }, &proto[0], &json[0])) {
        must(transcode(&a, strbuf_str(&proto[0]), &proto[1], &json[1]));
        must(str_eq(strbuf_str(&proto[0]), strbuf_str(&proto[1])));
        must(str_eq(strbuf_str(&json[0]), strbuf_str(&json[1])));
    }
    for (int i = 0; i < 2; i++) {
        strbuf_fini(&proto[i]);
        strbuf_fini(&json[i]);
    }
    effort_end(&a, n);
    arena_fini(&a);
    return 0;
}

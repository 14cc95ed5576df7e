/* codec/proto_open.c - what is around messages: envelopes and watch events; see proto.h. */
#include "codec/proto.h"
#include "codec/proto_scan.h"

static const char prefix[4] = { 'k', '8', 's', '\0' };

static const struct proto_small type_meta_message = { STR("TypeMeta"), 2, { PROTO_BYTES, PROTO_BYTES } };
static const struct proto_small watch_event_message = { STR("WatchEvent"), 2, { PROTO_BYTES, PROTO_BYTES } };
static const struct proto_small raw_message = { STR("RawExtension"), 1, { PROTO_BYTES } };

bool proto_is_envelope(struct str bytes)
{
    return str_starts(bytes, (struct str){ prefix, sizeof(prefix) });
}

/* The type meta merges, the last `raw` counts. */
static enum err_code open_unknown(struct str bytes, struct proto_envelope *ret_envelope, struct err *e)
{
    enum { TYPE_META = 1, RAW = 2, CONTENT_ENCODING = 3, CONTENT_TYPE = 4 };
    struct proto_scan s = proto_scan_init(bytes);
    struct proto_small_fields type_meta = { 0 };
    struct str raw = { 0 };
    while (s.at < s.end) {
        if (!proto_scan_tag(&s))
            return proto_scan_error(&s, e);
        if (!proto_tag_ok(&s))
            return proto_tag_error(&s, STR("Unknown"), e);
        int32_t number = s.number; /* skipping may read more tags */
        if (number <= CONTENT_TYPE && s.wire_type != PROTO_BYTES)
            return proto_wire_type_error(&s, STR("Unknown"), e);
        struct str part;
        bool ok = number <= CONTENT_TYPE ? proto_scan_bytes(&s, &part) : proto_skip(&s);
        if (!ok)
            return proto_scan_error(&s, e);
        if (number == RAW)
            raw = part;
        enum err_code rc =
            number == TYPE_META ? proto_scan_small(&type_meta_message, part, &type_meta, e) : ERR_OK;
        if (rc)
            return rc;
    }
    *ret_envelope = (struct proto_envelope){ type_meta.texts[0], type_meta.texts[1], raw };
    return ERR_OK;
}

enum err_code proto_open(struct str bytes, struct proto_envelope *ret_envelope, struct err *e)
{
    if (bytes.n == 0)
        return err_set(e, ERR_BAD_REQUEST, "empty data");
    if (!proto_is_envelope(bytes))
        return err_set(e, ERR_BAD_REQUEST, "provided data does not appear to be a protobuf message, expected "
                                           "prefix [107 56 115 0]");
    if (bytes.n == sizeof(prefix))
        return err_set(e, ERR_BAD_REQUEST, "empty body");
    return open_unknown(str_from(bytes, sizeof(prefix)), ret_envelope, e);
}

enum err_code proto_open_watch_event(struct str bytes, struct str *ret_event_type, struct str *ret_object_envelope,
                                     struct err *e)
{
    struct proto_small_fields event = { 0 }, raw = { 0 };
    enum err_code rc = proto_scan_small(&watch_event_message, bytes, &event, e);
    if (!rc)
        rc = proto_scan_small(&raw_message, event.texts[1], &raw, e);
    if (rc)
        return rc;
    *ret_event_type = event.texts[0];
    *ret_object_envelope = raw.texts[0];
    return ERR_OK;
}

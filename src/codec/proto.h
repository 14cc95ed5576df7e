/* codec/proto.h - generic values from and to protobuf, driven by the schema.
 *
 * proto2 as the API server's generated code writes it: every field that is not a pointer is there, also when
 * zero, in ascending order; repeated scalars unpacked; map entries sorted by key. Decoding takes what that
 * code takes: any order, unknown fields and groups skipped, the last scalar counts, messages given twice
 * merged, packed scalars accepted.
 *
 * An object on the wire is the four bytes "k8s\0" and an envelope with its type meta and its message.
 *
 * Thread: any. Memory: texts of the decoded tree may point into the input, which must live as long. */
#pragma once

#include "api/value.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/work.h"

enum { PROTO_ENVELOPES_MAX = 8 }; /* of objects in raw fields of objects */

/* A bare message. A raw field that holds an envelope gets the JSON of that object. Differences from the
 * generated code: the limits (VALUE_DEPTH_MAX for nesting); raw fields without valid JSON and an
 * intOrString of an unknown type are refused here, where upstream fails when it writes JSON. Types
 * without a protobuf form are refused as not acceptable. */
enum err_code proto_decode(struct arena *a, struct work *work, const struct type *t, struct str bytes,
                           struct value *ret_value, struct err *e) ERR_MUST_CHECK;
/* `t` must have a protobuf form (not TYPE_JSON_ONLY). */
void proto_encode(struct strbuf *to, const struct type *t, const struct value *v);

struct proto_envelope {
    struct str api_version, kind, raw;
};
bool proto_is_envelope(struct str bytes); /* begins with "k8s\0" */
enum err_code proto_open(struct str bytes, struct proto_envelope *ret_envelope,
                         struct err *e) ERR_MUST_CHECK;

/* A whole object: envelope and message. kind and apiVersion of the value come from the envelope, or from the
 * defaults where that has none. */
enum err_code proto_decode_object(struct arena *a, struct work *work, struct str bytes,
                                  struct str default_api_version, struct str default_kind, const struct type **ret_type,
                                  struct value *ret_value, struct err *e) ERR_MUST_CHECK;
void proto_encode_object(struct strbuf *to, const struct type *t, const struct value *v);
/* One frame of a watch stream: length, then a WatchEvent whose object is a whole envelope. */
void proto_encode_watch_event(struct strbuf *to, struct str event_type, struct str object_envelope);
/* The other way, without the length. */
enum err_code proto_open_watch_event(struct str bytes, struct str *ret_event_type, struct str *ret_object_envelope,
                                     struct err *e) ERR_MUST_CHECK;

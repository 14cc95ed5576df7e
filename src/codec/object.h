/* codec/object.h - whole objects as clients send and receive them: what the API server makes of a body.
 *
 * A body names its kind and version itself, and the endpoint fills in what it leaves out. Which type
 * the bytes are decoded as follows from that; that it is the endpoint's own is checked afterwards, as
 * upstream does. All failures are ERR_BAD_REQUEST with the text that upstream's Status carries.
 *
 * Thread: any. Memory: as json.h, texts of the decoded tree may point into the body. */
#pragma once

#include "api/value.h"
#include "codec/json.h"

enum media { MEDIA_JSON, MEDIA_YAML, MEDIA_PROTOBUF };

/* From a Content-Type header; none means JSON. Fails with ERR_UNSUPPORTED_MEDIA_TYPE. */
enum err_code media_of_content_type(struct str header, enum media *ret_media, struct err *e) ERR_MUST_CHECK;
const char *media_content_type(enum media m);

struct gvk {
    struct str group, version, kind;
};

struct object {
    const struct type *type;
    struct value value; /* kind and apiVersion are filled in */
};

/* Of a request to an API server; as upstream. */
enum { REQUEST_BYTES_MAX = 3 << 20 };

/* Decodes a body whose kind and version default to those of `endpoint`; the kind may turn out to be
 * another one. `findings` may be NULL. On failure the message is the decoder's own, and *ret_seen is
 * what the body says it is, as far as that could be read; its kind is empty otherwise. */
enum err_code object_read(struct arena *a, struct work *work, enum media m, struct str body,
                          struct gvk endpoint, struct findings *findings, struct object *ret_object,
                          struct gvk *ret_seen, struct err *e) ERR_MUST_CHECK;

/* What fieldValidation of a request asks for. */
enum field_validation { VALIDATION_IGNORE, VALIDATION_WARN, VALIDATION_STRICT };

/* A body as an object of the endpoint's own kind; messages are complete for a Status. With
 * VALIDATION_WARN the findings are for the caller to send as warnings; with VALIDATION_STRICT they are
 * an error. `findings` is not NULL. */
enum err_code object_decode(struct arena *a, struct work *work, enum media m, struct str body,
                            struct gvk endpoint, enum field_validation validation, struct findings *findings,
                            struct object *ret_object, struct err *e) ERR_MUST_CHECK;

/* The text of a strict decoding error: all findings in a row. */
const char *object_findings_text(struct arena *a, const struct findings *f);

/* JSON ends with a newline. */
void object_encode(struct strbuf *to, enum media m, const struct type *t, const struct value *v);

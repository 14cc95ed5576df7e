/* apiserver/negotiate.h - in which form a body comes and an answer goes: Content-Type and Accept.
 *
 * Three media: JSON, YAML, protobuf. An answer may be asked for as something else than the object: a Table, or only the
 * metadata. Accept is looked at twice, as upstream does: its router refuses what no clause names (a wildcard must be
 * "*" "/" "*"), then the clauses are tried by weight, and those that ask for what is not there are passed over.
 *
 * Thread: any. */
#pragma once

#include "base/err.h"
#include "codec/object.h"

enum { ACCEPT_CLAUSES_MAX = 64 }; /* of a header; further ones are not looked at */

enum transform { AS_OBJECT, AS_TABLE, AS_METADATA, AS_METADATA_LIST };

struct answer_form {
    enum media media;
    enum transform as;
    bool meta_v1beta1; /* the transformed object is of meta.k8s.io/v1beta1 */
    bool pretty;       /* the clause says so */
};

enum accept_place { ACCEPT_OBJECT, ACCEPT_UNTABLED /* an object of which there is no Table */, ACCEPT_LIST, ACCEPT_WATCH };

/* Of an answer from a resource's path. ERR_NOT_ACCEPTABLE with upstream's texts. ACCEPT_UNTABLED: what has no table. */
ERR_MUST_CHECK enum err_code negotiate_answer(struct str accept, enum accept_place place, struct answer_form *ret_form,
                                              struct err *e);
/* Upstream looks only at what it is about to send: a list cannot be one object's metadata, nor an object a list of them.
 * `go_type` is what its text names, "core.PodList". */
ERR_MUST_CHECK enum err_code negotiate_shape(const struct answer_form *form, bool list, const char *go_type, struct err *e);
/* Of a Status: whatever can be had without any transformation, else JSON, which upstream then indents. */
struct answer_form negotiate_error(struct str accept);
/* Content-Type of an answer. */
const char *answer_content_type(const struct answer_form *f, bool watch);

/* Content-Type of a body; none is JSON. ERR_UNSUPPORTED_MEDIA_TYPE. */
ERR_MUST_CHECK enum err_code negotiate_body(struct str content_type, enum media *ret_media, struct err *e);

enum patch_form { PATCH_FORM_JSON, PATCH_FORM_MERGE, PATCH_FORM_STRATEGIC, PATCH_FORM_APPLY };

ERR_MUST_CHECK enum err_code negotiate_patch(struct str content_type, enum patch_form *ret_form, struct err *e);

struct discovery_form {
    enum media media;
    bool aggregated; /* apidiscovery.k8s.io/v2 */
};
/* Of a discovery document; `whole` where there is an aggregated one, `routed` where upstream's router looks first. */
ERR_MUST_CHECK enum err_code negotiate_discovery(struct str accept, bool whole, bool routed,
                                                 struct discovery_form *ret_form, struct err *e);

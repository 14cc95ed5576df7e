/* apiserver/openapi.h - OpenAPI v3 of what is served, made from the schema: for `kubectl explain`, apply and
 * validation.
 *
 * An index of all groups and versions, and one document for each: its paths with their operations, and every type that
 * they reach, with the keys by which lists are merged. Descriptions are not there: the schema has none.
 *
 * Making all documents takes some milliseconds; nothing in them changes while a server runs, so make them once.
 *
 * Thread: any. */
#pragma once

#include "base/err.h"
#include "base/strbuf.h"

/* Served as text/plain; charset=utf-8 under /openapi/v3, as upstream does; it is JSON. */
void openapi_add_index(struct strbuf *to);

/* The document at /openapi/v3/PATH: "api/v1", "apis/apps/v1". False when there is none. */
bool openapi_add_document(struct strbuf *to, struct str path);

/* What /openapi/v2 answers: a document without types. Everything is described in version 3; this is what kubectl
 * asks for
 * when a kind is not there, and without an answer it would complain about that instead of the kind. Returns the content
 * type: protobuf where it is asked for by its name, else JSON. */
const char *openapi_add_v2(struct strbuf *to, struct str accept);

/* daemon/status.h - Status objects and other JSON as answers, compact or indented as upstream sends it to people.
 *
 * Thread: any. */
#pragma once

#include "base/strbuf.h"
#include "daemon/target.h"
#include "http/headers.h"

/* Whether the asker looks like a person: the query `pretty` says so, or the program is curl, Wget or a browser. */
bool wants_pretty(const struct head *request, const struct target *t);

/* {"kind":"Status",...,"message":...,"reason":...,"code":...}; `details` adds empty ones, which some reasons have. */
void status_add_failure(struct strbuf *to, int code, const char *reason, struct str message, bool details, bool pretty);

/* A compact JSON text of ours: indented by two spaces, or as it is with a newline, as upstream's serializer ends it. */
void json_add_shown(struct strbuf *to, struct str json, bool pretty);

/* daemon/ca_file.h - a file of certificates that is read again when it changes: --client-ca-file and its like.
 *
 * Thread: the loop's; the file is read on a worker.    Owns: copies of all texts. */
#pragma once

#include "base/err.h"
#include "http/loop.h"

enum {
    CA_FILE_LOOK_MS = 60000,       /* between two looks */
    CA_FILE_BYTES_MAX = 16 << 20,  /* as any file of certificates */
};

struct ca_file;

/* Takes a text that differs from the last one; an error leaves that one in use, and it is offered again. */
typedef enum err_code (*ca_file_use)(void *context, struct str pem, struct err *e);

/* Reads it now, on this thread, and hands it to `use`: what fails here is the caller's. look_ms of 0: CA_FILE_LOOK_MS. */
ERR_MUST_CHECK enum err_code ca_file_new(struct loop *l, const char *path, int64_t look_ms, ca_file_use use,
                                         void *context, struct ca_file **ret_file, struct err *e);
/* The loop must still turn while a worker is busy with it. */
void ca_file_free(struct ca_file *f);

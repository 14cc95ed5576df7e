/* insight/record_file.h - recordings (sched/record.h) in files.
 *
 * Thread: one at a time. Owns: the file. What was written when the process dies may end in the middle
 * of a frame: replay.h finds that. */
#pragma once

#include "base/err.h"
#include "sched/record.h"

struct record_file;

enum { RECORD_FILE_BYTES_MAX = 1 << 30 }; /* larger ones are not loaded */

/* Makes the file, or empties it; mode 0600, because objects may hold secrets. */
enum err_code record_file_create(const char *path, struct record_file **ret_file, struct err *e) ERR_MUST_CHECK;
/* For recorder_options.write; the context is the file. */
bool record_file_write(void *file, struct str bytes);
/* Reads back what was written before; false: that cannot be. Nothing is written to the file from the first reading on. */
bool record_file_read(struct record_file *file, uint64_t at, size_t n, char *ret_bytes);
/* Closes it also when that fails. */
enum err_code record_file_close(struct record_file *file, struct err *e) ERR_MUST_CHECK;

/* The whole file; to be freed with free(). */
enum err_code record_file_load(const char *path, struct str *ret_bytes, struct err *e) ERR_MUST_CHECK;

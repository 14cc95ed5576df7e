/* base/work.c - see work.h. */
#include "base/work.h"

void work_extend(struct work *w, size_t n_bytes)
{
    w->left += (uint64_t)n_bytes * WORK_PER_BYTE;
}

enum err_code work_begin(struct work *w, size_t n_bytes, struct err *e)
{
    if (!w->begun) {
        if (n_bytes > w->bytes_max)
            return err_set(e, ERR_TOO_LARGE, "%zu bytes, of which at most %zu are read", n_bytes, w->bytes_max);
        w->begun = true;
        w->left += WORK_FREE_BYTES;
        work_extend(w, n_bytes);
    }
    return work_take(w, n_bytes) ? ERR_OK : work_error(e);
}

enum err_code work_error(struct err *e)
{
    return err_set(e, ERR_TOO_LARGE, "the body expands to more than %d times its length", WORK_PER_BYTE);
}

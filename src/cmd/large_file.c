/* cmd/large_file.c - see large_file.h. */
#include "cmd/large_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

enum {
    READ_BYTES_MAX = 16 << 20, /* of a file that is read, not mapped; pipes are kept in memory up to here */
    DROP_BYTES = 8 << 20,      /* at least so much is given back at once */
    FIRST_BYTES = 64 << 10,
    PIPE_BYTES = 1 << 20, /* that a pipe is asked to hold, and that are copied at once */
};
#define MEMORY_BYTES_MAX ((size_t)2 << 30) /* of a pipe without a temporary file */
#define FILE_BYTES_MAX ((size_t)16 << 30)

static bool map(struct large_file *f, int fd, size_t n)
{
    void *p = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED)
        return false;
    madvise(p, n, MADV_SEQUENTIAL);
    *f = (struct large_file){ .p = p, .n = n, .n_mapped = n };
    return true;
}

/* Appends what there is, up to `max` bytes in all. False on an error, which errno has. */
static bool read_some(struct large_file *f, size_t *cap, int fd, size_t max, bool *ret_end)
{
    *ret_end = false;
    while (f->n < max) {
        if (f->n == *cap)
            f->p = mem_realloc(f->p, *cap = *cap ? *cap * 2 : FIRST_BYTES);
        ssize_t got = read(fd, f->p + f->n, *cap - f->n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return false;
        *ret_end = got == 0;
        if (*ret_end)
            return true;
        f->n += (size_t)got;
    }
    return true;
}

static bool write_all(int fd, const char *p, size_t n)
{
    while (n) {
        ssize_t done = write(fd, p, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return false;
        p += done;
        n -= (size_t)done;
    }
    return true;
}

/* ---- Pipes ---- */

/* Copies the rest of `fd` behind what is in memory to a temporary file, and maps that. False: errno
 * says why. */
static bool spool(struct large_file *f, int fd, int to)
{
    struct large_file part = { 0 };
    size_t n = f->n, part_cap = 0;
    bool end = false, ok = write_all(to, f->p, n);
    while (ok && !end) {
        part.n = 0;
        ok = read_some(&part, &part_cap, fd, PIPE_BYTES, &end) && write_all(to, part.p, part.n);
        n += part.n;
        if (ok && n > FILE_BYTES_MAX) {
            errno = EFBIG;
            ok = false;
        }
    }
    free(part.p);
    struct large_file whole;
    if (!ok || !map(&whole, to, n))
        return false;
    free(f->p);
    *f = whole;
    return true;
}

static bool read_pipe(struct large_file *f, int fd)
{
    size_t cap = 0;
    bool end;
    fcntl(fd, F_SETPIPE_SZ, PIPE_BYTES); /* fewer turns; what is no pipe refuses */
    if (!read_some(f, &cap, fd, READ_BYTES_MAX, &end))
        return false;
    if (end)
        return true;
    const char *folder = getenv("TMPDIR");
    int to = open(folder && *folder ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (to >= 0) {
        bool ok = spool(f, fd, to);
        close(to);
        return ok;
    }
    if (!read_some(f, &cap, fd, MEMORY_BYTES_MAX, &end))
        return false;
    if (!end)
        errno = EFBIG;
    return end;
}

/* ---- Files ---- */

static bool load(struct large_file *f, int fd)
{
    struct stat s;
    if (fstat(fd, &s) != 0)
        return false;
    if (!S_ISREG(s.st_mode) || s.st_size <= READ_BYTES_MAX)
        return read_pipe(f, fd);
    if ((uintmax_t)s.st_size > FILE_BYTES_MAX) {
        errno = EFBIG;
        return false;
    }
    return map(f, fd, (size_t)s.st_size);
}

enum err_code large_file_open(struct large_file *f, const char *path, struct err *e)
{
    bool is_stdin = strcmp(path, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    *f = (struct large_file){ .n = 0 };
    bool ok = fd >= 0 && load(f, fd);
    int why = errno;
    if (fd >= 0 && !is_stdin)
        close(fd);
    if (ok)
        return ERR_OK;
    large_file_close(f);
    return err_set(e, ERR_IO, "%s: %s", is_stdin ? "standard input" : path, strerror(why));
}

void large_file_close(struct large_file *f)
{
    if (f->n_mapped)
        munmap(f->p, f->n_mapped);
    else
        free(f->p);
    *f = (struct large_file){ .n = 0 };
}

void large_file_passed(struct large_file *f, size_t at)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    at -= at % page;
    if (!f->n_mapped || at > f->n_mapped || at < f->n_dropped + DROP_BYTES)
        return;
    madvise(f->p + f->n_dropped, at - f->n_dropped, MADV_DONTNEED);
    f->n_dropped = at;
}

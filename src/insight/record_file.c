/* insight/record_file.c - see record_file.h. */
#include "insight/record_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

enum { BUFFER_BYTES = 256 << 10 }; /* a write and a read for many frames: there are ten thousands of them a second */

struct record_file {
    FILE *f;
    char *path;
    char *window; /* of what is read back; NULL: nothing was */
    uint64_t window_at;
    size_t window_bytes;
};

enum err_code record_file_create(const char *path, struct record_file **ret_file, struct err *e)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");
    if (!f) {
        int error = errno;
        if (fd >= 0)
            close(fd);
        return err_set(e, ERR_IO, "%s: %s", path, strerror(error));
    }
    struct record_file *file = mem_zalloc(sizeof(*file));
    file->f = f;
    (void)setvbuf(f, NULL, _IOFBF, BUFFER_BYTES); /* else a smaller one is used */
    file->path = mem_alloc(strlen(path) + 1);
    strcpy(file->path, path);
    *ret_file = file;
    return ERR_OK;
}

bool record_file_write(void *file, struct str bytes)
{
    return fwrite(bytes.p, 1, bytes.n, ((struct record_file *)file)->f) == bytes.n;
}

/* The window begins at `at`; false: there is nothing. */
static bool move_window(struct record_file *file, uint64_t at)
{
    ssize_t got;
    if (fflush(file->f) != 0)
        return false;
    if (!file->window)
        file->window = mem_alloc(BUFFER_BYTES);
    do
        got = pread(fileno(file->f), file->window, BUFFER_BYTES, (off_t)at);
    while (got < 0 && errno == EINTR);
    file->window_at = at;
    file->window_bytes = got > 0 ? (size_t)got : 0;
    return got > 0;
}

bool record_file_read(struct record_file *file, uint64_t at, size_t n, char *ret_bytes)
{
    while (n) {
        bool inside = at >= file->window_at && at - file->window_at < file->window_bytes;
        if (!inside && !move_window(file, at))
            return false;
        size_t from = (size_t)(at - file->window_at), piece = file->window_bytes - from;
        piece = piece < n ? piece : n;
        memcpy(ret_bytes, file->window + from, piece);
        ret_bytes += piece;
        at += piece;
        n -= piece;
    }
    return true;
}

enum err_code record_file_close(struct record_file *file, struct err *e)
{
    enum err_code code = ERR_OK;
    bool written = fflush(file->f) == 0 && !ferror(file->f);
    int error = errno;
    if (fclose(file->f) != 0 && written) {
        written = false;
        error = errno;
    }
    if (!written)
        code = err_set(e, ERR_IO, "%s: %s", file->path, strerror(error));
    free(file->window);
    free(file->path);
    free(file);
    return code;
}

static enum err_code read_all(int fd, const char *path, size_t n, struct str *ret_bytes, struct err *e)
{
    char *bytes = mem_alloc(n ? n : 1);
    size_t n_read = 0;
    while (n_read < n) {
        ssize_t got = read(fd, bytes + n_read, n - n_read);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            free(bytes);
            return err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
        }
        if (got == 0)
            break; /* it became shorter: what is there is what there is */
        n_read += (size_t)got;
    }
    *ret_bytes = (struct str){ bytes, n_read };
    return ERR_OK;
}

enum err_code record_file_load(const char *path, struct str *ret_bytes, struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe is refused, not waited for */
    struct stat st;
    if (fd < 0)
        return err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
    enum err_code code = ERR_OK;
    if (fstat(fd, &st) != 0)
        code = err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
    else if (!S_ISREG(st.st_mode))
        code = err_set(e, ERR_INVALID, "%s: not a file", path);
    else if (st.st_size > RECORD_FILE_BYTES_MAX)
        code = err_set(e, ERR_TOO_LARGE, "%s: %lld bytes, at most %d are loaded", path, (long long)st.st_size,
                       RECORD_FILE_BYTES_MAX);
    else
        code = read_all(fd, path, (size_t)st.st_size, ret_bytes, e);
    close(fd);
    return code;
}

/* cmd/files.c - reading and writing whole files; see cmd.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cmd/cmd.h"

enum { FILE_BYTES_MAX = 256 << 20 };

static char *read_all(FILE *f, size_t *ret_n)
{
    size_t n = 0, cap = 65536;
    char *bytes = mem_alloc(cap);
    for (size_t got; (got = fread(bytes + n, 1, cap - n, f)) > 0;) {
        n += got;
        if (n > FILE_BYTES_MAX) {
            free(bytes);
            errno = EFBIG;
            return NULL;
        }
        if (n == cap)
            bytes = mem_realloc(bytes, cap *= 2);
    }
    if (ferror(f)) {
        free(bytes);
        return NULL;
    }
    *ret_n = n;
    return bytes;
}

char *cmd_read_file(const char *path, size_t *ret_n)
{
    bool is_stdin = strcmp(path, "-") == 0;
    FILE *f = is_stdin ? stdin : fopen(path, "rb");
    if (!f)
        return NULL;
    char *bytes = read_all(f, ret_n);
    int why = errno;
    if (!is_stdin)
        fclose(f);
    errno = why;
    return bytes;
}

/* Closes it, too. */
static bool write_all(int fd, struct str bytes)
{
    while (bytes.n) {
        ssize_t n = write(fd, bytes.p, bytes.n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            int why = errno;
            close(fd);
            errno = why;
            return false;
        }
        bytes = str_from(bytes, (size_t)n);
    }
    return close(fd) == 0;
}

/* The permissions of the file that is there, or those that a new file gets. */
static bool set_mode(int fd, const struct stat *old)
{
    mode_t mask = umask(0);
    umask(mask);
    return fchmod(fd, old ? old->st_mode & 07777 : 0666 & ~mask) == 0;
}

static bool replace_file(const char *path, const struct stat *old, struct str bytes)
{
    static const char suffix[] = ".XXXXXX";
    char temp[PATH_MAX];
    if (strlen(path) + sizeof(suffix) > sizeof(temp)) {
        errno = ENAMETOOLONG;
        return false;
    }
    strcpy(stpcpy(temp, path), suffix);
    int fd = mkostemp(temp, O_CLOEXEC);
    if (fd < 0)
        return false;
    if (!set_mode(fd, old))
        close(fd);
    else if (write_all(fd, bytes) && rename(temp, path) == 0)
        return true;
    int why = errno;
    unlink(temp);
    errno = why;
    return false;
}

bool cmd_write_file(const char *path, struct str bytes)
{
    struct stat s;
    if (stat(path, &s) != 0)
        return errno == ENOENT && replace_file(path, NULL, bytes);
    if (!S_ISREG(s.st_mode)) {
        int fd = open(path, O_WRONLY | O_CLOEXEC);
        return fd >= 0 && write_all(fd, bytes);
    }
    char target[PATH_MAX]; /* a symbolic link stays one */
    return realpath(path, target) && replace_file(target, &s, bytes);
}

/* tests/disk_faults.c - a library to preload: the disk fails when a test says so.
 *
 * DISK_FAULTS names a file of four 32-bit numbers that the test and the process share. Only calls that write or sync regular
 * files count: pwrite, pwritev, writev, fdatasync, fsync. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))
#define REAL(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))

struct plan {
    _Atomic int32_t until;   /* calls that still work; -1: all do */
    _Atomic int32_t failing; /* calls that fail from then on */
    _Atomic int32_t error;
    _Atomic int32_t seen; /* calls so far */
};

static struct plan *plan;

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("DISK_FAULTS");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *shared = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(*plan), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    plan = shared == MAP_FAILED ? NULL : shared;
    if (fd >= 0)
        close(fd);
}

static bool fails_now(int fd)
{
    struct stat st;
    if (!plan || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    atomic_fetch_add(&plan->seen, 1);
    if (atomic_load(&plan->until) < 0 || atomic_fetch_sub(&plan->until, 1) > 0)
        return false;
    atomic_store(&plan->until, atomic_fetch_sub(&plan->failing, 1) > 1 ? 0 : -1);
    errno = atomic_load(&plan->error);
    return true;
}

EXPORTED ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    return fails_now(fd) ? -1 : REAL(pwrite)(fd, bytes, n, at);
}

EXPORTED ssize_t pwritev(int fd, const struct iovec *parts, int n, off_t at)
{
    return fails_now(fd) ? -1 : REAL(pwritev)(fd, parts, n, at);
}

EXPORTED ssize_t writev(int fd, const struct iovec *parts, int n)
{
    return fails_now(fd) ? -1 : REAL(writev)(fd, parts, n);
}

EXPORTED int fdatasync(int fd)
{
    return fails_now(fd) ? -1 : REAL(fdatasync)(fd);
}

EXPORTED int fsync(int fd)
{
    return fails_now(fd) ? -1 : REAL(fsync)(fd);
}

/* daemon/up_folder.c - see up_folder.h. */
#include "daemon/up_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/self_signed.h"

const char *up_folder_default(struct arena *a)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (state && state[0] == '/')
        return arena_printf(a, "%s/berth", state);
    return home && home[0] ? arena_printf(a, "%s/.local/state/berth", home) : "/var/lib/berth";
}

enum err_code up_folder_temporary(struct arena *a, const char **ret_folder, struct err *e)
{
    const char *places[] = { getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp" };
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        if (!places[i] || places[i][0] != '/')
            continue;
        char *folder = arena_printf(a, "%s/berth-XXXXXX", places[i]);
        if (mkdtemp(folder)) {
            *ret_folder = folder;
            return ERR_OK;
        }
    }
    return err_set(e, ERR_IO, "there is no place for a temporary folder: %s", strerror(errno));
}

static const char *lock_of(const char *folder, struct arena *a)
{
    return arena_printf(a, "%s/up.lock", folder);
}

enum err_code up_folder_take(const char *folder, struct arena *a, struct err *e)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    const char *path = lock_of(folder, a);
    if (make_folder_of(folder, a, e))
        return e->code;
    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        return err_set(e, ERR_IO, "mkdir %s: %s", folder, strerror(errno));
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600); /* stays open: closing it would give the lock back */
    if (fd < 0)
        return err_set(e, ERR_IO, "open %s: %s", path, strerror(errno));
    if (fcntl(fd, F_SETLK, &lock) == 0)
        return ERR_OK;
    pid_t holder = up_folder_holder(folder, a);
    close(fd);
    return err_set(e, ERR_CONFLICT, "another berth up (process %d) works on %s: stop it with 'berth down --data-dir %s', or "
                                    "choose another --data-dir", (int)holder, folder, folder);
}

pid_t up_folder_holder(const char *folder, struct arena *a)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    int fd = open(lock_of(folder, a), O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return 0;
    bool held = fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    close(fd);
    return held ? lock.l_pid : 0;
}

void up_folder_remove(const char *folder, struct arena *a)
{
    static const char *const files[] = { "pki/ca.crt", "pki/ca.key", "pki/apiserver.crt", "pki/apiserver.key",
                                         "pki/admin.crt", "pki/admin.key", "pki/sa.key", "kubeconfig", "up.log", "up.lock" };
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        unlink(arena_printf(a, "%s/%s", folder, files[i]));
    rmdir(arena_printf(a, "%s/pki", folder));
    rmdir(folder);
}

/* cmd/up_background.c - see up.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "cmd/up.h"

/* ---- The log ---- */

static void write_all(int fd, struct str text)
{
    while (text.n) {
        ssize_t n = write(fd, text.p, text.n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return; /* a disk that is full takes no records; what they tell of goes on */
        text = str_from(text, (size_t)n);
    }
}

static void take_record(void *context, struct str record)
{
    const struct up_log *l = context;
    write_all(l->fd, record);
    if (l->tells_errors && record.n && record.p[0] == 'E')
        write_all(STDERR_FILENO, record);
}

bool up_log_open(struct up_log *l, const char *path)
{
    l->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    l->tells_errors = true;
    if (l->fd < 0)
        return false;
    log_set_sink(take_record, l);
    return true;
}

/* ---- A process that stays ---- */

static void detach(int told_to)
{
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    setsid();
    dup2(nowhere, STDIN_FILENO);
    dup2(nowhere, STDOUT_FILENO);
    dup2(told_to, STDERR_FILENO);
    close(nowhere);
    close(told_to);
}

/* Passes on what the child has to say; true when that ends with the byte which means that it is ready. */
static bool listen_to(int fd)
{
    char room[4096];
    for (;;) {
        ssize_t n = read(fd, room, sizeof(room));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bool ready = room[n - 1] == '\0';
        cmd_write_error((struct str){ room, (size_t)(n - ready) });
        if (ready)
            return true;
    }
}

enum up_role up_background(const struct command *c, int *ret_code)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        *ret_code = cmd_fail(c, 1, "cannot start a process: %s", strerror(errno));
        return UP_PARENT;
    }
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        detach(ends[1]);
        return UP_CHILD;
    }
    close(ends[1]);
    *ret_code = child < 0 ? cmd_fail(c, 1, "cannot start a process: %s", strerror(errno)) : listen_to(ends[0]) ? 0 : 1;
    close(ends[0]);
    if (child > 0 && *ret_code)
        waitpid(child, NULL, 0); /* so that its end is over when this one's is */
    return UP_PARENT;
}

void up_background_ready(struct up_log *l)
{
    write_all(STDERR_FILENO, (struct str){ "", 1 });
    l->tells_errors = false;
    dup2(l->fd, STDERR_FILENO);
}

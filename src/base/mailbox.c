/* base/mailbox.c - see mailbox.h.
 *
 * The messages form a stack, newest first. Posting puts one on top; the taker exchanges the whole stack for
 * an empty one and turns it round. Nothing is ever taken singly, so the top cannot leave and come
 * back unnoticed (the ABA problem). */
#include "base/mailbox.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

void mailbox_init(struct mailbox *m, uint32_t max_mails, mailbox_wake wake, void *context)
{
    assert(max_mails > 0);
    assert(max_mails <= UINT32_MAX / 2); /* posters count themselves in before they look */
    *m = (struct mailbox){ .max_mails = max_mails, .wake = wake, .context = context };
}

void mailbox_fini(struct mailbox *m)
{
    assert(atomic_load(&m->newest) == NULL);
}

bool mailbox_post(struct mailbox *m, struct mail *own_mail)
{
    if (atomic_fetch_add_explicit(&m->n_mails, 1, memory_order_relaxed) >= m->max_mails) {
        atomic_fetch_sub_explicit(&m->n_mails, 1, memory_order_relaxed);
        return false;
    }
    /* After the swap the message may be gone: nothing of it is read any more. */
    struct mail *older = atomic_load_explicit(&m->newest, memory_order_relaxed);
    do
        own_mail->next = older;
    while (!atomic_compare_exchange_weak_explicit(&m->newest, &older, own_mail, memory_order_release,
                                                  memory_order_relaxed));
    if (!older && m->wake)
        m->wake(m->context);
    return true;
}

struct mail *mailbox_take(struct mailbox *m)
{
    struct mail *at = atomic_exchange_explicit(&m->newest, NULL, memory_order_acquire);
    struct mail *oldest = NULL;
    uint32_t n = 0;
    while (at) {
        struct mail *older = at->next;
        at->next = oldest;
        oldest = at;
        at = older;
        n++;
    }
    atomic_fetch_sub_explicit(&m->n_mails, n, memory_order_relaxed);
    return oldest;
}

bool bell_init(struct bell *b)
{
    b->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return b->fd >= 0;
}

void bell_fini(struct bell *b)
{
    close(b->fd);
    b->fd = -1;
}

void bell_ring(void *bell)
{
    const struct bell *b = bell;
    int saved = errno;
    /* Fails only when the counter is full, and then the bell has rung. */
    while (eventfd_write(b->fd, 1) < 0 && errno == EINTR)
        ;
    errno = saved;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool bell_wait(struct bell *b, int timeout_ms)
{
    int64_t deadline_ms = now_ms() + timeout_ms;
    struct pollfd wanted = { .fd = b->fd, .events = POLLIN };
    int rc;
    while ((rc = poll(&wanted, 1, timeout_ms)) < 0 && errno == EINTR) {
        int64_t left_ms = deadline_ms - now_ms();
        if (timeout_ms > 0)
            timeout_ms = left_ms > 0 ? (int)left_ms : 0;
    }
    eventfd_t n_rings;
    return rc > 0 && eventfd_read(b->fd, &n_rings) == 0;
}

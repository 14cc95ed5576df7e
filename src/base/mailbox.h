/* base/mailbox.h - the queue between threads: many post, one takes all.
 *
 * A message embeds a struct mail. Posting is one compare-and-swap and never blocks. Messages of one poster
 * arrive in the order in which it posted them. A mailbox holds at most max_mails messages: posting to a full
 * one returns false and the message stays the poster's, who decides (drop and count, retry, close).
 * The first message into an empty mailbox wakes the taker, later ones do not: a taker that was woken
 * takes everything.
 *
 * Thread: mailbox_post any; mailbox_take one consumer; init and fini while nobody posts.
 * Owns: nothing; a posted message belongs to the mailbox until it is taken. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mail {
    struct mail *next;
};

#define MAIL_ITEM(mail, type, member) ((type *)((uintptr_t)(mail) - offsetof(type, member)))

/* Called on the poster's thread; must not block. */
typedef void (*mailbox_wake)(void *context);

struct mailbox {
    _Atomic(struct mail *) newest;
    _Atomic uint32_t n_mails;
    uint32_t max_mails;
    mailbox_wake wake; /* may be NULL */
    void *context;     /* for wake */
};

void mailbox_init(struct mailbox *m, uint32_t max_mails, mailbox_wake wake, void *context);
/* It must be empty. */
void mailbox_fini(struct mailbox *m);

/* False when the mailbox is full. */
bool mailbox_post(struct mailbox *m, struct mail *own_mail);
/* All messages, oldest first, linked by next; NULL when there are none. */
struct mail *mailbox_take(struct mailbox *m);

/* A bell for takers that have no event loop: rings add up until the next wait, which takes them all. The
 * descriptor becomes readable on a ring, for loops that poll. One bell may serve several mailboxes.
 * Thread: bell_ring any, bell_wait one. */
struct bell {
    int fd;
};

/* False with errno when the system has no descriptor to give. */
bool bell_init(struct bell *b);
void bell_fini(struct bell *b);
/* A mailbox_wake, with the bell as context. */
void bell_ring(void *bell);
/* Waits for a ring; -1 waits for ever, 0 only looks. False when the time passed without one. */
bool bell_wait(struct bell *b, int timeout_ms);

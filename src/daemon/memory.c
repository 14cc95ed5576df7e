/* daemon/memory.c - see memory.h. */
#include "daemon/memory.h"

#include <malloc.h>

static void trim(void *context)
{
    (void)context;
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

static void trimmed(void *context)
{
    struct memory *m = context;
    m->busy = false;
}

static bool has_much_unused(void)
{
#ifdef __GLIBC__
    struct mallinfo2 info = mallinfo2();
    return info.fordblks > MEMORY_UNUSED_BYTES_MIN && info.fordblks > info.arena / 4;
#else
    return false;
#endif
}

void memory_tick(struct memory *m)
{
    int64_t now_ms = loop_now_ms(m->loop);
    if (m->busy || now_ms < m->next_ms)
        return;
    m->next_ms = now_ms + MEMORY_LOOK_MS;
    if (!has_much_unused())
        return;
    m->busy = true;
    loop_work(m->loop, trim, trimmed, m);
}

bool memory_is_busy(const struct memory *m)
{
    return m->busy;
}

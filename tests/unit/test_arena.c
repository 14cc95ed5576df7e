/* Arena: pieces are aligned and separate, marks rewind, reset keeps memory, large pieces work. */
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "tests/test.h"

TEST(pieces_are_aligned_and_do_not_overlap)
{
    struct arena a;
    arena_init(&a);
    unsigned char *pieces[500];
    for (size_t i = 0; i < 500; i++) {
        pieces[i] = arena_alloc(&a, i);
        CHECK(pieces[i] && (uintptr_t)pieces[i] % 16 == 0);
        memset(pieces[i], (int)(i & 0xff), i);
    }
    for (size_t i = 0; i < 500; i++)
        for (size_t k = 0; k < i; k++)
            CHECK(pieces[i][k] == (i & 0xff));
    arena_fini(&a);
}

TEST(a_piece_of_no_bytes_is_a_valid_pointer_even_as_the_first)
{
    struct arena a;
    arena_init(&a);
    void *first = arena_alloc(&a, 0), *second = arena_zalloc_n(&a, 0, 8);
    CHECK(first != NULL);
    CHECK(second != NULL);
    arena_fini(&a);
}

TEST(a_piece_larger_than_any_chunk_fits)
{
    struct arena a;
    arena_init(&a);
    char *big = arena_zalloc(&a, 5 << 20);
    CHECK(big[0] == 0);
    CHECK(big[(5 << 20) - 1] == 0);
    CHECK_TEXT("copy after it", arena_printf(&a, "%s-%d", "node", 7), "node-7");
    arena_fini(&a);
}

TEST(rewind_gives_back_what_came_after_the_mark)
{
    struct arena a;
    arena_init(&a);
    char *kept = arena_cstr(&a, STR("kept"));
    struct arena_mark mark = arena_save(&a);
    size_t n_bytes = a.n_bytes;
    for (int i = 0; i < 100; i++)
        arena_zalloc(&a, 4000);
    CHECK(a.n_bytes > n_bytes);
    arena_rewind(&a, mark);
    CHECK_INT("bytes", a.n_bytes, n_bytes);
    CHECK(arena_alloc(&a, 16) == (void *)mark.at);
    CHECK_TEXT("before the mark", kept, "kept");
    arena_fini(&a);
}

TEST(reset_keeps_one_chunk)
{
    struct arena a;
    arena_init(&a);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 1000; i++)
            arena_zalloc(&a, 1000);
        arena_reset(&a);
        CHECK(a.n_bytes > 0 && a.n_bytes < 2 << 20);
    }
    arena_fini(&a);
}

/* Also where a chunk is full to the last byte: a piece that takes no room there would be the next one, too. */
TEST(every_piece_has_an_address_of_its_own)
{
    for (size_t filler = 0; filler < 4200; filler++) {
        struct arena a;
        arena_init(&a);
        arena_alloc(&a, filler);
        char *empty = arena_alloc(&a, 0), *next = arena_alloc(&a, 16), *empty_again = arena_alloc(&a, 0);
        CHECK(empty != next);
        CHECK(next != empty_again);
        CHECK(empty != empty_again);
        arena_fini(&a);
    }
}

#ifdef ARENA_POISON
static void write_behind(struct arena *a, size_t n)
{
    volatile char *p = arena_alloc(a, n);
    arena_alloc(a, 100);
    p[n] = 1;
}

static void write_after_rewind(struct arena *a, size_t n)
{
    arena_alloc(a, 1);
    struct arena_mark mark = arena_save(a);
    volatile char *p = arena_alloc(a, n + 1);
    arena_rewind(a, mark);
    p[n] = 1;
}

static void write_after_reset(struct arena *a, size_t n)
{
    volatile char *p = arena_alloc(a, n + 1);
    arena_reset(a);
    p[n] = 1;
}

static void write_within(struct arena *a, size_t n)
{
    volatile char *p = arena_alloc(a, n + 1);
    p[n] = 1;
}

/* Whether a process that does it ends well. */
static bool survives(void (*fault)(struct arena *a, size_t n), size_t n)
{
    pid_t child = fork();
    if (child == 0) {
        dup2(open("/dev/null", O_WRONLY), STDERR_FILENO); /* the sanitizer's report */
        struct arena a;
        arena_init(&a);
        fault(&a, n);
        _exit(0);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    return status == 0;
}

TEST(the_sanitizer_sees_faults_inside_of_a_chunk)
{
    static const size_t sizes[] = { 0, 1, 15, 16, 17, 100, 5000 };
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        CHECK(survives(write_within, sizes[i]));
        CHECK(!survives(write_behind, sizes[i]));
        CHECK(!survives(write_after_rewind, sizes[i]));
        CHECK(!survives(write_after_reset, sizes[i]));
    }
}
#endif

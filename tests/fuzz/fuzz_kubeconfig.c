/* tests/fuzz/fuzz_kubeconfig.c - a kubeconfig file of any bytes is read and its context resolved, or refused with a
 * text. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "client/kubeconfig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Looks at every byte. */
static void check_text(struct str s)
{
    size_t n_zeros = 0;
    for (size_t i = 0; i < s.n; i++)
        n_zeros += s.p[i] == 0;
    if (n_zeros > s.n)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static int fd = -1;
    static char path[64];
    if (fd < 0) {
        fd = memfd_create("kubeconfig", 0);
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    }
    if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, n, 0) != (ssize_t)n)
        abort();
    struct arena a;
    struct err e;
    arena_init(&a);
    err_init(&e, &a);
    struct kubeconfig config;
    struct client_config c;
    if (kubeconfig_load(&a, &(struct kubeconfig_sources){ .path = path }, &config, &e) ||
        kubeconfig_resolve(&a, &config, NULL, &c, &e)) {
        if (!e.message || !*e.message)
            abort();
    } else {
        if (c.server.n == 0 || c.ns.n == 0)
            abort();
        check_text(c.ca_data);
        check_text(c.proxy_url);
        for (uint32_t i = 0; c.exec && i < c.exec->n_args; i++)
            check_text(c.exec->args[i]);
    }
    arena_fini(&a);
    return 0;
}

/* client/exec_plugin.h - one run of a program that prints credentials (client.authentication.k8s.io/v1 and v1beta1).
 *
 * The program gets the process's environment, what the configuration adds, and KUBERNETES_EXEC_INFO; it is never asked
 * to talk to a person. Its standard error is ours. Output and time are bounded. Texts of errors are client-go's.
 *
 * Thread: the loop's.    Owns: the process and its pipe; texts of a result are valid during the call. */
#pragma once

#include "api/time.h"
#include "client/kubeconfig.h"
#include "http/loop.h"

#define EXEC_OUTPUT_BYTES_MAX (1 << 20)
#define EXEC_RUN_MS 60000 /* then it is killed */

struct exec_result {
    struct str token, cert_pem, key_pem; /* empty: not given; the last two both or none */
    bool expires;
    struct timestamp expires_at;
};

/* `result` is NULL when it failed. */
typedef void (*exec_done)(void *context, const struct exec_result *result, const char *error);

struct exec_run;

/* Whether this configuration can be run at all. */
ERR_MUST_CHECK enum err_code exec_check(const struct client_exec *x, struct err *e);
/* `config` has `exec`, and must live until `done`, which is never called from within. run_ms 0: EXEC_RUN_MS. */
struct exec_run *exec_start(struct loop *l, const struct client_config *config, int64_t run_ms, exec_done done,
                            void *context);
/* Kills the program; `done` is not called. The loop must still turn. */
void exec_abandon(struct exec_run *r);

/* cmd/cluster_files.h - a cluster from the files that a user names with -f.
 *
 * Thread: main. */
#pragma once

#include "cmd/cmd.h"
#include "sim/input.h"

/* Every path is a file, a folder (its .yaml, .yml and .json files, by name) or - for standard input. An error names the
 * file. */
enum err_code cmd_load_cluster(struct sim_input *in, const char *const *paths, int n_paths,
                               struct err *e) ERR_MUST_CHECK;
/* What was odd about the input, on standard error. */
void cmd_print_warnings(const struct command *c, const struct sim_input *in);

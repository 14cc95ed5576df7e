/* cmd/version.c - `berth version`: what this binary was made from. */
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "build_info.h"
#include "cmd/cmd.h"

static const char help[] =
    "usage: berth version [-o text|json]\n\n"
    "Prints the version, the commit it was built from, the compiler and the libraries. The same\n"
    "source, compiler and libraries give the same text: no time and no host name is in it.\n\n"
    "examples:\n"
    "  berth version\n"
    "  berth version -o json\n";

static int run(const struct command *c, int argc, char **argv)
{
    const char *output = "text";
    for (int at = 1; at < argc;) {
        const char *value = cmd_option(c, "-o", argc, argv, &at);
        if (!value)
            return cmd_fail(c, EXIT_USAGE, "unknown argument \"%s\"", argv[at]);
        output = value;
    }
    if (strcmp(output, "json") == 0) {
        printf("{\"version\":\"%s\",\"commit\":\"%s\",\"kubernetes\":\"%s\",\"compiler\":\"%s\","
               "\"libraries\":{\"libyaml\":\"%s\"}}\n",
               BUILD_VERSION, BUILD_COMMIT, BUILD_KUBERNETES, BUILD_COMPILER, yaml_get_version_string());
        return 0;
    }
    if (strcmp(output, "text") != 0)
        return cmd_fail(c, EXIT_USAGE, "-o is text or json, not \"%s\"", output);
    printf("berth %s (commit %s)\n", BUILD_VERSION, BUILD_COMMIT);
    printf("decides as kube-scheduler %s\n", BUILD_KUBERNETES);
    printf("compiler: %s\n", BUILD_COMPILER);
    printf("libraries: libyaml %s\n", yaml_get_version_string());
    return 0;
}

const struct command version_command = {
    .name = "version",
    .summary = "version, commit, compiler and libraries",
    .help = help,
    .run = run,
};

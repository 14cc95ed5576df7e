/* cmd/version.c - `berth version`: what this binary was made from. */
#include <string.h>
#include <yaml.h>

#include "build_info.h"
#include "cmd/options.h"

static const char help[] =
    "usage: berth version [-o text|json]\n\n"
    "Prints the version, the commit it was built from, the compiler and the libraries. The same\n"
    "source, compiler and libraries give the same text: no time and no host name is in it.\n\n"
    "examples:\n"
    "  berth version\n"
    "  berth version -o json\n";

static void add_json(struct strbuf *to)
{
    strbuf_printf(to, "{\"version\":\"%s\",\"commit\":\"%s\",\"kubernetes\":\"%s\",\"compiler\":\"%s\","
                      "\"libraries\":{\"libyaml\":\"%s\"}}\n",
                  BUILD_VERSION, BUILD_COMMIT, BUILD_KUBERNETES, BUILD_COMPILER, yaml_get_version_string());
}

static void add_text(struct strbuf *to)
{
    strbuf_printf(to, "berth %s (commit %s)\n", BUILD_VERSION, BUILD_COMMIT);
    strbuf_printf(to, "decides as kube-scheduler %s\n", BUILD_KUBERNETES);
    strbuf_printf(to, "compiler: %s\n", BUILD_COMPILER);
    strbuf_printf(to, "libraries: libyaml %s\n", yaml_get_version_string());
}

static int take_output(void *context, const char *value)
{
    const char **output = context;
    *output = value;
    return 0;
}

static const struct cmd_options options = {
    .at = (const struct cmd_option[]){ { "-o", CMD_VALUE, take_output, NULL }, { 0 } },
};

static int run(const struct command *c, int argc, char **argv)
{
    const char *output = "text";
    int code = cmd_options_parse(c, &options, &output, argc, argv);
    if (code)
        return code;
    bool json = strcmp(output, "json") == 0;
    if (!json && strcmp(output, "text") != 0)
        return cmd_fail(c, EXIT_USAGE, "-o is text or json, not \"%s\"", output);
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    (json ? add_json : add_text)(&text);
    code = cmd_print(c, json ? CMD_JSON : CMD_TEXT, strbuf_str(&text));
    strbuf_fini(&text);
    return code;
}

const struct command version_command = {
    .name = "version",
    .summary = "version, commit, compiler and libraries",
    .help = help,
    .run = run,
};

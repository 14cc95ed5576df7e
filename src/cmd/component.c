/* cmd/component.c - see component.h. */
#include "cmd/component.h"

#include "base/log.h"
#include "base/printable.h"
#include "build_info.h"

#if defined(__x86_64__)
#define PLATFORM "linux/amd64"
#elif defined(__aarch64__)
#define PLATFORM "linux/arm64"
#else
#define PLATFORM "linux"
#endif

/* ---- Before there is logging ---- */

int component_refuse(const char *label, const char *message)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    strbuf_add_text(&text, label);
    printable_add(&text, str_of(message));
    strbuf_add_char(&text, '\n');
    cmd_write_error(strbuf_str(&text));
    strbuf_fini(&text);
    return 1;
}

bool component_has_arguments(const struct flag_given *given)
{
    bool any = false;
    for (size_t i = 0; i < given->arguments.n; i++)
        any |= given->arguments.at[i].n > 0;
    return any;
}

int component_refuse_arguments(const char *program, const struct flag_given *given)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    strbuf_printf(&text, "\"%s\" does not take any arguments, got [", program);
    for (size_t i = 0; i < given->arguments.n; i++) {
        strbuf_add_text(&text, i ? " " : "");
        strbuf_add_quoted_shown(&text, given->arguments.at[i]);
    }
    strbuf_add_char(&text, ']');
    int code = component_refuse("Error: ", strbuf_cstr(&text));
    strbuf_fini(&text);
    return code;
}

bool component_asks_version(struct str flag)
{
    return str_is(flag, "true") || str_is(flag, "raw");
}

/* In the form of upstream's: what is Go's there is empty or the compiler's. */
int component_print_version(const struct command *c, struct str flag)
{
    struct strbuf text;
    strbuf_init(&text, STRBUF_NO_MAX);
    if (str_is(flag, "raw"))
        strbuf_printf(&text,
                      "version.Info{Major:\"1\", Minor:\"36\", EmulationMajor:\"\", EmulationMinor:\"\", "
                      "MinCompatibilityMajor:\"\", MinCompatibilityMinor:\"\", GitVersion:\"%s\", GitCommit:\"%s\", "
                      "GitTreeState:\"\", BuildDate:\"1970-01-01T00:00:00Z\", GoVersion:\"\", Compiler:\"%s\", "
                      "Platform:\"%s\"}\n",
                      BUILD_KUBERNETES, BUILD_COMMIT, BUILD_COMPILER, PLATFORM);
    else
        strbuf_printf(&text, "Kubernetes %s\n", BUILD_KUBERNETES);
    int code = cmd_print(c, CMD_TEXT, strbuf_str(&text));
    strbuf_fini(&text);
    return code;
}

/* ---- Logging ---- */

void component_log_gates(const struct gates *g)
{
    for (enum gate i = 0; i < N_GATES; i++) {
        enum gate_stage stage = gate_stage(g, i);
        if (g->named[i] && stage == STAGE_DEPRECATED)
            LOG(0, "Warning: setting deprecated feature gate. It will be removed in a future release.",
                KS("featureGate", gate_name(i)), KB("value", g->on[i]));
        else if (g->named[i] && stage == STAGE_GA)
            LOG(0, "Warning: setting GA feature gate. It will be removed in a future release.",
                KS("featureGate", gate_name(i)), KB("value", g->on[i]));
    }
}

void component_log_alpha_gates(const struct gates *g, struct arena *a)
{
    struct strbuf names;
    strbuf_init(&names, STRBUF_NO_MAX);
    for (enum gate i = 0; i < N_GATES; i++)
        if (gate_on(g, i) && gate_stage(g, i) == STAGE_ALPHA)
            strbuf_printf(&names, "%s%s", names.n ? " " : "", gate_name(i));
    if (names.n)
        LOG_WARNING(arena_printf(a,
                                 "component has alpha features enabled in emulated version, this is unsupported: "
                                 "features=[%s]",
                                 strbuf_cstr(&names)));
    strbuf_fini(&names);
}

void component_log_flags(const struct flag_set *s, const void *values, struct arena *a)
{
    size_t n;
    if (!LOG_ON(1))
        return;
    struct flag_text *texts = flag_set_texts(s, values, a, &n);
    for (size_t i = 0; i < n; i++)
        LOG_PLAIN(1, arena_printf(a, "FLAG: --%s=%s", texts[i].name, flag_quoted(a, texts[i].value)));
}

/* ---- The build ---- */

static const char *version_text(struct arena *a, const struct component_version *v)
{
    return arena_printf(a, "%llu.%llu", (unsigned long long)v->major, (unsigned long long)v->minor);
}

struct component_build component_build(const struct gates *g, struct arena *a)
{
    return (struct component_build){ .major = "1", .minor = "36", .git_version = BUILD_KUBERNETES,
                                     .git_commit = BUILD_COMMIT, .git_tree_state = "",
                                     .build_date = "1970-01-01T00:00:00Z", .compiler = BUILD_COMPILER,
                                     .platform = PLATFORM, .binary = "1.36.4",
                                     .emulation = version_text(a, &g->versions.emulated),
                                     .min_compat = version_text(a, &g->versions.min_compatible) };
}

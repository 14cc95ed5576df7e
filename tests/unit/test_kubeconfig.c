/* Which server and who, from kubeconfig files: client/kubeconfig.c, kubeconfig_resolve.c. The wanted texts are the
 * real client's for the same files. */
#include "client/kubeconfig.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "tests/test.h"

static struct arena arena;
static struct err error;
static char folder[] = "/tmp/berth-kubeconfig-XXXXXX";

static void begin(void)
{
    arena_init(&arena);
    err_init(&error, &arena);
    CHECK(mkdtemp(folder));
    CHECK(chdir(folder) == 0);
}

static void end(void)
{
    CHECK(chdir("/") == 0);
    CHECK(system(arena_printf(&arena, "rm -r %s", folder)) == 0);
    arena_fini(&arena);
}

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

/* One line that says all, as far as it is given. */
static const char *shown(const struct client_config *c)
{
    struct strbuf b;
    strbuf_init(&b, 1 << 16);
    const struct { const char *name; struct str text; } texts[] = {
        { "server", c->server }, { "sni", c->tls_server_name }, { "ca", c->ca_file }, { "ca-data", c->ca_data },
        { "proxy", c->proxy_url }, { "cert", c->cert_file }, { "cert-data", c->cert_data }, { "key", c->key_file },
        { "key-data", c->key_data }, { "token", c->token }, { "token-file", c->token_file },
        { "user", c->username }, { "password", c->password }, { "as", c->as_user }, { "as-uid", c->as_uid },
    };
    for (unsigned i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        if (texts[i].text.n)
            strbuf_printf(&b, "%s=%.*s ", texts[i].name, STR_ARG(texts[i].text));
    for (uint32_t i = 0; i < c->n_as_groups; i++)
        strbuf_printf(&b, "group=%.*s ", STR_ARG(c->as_groups[i]));
    for (uint32_t i = 0; i < c->n_as_extra; i++)
        for (uint32_t k = 0; k < c->as_extra[i].n; k++)
            strbuf_printf(&b, "extra=%.*s:%.*s ", STR_ARG(c->as_extra[i].key), STR_ARG(c->as_extra[i].values[k]));
    strbuf_printf(&b, "%s%sns=%.*s", c->insecure_skip_tls_verify ? "insecure " : "",
                  c->disable_compression ? "plain " : "", STR_ARG(c->ns));
    const char *text = arena_cstr(&arena, strbuf_str(&b));
    strbuf_fini(&b);
    return text;
}

static const char *outcome(const struct kubeconfig_sources *from, const struct kubeconfig_overrides *overrides)
{
    struct kubeconfig config;
    struct client_config c;
    if (kubeconfig_load(&arena, from, &config, &error) || kubeconfig_resolve(&arena, &config, overrides, &c, &error))
        return arena_printf(&arena, "error: %s", error.message);
    return shown(&c);
}

#define HEAD "apiVersion: v1\nkind: Config\ncurrent-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
#define CLUSTER(more) "clusters: [{name: c, cluster: {server: 'https://h:1'" more "}}]\n"
#define USER(text) "users: [{name: u, user: {" text "}}]\n"
#define EXEC(text) HEAD CLUSTER("") USER("exec: {" text "}")

static const struct {
    const char *name, *file, *want;
} files[] = {
    { "a server alone", HEAD CLUSTER(""), "server=https://h:1 ns=default" },
    { "JSON is YAML, too",
      "{\"current-context\":\"x\",\"contexts\":[{\"name\":\"x\",\"context\":{\"cluster\":\"c\",\"namespace\":\"n\"}}],"
      "\"clusters\":[{\"name\":\"c\",\"cluster\":{\"server\":\"http://h\"}}]}",
      "server=http://h ns=n" },
    { "everything of a cluster",
      HEAD CLUSTER(", tls-server-name: s, insecure-skip-tls-verify: true, proxy-url: 'socks5://p:1', disable-compression: true"),
      "server=https://h:1 sni=s proxy=socks5://p:1 insecure plain ns=default" },
    { "data is decoded", HEAD CLUSTER(", certificate-authority-data: aGVsbG8=") USER("token: t"),
      "server=https://h:1 ca-data=hello token=t ns=default" },
    { "data that is not base64", HEAD CLUSTER(", certificate-authority-data: '!'"),
      "error: error loading config file \"f\": illegal base64 data at input byte 0" },
    { "whom to be", HEAD CLUSTER("") USER("as: a, as-uid: '7', as-groups: [g, h], as-user-extra: {k: [v, w]}"),
      "server=https://h:1 as=a as-uid=7 group=g group=h extra=k:v extra=k:w ns=default" },
    { "groups without a user", HEAD CLUSTER("") USER("as-groups: [g]"),
      "error: invalid configuration: requesting uid, groups or user-extra for u without impersonating a user" },
    { "name and password", HEAD CLUSTER("") USER("username: a, password: b"),
      "server=https://h:1 user=a password=b ns=default" },
    { "two ways to say who", HEAD CLUSTER("") USER("username: a, token: b"),
      "error: invalid configuration: more than one authentication method found for u; found [token basicAuth], only one "
      "is allowed" },
    { "a certificate without a key", HEAD CLUSTER("") USER("client-certificate-data: aGVsbG8="),
      "error: invalid configuration: client-key-data or client-key must be specified for u to use the clientCert "
      "authentication method." },
    { "a file that is not there", HEAD CLUSTER(", certificate-authority: /no/ca"),
      "error: invalid configuration: unable to read certificate-authority /no/ca for c due to open /no/ca: no such file "
      "or directory" },
    { "two faults", HEAD CLUSTER(", certificate-authority: /no/ca") USER("as-uid: '1'"),
      "error: invalid configuration: [requesting uid, groups or user-extra for u without impersonating a user, unable to "
      "read certificate-authority /no/ca for c due to open /no/ca: no such file or directory]" },
    { "a cluster without a server", HEAD "clusters: [{name: c, cluster: {tls-server-name: s}}]\n",
      "error: invalid configuration: no server found for cluster \"c\"" },
    { "a proxy of an unknown kind", HEAD CLUSTER(", proxy-url: 'ftp://p'"),
      "error: invalid configuration: invalid 'proxy-url' \"ftp://p\" for cluster \"c\": unsupported scheme \"ftp\", must "
      "be http, https, or socks5" },
    { "a context that is not there", "current-context: w\n",
      "error: invalid configuration: [context was not found for specified context: w, cluster has no server defined]" },
    { "nothing", "",
      "error: invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment "
      "variable" },
    { "another kind", "apiVersion: v1\nkind: Pod\n",
      "error: error loading config file \"f\": no kind \"Pod\" is registered for version \"v1\" in scheme "
      "\"pkg/runtime/scheme.go:111\"" },
    { "a name twice", "clusters: [{name: c}, {name: c}]\n",
      "error: error loading config file \"f\": duplicate name \"c\" in list of clusters" },
    { "a field that nobody knows", HEAD CLUSTER("") "preferences: {colors: true}\nfuture: 1\n",
      "server=https://h:1 ns=default" },
    { "a plugin without a mode", EXEC("command: p, apiVersion: client.authentication.k8s.io/v1"),
      "error: invalid configuration: interactiveMode must be specified for u to use exec authentication plugin" },
    { "a plugin without anything", EXEC("env: [{value: v}]"),
      "error: invalid configuration: [command must be specified for u to use exec authentication plugin, apiVersion must "
      "be specified for u to use exec authentication plugin, env variable name must be specified for u to use exec "
      "authentication plugin, interactiveMode must be specified for u to use exec authentication plugin]" },
    { "a plugin with an odd mode",
      EXEC("command: p, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Sometimes"),
      "error: invalid configuration: invalid interactiveMode for u: \"Sometimes\"" },
};

TEST(a_file)
{
    begin();
    for (unsigned i = 0; i < sizeof(files) / sizeof(*files); i++) {
        put("f", files[i].file);
        CHECK_TEXT(files[i].name, outcome(&(struct kubeconfig_sources){ .path = "f" }, NULL), files[i].want);
    }
    end();
}

TEST(paths_are_relative_to_their_file)
{
    begin();
    CHECK(mkdir("sub", 0700) == 0);
    put("sub/ca", "");
    put("sub/cert", "");
    put("sub/key", "");
    put("sub/f", HEAD CLUSTER(", certificate-authority: ca")
                     USER("client-certificate: cert, client-key: ../sub/key, tokenFile: t, "
                          "exec: {command: ./bin/p, apiVersion: client.authentication.k8s.io/v1beta1, args: [a, b], "
                          "env: [{name: E, value: V}], installHint: h, provideClusterInfo: true}"));
    struct kubeconfig config;
    struct client_config c;
    CHECK(kubeconfig_load(&arena, &(struct kubeconfig_sources){ .path = "sub/f" }, &config, &error) == ERR_OK);
    CHECK(kubeconfig_resolve(&arena, &config, NULL, &c, &error) == ERR_OK);
    CHECK_TEXT("files", shown(&c),
               arena_printf(&arena, "server=https://h:1 ca=%s/sub/ca cert=%s/sub/cert key=%s/sub/../sub/key "
                                    "token-file=%s/sub/t ns=default", folder, folder, folder, folder));
    CHECK_STR("command", c.exec->command, str_of(arena_printf(&arena, "%s/sub/./bin/p", folder)));
    CHECK_INT("args", c.exec->n_args, 2);
    CHECK_STR("last arg", c.exec->args[1], STR("b"));
    CHECK_STR("env", c.exec->env[0].value, STR("V"));
    CHECK_STR("hint", c.exec->install_hint, STR("h"));
    CHECK_STR("mode by default in v1beta1", c.exec->interactive_mode, STR("IfAvailable"));
    CHECK(c.exec->provide_cluster_info);
    end();
}

TEST(a_plugin_gets_what_the_cluster_has_for_it)
{
    begin();
    put("f", HEAD CLUSTER(", extensions: [{name: other, extension: {z: 1}}, "
                          "{name: client.authentication.k8s.io/exec, extension: {audience: me}}]")
                 USER("exec: {command: p, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}"));
    struct kubeconfig config;
    struct client_config c;
    CHECK(kubeconfig_load(&arena, &(struct kubeconfig_sources){ .path = "f" }, &config, &error) == ERR_OK);
    CHECK(kubeconfig_resolve(&arena, &config, NULL, &c, &error) == ERR_OK);
    CHECK_STR("extension", c.exec->cluster_extension, STR("{\"audience\":\"me\"}"));
    CHECK_STR("looked up in $PATH", c.exec->command, STR("p"));
    end();
}

/* Of equal names the first file's counts, and so does its current context. */
TEST(several_files)
{
    begin();
    put("one", "current-context: x\nclusters: [{name: c, cluster: {server: 'https://one'}}]\n");
    put("two", "current-context: w\nclusters: [{name: c, cluster: {server: 'https://two'}}, {name: d, cluster: {server: "
               "'https://d'}}]\ncontexts: [{name: x, context: {cluster: c}}, {name: w, context: {cluster: d, user: v}}]\n");
    put("bad", "}");
    static const struct {
        const char *name, *env;
        struct kubeconfig_overrides overrides;
        const char *want;
    } rows[] = {
        { "the first counts", "one:two", { 0 }, "server=https://one ns=default" },
        { "the other way round", "two:one", { 0 }, "server=https://d ns=default" },
        { "missing ones and empty names are passed over", ":none::one:two:one:", { 0 }, "server=https://one ns=default" },
        { "another context", "one:two", { .context = "w" }, "server=https://d ns=default" },
        { "no such context", "one:two", { .context = "z" }, "error: context \"z\" does not exist" },
        { "another cluster", "one:two", { .cluster = "d" }, "server=https://d ns=default" },
        { "no such cluster", "one:two", { .cluster = "e" }, "error: cluster \"e\" does not exist" },
        { "no such user", "one:two", { .user = "e" }, "error: auth info \"e\" does not exist" },
        { "another server", "one:two", { .server = "http://s", .ns = "n" }, "server=http://s ns=n" },
        { "a server and no file", "none", { .server = "http://s" }, "server=http://s ns=default" },
        { "a folder", "one:.", { 0 }, "error: error loading config file \".\": read .: is a directory" },
        { "a broken file", "one:bad", { 0 },
          "error: error loading config file \"bad\": yaml: did not find expected node content" },
    };
    for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        CHECK_TEXT(rows[i].name, outcome(&(struct kubeconfig_sources){ .env = rows[i].env }, &rows[i].overrides),
                   rows[i].want);
    CHECK_TEXT("a named file must exist", outcome(&(struct kubeconfig_sources){ .path = "none", .env = "one" }, NULL),
               "error: stat none: no such file or directory");
    end();
}

TEST(the_file_at_home)
{
    begin();
    CHECK(mkdir(".kube", 0700) == 0);
    put(".kube/config", HEAD CLUSTER(""));
    CHECK_TEXT("home", outcome(&(struct kubeconfig_sources){ .home = folder }, NULL), "server=https://h:1 ns=default");
    CHECK_TEXT("not if KUBECONFIG says something", outcome(&(struct kubeconfig_sources){ .home = folder, .env = "none" }, NULL),
               "error: invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER "
               "environment variable");
    end();
}

TEST(in_a_pod)
{
    begin();
    struct client_config c;
    CHECK(client_config_in_cluster(&arena, NULL, "443", folder, &c, &error) == ERR_NOT_FOUND);
    CHECK_TEXT("no pod", error.message,
               "unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be "
               "defined");
    CHECK(client_config_in_cluster(&arena, "10.0.0.1", "443", folder, &c, &error) == ERR_NOT_FOUND);
    put("token", "secret");
    CHECK(client_config_in_cluster(&arena, "fd00::1", "443", folder, &c, &error) == ERR_OK);
    CHECK_TEXT("without a CA", shown(&c),
               arena_printf(&arena, "server=https://[fd00::1]:443 token=secret token-file=%s/token ns=default", folder));
    put("ca.crt", "x");
    put("namespace", "here");
    CHECK(client_config_in_cluster(&arena, "10.0.0.1", "443", folder, &c, &error) == ERR_OK);
    CHECK_TEXT("all of it", shown(&c),
               arena_printf(&arena, "server=https://10.0.0.1:443 ca=%s/ca.crt token=secret token-file=%s/token ns=here",
                            folder, folder));
    end();
}

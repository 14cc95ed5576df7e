/* config/policy_source.c - see policy_source.h. */
#include "config/policy_source.h"

#include <errno.h>
#include <unistd.h>

static bool given(const char *flag)
{
    return flag && *flag;
}

static enum err_code read_file(void *context, struct arena *a, const char *path, struct str *ret_text, struct err *e)
{
    (void)context;
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return err_set(e, ERR_NOT_FOUND, "no such file");
    return config_read_file(a, path, ret_text, e);
}

static enum err_code no_configmaps(void *context, struct arena *a, const char *ns, const char *name,
                                   struct str *ret_text, struct err *e)
{
    (void)context;
    (void)a;
    (void)ns;
    (void)name;
    (void)ret_text;
    return err_set(e, ERR_NOT_FOUND, "there is no API server to ask");
}

const struct policy_reader policy_files = { NULL, read_file, no_configmaps };

static enum err_code choose_file(struct arena *a, const char *path, const struct policy_reader *reader,
                                 struct setup_legacy *to, struct err *e)
{
    enum err_code code = reader->file(reader->context, a, path, &to->policy, e);
    if (code == ERR_NOT_FOUND)
        return err_set(e, ERR_INVALID, "missing policy config file %s", path);
    if (code)
        return err_wrap(e, "couldn't read policy config");
    to->has_policy = true;
    return ERR_OK;
}

static enum err_code choose_configmap(struct arena *a, const char *ns, const char *name,
                                      const struct policy_reader *reader, struct setup_legacy *to, struct err *e)
{
    if (reader->configmap(reader->context, a, ns, name, &to->policy, e))
        return err_wrap(e, "couldn't get policy config map %s/%s", ns, name);
    if (!to->policy.p)
        return err_set(e, ERR_INVALID, "missing policy config map value at key \"" POLICY_KEY "\"");
    to->has_policy = true;
    return ERR_OK;
}

enum err_code policy_choose(struct arena *a, const struct policy_flags *f, const struct policy_reader *reader,
                            struct setup_legacy *to, struct err *e)
{
    if (f->use_legacy_config && !given(f->config_file))
        return err_set(e, ERR_INVALID,
                       "policyConfigFile: Required value: required when --use-legacy-policy-config is true");
    if (f->hard_pod_affinity_weight < 0 || f->hard_pod_affinity_weight > 100)
        return err_set(e, ERR_INVALID, "hardPodAffinitySymmetricWeight: Invalid value: %lld: not in valid range [0-100]",
                       (long long)f->hard_pod_affinity_weight);
    to->hard_pod_affinity_weight = f->hard_pod_affinity_weight;
    if (f->use_legacy_config || (given(f->config_file) && !given(f->configmap)))
        return choose_file(a, f->config_file, reader, to, e);
    if (given(f->configmap))
        return choose_configmap(a, given(f->configmap_namespace) ? f->configmap_namespace : "kube-system",
                                f->configmap, reader, to, e);
    to->provider = given(f->provider) ? f->provider : NULL;
    return ERR_OK;
}

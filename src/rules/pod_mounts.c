/* rules/pod_mounts.c - see pod_priv.h: where a container finds its volumes, as files or as block devices. */
#include "rules/pod_priv.h"

/* By name the path that counts (the last one), and all those paths. */
struct places {
    struct map_str names, paths;
};

static void find_places(struct places *p, const struct value *list, unsigned name_slot, unsigned path_slot)
{
    map_str_init(&p->names);
    map_str_init(&p->paths);
    for (uint32_t i = 0; i < pod_count(list); i++)
        map_str_put(&p->names, value_text(value_slot(&list->items[i], name_slot)), NULL)->num = i;
    for (struct map_str_slot *s = NULL; (s = map_str_next(&p->names, s));)
        pod_add_new(&p->paths, value_text(value_slot(&list->items[s->value.num], path_slot)));
}

static void forget_places(struct places *p)
{
    map_str_fini(&p->names);
    map_str_fini(&p->paths);
}

/* ---- Mounts ---- */

/* Paths of these checks are those of the list: the index is missing, as upstream. */
static void check_propagation(const struct value *mount, const struct value *container, const struct field_path *at,
                              struct field_errors *errs)
{
    static const char *const modes[] = { "Bidirectional", "HostToContainer", "None", NULL };
    struct str mode = TEXT(mount, VolumeMount, mountPropagation);
    if (!IS_SET(mount, VolumeMount, mountPropagation))
        return;
    pod_check_one_of(mode, modes, at, errs);
    bool privileged = FLAG(GET(container, Container, securityContext), SecurityContext, privileged);
    if (str_is(mode, "Bidirectional") && !privileged)
        field_forbidden(errs, at, STR("Bidirectional mount propagation is available only to privileged containers"));
}

static void check_recursive(const struct value *mount, const struct field_path *at, struct field_errors *errs)
{
    static const char *const modes[] = { "Disabled", "Enabled", "IfPossible", NULL };
    struct str mode = TEXT(mount, VolumeMount, recursiveReadOnly);
    if (!IS_SET(mount, VolumeMount, recursiveReadOnly) || !pod_check_one_of(mode, modes, at, errs) ||
        str_is(mode, "Disabled"))
        return;
    if (!FLAG(mount, VolumeMount, readOnly))
        field_forbidden(errs, at, STR("may only be specified when readOnly is true"));
    if (IS_SET(mount, VolumeMount, mountPropagation) && !str_is(TEXT(mount, VolumeMount, mountPropagation), "None"))
        field_forbidden(errs, at, STR("may only be specified when mountPropagation is None or not specified"));
}

static void check_sub_paths(const struct value *mount, const struct field_path *list, const struct field_path *at,
                            struct field_errors *errs)
{
    struct str sub = TEXT(mount, VolumeMount, subPath), expr = TEXT(mount, VolumeMount, subPathExpr);
    if (sub.n)
        pod_check_descending_path(sub, AT(list, "subPath"), errs);
    if (expr.n && sub.n)
        field_invalid(errs, AT(at, "subPathExpr"), field_str(expr), STR("subPathExpr and subPath are mutually exclusive"));
    if (expr.n)
        pod_check_descending_path(expr, AT(list, "subPathExpr"), errs);
}

static void check_mount_place(struct pod_check *k, const struct value *mount, const struct places *devices,
                              struct map_str *seen, const struct field_path *at)
{
    struct str name = TEXT(mount, VolumeMount, name), path = TEXT(mount, VolumeMount, mountPath);
    pod_require(name, at, "name", k->errs);
    if (!map_str_find(&k->volumes, name))
        field_not_found(k->errs, AT(at, "name"), field_str(name));
    pod_require(path, at, "mountPath", k->errs);
    if (!pod_add_new(seen, path))
        field_invalid(k->errs, AT(at, "mountPath"), field_str(path), STR("must be unique"));
    if (map_str_find(&devices->names, name))
        field_invalid(k->errs, AT(at, "name"), field_str(name), STR("must not already exist in volumeDevices"));
    if (map_str_find(&devices->paths, path))
        field_invalid(k->errs, AT(at, "mountPath"), field_str(path),
                      STR("must not already exist as a path in volumeDevices"));
}

void pod_check_mounts(struct pod_check *k, const struct value *container, const struct field_path *at)
{
    const struct value *mounts = GET(container, Container, volumeMounts);
    struct places devices;
    struct map_str seen;
    find_places(&devices, GET(container, Container, volumeDevices), SLOT_core_v1_VolumeDevice_name,
                SLOT_core_v1_VolumeDevice_devicePath);
    map_str_init(&seen);
    for (uint32_t i = 0; i < pod_count(mounts); i++) {
        const struct value *mount = &mounts->items[i];
        const struct field_path *path = AT_INDEX(at, i);
        check_mount_place(k, mount, &devices, &seen, path);
        check_sub_paths(mount, at, path, k->errs);
        check_propagation(mount, container, AT(at, "mountPropagation"), k->errs);
        check_recursive(mount, AT(at, "recursiveReadOnly"), k->errs);
    }
    map_str_fini(&seen);
    forget_places(&devices);
}

/* ---- Devices ---- */

static void check_device_name(struct pod_check *k, struct str name, bool is_new, const struct field_path *at)
{
    const union map_value *found = map_str_find(&k->volumes, name);
    const struct value *volume = found ? found->const_ptr : NULL;
    pod_require(name, at->parent, "name", k->errs);
    if (!is_new)
        field_invalid(k->errs, at, field_str(name), STR("must be unique"));
    if (!volume)
        field_not_found(k->errs, at, field_str(name));
    else if (!IS_SET(volume, Volume, persistentVolumeClaim) && !IS_SET(volume, Volume, ephemeral))
        field_invalid(k->errs, at, field_str(name),
                      STR("can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"));
}

static void check_device_path(struct pod_check *k, struct str path, struct map_str *seen, const struct field_path *at)
{
    pod_require(path, at->parent, "devicePath", k->errs);
    if (map_str_find(seen, path))
        field_invalid(k->errs, at, field_str(path), STR("must be unique"));
    if (pod_has_backstep(path))
        field_invalid(k->errs, at, field_str(path), STR("can not contain backsteps ('..')"));
    else
        pod_add_new(seen, path);
}

void pod_check_devices(struct pod_check *k, const struct value *container, const struct field_path *at)
{
    const struct value *devices = GET(container, Container, volumeDevices);
    struct places mounts;
    struct map_str names, paths;
    find_places(&mounts, GET(container, Container, volumeMounts), SLOT_core_v1_VolumeMount_name,
                SLOT_core_v1_VolumeMount_mountPath);
    map_str_init(&names);
    map_str_init(&paths);
    for (uint32_t i = 0; i < pod_count(devices); i++) {
        struct str name = TEXT(&devices->items[i], VolumeDevice, name);
        struct str path = TEXT(&devices->items[i], VolumeDevice, devicePath);
        const struct field_path *item = AT_INDEX(at, i);
        bool is_new = !name.n || pod_add_new(&names, name);
        check_device_name(k, name, is_new, AT(item, "name"));
        check_device_path(k, path, &paths, AT(item, "devicePath"));
        if (map_str_find(&mounts.names, name))
            field_invalid(k->errs, AT(item, "name"), field_str(name), STR("must not already exist in volumeMounts"));
        if (map_str_find(&mounts.paths, path))
            field_invalid(k->errs, AT(item, "devicePath"), field_str(path),
                          STR("must not already exist as a path in volumeMounts"));
    }
    map_str_fini(&names);
    map_str_fini(&paths);
    forget_places(&mounts);
}

/* Volumes and claims. */
#include "forms/volume.h"

#include "tests/test.h"
#include "tests/unit/typed_world.h"

static const struct pv *decode_pv(struct world *w, const char *json)
{
    const struct pv *v;
    if (pv_decode(&w->syms, TYPED_JSON, str_of(json), &v, &w->e))
        FAIL("%s: %s", json, w->e.message);
    return v;
}

static const struct pvc *decode_pvc(struct world *w, const char *json)
{
    const struct pvc *c;
    if (pvc_decode(&w->syms, TYPED_JSON, str_of(json), &c, &w->e))
        FAIL("%s: %s", json, w->e.message);
    return c;
}

TEST(storage_compares_exactly)
{
    static const struct {
        const char *one, *other;
        int want;
    } rows[] = {
        { "1Gi", "1073741824", 0 }, { "1500m", "1.5", 0 },  { "1500m", "2", -1 }, { "1.6", "1500m", 1 },
        { "1", "1000000001n", -1 }, { "0", "0", 0 },        { "-1", "-1500m", 1 }, { "9E", "8Ei", -1 },
        { "1e30", "2e30", 0 }, /* both are beyond what is counted */
    };
    struct world w;
    world_init(&w);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const char *format = "{\"spec\":{\"capacity\":{\"storage\":\"%s\"}}}";
        const struct pv *one = decode_pv(&w, arena_printf(&w.arena, format, rows[i].one));
        const struct pv *other = decode_pv(&w, arena_printf(&w.arena, format, rows[i].other));
        CHECK_INT(rows[i].one, storage_cmp(&one->capacity, &other->capacity), rows[i].want);
        CHECK_INT(rows[i].one, storage_cmp(&other->capacity, &one->capacity), -rows[i].want);
        pv_unref(&w.syms, one);
        pv_unref(&w.syms, other);
    }
    const struct pv *v = decode_pv(&w, "{\"spec\":{\"capacity\":{\"storage\":\"1500m\"}}}");
    CHECK_INT("rounded up elsewhere", v->capacity.bytes, 2);
    pv_unref(&w.syms, v);
    v = decode_pv(&w, "{}");
    CHECK(!v->capacity.given && !v->claim && !v->affinity.given && v->source == PV_SOURCE_OTHER);
    CHECK_TEXT("handle", v->handle, "");
    pv_unref(&w.syms, v);
    world_fini(&w);
}

TEST(sources_have_a_handle)
{
    static const struct {
        const char *name, *source;
        enum pv_source want;
        const char *handle;
        bool unmanaged;
    } rows[] = {
        { "csi", "\"csi\":{\"driver\":\"d\",\"volumeHandle\":\"h\"}", PV_SOURCE_CSI, "h", false },
        { "ebs", "\"awsElasticBlockStore\":{\"volumeID\":\"aws://z/vol-1\"}", PV_SOURCE_AWS_EBS, "aws://z/vol-1", false },
        { "gce", "\"gcePersistentDisk\":{\"pdName\":\"pd\"}", PV_SOURCE_GCE_PD, "pd", false },
        { "azure disk", "\"azureDisk\":{\"diskURI\":\"u\"}", PV_SOURCE_AZURE_DISK, "u", false },
        { "managed azure disk", "\"azureDisk\":{\"diskURI\":\"u\",\"kind\":\"managed\"}", PV_SOURCE_AZURE_DISK, "u", false },
        { "shared azure disk", "\"azureDisk\":{\"diskURI\":\"u\",\"kind\":\"Shared\"}", PV_SOURCE_AZURE_DISK, "u", true },
        { "azure file", "\"azureFile\":{\"shareName\":\"s\"}", PV_SOURCE_AZURE_FILE, "", false },
        { "cinder", "\"cinder\":{\"volumeID\":\"c\"}", PV_SOURCE_CINDER, "c", false },
        { "portworx", "\"portworxVolume\":{\"volumeID\":\"p\"}", PV_SOURCE_PORTWORX, "p", false },
        { "vsphere", "\"vsphereVolume\":{\"volumePath\":\"p\"}", PV_SOURCE_VSPHERE, "", false },
        { "nfs", "\"nfs\":{\"path\":\"/\"}", PV_SOURCE_OTHER, "", false },
    };
    struct world w;
    world_init(&w);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct pv *v = decode_pv(&w, arena_printf(&w.arena, "{\"spec\":{%s}}", rows[i].source));
        CHECK_INT(rows[i].name, v->source, rows[i].want);
        CHECK_TEXT(rows[i].name, v->handle, rows[i].handle);
        CHECK_INT(rows[i].name, v->unmanaged_disk, rows[i].unmanaged);
        pv_unref(&w.syms, v);
    }
    world_fini(&w);
}

TEST(the_annotation_goes_before_the_class)
{
    static const struct {
        const char *name, *json, *want;
    } rows[] = {
        { "none", "{}", "" },
        { "spec", "{\"spec\":{\"storageClassName\":\"new\"}}", "new" },
        { "annotation", "{\"metadata\":{\"annotations\":{\"volume.beta.kubernetes.io/storage-class\":\"old\"}},"
          "\"spec\":{\"storageClassName\":\"new\"}}", "old" },
        { "an empty annotation counts", "{\"metadata\":{\"annotations\":{\"volume.beta.kubernetes.io/storage-class\":\"\"}},"
          "\"spec\":{\"storageClassName\":\"new\"}}", "" },
    };
    struct world w;
    world_init(&w);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct pv *v = decode_pv(&w, rows[i].json);
        const struct pvc *c = decode_pvc(&w, rows[i].json);
        CHECK_STR(rows[i].name, sym_text(&w.syms, v->storage_class), str_of(rows[i].want));
        CHECK_STR(rows[i].name, sym_text(&w.syms, c->storage_class), str_of(rows[i].want));
        pv_unref(&w.syms, v);
        pvc_unref(&w.syms, c);
    }
    world_fini(&w);
}

TEST(modes_and_phases)
{
    struct world w;
    world_init(&w);
    const struct pv *v = decode_pv(&w, "{\"spec\":{\"accessModes\":[\"ReadWriteOnce\",\"ReadOnlyMany\",\"ReadWriteMany\","
                                       "\"ReadWriteOncePod\"],\"volumeMode\":\"Filesystem\"},\"status\":{\"phase\":\"Available\"}}");
    CHECK_INT("access", v->access, 15);
    CHECK_INT("mode", v->mode, MODE_FILESYSTEM);
    CHECK_INT("phase", v->phase, PV_AVAILABLE);
    pv_unref(&w.syms, v);
    const struct pvc *c = decode_pvc(&w, "{\"spec\":{\"accessModes\":[\"X\"],\"volumeMode\":\"Odd\"},\"status\":{\"phase\":\"X\"}}");
    CHECK_INT("access", c->access, ACCESS_OTHER);
    CHECK_INT("mode", c->mode, MODE_OTHER);
    CHECK_INT("phase", c->phase, PVC_OTHER);
    CHECK(c->selected_node == SYM_NONE && !c->bind_completed && !c->has_selector && !c->controller_uid);
    CHECK_TEXT("volume", c->volume_name, "");
    pvc_unref(&w.syms, c);
    world_fini(&w);
}

TEST(assumptions_are_copies)
{
    struct world w;
    world_init(&w);
    const struct pv *v = decode_pv(&w, "{\"metadata\":{\"name\":\"pv\"},\"spec\":{\"claimRef\":{\"name\":\"old\",\"uid\":\"1\"}}}");
    sym ns = sym_intern(&w.syms, STR("shop")), node = sym_intern(&w.syms, STR("n1"));
    const struct pv *bound = pv_with_claim(&w.syms, v, &(struct claim_ref){ "data", "2", ns });
    pv_unref(&w.syms, v);
    CHECK_TEXT("name", bound->meta.name, "pv");
    CHECK_TEXT("claim", bound->claim->name, "data");
    CHECK_TEXT("uid", bound->claim->uid, "2");
    CHECK_INT("namespace", bound->claim->ns, ns);
    const struct pvc *c = decode_pvc(&w, "{\"metadata\":{\"name\":\"data\"},\"spec\":{\"selector\":{\"matchLabels\":{\"a\":\"b\"}}}}");
    const struct pvc *selected = pvc_with_node(&w.syms, c, node);
    pvc_unref(&w.syms, c);
    sym_unref(&w.syms, ns);
    sym_unref(&w.syms, node);
    CHECK_INT("node", selected->selected_node, node);
    CHECK_STR("its name is held", sym_text(&w.syms, node), STR("n1"));
    CHECK_INT("selector", selected->selector.n, 1);
    pv_unref(&w.syms, bound);
    pvc_unref(&w.syms, selected);
    world_fini(&w);
}

TEST(bound_objects_are_the_next_version)
{
    struct world w;
    world_init(&w);
    const struct pv *v = decode_pv(&w, "{\"metadata\":{\"name\":\"pv\",\"resourceVersion\":\"1\"},\"status\":{\"phase\":\"Available\"}}");
    const struct pvc *c = decode_pvc(&w, "{\"metadata\":{\"name\":\"data\",\"namespace\":\"ns\",\"resourceVersion\":\"2\"}}");
    struct claim_ref ref = { "data", "u", c->meta.ns };
    const struct pv *bound_volume = pv_bound(&w.syms, v, &ref, "5");
    const struct pvc *bound_claim = pvc_bound(&w.syms, c, "pv", "6");
    pv_unref(&w.syms, v);
    pvc_unref(&w.syms, c);
    CHECK_INT("phase", bound_volume->phase, PV_BOUND);
    CHECK_TEXT("claim", bound_volume->claim->name, "data");
    CHECK_TEXT("version", bound_volume->meta.resource_version, "5");
    CHECK_INT("phase", bound_claim->phase, PVC_BOUND);
    CHECK_TEXT("volume", bound_claim->volume_name, "pv");
    CHECK_TEXT("version", bound_claim->meta.resource_version, "6");
    CHECK(bound_claim->bind_completed);
    pv_unref(&w.syms, bound_volume);
    pvc_unref(&w.syms, bound_claim);
    CHECK_INT("syms", sym_n_live(&w.syms), 1);
    world_fini(&w);
}

TEST(bad_amounts_are_refused)
{
    struct world w;
    world_init(&w);
    const struct pv *v;
    struct str json = STR("{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{\"claimRef\":{\"namespace\":\"x\"},\"capacity\":"
                          "{\"storage\":\"x\"}}}");
    CHECK_INT("code", pv_decode(&w.syms, TYPED_JSON, json, &v, &w.e), ERR_BAD_REQUEST);
    CHECK(strstr(w.e.message, "spec.capacity.storage: "));
    world_fini(&w);
}

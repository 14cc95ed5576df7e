/* forms/volume.h - PersistentVolumes and PersistentVolumeClaims as the scheduler sees them. See typed.h for
 * ownership. */
#pragma once

#include "forms/typed.h"

/* An amount of storage, exact. */
struct storage_amount {
    int64_t bytes;       /* rounded away from zero, as everything that is not compared exactly sees it */
    int32_t short_nanos; /* what `bytes` is too much, in billionths of a byte; below 0 for negative amounts */
    bool given;
};

/* -1, 0, 1; one that is not given is 0. */
int storage_cmp(const struct storage_amount *a, const struct storage_amount *b);

enum { /* access modes */
    ACCESS_READ_WRITE_ONCE = 1,
    ACCESS_READ_ONLY_MANY = 2,
    ACCESS_READ_WRITE_MANY = 4,
    ACCESS_READ_WRITE_ONCE_POD = 8,
    ACCESS_OTHER = 16,
};

enum volume_mode { MODE_FILESYSTEM /* also when not given */, MODE_BLOCK, MODE_OTHER };

enum pv_phase { PV_OTHER, PV_PENDING, PV_AVAILABLE, PV_BOUND, PV_RELEASED, PV_FAILED };

/* What a volume is made of. Of in-tree kinds those that a CSI driver may stand in for. */
enum pv_source {
    PV_SOURCE_OTHER,
    PV_SOURCE_CSI,        /* driver and handle */
    PV_SOURCE_AWS_EBS,    /* handle: volumeID */
    PV_SOURCE_GCE_PD,     /* pdName */
    PV_SOURCE_AZURE_DISK, /* diskURI */
    PV_SOURCE_AZURE_FILE, /* no handle */
    PV_SOURCE_CINDER,     /* volumeID */
    PV_SOURCE_PORTWORX,   /* volumeID */
    PV_SOURCE_VSPHERE,    /* no handle */
    N_PV_SOURCES,
};

struct claim_ref {
    const char *name, *uid; /* uid "": not given */
    sym ns;
};

struct pv {
    struct typed typed;
    struct typed_meta meta; /* zone and region are among the labels */
    sym storage_class;              /* of the annotation, else of the spec; SYM_EMPTY: none */
    sym attributes_class;   /* SYM_EMPTY: none */
    struct storage_amount capacity;
    const struct claim_ref *claim; /* NULL: no claimRef */
    struct node_rules affinity;    /* nodeAffinity.required */
    const char *handle;            /* see pv_source; "" when there is none */
    sym driver;                    /* of a CSI volume */
    uint8_t source, access, mode, phase;
    bool deleting;        /* has a deletionTimestamp */
    bool unmanaged_disk;  /* an Azure disk whose kind is not Managed: no driver can stand in */
};

TYPED_FUNCTIONS(pv);
/* The same volume bound to a claim: what the scheduler assumes. */
const struct pv *pv_with_claim(struct sym_table *syms, const struct pv *v, const struct claim_ref *claim);
/* The next version of it, as the volume controller binds it. */
const struct pv *pv_bound(struct sym_table *syms, const struct pv *v, const struct claim_ref *claim,
                          const char *version);

enum pvc_phase { PVC_OTHER, PVC_PENDING, PVC_BOUND, PVC_LOST };

struct pvc {
    struct typed typed;
    struct typed_meta meta;
    sym storage_class;            /* as of a volume */
    sym attributes_class; /* SYM_EMPTY: none */
    sym selected_node;    /* annotation volume.kubernetes.io/selected-node; SYM_NONE: not there */
    const char *volume_name;    /* "" when it has none */
    const char *controller_uid; /* of the owner that controls it; NULL: none */
    struct matcher selector;    /* MATCHER_NOTHING when has_selector is false */
    struct storage_amount request;
    uint8_t access, mode, phase;
    bool has_selector;
    bool bind_completed; /* annotation pv.kubernetes.io/bind-completed is there */
    bool has_annotations; /* any */
    bool deleting;
};

TYPED_FUNCTIONS(pvc);
/* The same claim with the annotation selected-node: what the scheduler assumes for one to be provisioned. */
const struct pvc *pvc_with_node(struct sym_table *syms, const struct pvc *c, sym node_name);
/* The next version of it, bound to a volume. */
const struct pvc *pvc_bound(struct sym_table *syms, const struct pvc *c, const char *volume, const char *version);

/* apiserver/admission_priv.h - what admission plugins share: looking at a request, changing its object, refusing.
 *
 * Thread: the store's. Memory: the request's arena. */
#pragma once

#include "api/edit.h"
#include "apiserver/admission.h"
#include "base/rand.h"

/* Whether the request is for the resource, or for a subresource of it. */
bool req_is(const struct admission_request *r, const char *plural, const char *group);
/* For the resource itself. */
bool req_is_whole(const struct admission_request *r, const char *plural, const char *group);
bool req_is_sub(const struct admission_request *r, const char *plural, const char *group, const char *subresource);

/* Fields of the new and of the old object, by paths as of value_path; absent when they are not there. */
const struct value *req_at(const struct admission_request *r, const char *path);
const struct value *req_old(const struct admission_request *r, const char *path);
struct str req_text(const struct admission_request *r, const char *path);
void req_set(struct admission_request *r, const char *path, struct value to);
/* The annotation of the new object, or NULL. */
const struct value *req_annotation(const struct admission_request *r, const char *key);
/* The name as refusals show it: a given one, what one is made from, or "Unknown". */
struct str req_shown_name(const struct admission_request *r);

/* The annotation or label of any object of type `t`; NULL: it has none. */
const struct value *meta_annotation(const struct type *t, const struct value *v, const char *key);
const struct value *meta_label(const struct type *t, const struct value *v, const char *key);

/* An object of the cluster or of a namespace, or NULL. */
const struct value *req_find(const struct admission_request *r, const char *plural, const char *group,
                             struct str namespace, struct str name);
/* ERR_NOT_FOUND as upstream's clients say it: `namespaces "x" not found`. */
enum err_code req_not_found(const char *plural, struct str name, struct err *e);

/* Whether the user may do something else than what he asked for. */
bool req_may(const struct admission_request *r, const struct authz_attributes *q, struct str *ret_reason);
/* By lot. */
uint32_t req_lot(const struct admission_request *r);

/* The name of the node, when the user is one (`ret_name` may be empty). */
bool user_is_node(const struct user *u, struct str *ret_name);

/* A list's items one by one; nothing for what is not a list. */
#define EACH_ITEM(item, list)                                                                      \
    for (const struct value *item = (list)->kind == VALUE_LIST ? (list)->items : NULL,             \
                            *item##_end = item ? item + (list)->n : NULL;                          \
         item < item##_end; item++)

/* Texts in an arena: a list, or a set when they are sorted. */
struct text_list {
    struct arena *arena;
    struct str *at;
    size_t n, cap;
};

void text_list_add(struct text_list *t, struct str text);
/* Brings them into the order of their bytes; what repeats is kept once. */
void text_list_sort(struct text_list *t);
/* Of a sorted list. */
bool text_list_has(const struct text_list *t, struct str text);
/* Each with `quote` on both sides, `between` them; of many only as much as a message may have. */
const char *text_list_join(const struct text_list *t, const char *quote, const char *between);

/* A container of any of the three lists of a pod's spec. */
struct container {
    const char *list; /* "initContainers", ... */
    uint32_t index;
    const struct type *type;
    const struct value *value;
};

/* All of them, init containers first, ephemeral ones last. Returns how many. */
size_t spec_containers(struct arena *a, const struct value *spec, const struct container **ret_containers);

/* Whether the pod names any secret: for its containers, its volumes, or to pull images. */
bool pod_uses_secrets(const struct admission_request *r);

/* Longer lists of tolerations are put together as they are. */
enum { TOLERATIONS_MERGED_MAX = 1024 };

/* Whether `wide` tolerates all that `narrow` does. */
bool toleration_covers(const struct value *wide, const struct value *narrow);
/* Both lists without those that others of them cover. */
struct value tolerations_merge(struct arena *a, const struct value *first, const struct value *second);

/* Whom a certificate request in PEM is for. False: it is none. */
bool csr_subject(struct arena *a, struct str pem, struct text_list *ret_organizations, struct str *ret_common_name);

/* The class of a PersistentVolumeClaim; an annotation of old counts before the field. */
struct str claim_class(const struct value *claim);

/* The plugins, by the files that have them. */
typedef enum err_code admission_step(struct admission_request *r, struct err *e);
admission_step namespace_lifecycle, namespace_exists;                                    /* admission_namespace.c */
admission_step limit_ranger_admit, limit_ranger_validate;                                /* admission_limits.c */
/* admission_service_account.c */
admission_step service_account_admit, service_account_validate;
admission_step node_restriction;                                                         /* admission_node.c */
admission_step node_taint, pod_topology_labels;                                          /* admission_pod.c */
admission_step always_pull_admit, always_pull_validate, anti_affinity_topology, pod_resize;
admission_step runtime_class_admit, runtime_class_validate;
/* admission_placement.c */
admission_step pod_node_selector_admit, pod_node_selector_validate;
admission_step default_tolerations, extended_resource_toleration;
admission_step toleration_restriction_admit, toleration_restriction_validate;
admission_step pod_security;                                                             /* admission_pod_security.c */
admission_step priority_admit, priority_validate;                                        /* admission_priority.c */
admission_step default_storage_class, in_use_protection, claim_resize;                   /* admission_storage.c */
admission_step default_ingress_class, deny_external_ips;                                 /* admission_network.c */
admission_step owner_permissions;                                                        /* admission_owner.c */
admission_step certificate_approval, certificate_signing, certificate_subject;           /* admission_certificates.c */
admission_step resource_quota;                                                           /* admission_quota.c */

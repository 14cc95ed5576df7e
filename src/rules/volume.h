/* rules/volume.h - parts of PersistentVolumes that other kinds have, too.
 *
 * Thread: as the list of errors. */
#pragma once

#include "rules/place.h"

/* What a PersistentVolumeSpec may be besides a PersistentVolume's own. */
struct volume_context {
    struct str name;             /* of the volume; empty: inline */
    bool is_inline;              /* in a VolumeAttachment */
    bool any_node_label_values;  /* the volume before had some that are no label values */
};

void volume_check_spec(const struct place *spec, const struct volume_context *v);
/* The one source that there must be, and no others. */
void volume_check_source(const struct place *spec, const struct volume_context *v, bool has_node_affinity);
/* CSI drivers are called like domains, in capitals or not. */
void volume_check_driver_name(const struct place *name);
void volume_check_access_modes(const struct place *spec, const char *none_detail);
void volume_check_volume_mode(const struct place *spec);
/* The amount is above zero; false: it is not, and that is said. */
bool volume_check_positive(const struct place *amount);
/* An amount that is below zero as a whole number. */
void volume_check_basic_amount(const struct place *amount);
/* Labels of nodes that have newer names. `named`: the warning repeats the label. */
void volume_warn_label(const struct rules_context *c, const struct field_path *at, struct str key, bool named);

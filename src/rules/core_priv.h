/* rules/core_priv.h - rules of the core group that have files of their own; core.c has the table. */
#pragma once

#include "rules/check.h"

/* core_node.c */
rules_prepare_create node_prepare_create;
rules_prepare_update node_prepare_update, node_prepare_status;
rules_validate_create node_validate_create;
rules_validate_update node_validate_update, node_validate_status;
rules_warn node_warn;

/* core_quota.c: LimitRange, ResourceQuota */
rules_prepare_create limit_range_prepare_create;
rules_validate_create limit_range_validate_create, quota_validate_create;
rules_validate_update limit_range_validate_update, quota_validate_update, quota_validate_status;
rules_warn quota_warn;

/* core_event.c */
rules_validate_create event_validate_create;
rules_validate_update event_validate_update;

/* core_secret.c: ConfigMap, Secret */
rules_prepare_create secret_prepare_create, node_with_one_cidr;
rules_prepare_update secret_prepare_update;
rules_validate_create config_map_validate_create, secret_validate_create;
rules_validate_update config_map_validate_update, secret_validate_update;
rules_warn secret_warn;

/* apiserver/rbac_rule.h - one rule of a role, ready to be compared with questions and with other rules.
 *
 * The verbs that nearly all rules are made of are bits, so that most rules are ruled out by one test.
 *
 * Thread: any once made. Memory: the arena; texts are those of the value. */
#pragma once

#include "api/value.h"
#include "apiserver/authz.h"

struct rbac_rule {
    unsigned verb_bits;        /* rbac_verb_bit of each, 0 bits for others */
    struct str_list verbs, groups, resources, names, urls;
    const struct value *value; /* the PolicyRule */
};

struct rbac_rules {
    struct rbac_rule *at;
    size_t n;
};

/* Texts of a list; none of what is no list. */
struct str_list str_list_of_value(struct arena *a, const struct value *v);

/* Of a list of PolicyRules, which must live as long. */
struct rbac_rules rbac_rules_read(struct arena *a, const struct value *list);
bool rbac_rules_allow(const struct rbac_rules *rules, const struct authz_attributes *q);

/* A rule taken apart: one verb with one resource of one group, and with one name if it has any; or with one URL. */
typedef bool rbac_part_visit(void *context, const struct rbac_rule *part);
/* Until the visitor says that it is enough. */
void rbac_rule_parts(const struct rbac_rule *rule, rbac_part_visit *visit, void *context);
/* Whether all that `part` allows is allowed by `owner`; the part has one verb, and one resource or one URL. */
bool rbac_rule_covers(const struct rbac_rule *owner, const struct rbac_rule *part);
/* `{APIGroups:["apps"], Resources:["deployments"], Verbs:["get" "list"]}` */
void rbac_rule_add_text(struct strbuf *to, const struct rbac_rule *r);
/* `["a" "b"]`, as Go's %q of a list. */
void str_list_add_quoted(struct strbuf *to, const struct str_list *l);

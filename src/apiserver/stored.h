/* apiserver/stored.h - the current objects of the store in other forms than their bytes: values for admission, authorization
 * and controllers, what selectors look at, protobuf for clients.
 *
 * Each form is made when it is first asked for, and stays with the item (store/item.h) as long as that lives; but of values of
 * pods and the like, of which there may be very many, only the newest ones do (STORED_VALUES_BYTES_MAX). What is returned is
 * good until the store is polled, as the items themselves.
 *
 * Thread: the store's. */
#pragma once

#include "api/value.h"
#include "apiserver/fields.h"
#include "store/store.h"

enum { STORED_VALUES_BYTES_MAX = 32 << 20 };

struct stored;

struct stored *stored_new(struct store *s);
void stored_free(struct stored *o);
struct store *stored_store(const struct stored *o);

/* The row of a resource by its plural and group: stored_resource("pods", ""); it is there. */
const struct resource *stored_resource(const char *plural, const char *group);
/* "/registry/pods/", with the namespace and a slash behind it when there is one: what keys of such objects begin with. */
struct str stored_prefix(struct arena *a, const struct resource *r, struct str namespace);
struct str stored_key(struct arena *a, const struct resource *r, struct str namespace, struct str name);
/* Namespace and name out of a key of the resource. */
void stored_read_key(const struct resource *r, struct str key, struct str *ret_namespace, struct str *ret_name);

/* NULL: there is none. Of the stored type. */
const struct value *stored_get(struct stored *o, const struct resource *r, struct str namespace, struct str name);
/* An empty namespace: all. In order of namespace and name. */
size_t stored_list(struct stored *o, const struct resource *r, struct str namespace, struct arena *a,
                    const struct value ***ret_values);
/* Changes whenever an object of the resource was written or deleted: for whoever keeps something made of them. */
uint64_t stored_generation(struct stored *o, const struct resource *r);

/* The row under which objects of a resource are stored: of events and autoscalers there are two, for the same objects. */
const struct resource *stored_row(const struct resource *r);
/* The value of an item, of the stored type. */
const struct value *stored_value(struct stored *o, const struct resource *r, struct store_item *item);
/* Values that were returned may be gone: when the store is polled, and by whoever goes through very many objects. */
void stored_trim(struct stored *o);
/* Nobody looks at the value of this item any more: it is not current. What was returned of it is void; it can be asked for again. */
void stored_drop_value(struct store_item *item);
/* What selectors see of it under this resource. */
const struct selectable *stored_selectable(struct stored *o, const struct resource *r, struct store_item *item);
/* Its whole protobuf form, of the stored type; not for kinds that have none. */
struct str stored_proto(struct stored *o, const struct resource *r, struct store_item *item);
/* The same without the envelope, as it stands in lists. */
struct str stored_message(struct stored *o, const struct resource *r, struct store_item *item);

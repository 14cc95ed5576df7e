/* daemon/etcd_beside.h - where an API server keeps its data that was started as a real one would be, beside an etcd.
 *
 * Test suites start an etcd for every API server, in a folder of its own that they remove in the end, and expect all
 * that was written to be there: two servers share nothing, and nothing is left over for the next run. If that etcd is
 * berth's place holder (cmd/etcd.c), it tells its folder under ETCD_BESIDE_PATH, and the store goes there.
 *
 * Only this machine is asked, and not for long: a folder of another one is of no use. Blocks.
 *
 * Thread: any, before the loop runs. */
#pragma once

#include "base/arena.h"
#include "http/loop.h"

#define ETCD_BESIDE_PATH "/berth/data-dir"
enum { ETCD_BESIDE_MS = 1000 };

/* The place holder's folder; NULL: no place holder is at this address ("http://127.0.0.1:2379"). */
const char *etcd_beside_folder(struct loop *loop, struct arena *a, struct str url);

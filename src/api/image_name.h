/* api/image_name.h - names of container images: host:5000/path/name:tag@digest.
 *
 * The grammar is that of the distribution project's references, as far as it decides what defaults depend on.
 *
 * Thread: any. */
#pragma once

#include "base/str.h"

/* Whether the name is one, and stands for the newest image: its tag is "latest", or it has neither tag nor digest. */
bool image_name_is_latest(struct str image);

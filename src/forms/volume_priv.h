/* forms/volume_priv.h - what volume.c and storage.c share. */
#pragma once

#include "forms/inputs.h"
#include "forms/volume.h"

/* `text` is that of a quantity, NULL when there is none; `what` is the path of the field. */
enum err_code build_storage(struct build *b, const struct str *text, const char *what,
                            struct storage_amount *amount) ERR_MUST_CHECK;

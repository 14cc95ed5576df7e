/* daemon/dashboard_files.h - the files of web/dashboard, made into a C file at build time (tools/embed.py). */
#pragma once

#include "base/str.h"

extern const struct str dashboard_page, dashboard_script, dashboard_style;

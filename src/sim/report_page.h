/* sim/report_page.h - the fixed parts of the report's page; tools/page_gen.py makes them from web/report.
 *
 * Thread: any. */
#pragma once

#include "base/str.h"

/* What stands before and behind the data, which is JSON in a script element. */
extern const struct str report_page_head, report_page_tail;

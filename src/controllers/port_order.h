/* controllers/port_order.h - the order in which upstream writes the ports of Endpoints and EndpointSlices.
 *
 * It has no meaning: ports are sorted by a hash (FNV-1a, 128 bits) of how they look when Go prints them. But clients see the
 * order, and an object that another implementation wrote must not be written again because of it.
 *
 * Thread: any. */
#pragma once

#include "api/value.h"

enum port_form { PORT_OF_SLICE, PORT_OF_ENDPOINTS };

struct port_text {
    struct str name, protocol, app_protocol;
    bool has_app_protocol;
    int64_t number;
};

/* -1, 0, 1. */
int port_order(const struct port_text *a, const struct port_text *b, enum port_form form);

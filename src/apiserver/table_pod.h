/* apiserver/table_pod.h - what a table says of a pod: how many containers are ready, in which state it is, how often it
 * was restarted. Thread: as the cells. */
#pragma once

#include "apiserver/table_priv.h"

/* Three cells: Ready, Status, Restarts. */
void pod_cells(struct cells *c);
/* One: how many readiness gates are open. */
void pod_gates_cell(struct cells *c);

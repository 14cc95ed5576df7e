/* daemon/dashboard_port.c - see dashboard_port.h. */
#include "daemon/dashboard_port.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { GRACE_MS = 1000 };

struct dashboard_port {
    struct dashboard *dashboard;
    struct ops *ops;
    struct ops_route *routes;
};

static void go_to_page(void *context, struct ops_exchange *x)
{
    (void)context;
    ops_add_header(x, "location", STR("/dashboard/"));
    ops_answer(x, 302, NULL, (struct str){ "", 0 });
}

static size_t join_routes(struct dashboard_port *p, const struct questions *questions)
{
    size_t n_asked, n_shown;
    const struct ops_route *asked = questions_routes(questions, &n_asked);
    const struct ops_route *shown = dashboard_routes(p->dashboard, &n_shown);
    p->routes = mem_alloc((n_asked + n_shown + 1) * sizeof(*p->routes));
    memcpy(p->routes, asked, n_asked * sizeof(*asked));
    memcpy(p->routes + n_asked, shown, n_shown * sizeof(*shown));
    p->routes[n_asked + n_shown] = (struct ops_route){ .path = "/", .is_open = true, .serve = go_to_page };
    return n_asked + n_shown + 1;
}

enum err_code dashboard_port_open(struct loop *loop, struct engine *engine, const struct questions *questions, int port,
                                  struct dashboard_port **ret_port, struct err *e)
{
    struct dashboard_port *p = mem_zalloc(sizeof(*p));
    *ret_port = p;
    p->ops = ops_new(&(struct ops_options){ .loop = loop, .bind_address = "127.0.0.1", .port = port, .is_plain = true });
    if (ops_listen(p->ops, &port, e))
        return err_wrap(e, "the dashboard");
    p->dashboard = dashboard_new(engine, loop);
    size_t n = join_routes(p, questions);
    ops_serve(p->ops, &(struct ops_handlers){ .routes = p->routes, .n_routes = n });
    return ERR_OK;
}

void dashboard_port_stop(struct dashboard_port *p, void (*stopped)(void *context), void *context)
{
    dashboard_stop(p->dashboard);
    ops_stop(p->ops, GRACE_MS, stopped, context);
}

void dashboard_port_free(struct dashboard_port *p)
{
    if (!p)
        return;
    ops_free(p->ops);
    dashboard_free(p->dashboard);
    free(p->routes);
    free(p);
}

/*
 * print_loops.c -- a loop of callbacks and its workers, as a scenario in C.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/truth/print_priv.h"

static void
put_loop_op(const struct truth__printing *printing, const struct truth_op *op)
{
    PUT(printing, "    if (pauses) {\n        sim_loop_pause(shared->world);\n    }\n");
    if (op->kind == TRUTH_DRAIN) {
        PUT(printing, "    (void)sim_fd_read(shared->fds, shared->fd[%u], &counter, 8);\n", op->a);
        return;
    }
    PUT(printing,
            "    if (shared->flag[%u] > 0) {\n        shared->taken += shared->flag[%u];\n"
            "        shared->flag[%u] = 0;\n%s    }\n",
            op->a, op->a, op->a, truth__print_progress(printing));
}

static void
put_callback(const struct truth__printing *printing, uint32_t fd)
{
    const struct truth_actor *is = &printing->program->actor[0];
    bool watched = printing->program->watched;
    PUT(printing,
            "\nstatic void\ncallback_%u(struct shared *shared, bool pauses)\n{\n"
            "    uint64_t counter = 0;\n    (void)counter;\n    (void)shared;\n    (void)pauses;\n",
            fd);
    if (watched) {
        PUT(printing, "    sim_foreign_poll(&shared->watcher[%u]);\n", fd);
    }
    for (uint32_t i = 1; i < is->count; i++) {
        if (is->ops[i].a == fd) {
            put_loop_op(printing, &is->ops[i]);
        }
    }
    if (watched) {
        PUT(printing, "    sim_foreign_polled(&shared->watcher[%u], shared->taken >= %u);\n", fd,
                is->ops[0].b);
    }
    PUT(printing, "}\n");
}

static void
put_timeout(const struct truth__printing *printing)
{
    const struct truth_actor *is = &printing->program->actor[0];
    PUT(printing, "\nstatic void\ntimeout(struct shared *shared, bool pauses)\n{\n"
                  "    (void)shared;\n    (void)pauses;\n");
    for (uint32_t i = 1; i < is->count; i++) {
        if (is->ops[i].kind == TRUTH_CHECK) {
            put_loop_op(printing, &is->ops[i]);
        }
    }
    PUT(printing, "}\n");
}

static void
put_again(const struct truth__printing *printing)
{
    PUT(printing,
            "\nstatic void\nagain(void *runtime, void *watcher)\n{\n"
            "    struct shared *shared = runtime;\n    if (shared->taken >= %u) {\n"
            "        return;\n    }\n    if (watcher == &shared->watcher[0]) {\n"
            "        callback_0(shared, false);\n    } else {\n"
            "        callback_1(shared, false);\n    }\n}\n",
            printing->program->actor[0].ops[0].b);
}

static void
put_loop(const struct truth__printing *printing)
{
    const struct truth_op *listen = &printing->program->actor[0].ops[0];
    for (uint32_t fd = 0; fd < TRUTH_FDS; fd++) {
        put_callback(printing, fd);
    }
    put_timeout(printing);
    if (printing->program->watched) {
        put_again(printing);
    }
    PUT(printing,
            "\nstatic void\nt0_main(struct sim_world *world, void *argument)\n{\n"
            "    struct shared *shared = argument;\n    (void)world;\n"
            "    while (shared->taken < %u) {\n"
            "        struct sim_fd_event events[2] = {{0, 0}, {0, 0}};\n",
            listen->b);
    PUT(printing,
            listen->c == 0
                    ? "        uint32_t count = sim_fd_wait(shared->fds, events, 2, SIM_NEVER);\n"
                    : "        uint32_t count = sim_fd_wait(shared->fds, events, 2, %u * RT_MS);\n",
            listen->c);
    PUT(printing, "        for (uint32_t i = 0; i < count; i++) {\n"
                  "            if (events[i].data == 0) {\n"
                  "                callback_0(shared, true);\n            } else {\n"
                  "                callback_1(shared, true);\n            }\n        }\n"
                  "        if (count == 0) {\n            timeout(shared, true);\n        }\n"
                  "    }\n}\n");
}

static void
put_worker(const struct truth__printing *printing, uint32_t actor)
{
    const struct truth_actor *is = &printing->program->actor[actor];
    PUT(printing,
            "\nstatic void\nt%u_main(struct sim_world *world, void *argument)\n{\n"
            "    struct shared *shared = argument;\n    (void)world;\n    (void)shared;\n",
            actor);
    for (uint32_t i = 0; i < is->count; i++) {
        const struct truth_op *op = &is->ops[i];
        if (op->kind == TRUTH_SLEEP) {
            PUT(printing, "    sim_sleep(world, %u * RT_MS);\n", op->a);
            continue;
        }
        if (op->kind == TRUTH_SET) {
            PUT(printing, "    shared->flag[%u]++;\n", op->a);
        } else if (op->kind == TRUTH_NOTIFY) {
            PUT(printing, "    SIM_ALWAYS(sim_fd_notify(shared->fds, shared->fd[%u]) == RT_OK);\n",
                    op->a);
        }
        PUT(printing, "    sim_loop_pause(world);\n");
    }
    PUT(printing, "}\n");
}

static void
put_watch(const struct truth__printing *printing)
{
    PUT(printing, "    struct sim_foreign *foreign = sim_foreign_new(t0, again, shared);\n");
    for (uint32_t i = 0; i < TRUTH_FDS; i++) {
        PUT(printing,
                "    sim_foreign_watch(foreign, &shared->watcher[%u], \"watcher %u\", "
                "\"a post\");\n",
                i, i);
    }
}

void
truth__print_loops(const struct truth__printing *printing)
{
    PUT(printing,
            "struct shared {\n    struct sim_world *world;\n    uint32_t flag[%u];\n"
            "    uint32_t taken;\n    struct sim_fds *fds;\n    int fd[%u];\n"
            "    char watcher[%u];\n};\n",
            TRUTH_FLAGS, TRUTH_FDS, TRUTH_FDS);
    put_loop(printing);
    for (uint32_t i = 1; i < printing->program->actors; i++) {
        put_worker(printing, i);
    }
    PUT(printing,
            "\nstatic void\nsetup(struct sim_world *world)\n{\n"
            "    struct shared *shared = sim_new(world, struct shared);\n"
            "    shared->world = world;\n"
            "    shared->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT), 3);\n");
    for (uint32_t i = 0; i < TRUTH_FDS; i++) {
        PUT(printing,
                "    SIM_ALWAYS(sim_fd_event_open(shared->fds, \"event %u\", &shared->fd[%u]) == "
                "RT_OK);\n"
                "    SIM_ALWAYS(sim_fd_add(shared->fds, shared->fd[%u], SIM_FD_IN, %u) == "
                "RT_OK);\n",
                i, i, i, i);
    }
    for (uint32_t i = 0; i < printing->program->actors; i++) {
        PUT(printing,
                "    struct sim_loop *t%u = sim_loop_new(world, \"t%u\", t%u_main, shared);\n"
                "    (void)t%u;\n",
                i, i, i, i);
        if (i == 0 && printing->program->watched) {
            put_watch(printing);
        }
    }
    PUT(printing, "}\n");
}

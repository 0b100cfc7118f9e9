/*
 * print.c -- a program as a scenario in C: what play.c does by looking each operation up, written
 * out.
 *
 * The same actors are created in the same order, so the same seed and options make the same run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/truth/print.h"

#include "sim/tests/truth/model.h"

struct printing {
    FILE *file;
    const struct truth_program *program;
};

#define PUT(printing, ...) ((void)fprintf((printing)->file, __VA_ARGS__))

/* ---- Tasks. ---------------------------------------------------------------------------------- */

static const char *
progress(const struct printing *printing)
{
    return printing->program->reports ? "        SIM_PROGRESS();\n" : "";
}

static void
put_pending(const struct printing *printing, const char *condition, const struct truth_op *op)
{
    PUT(printing, "        if (!(%s)) {\n", condition);
    PUT(printing, "            rt_slot_replace(&story->slot[%u], cx, \"what slot %u is for\");\n",
            op->b, op->b);
    if (op->kind == TRUTH_WAIT && op->c != TRUTH_NONE) {
        PUT(printing,
                "            rt_slot_replace(&story->slot[%u], cx, \"what slot %u is for\");\n",
                op->c, op->c);
    }
    PUT(printing, "            return RT_PENDING;\n        }\n");
}

static void
put_flag_wait(const struct printing *printing, const struct truth_op *op)
{
    char condition[64];
    (void)snprintf(condition, sizeof(condition), "story->flag[%u] > 0", op->a);
    put_pending(printing, condition, op);
    if (op->kind == TRUTH_TAKE) {
        PUT(printing, "        story->flag[%u]--;\n", op->a);
    }
    PUT(printing, "%s", progress(printing));
}

/* The check in one poll, the store in the next. */
static void
put_wait_late(const struct printing *printing, const struct truth_op *op)
{
    PUT(printing,
            "        if (me->begun) {\n"
            "            rt_slot_replace(&story->slot[%u], cx, \"what slot %u is for\");\n"
            "            me->begun = false;\n"
            "            return RT_PENDING;\n"
            "        }\n"
            "        if (story->flag[%u] == 0) {\n"
            "            me->begun = true;\n"
            "            rt_cx_reenqueue(cx);\n"
            "            return RT_PENDING;\n"
            "        }\n%s",
            op->b, op->b, op->a, progress(printing));
}

static void
put_wait_locked(const struct printing *printing, const struct truth_op *op)
{
    PUT(printing,
            "        SIM_ALWAYS(rt_semaphore_try_acquire(&story->lock, 1) == RT_OK);\n"
            "        bool set%u = story->flag[%u] > 0;\n"
            "        SIM_ALWAYS(rt_semaphore_release(&story->lock, 1) == RT_OK);\n"
            "        if (!set%u) {\n"
            "            rt_slot_replace(&story->slot[%u], cx, \"a flag under a lock\");\n"
            "            return RT_PENDING;\n        }\n%s",
            op->a, op->a, op->a, op->b, progress(printing));
}

static void
put_wait_lines(const struct printing *printing, const struct truth_op *op)
{
    PUT(printing,
            "        if (story->flag[%u] == 0) {\n"
            "            if (!me->begun) {\n"
            "                me->begun = true;\n"
            "                rt_slot_replace(&story->slot[%u], cx, \"a flag\");\n"
            "            } else {\n"
            "                rt_slot_replace(&story->slot[%u], cx, \"a flag, still\");\n"
            "            }\n"
            "            return RT_PENDING;\n        }\n%s",
            op->a, op->b, op->b, progress(printing));
}

static void
put_wait_turn(const struct printing *printing, const struct truth_op *op)
{
    PUT(printing,
            "        if (story->flag[%u] == 0) {\n"
            "            rt_slot_replace(&story->slot[me->begun ? %u : %u], cx, \"a replica\");\n"
            "            me->begun = !me->begun;\n"
            "            return RT_PENDING;\n        }\n%s",
            op->a, op->c, op->b, progress(printing));
}

static void
put_hedge(const struct printing *printing, const struct truth_op *op)
{
    PUT(printing,
            "        if (story->flag[%u] == 0) {\n"
            "            story->flag[me->begun ? %u : %u]++;\n"
            "            rt_slot_wake(&story->slot[me->begun ? %u : %u]);\n"
            "            me->begun = !me->begun;\n"
            "            rt_slot_replace(&story->slot[%u], cx, \"an answer\");\n"
            "            return RT_PENDING;\n        }\n%s",
            op->a, op->c + 1u, op->c, op->c + 1u, op->c, op->b, progress(printing));
}

static void
put_wait_any(const struct printing *printing, const struct truth_op *op)
{
    PUT(printing,
            "        if (story->flag[%u] == 0 && story->flag[%u] == 0) {\n"
            "            rt_slot_replace(&story->slot[%u], cx, \"one of two\");\n"
            "            rt_slot_replace(&story->slot[%u], cx, \"the other one\");\n"
            "            return RT_PENDING;\n"
            "        }\n%s",
            op->a, op->b, op->a, op->b, progress(printing));
}

static void
put_begin(const struct printing *printing, const char *init)
{
    PUT(printing, "        if (!me->begun) {\n            me->begun = true;\n            %s\n"
                  "        }\n",
            init);
}

static void
put_wait_time(const struct printing *printing, const struct truth_op *op)
{
    PUT(printing,
            "        if (story->flag[%u] > 0) {\n"
            "            if (me->begun) {\n"
            "                rt_sleep_cancel(&me->nap);\n"
            "            }\n"
            "        } else {\n"
            "            if (!me->begun) {\n"
            "                me->begun = true;\n"
            "                rt_sleep_init(&me->nap, %u * RT_MS);\n"
            "            }\n"
            "            if (rt_sleep_poll(&me->nap, cx) != RT_READY) {\n"
            "                rt_slot_replace(&story->slot[%u], cx, \"a flag, for some time\");\n"
            "                return RT_PENDING;\n"
            "            }\n"
            "        }\n%s",
            op->a, op->c, op->b, progress(printing));
}

static void
put_future(const struct printing *printing, const struct truth_op *op)
{
    const char *what = op->kind == TRUTH_SEND ? "send" : "recv";
    char init[96];
    if (op->kind == TRUTH_ACQUIRE) {
        put_begin(printing, "rt_acquire_init(&me->acquire, &story->permit, 1);");
        PUT(printing, "        RT_AWAIT(rt_acquire_poll(&me->acquire, cx));\n");
        return;
    }
    if (op->kind == TRUTH_SLEEP) {
        (void)snprintf(init, sizeof(init), "rt_sleep_init(&me->nap, %u * RT_MS);", op->a);
        put_begin(printing, init);
        PUT(printing, "        RT_AWAIT(rt_sleep_poll(&me->nap, cx));\n");
        return;
    }
    (void)snprintf(
            init, sizeof(init), "rt_%s_init(&me->%s, &story->channel[%u], NULL);", what, what, op->a);
    put_begin(printing, init);
    PUT(printing, "        RT_AWAIT(rt_%s_poll(&me->%s, cx));\n", what, what);
}

static void
put_simple(const struct printing *printing, const struct truth_op *op)
{
    switch (op->kind) {
    case TRUTH_SET:
        PUT(printing, "        story->flag[%u]++;\n", op->a);
        break;
    case TRUTH_WAKE:
        PUT(printing, "        rt_slot_wake(&story->slot[%u]);\n", op->a);
        break;
    case TRUTH_JOIN:
        PUT(printing, "        RT_AWAIT(rt_task_join(&story->t[%u].task, cx));\n%s", op->a,
                progress(printing));
        break;
    case TRUTH_RELEASE:
        PUT(printing, "        SIM_ALWAYS(rt_semaphore_release(&story->permit, 1) == RT_OK);\n");
        break;
    case TRUTH_CANCEL:
        PUT(printing, "        rt_task_cancel(&story->t[%u].task);\n", op->a);
        break;
    default: /* YIELD */
        PUT(printing, "        if (!me->begun) {\n"
                      "            me->begun = true;\n"
                      "            rt_cx_reenqueue(cx);\n"
                      "            return RT_PENDING;\n"
                      "        }\n");
        break;
    }
}

static void
put_op(const struct printing *printing, const struct truth_op *op)
{
    switch (op->kind) {
    case TRUTH_WAIT:
    case TRUTH_TAKE:
        put_flag_wait(printing, op);
        break;
    case TRUTH_WAIT_LATE:
        put_wait_late(printing, op);
        break;
    case TRUTH_WAIT_LOCKED:
        put_wait_locked(printing, op);
        break;
    case TRUTH_WAIT_LINES:
        put_wait_lines(printing, op);
        break;
    case TRUTH_WAIT_TURN:
        put_wait_turn(printing, op);
        break;
    case TRUTH_HEDGE:
        put_hedge(printing, op);
        break;
    case TRUTH_WAIT_ANY:
        put_wait_any(printing, op);
        break;
    case TRUTH_WAIT_TIME:
        put_wait_time(printing, op);
        break;
    case TRUTH_SLEEP:
    case TRUTH_SEND:
    case TRUTH_RECV:
    case TRUTH_ACQUIRE:
        put_future(printing, op);
        break;
    default:
        put_simple(printing, op);
        break;
    }
}

static void
put_task(const struct printing *printing, uint32_t actor)
{
    const struct truth_actor *is = &printing->program->actor[actor];
    PUT(printing,
            "\nstatic rt_poll\nt%u_poll(struct rt_task *task, struct rt_cx *cx)\n{\n"
            "    struct player *me = rt_container_of(task, struct player, task);\n"
            "    struct story *story = me->story;\n"
            "    (void)cx;\n    (void)story;\n"
            "    switch (me->at) {\n    case 0:\n",
            actor);
    for (uint32_t i = 0; i < is->count; i++) {
        put_op(printing, &is->ops[i]);
        PUT(printing, "        NEXT(%u):\n", i + 1);
    }
    PUT(printing, "    default:\n        return RT_READY;\n    }\n}\n");
}

static void
put_abandon(const struct printing *printing, const struct truth_op *op)
{
    switch (op->kind) {
    case TRUTH_SLEEP:
    case TRUTH_WAIT_TIME:
        PUT(printing, "rt_sleep_cancel(&me->nap);\n");
        break;
    case TRUTH_SEND:
        PUT(printing, "rt_send_drop(&me->send);\n");
        break;
    case TRUTH_ACQUIRE:
        PUT(printing, "rt_acquire_drop(&me->acquire);\n");
        break;
    default:
        PUT(printing, "rt_recv_drop(&me->recv);\n");
        break;
    }
}

/* What a task gives back, and says, when it is cancelled. */
static void
put_cleanup(const struct printing *printing, uint32_t actor)
{
    const struct truth_actor *is = &printing->program->actor[actor];
    PUT(printing,
            "\nstatic void\nt%u_cleanup(struct rt_task *task)\n{\n"
            "    struct player *me = rt_container_of(task, struct player, task);\n"
            "    if (me->at == %u) {\n        return; /* It has finished. */\n    }\n",
            actor, is->count);
    for (uint32_t i = 0; i < is->count; i++) {
        uint32_t kind = is->ops[i].kind;
        if (kind == TRUTH_SLEEP || kind == TRUTH_WAIT_TIME || kind == TRUTH_SEND ||
                kind == TRUTH_RECV || kind == TRUTH_ACQUIRE) {
            PUT(printing, "    if (me->at == %u && me->begun) {\n        ", i);
            put_abandon(printing, &is->ops[i]);
            PUT(printing, "    }\n");
        }
    }
    for (uint32_t i = 0; i < is->cleanups; i++) {
        const struct truth_op *op = &is->cleanup[i];
        PUT(printing, op->kind == TRUTH_SET ? "    me->story->flag[%u]++;\n"
                                            : "    rt_slot_wake(&me->story->slot[%u]);\n",
                op->a);
    }
    PUT(printing, "}\n");
}

static void
put_tasks(const struct printing *printing)
{
    const struct truth_program *program = printing->program;
    PUT(printing, "#define NEXT(n) \\\n    me->at = (n); \\\n    me->begun = false; \\\n"
                  "    __attribute__((fallthrough)); \\\n    case n\n\n"
                  "struct story;\n\nstruct player {\n    struct rt_task task;\n"
                  "    struct story *story;\n    uint32_t at;\n"
                  "    bool begun; /* The operation at `at` was polled. */\n"
                  "    struct rt_sleep nap;\n    struct rt_send send;\n    struct rt_recv recv;\n"
                  "    struct rt_acquire acquire;\n};\n\n");
    PUT(printing,
            "struct story {\n    uint32_t flag[%u];\n    struct rt_slot slot[%u];\n"
            "    struct rt_channel channel[%u];\n    struct rt_semaphore permit;\n"
            "    struct rt_semaphore lock;\n    struct player t[%u];\n};\n",
            TRUTH_FLAGS, TRUTH_SLOTS, TRUTH_CHANNELS, program->actors);
    for (uint32_t i = 0; i < program->actors; i++) {
        put_task(printing, i);
        put_cleanup(printing, i);
    }
    PUT(printing,
            "\nstatic void\nsetup(struct sim_world *world)\n{\n"
            "    struct sim_rt *rt = sim_rt_new(world, NULL);\n"
            "    struct story *story = sim_new(world, struct story);\n"
            "    for (uint32_t i = 0; i < %u; i++) {\n"
            "        rt_slot_init(&story->slot[i]);\n    }\n"
            "    rt_semaphore_init(&story->permit, 1);\n"
            "    rt_semaphore_init(&story->lock, 1);\n",
            TRUTH_SLOTS);
    for (uint32_t i = 0; i < TRUTH_CHANNELS; i++) {
        PUT(printing,
                "    rt_channel_init(&story->channel[%u],\n"
                "            &(struct rt_channel_config){.capacity = %u});\n"
                "    rt_channel_add_sender(&story->channel[%u]);\n"
                "    rt_channel_add_receiver(&story->channel[%u]);\n",
                i, program->capacity[i], i, i);
    }
    for (uint32_t i = 0; i < program->actors; i++) {
        PUT(printing,
                "    story->t[%u].story = story;\n"
                "    rt_task_init(&story->t[%u].task, t%u_poll, t%u_cleanup, \"t%u\");\n",
                i, i, i, i, i);
    }
    for (uint32_t i = 0; i < program->actors; i++) {
        PUT(printing, "    sim_spawn(rt, &story->t[%u].task);\n", i);
    }
    PUT(printing, "}\n");
}

/* ---- Loops and workers. ---------------------------------------------------------------------- */

static void
put_loop_op(const struct printing *printing, const struct truth_op *op)
{
    PUT(printing, "    if (pauses) {\n        sim_loop_pause(story->world);\n    }\n");
    if (op->kind == TRUTH_DRAIN) {
        PUT(printing, "    (void)sim_fd_read(story->fds, story->fd[%u], &counter, 8);\n", op->a);
        return;
    }
    PUT(printing,
            "    if (story->flag[%u] > 0) {\n        story->taken += story->flag[%u];\n"
            "        story->flag[%u] = 0;\n%s    }\n",
            op->a, op->a, op->a, progress(printing));
}

static void
put_callback(const struct printing *printing, uint32_t fd)
{
    const struct truth_actor *is = &printing->program->actor[0];
    bool watched = printing->program->watched;
    PUT(printing,
            "\nstatic void\ncallback_%u(struct story *story, bool pauses)\n{\n"
            "    uint64_t counter = 0;\n    (void)counter;\n    (void)pauses;\n",
            fd);
    if (watched) {
        PUT(printing, "    sim_foreign_poll(&story->watcher[%u]);\n", fd);
    }
    for (uint32_t i = 1; i < is->count; i++) {
        if (is->ops[i].a == fd) {
            put_loop_op(printing, &is->ops[i]);
        }
    }
    if (watched) {
        PUT(printing, "    sim_foreign_polled(&story->watcher[%u], story->taken >= %u);\n", fd,
                is->ops[0].b);
    }
    PUT(printing, "}\n");
}

static void
put_timeout(const struct printing *printing)
{
    const struct truth_actor *is = &printing->program->actor[0];
    PUT(printing, "\nstatic void\ntimeout(struct story *story, bool pauses)\n{\n"
                  "    (void)story;\n    (void)pauses;\n");
    for (uint32_t i = 1; i < is->count; i++) {
        if (is->ops[i].kind == TRUTH_CHECK) {
            put_loop_op(printing, &is->ops[i]);
        }
    }
    PUT(printing, "}\n");
}

static void
put_again(const struct printing *printing)
{
    PUT(printing,
            "\nstatic void\nagain(void *runtime, void *watcher)\n{\n"
            "    struct story *story = runtime;\n    if (story->taken >= %u) {\n"
            "        return;\n    }\n    if (watcher == &story->watcher[0]) {\n"
            "        callback_0(story, false);\n    } else {\n"
            "        callback_1(story, false);\n    }\n}\n",
            printing->program->actor[0].ops[0].b);
}

static void
put_loop(const struct printing *printing)
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
            "    struct story *story = argument;\n    (void)world;\n"
            "    while (story->taken < %u) {\n"
            "        struct sim_fd_event events[2] = {{0, 0}, {0, 0}};\n",
            listen->b);
    PUT(printing, listen->c == 0
                    ? "        uint32_t count = sim_fd_wait(story->fds, events, 2, SIM_NEVER);\n"
                    : "        uint32_t count = sim_fd_wait(story->fds, events, 2, %u * RT_MS);\n",
            listen->c);
    PUT(printing, "        for (uint32_t i = 0; i < count; i++) {\n"
                  "            if (events[i].data == 0) {\n"
                  "                callback_0(story, true);\n            } else {\n"
                  "                callback_1(story, true);\n            }\n        }\n"
                  "        if (count == 0) {\n            timeout(story, true);\n        }\n"
                  "    }\n}\n");
}

static void
put_worker(const struct printing *printing, uint32_t actor)
{
    const struct truth_actor *is = &printing->program->actor[actor];
    PUT(printing,
            "\nstatic void\nt%u_main(struct sim_world *world, void *argument)\n{\n"
            "    struct story *story = argument;\n    (void)world;\n    (void)story;\n",
            actor);
    for (uint32_t i = 0; i < is->count; i++) {
        const struct truth_op *op = &is->ops[i];
        if (op->kind == TRUTH_SLEEP) {
            PUT(printing, "    sim_sleep(world, %u * RT_MS);\n", op->a);
            continue;
        }
        if (op->kind == TRUTH_SET) {
            PUT(printing, "    story->flag[%u]++;\n", op->a);
        } else if (op->kind == TRUTH_NOTIFY) {
            PUT(printing,
                    "    SIM_ALWAYS(sim_fd_notify(story->fds, story->fd[%u]) == RT_OK);\n", op->a);
        }
        PUT(printing, "    sim_loop_pause(world);\n");
    }
    PUT(printing, "}\n");
}

static void
put_watch(const struct printing *printing)
{
    PUT(printing, "    struct sim_foreign *foreign = sim_foreign_new(t0, again, story);\n");
    for (uint32_t i = 0; i < TRUTH_FDS; i++) {
        PUT(printing,
                "    sim_foreign_watch(foreign, &story->watcher[%u], \"watcher %u\", "
                "\"a post\");\n",
                i, i);
    }
}

static void
put_loops(const struct printing *printing)
{
    PUT(printing, "struct story {\n    struct sim_world *world;\n    uint32_t flag[%u];\n"
                  "    uint32_t taken;\n    struct sim_fds *fds;\n    int fd[%u];\n"
                  "    char watcher[%u];\n};\n",
            TRUTH_FLAGS, TRUTH_FDS, TRUTH_FDS);
    put_loop(printing);
    for (uint32_t i = 1; i < printing->program->actors; i++) {
        put_worker(printing, i);
    }
    PUT(printing, "\nstatic void\nsetup(struct sim_world *world)\n{\n"
                  "    struct story *story = sim_new(world, struct story);\n"
                  "    story->world = world;\n"
                  "    story->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT), 3);\n");
    for (uint32_t i = 0; i < TRUTH_FDS; i++) {
        PUT(printing,
                "    SIM_ALWAYS(sim_fd_event_open(story->fds, \"event %u\", &story->fd[%u]) == "
                "RT_OK);\n"
                "    SIM_ALWAYS(sim_fd_add(story->fds, story->fd[%u], SIM_FD_IN, %u) == RT_OK);\n",
                i, i, i, i);
    }
    for (uint32_t i = 0; i < printing->program->actors; i++) {
        PUT(printing, "    struct sim_loop *t%u = sim_loop_new(world, \"t%u\", t%u_main, story);\n"
                      "    (void)t%u;\n",
                i, i, i, i);
        if (i == 0 && printing->program->watched) {
            put_watch(printing);
        }
    }
    PUT(printing, "}\n");
}

void
truth_print(const struct truth_program *program, FILE *file)
{
    const struct printing printing = {file, program};
    char text[4096];
    truth_program_text(program, text, sizeof(text));
    PUT(&printing, "/*\n%s */\n#include <sim/rewake.h>\n\n", text);
    if (program->family == TRUTH_LOOPS) {
        put_loops(&printing);
    } else {
        put_tasks(&printing);
    }
    PUT(&printing,
            "\nSIM_SCENARIO(truth, .name = \"truth/%llu\", .about = \"A generated program.\",\n"
            "        .setup = setup);\n",
            (unsigned long long)program->number);
}

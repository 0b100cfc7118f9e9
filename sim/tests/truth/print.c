/*
 * print.c -- a program as a scenario in C: what play.c does by looking each operation up, written
 * out.
 *
 * The same actors are created in the same order, so the same seed and options make the same run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/truth/print_priv.h"

/* ---- Tasks. ---------------------------------------------------------------------------------- */

const char *
truth__print_progress(const struct truth__printing *printing)
{
    return printing->program->reports ? "        SIM_PROGRESS();\n" : "";
}

static void
put_pending(
        const struct truth__printing *printing, const char *condition, const struct truth_op *op)
{
    PUT(printing, "        if (!(%s)) {\n", condition);
    PUT(printing, "            rt_slot_replace(&shared->slot[%u], cx, \"what slot %u is for\");\n",
            op->b, op->b);
    if (op->kind == TRUTH_WAIT && op->c != TRUTH_NONE) {
        PUT(printing,
                "            rt_slot_replace(&shared->slot[%u], cx, \"what slot %u is for\");\n",
                op->c, op->c);
    }
    PUT(printing, "            return RT_PENDING;\n        }\n");
}

static void
put_flag_wait(const struct truth__printing *printing, const struct truth_op *op)
{
    char condition[64];
    (void)snprintf(condition, sizeof(condition), "shared->flag[%u] > 0", op->a);
    put_pending(printing, condition, op);
    if (op->kind == TRUTH_TAKE) {
        PUT(printing, "        shared->flag[%u]--;\n", op->a);
    }
    PUT(printing, "%s", truth__print_progress(printing));
}

/* The check in one poll, the store in the next. */
static void
put_wait_late(const struct truth__printing *printing, const struct truth_op *op)
{
    PUT(printing,
            "        if (me->begun) {\n"
            "            rt_slot_replace(&shared->slot[%u], cx, \"what slot %u is for\");\n"
            "            me->begun = false;\n"
            "            return RT_PENDING;\n"
            "        }\n"
            "        if (shared->flag[%u] == 0) {\n"
            "            me->begun = true;\n"
            "            rt_cx_reenqueue(cx);\n"
            "            return RT_PENDING;\n"
            "        }\n%s",
            op->b, op->b, op->a, truth__print_progress(printing));
}

static void
put_wait_locked(const struct truth__printing *printing, const struct truth_op *op)
{
    PUT(printing,
            "        SIM_ALWAYS(rt_semaphore_try_acquire(&shared->lock, 1) == RT_OK);\n"
            "        bool set%u = shared->flag[%u] > 0;\n"
            "        SIM_ALWAYS(rt_semaphore_release(&shared->lock, 1) == RT_OK);\n"
            "        if (!set%u) {\n"
            "            rt_slot_replace(&shared->slot[%u], cx, \"a flag under a lock\");\n"
            "            return RT_PENDING;\n        }\n%s",
            op->a, op->a, op->a, op->b, truth__print_progress(printing));
}

static void
put_wait_lines(const struct truth__printing *printing, const struct truth_op *op)
{
    PUT(printing,
            "        if (shared->flag[%u] == 0) {\n"
            "            if (!me->begun) {\n"
            "                me->begun = true;\n"
            "                rt_slot_replace(&shared->slot[%u], cx, \"a flag\");\n"
            "            } else {\n"
            "                rt_slot_replace(&shared->slot[%u], cx, \"a flag, still\");\n"
            "            }\n"
            "            return RT_PENDING;\n        }\n%s",
            op->a, op->b, op->b, truth__print_progress(printing));
}

static void
put_wait_turn(const struct truth__printing *printing, const struct truth_op *op)
{
    PUT(printing,
            "        if (shared->flag[%u] == 0) {\n"
            "            rt_slot_replace(&shared->slot[me->begun ? %u : %u], cx, \"a replica\");\n"
            "            me->begun = !me->begun;\n"
            "            return RT_PENDING;\n        }\n%s",
            op->a, op->c, op->b, truth__print_progress(printing));
}

static void
put_hedge(const struct truth__printing *printing, const struct truth_op *op)
{
    PUT(printing,
            "        if (shared->flag[%u] == 0) {\n"
            "            shared->flag[me->begun ? %u : %u]++;\n"
            "            rt_slot_wake(&shared->slot[me->begun ? %u : %u]);\n"
            "            me->begun = !me->begun;\n"
            "            rt_slot_replace(&shared->slot[%u], cx, \"an answer\");\n"
            "            return RT_PENDING;\n        }\n%s",
            op->a, op->c + 1u, op->c, op->c + 1u, op->c, op->b, truth__print_progress(printing));
}

static void
put_wait_any(const struct truth__printing *printing, const struct truth_op *op)
{
    PUT(printing,
            "        if (shared->flag[%u] == 0 && shared->flag[%u] == 0) {\n"
            "            rt_slot_replace(&shared->slot[%u], cx, \"one of two\");\n"
            "            rt_slot_replace(&shared->slot[%u], cx, \"the other one\");\n"
            "            return RT_PENDING;\n"
            "        }\n%s",
            op->a, op->b, op->a, op->b, truth__print_progress(printing));
}

static void
put_begin(const struct truth__printing *printing, const char *init)
{
    PUT(printing,
            "        if (!me->begun) {\n            me->begun = true;\n            %s\n"
            "        }\n",
            init);
}

static void
put_wait_time(const struct truth__printing *printing, const struct truth_op *op)
{
    PUT(printing,
            "        if (shared->flag[%u] > 0) {\n"
            "            if (me->begun) {\n"
            "                rt_sleep_cancel(&me->nap);\n"
            "            }\n"
            "        } else {\n"
            "            if (!me->begun) {\n"
            "                me->begun = true;\n"
            "                rt_sleep_init(&me->nap, %u * RT_MS);\n"
            "            }\n"
            "            if (rt_sleep_poll(&me->nap, cx) != RT_READY) {\n"
            "                rt_slot_replace(&shared->slot[%u], cx, \"a flag, for some time\");\n"
            "                return RT_PENDING;\n"
            "            }\n"
            "        }\n%s",
            op->a, op->c, op->b, truth__print_progress(printing));
}

static void
put_future(const struct truth__printing *printing, const struct truth_op *op)
{
    const char *what = op->kind == TRUTH_SEND ? "send" : "recv";
    char init[96];
    if (op->kind == TRUTH_ACQUIRE) {
        put_begin(printing, "rt_acquire_init(&me->acquire, &shared->permit, 1);");
        PUT(printing, "        RT_AWAIT(rt_acquire_poll(&me->acquire, cx));\n");
        return;
    }
    if (op->kind == TRUTH_SLEEP) {
        (void)snprintf(init, sizeof(init), "rt_sleep_init(&me->nap, %u * RT_MS);", op->a);
        put_begin(printing, init);
        PUT(printing, "        RT_AWAIT(rt_sleep_poll(&me->nap, cx));\n");
        return;
    }
    (void)snprintf(init, sizeof(init), "rt_%s_init(&me->%s, &shared->channel[%u], NULL);", what,
            what, op->a);
    put_begin(printing, init);
    PUT(printing, "        RT_AWAIT(rt_%s_poll(&me->%s, cx));\n", what, what);
}

static void
put_simple(const struct truth__printing *printing, const struct truth_op *op)
{
    switch (op->kind) {
    case TRUTH_SET:
        PUT(printing, "        shared->flag[%u]++;\n", op->a);
        break;
    case TRUTH_WAKE:
        PUT(printing, "        rt_slot_wake(&shared->slot[%u]);\n", op->a);
        break;
    case TRUTH_JOIN:
        PUT(printing, "        RT_AWAIT(rt_task_join(&shared->t[%u].task, cx));\n%s", op->a,
                truth__print_progress(printing));
        break;
    case TRUTH_RELEASE:
        PUT(printing, "        SIM_ALWAYS(rt_semaphore_release(&shared->permit, 1) == RT_OK);\n");
        break;
    case TRUTH_CANCEL:
        PUT(printing, "        rt_task_cancel(&shared->t[%u].task);\n", op->a);
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
put_op(const struct truth__printing *printing, const struct truth_op *op)
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
put_task(const struct truth__printing *printing, uint32_t actor)
{
    const struct truth_actor *is = &printing->program->actor[actor];
    PUT(printing,
            "\nstatic rt_poll\nt%u_poll(struct rt_task *task, struct rt_cx *cx)\n{\n"
            "    struct player *me = rt_container_of(task, struct player, task);\n"
            "    struct shared *shared = me->shared;\n"
            "    (void)cx;\n    (void)shared;\n"
            "    switch (me->at) {\n    case 0:\n",
            actor);
    for (uint32_t i = 0; i < is->count; i++) {
        put_op(printing, &is->ops[i]);
        PUT(printing, "        NEXT(%u):\n", i + 1);
    }
    PUT(printing, "    default:\n        return RT_READY;\n    }\n}\n");
}

static void
put_abandon(const struct truth__printing *printing, const struct truth_op *op)
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
put_cleanup(const struct truth__printing *printing, uint32_t actor)
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
        PUT(printing,
                op->kind == TRUTH_SET ? "    me->shared->flag[%u]++;\n"
                                      : "    rt_slot_wake(&me->shared->slot[%u]);\n",
                op->a);
    }
    PUT(printing, "}\n");
}

static void
put_tasks(const struct truth__printing *printing)
{
    const struct truth_program *program = printing->program;
    PUT(printing, "#define NEXT(n) \\\n    me->at = (n); \\\n    me->begun = false; \\\n"
                  "    __attribute__((fallthrough)); \\\n    case n\n\n"
                  "struct shared;\n\nstruct player {\n    struct rt_task task;\n"
                  "    struct shared *shared;\n    uint32_t at;\n"
                  "    bool begun; /* The operation at `at` was polled. */\n"
                  "    struct rt_sleep nap;\n    struct rt_send send;\n    struct rt_recv recv;\n"
                  "    struct rt_acquire acquire;\n};\n\n");
    PUT(printing,
            "struct shared {\n    uint32_t flag[%u];\n    struct rt_slot slot[%u];\n"
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
            "    struct shared *shared = sim_new(world, struct shared);\n"
            "    for (uint32_t i = 0; i < %u; i++) {\n"
            "        rt_slot_init(&shared->slot[i]);\n    }\n"
            "    rt_semaphore_init(&shared->permit, 1);\n"
            "    rt_semaphore_init(&shared->lock, 1);\n",
            TRUTH_SLOTS);
    for (uint32_t i = 0; i < TRUTH_CHANNELS; i++) {
        PUT(printing,
                "    rt_channel_init(&shared->channel[%u],\n"
                "            &(struct rt_channel_config){.capacity = %u});\n"
                "    rt_channel_add_sender(&shared->channel[%u]);\n"
                "    rt_channel_add_receiver(&shared->channel[%u]);\n",
                i, program->capacity[i], i, i);
    }
    for (uint32_t i = 0; i < program->actors; i++) {
        PUT(printing,
                "    shared->t[%u].shared = shared;\n"
                "    rt_task_init(&shared->t[%u].task, t%u_poll, t%u_cleanup, \"t%u\");\n",
                i, i, i, i, i);
    }
    for (uint32_t i = 0; i < program->actors; i++) {
        PUT(printing, "    sim_spawn(rt, &shared->t[%u].task);\n", i);
    }
    PUT(printing, "}\n");
}

/* ---- The file. ------------------------------------------------------------------------------- */

void
truth_print(const struct truth_program *program, FILE *file)
{
    const struct truth__printing printing = {file, program};
    char text[4096];
    truth_program_text(program, text, sizeof(text));
    PUT(&printing, "/*\n%s */\n#include <sim/rewake.h>\n\n", text);
    if (program->family == TRUTH_LOOPS) {
        truth__print_loops(&printing);
    } else {
        put_tasks(&printing);
    }
    PUT(&printing,
            "\nSIM_SCENARIO(truth, .name = \"truth/%llu\", .about = \"A generated program.\",\n"
            "        .setup = setup);\n",
            (unsigned long long)program->number);
}

/*
 * play.c -- plays a program in the simulator: tasks of the runtime, or loops over descriptors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/truth/play.h"

static const struct truth_program *program_now;

struct shared;

struct player {
    struct rt_task task;
    struct shared *shared;
    const struct truth_actor *is;
    uint32_t pc;
    uint32_t stage; /* Of the operation: 0 at its first poll. */
    struct rt_sleep nap;
    struct rt_send send;
    struct rt_recv recv;
    struct rt_acquire acquire;
    struct sim_cell mark; /* Of a loop or worker. */
};

struct shared {
    struct sim_world *world;
    const struct truth_program *program;
    struct player players[TRUTH_ACTORS];
    uint32_t flag[TRUTH_FLAGS];
    struct rt_slot slot[TRUTH_SLOTS];
    struct rt_channel channel[TRUTH_CHANNELS];
    struct rt_semaphore permit;
    struct rt_semaphore lock; /* Of WAIT_LOCKED: held within a poll only. */
    struct sim_fds *fds;
    int fd[TRUTH_FDS];
    char watcher[TRUTH_FDS]; /* Their addresses are what they are known by. */
    uint32_t taken;
};

/* ---- Operations of a task. ------------------------------------------------------------------- */

static rt_poll
passed(struct shared *shared)
{
    if (shared->program->reports) {
        SIM_PROGRESS();
    }
    return RT_READY;
}

static rt_poll
wait_flag(struct shared *shared, const struct truth_op *op, struct rt_cx *cx)
{
    if (shared->flag[op->a] > 0) {
        return passed(shared);
    }
    rt_slot_replace(&shared->slot[op->b], cx, "a flag");
    if (op->c != TRUTH_NONE) {
        rt_slot_replace(&shared->slot[op->c], cx, "a word of the other one");
    }
    return RT_PENDING;
}

static rt_poll
take(struct shared *shared, const struct truth_op *op, struct rt_cx *cx)
{
    if (shared->flag[op->a] > 0) {
        shared->flag[op->a]--;
        return passed(shared);
    }
    rt_slot_replace(&shared->slot[op->b], cx, "one of a counter");
    return RT_PENDING;
}

static rt_poll
wait_late(struct player *player, const struct truth_op *op, struct rt_cx *cx)
{
    struct shared *shared = player->shared;
    if (player->stage == 1) {
        rt_slot_replace(&shared->slot[op->b], cx, "a flag that was not set");
        player->stage = 0;
        return RT_PENDING;
    }
    if (shared->flag[op->a] > 0) {
        return passed(shared);
    }
    player->stage = 1;
    rt_cx_reenqueue(cx);
    return RT_PENDING;
}

/* The lock is always free: no poll ends while it is held. */
static rt_poll
wait_locked(struct shared *shared, const struct truth_op *op, struct rt_cx *cx)
{
    SIM_ALWAYS(rt_semaphore_try_acquire(&shared->lock, 1) == RT_OK);
    bool set = shared->flag[op->a] > 0;
    SIM_ALWAYS(rt_semaphore_release(&shared->lock, 1) == RT_OK);
    if (set) {
        return passed(shared);
    }
    rt_slot_replace(&shared->slot[op->b], cx, "a flag under a lock");
    return RT_PENDING;
}

static rt_poll
wait_lines(struct player *player, const struct truth_op *op, struct rt_cx *cx)
{
    struct shared *shared = player->shared;
    if (shared->flag[op->a] > 0) {
        return passed(shared);
    }
    if (player->stage == 0) {
        player->stage = 1;
        rt_slot_replace(&shared->slot[op->b], cx, "a flag");
    } else {
        rt_slot_replace(&shared->slot[op->b], cx, "a flag, still");
    }
    return RT_PENDING;
}

static rt_poll
wait_turn(struct player *player, const struct truth_op *op, struct rt_cx *cx)
{
    struct shared *shared = player->shared;
    if (shared->flag[op->a] > 0) {
        return passed(shared);
    }
    rt_slot_replace(&shared->slot[player->stage == 0 ? op->b : op->c], cx, "a replica");
    player->stage = player->stage == 0;
    return RT_PENDING;
}

static rt_poll
hedge(struct player *player, const struct truth_op *op, struct rt_cx *cx)
{
    struct shared *shared = player->shared;
    if (shared->flag[op->a] > 0) {
        return passed(shared);
    }
    uint32_t replica = op->c + player->stage;
    player->stage = player->stage == 0;
    shared->flag[replica]++;
    rt_slot_wake(&shared->slot[replica]);
    rt_slot_replace(&shared->slot[op->b], cx, "an answer");
    return RT_PENDING;
}

static rt_poll
wait_any(struct shared *shared, const struct truth_op *op, struct rt_cx *cx)
{
    if (shared->flag[op->a] > 0 || shared->flag[op->b] > 0) {
        return passed(shared);
    }
    rt_slot_replace(&shared->slot[op->a], cx, "one of two flags");
    rt_slot_replace(&shared->slot[op->b], cx, "the other flag");
    return RT_PENDING;
}

static rt_poll
nap(struct player *player, uint32_t ms, struct rt_cx *cx)
{
    if (player->stage == 0) {
        player->stage = 1;
        rt_sleep_init(&player->nap, ms * RT_MS);
    }
    return rt_sleep_poll(&player->nap, cx);
}

static rt_poll
wait_time(struct player *player, const struct truth_op *op, struct rt_cx *cx)
{
    struct shared *shared = player->shared;
    if (shared->flag[op->a] > 0) {
        if (player->stage == 1) {
            rt_sleep_cancel(&player->nap);
        }
        return passed(shared);
    }
    if (nap(player, op->c, cx) == RT_READY) {
        return passed(shared);
    }
    rt_slot_replace(&shared->slot[op->b], cx, "a flag, for some time");
    return RT_PENDING;
}

static rt_poll
yield(struct player *player, struct rt_cx *cx)
{
    if (player->stage == 1) {
        return RT_READY;
    }
    player->stage = 1;
    rt_cx_reenqueue(cx);
    return RT_PENDING;
}

static rt_poll
send(struct player *player, const struct truth_op *op, struct rt_cx *cx)
{
    if (player->stage == 0) {
        player->stage = 1;
        rt_send_init(&player->send, &player->shared->channel[op->a], NULL);
    }
    return rt_send_poll(&player->send, cx);
}

static rt_poll
receive(struct player *player, const struct truth_op *op, struct rt_cx *cx)
{
    if (player->stage == 0) {
        player->stage = 1;
        rt_recv_init(&player->recv, &player->shared->channel[op->a], NULL);
    }
    return rt_recv_poll(&player->recv, cx);
}

static rt_poll
acquire(struct player *player, struct rt_cx *cx)
{
    if (player->stage == 0) {
        player->stage = 1;
        rt_acquire_init(&player->acquire, &player->shared->permit, 1);
    }
    return rt_acquire_poll(&player->acquire, cx);
}

static rt_poll
join(struct shared *shared, const struct truth_op *op, struct rt_cx *cx)
{
    return rt_task_join(&shared->players[op->a].task, cx) == RT_READY ? passed(shared) : RT_PENDING;
}

static rt_poll
perform(struct player *player, const struct truth_op *op, struct rt_cx *cx)
{
    struct shared *shared = player->shared;
    switch (op->kind) {
    case TRUTH_SET:
        shared->flag[op->a]++;
        return RT_READY;
    case TRUTH_WAKE:
        rt_slot_wake(&shared->slot[op->a]);
        return RT_READY;
    case TRUTH_WAIT:
        return wait_flag(shared, op, cx);
    case TRUTH_TAKE:
        return take(shared, op, cx);
    case TRUTH_WAIT_LATE:
        return wait_late(player, op, cx);
    case TRUTH_WAIT_LOCKED:
        return wait_locked(shared, op, cx);
    case TRUTH_WAIT_LINES:
        return wait_lines(player, op, cx);
    case TRUTH_WAIT_TURN:
        return wait_turn(player, op, cx);
    case TRUTH_HEDGE:
        return hedge(player, op, cx);
    case TRUTH_ACQUIRE:
        return acquire(player, cx);
    case TRUTH_RELEASE:
        SIM_ALWAYS(rt_semaphore_release(&shared->permit, 1) == RT_OK);
        return RT_READY;
    case TRUTH_WAIT_ANY:
        return wait_any(shared, op, cx);
    case TRUTH_WAIT_TIME:
        return wait_time(player, op, cx);
    case TRUTH_SLEEP:
        return nap(player, op->a, cx);
    case TRUTH_YIELD:
        return yield(player, cx);
    case TRUTH_SEND:
        return send(player, op, cx);
    case TRUTH_RECV:
        return receive(player, op, cx);
    case TRUTH_JOIN:
        return join(shared, op, cx);
    case TRUTH_CANCEL:
        rt_task_cancel(&shared->players[op->a].task);
        return RT_READY;
    default:
        return RT_READY;
    }
}

static rt_poll
player_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct player *player = rt_container_of(task, struct player, task);
    while (player->pc < player->is->count) {
        RT_AWAIT(perform(player, &player->is->ops[player->pc], cx));
        player->pc++;
        player->stage = 0;
    }
    return RT_READY;
}

/* What the operation that is cut short has begun is given back. */
static void
abandon(struct player *player)
{
    const struct truth_op *op = &player->is->ops[player->pc];
    if (player->stage == 0) {
        return;
    }
    if (op->kind == TRUTH_SLEEP || op->kind == TRUTH_WAIT_TIME) {
        rt_sleep_cancel(&player->nap);
    } else if (op->kind == TRUTH_SEND) {
        rt_send_drop(&player->send);
    } else if (op->kind == TRUTH_RECV) {
        rt_recv_drop(&player->recv);
    } else if (op->kind == TRUTH_ACQUIRE) {
        rt_acquire_drop(&player->acquire);
    }
}

static void
player_cleanup(struct rt_task *task)
{
    struct player *player = rt_container_of(task, struct player, task);
    if (player->pc == player->is->count) {
        return; /* It has finished. */
    }
    abandon(player);
    for (uint32_t i = 0; i < player->is->cleanups; i++) {
        const struct truth_op *op = &player->is->cleanup[i];
        if (op->kind == TRUTH_SET) {
            player->shared->flag[op->a]++;
        } else {
            rt_slot_wake(&player->shared->slot[op->a]);
        }
    }
}

/* ---- Loops and workers: each operation is a step. -------------------------------------------- */

static void
loop_operate(struct player *player, uint32_t at, bool pauses)
{
    struct shared *shared = player->shared;
    const struct truth_op *op = &player->is->ops[at];
    uint64_t counter;
    if (pauses) {
        sim_loop_pause(shared->world);
    }
    if (op->kind == TRUTH_DRAIN) {
        (void)sim_fd_read(shared->fds, shared->fd[op->a], &counter, sizeof(counter));
    } else if (shared->flag[op->a] > 0) {
        shared->taken += shared->flag[op->a];
        shared->flag[op->a] = 0;
        (void)passed(shared);
    }
    sim_cell_set(&player->mark, TRUTH_MARK_OP + (int64_t)at);
}

static void
loop_callback(struct player *player, uint32_t fd, bool pauses)
{
    struct shared *shared = player->shared;
    if (shared->program->watched) {
        sim_foreign_poll(&shared->watcher[fd]);
    }
    for (uint32_t at = 1; at < player->is->count; at++) {
        if (player->is->ops[at].a == fd) {
            loop_operate(player, at, pauses);
        }
    }
    if (shared->program->watched) {
        sim_foreign_polled(&shared->watcher[fd], shared->taken >= player->is->ops[0].b);
    }
}

/* The question: an event for nothing. */
static void
loop_again(void *runtime, void *watcher)
{
    struct player *player = runtime;
    struct shared *shared = player->shared;
    if (shared->taken < player->is->ops[0].b) {
        loop_callback(player, watcher == &shared->watcher[0] ? 0 : 1, false);
    }
}

static void
loop_timeout(struct player *player)
{
    for (uint32_t at = 1; at < player->is->count; at++) {
        if (player->is->ops[at].kind == TRUTH_CHECK) {
            loop_operate(player, at, true);
        }
    }
}

static void
loop_main(struct sim_world *world, void *argument)
{
    struct player *player = argument;
    struct shared *shared = player->shared;
    const struct truth_op *listen = &player->is->ops[0];
    uint64_t timeout_ns = listen->c == 0 ? SIM_NEVER : listen->c * RT_MS;
    (void)world;
    while (shared->taken < listen->b) {
        struct sim_fd_event events[2] = {{0, 0}, {0, 0}};
        uint32_t count = sim_fd_wait(shared->fds, events, 2, timeout_ns);
        uint64_t first = count > 0 ? events[0].data + 1 : 0;
        uint64_t second = count > 1 ? events[1].data + 1 : 0;
        sim_cell_set(&player->mark, TRUTH_MARK_WAIT + (int64_t)(4 * first + second));
        for (uint32_t i = 0; i < count; i++) {
            loop_callback(player, (uint32_t)events[i].data, true);
        }
        if (count == 0) {
            loop_timeout(player);
        }
    }
}

static void
worker_main(struct sim_world *world, void *argument)
{
    struct player *player = argument;
    struct shared *shared = player->shared;
    for (; player->pc < player->is->count; player->pc++) {
        const struct truth_op *op = &player->is->ops[player->pc];
        if (op->kind == TRUTH_SET) {
            shared->flag[op->a]++;
        } else if (op->kind == TRUTH_NOTIFY) {
            SIM_ALWAYS(sim_fd_notify(shared->fds, shared->fd[op->a]) == RT_OK);
        }
        sim_cell_set(&player->mark, TRUTH_MARK_OP + (int64_t)player->pc);
        if (op->kind == TRUTH_SLEEP) {
            sim_sleep(world, op->a * RT_MS);
        } else {
            sim_loop_pause(world);
        }
    }
    sim_cell_set(&player->mark, TRUTH_MARK_END);
}

/* ---- Setting it up. -------------------------------------------------------------------------- */

static const char *const names[TRUTH_ACTORS] = {"t0", "t1", "t2", "t3"};

static void
setup_tasks(struct sim_world *world, struct shared *shared)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    for (uint32_t i = 0; i < TRUTH_SLOTS; i++) {
        rt_slot_init(&shared->slot[i]);
    }
    rt_semaphore_init(&shared->permit, 1);
    rt_semaphore_init(&shared->lock, 1);
    for (uint32_t i = 0; i < TRUTH_CHANNELS; i++) {
        struct rt_channel_config config = {.capacity = shared->program->capacity[i]};
        rt_channel_init(&shared->channel[i], &config);
        rt_channel_add_sender(&shared->channel[i]);
        rt_channel_add_receiver(&shared->channel[i]);
    }
    for (uint32_t i = 0; i < shared->program->actors; i++) {
        struct player *player = &shared->players[i];
        rt_task_init(&player->task, player_poll, player_cleanup, names[i]);
    }
    for (uint32_t i = 0; i < shared->program->actors; i++) {
        sim_spawn(rt, &shared->players[i].task);
    }
}

static void
watch(struct shared *shared, struct sim_foreign *foreign)
{
    static const char *const watcher_names[TRUTH_FDS] = {"watcher 0", "watcher 1"};
    for (uint32_t i = 0; i < TRUTH_FDS; i++) {
        sim_foreign_watch(foreign, &shared->watcher[i], watcher_names[i], "a post");
    }
}

static void
setup_loops(struct sim_world *world, struct shared *shared)
{
    static const char *const fd_names[TRUTH_FDS] = {"event 0", "event 1"};
    shared->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT), 3);
    for (uint32_t i = 0; i < TRUTH_FDS; i++) {
        SIM_ALWAYS(sim_fd_event_open(shared->fds, fd_names[i], &shared->fd[i]) == RT_OK);
        SIM_ALWAYS(sim_fd_add(shared->fds, shared->fd[i], SIM_FD_IN, i) == RT_OK);
    }
    for (uint32_t i = 0; i < shared->program->actors; i++) {
        struct player *player = &shared->players[i];
        sim_cell_init(world, &player->mark, names[i], 0);
        struct sim_loop *loop =
                sim_loop_new(world, names[i], i == 0 ? loop_main : worker_main, player);
        if (i == 0 && shared->program->watched) {
            watch(shared, sim_foreign_new(loop, loop_again, player));
        }
    }
}

static void
setup(struct sim_world *world)
{
    struct shared *shared = sim_new(world, struct shared);
    shared->world = world;
    shared->program = program_now;
    for (uint32_t i = 0; i < program_now->actors; i++) {
        shared->players[i].shared = shared;
        shared->players[i].is = &program_now->actor[i];
    }
    if (program_now->family == TRUTH_LOOPS) {
        setup_loops(world, shared);
    } else {
        setup_tasks(world, shared);
    }
}

void
truth_play_program(const struct truth_program *program)
{
    program_now = program;
}

const struct sim_scenario truth_scenario = {
        .file = __FILE__,
        .name = "truth/program",
        .about = "A program of the reference model.",
        .setup = setup,
};

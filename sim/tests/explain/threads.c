/*
 * threads.c -- broken programs of threads and loops: no task, no waker, nothing in a ledger.
 *
 * As in programs.c they say that they lie elsewhere.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"
#include "sim/tests/explain/explain_lab.h"

#line 1 "hand/threads.c"

/* A function that is called, and comes back: so it stands on the stack of what it calls. */
#define CALLED static __attribute__((noinline))

/* ---- A thread waits on what it had looked at before. ----------------------------------------- */

enum gate_state { GATE_AWAKE, GATE_PREPARES, GATE_SLEEPS };

struct gate {
    struct sim_world *world;
    struct sim_loop *waiting;
    bool open;
    bool by_state; /* The guest says what it is about to do, and is told so that it does not. */
    enum gate_state state;
};

CALLED void
gate_wait(struct gate *gate)
{
    bool open = gate->open;
    sim_loop_pause(gate->world);
    if (!open) {
        gate->waiting = sim_loop_current(gate->world);
        sim_loop_block(gate->world, 0, "the gate", RT_HERE);
        gate->waiting = NULL;
    }
}

CALLED void
gate_open(struct gate *gate)
{
    if (gate->waiting != NULL) {
        sim_loop_wake(gate->waiting);
    }
    gate->open = true;
}

/* It says that it prepares after it has looked. */
CALLED void
gate_wait_by_state(struct gate *gate)
{
    sim_loop_pause(gate->world);
    gate->state = GATE_PREPARES;
    sim_loop_pause(gate->world);
    if (gate->state == GATE_PREPARES) {
        gate->state = GATE_SLEEPS;
        sim_loop_block(gate->world, 0, "the gate", RT_HERE);
    }
}

CALLED void
gate_open_by_state(struct gate *gate)
{
    gate->open = true;
    if (gate->state == GATE_SLEEPS) {
        sim_loop_wake(gate->waiting);
    }
    gate->state = GATE_AWAKE;
}

static void
gate_guest(struct sim_world *world, void *argument)
{
    struct gate *gate = argument;
    sim_sleep(world, 2 * RT_MS);
    if (!gate->by_state) {
        gate_wait(gate);
        return;
    }
    gate->waiting = sim_loop_current(world);
    while (!gate->open) {
        gate_wait_by_state(gate);
    }
}

static void
gate_keeper(struct sim_world *world, void *argument)
{
    struct gate *gate = argument;
    sim_sleep(world, sim_range(world, 2, 3) * RT_MS);
    if (gate->by_state) {
        gate_open_by_state(gate);
    } else {
        gate_open(gate);
    }
}

static void
gate_begin(struct sim_world *world, bool by_state)
{
    struct gate *gate = sim_new(world, struct gate);
    gate->world = world;
    gate->by_state = by_state;
    (void)sim_loop_new(world, "guest", gate_guest, gate);
    (void)sim_loop_new(world, "keeper", gate_keeper, gate);
}

static void
met_none_setup(struct sim_world *world)
{
    gate_begin(world, false);
}

static void
arrived_early_setup(struct sim_world *world)
{
    gate_begin(world, true);
}

const struct sim_scenario explain_met_none = {.name = "test/met-none", .setup = met_none_setup};
const struct sim_scenario explain_arrived_early = {
        .name = "test/came-early", .setup = arrived_early_setup};

/* ---- A bell that is signalled once. ---------------------------------------------------------- */

struct bell {
    struct sim_world *world;
    struct sim_fds *fds;
    int fd;
    bool stage;
    uint32_t work;
    uint32_t done;
};

CALLED void
bell_ring(struct bell *bell)
{
    if (bell->stage) {
        return;
    }
    bell->stage = true;
    SIM_ALWAYS(sim_fd_notify(bell->fds, bell->fd) == RT_OK);
}

/* Without waiting it takes the bell's event, and leaves its flag. */
CALLED void
bell_look(struct bell *bell, uint64_t timeout_ns)
{
    struct sim_fd_event event;
    uint64_t times;
    if (sim_fd_wait(bell->fds, &event, 1, timeout_ns) > 0) {
        (void)sim_fd_read(bell->fds, bell->fd, &times, sizeof(times));
        if (timeout_ns != 0) {
            bell->stage = false;
        }
    }
}

static void
bell_loop(struct sim_world *world, void *argument)
{
    struct bell *bell = argument;
    while (bell->done < 3) {
        if (bell->work > 0) {
            bell->work--;
            bell->done++;
            sim_sleep(world, RT_MS);
            bell_look(bell, 0);
        } else {
            bell_look(bell, SIM_NEVER);
        }
    }
}

static void
bell_ringer(struct sim_world *world, void *argument)
{
    struct bell *bell = argument;
    for (uint32_t i = 0; i < 3; i++) {
        sim_sleep(world, sim_pick(world, 3) == 2 ? RT_MS / 2 : 3 * RT_MS);
        bell->work++;
        bell_ring(bell);
    }
}

static struct sim_fds *
bell_fds(struct sim_world *world, int *ret_fd)
{
    struct sim_fds *fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), 3);
    SIM_ALWAYS(sim_fd_event_open(fds, "bell", ret_fd) == RT_OK);
    SIM_ALWAYS(sim_fd_add(fds, *ret_fd, SIM_FD_IN, 0) == RT_OK);
    return fds;
}

static void
turned_back_setup(struct sim_world *world)
{
    struct bell *bell = sim_new(world, struct bell);
    bell->world = world;
    bell->fds = bell_fds(world, &bell->fd);
    (void)sim_loop_new(world, "loop", bell_loop, bell);
    (void)sim_loop_new(world, "ringer", bell_ringer, bell);
}

const struct sim_scenario explain_turned_back = {
        .name = "test/turned-back", .setup = turned_back_setup, .profile = SIM_PROFILE_FD};

/* ---- One queue of waiters for two kinds of work. --------------------------------------------- */

struct pool {
    struct sim_world *world;
    struct sim_loop *waiting[2];
    uint32_t count;
    uint32_t work[2];
};

struct pool_worker {
    struct pool *pool;
    uint32_t number;
};

CALLED void
pool_signal(struct pool *pool)
{
    if (pool->count > 0) {
        sim_loop_wake(pool->waiting[0]);
        pool->waiting[0] = pool->waiting[1];
        pool->count--;
    }
}

CALLED void
pool_give(struct pool *pool, uint32_t number)
{
    pool->work[number]++;
    pool_signal(pool);
}

static void
pool_worker_main(struct sim_world *world, void *argument)
{
    struct pool_worker *worker = argument;
    struct pool *pool = worker->pool;
    sim_sleep(world, sim_range(world, 1, 2) * RT_MS);
    while (pool->work[worker->number] == 0) {
        pool->waiting[pool->count++] = sim_loop_current(world);
        sim_loop_block(world, 0, "work", RT_HERE);
    }
}

static void
pool_source_main(struct sim_world *world, void *argument)
{
    for (uint32_t i = 0; i < 2; i++) {
        sim_sleep(world, (3 - 2 * i) * RT_MS);
        pool_give(argument, i);
    }
}

static void
wrong_one_setup(struct sim_world *world)
{
    struct pool *pool = sim_new(world, struct pool);
    pool->world = world;
    for (uint32_t i = 0; i < 2; i++) {
        struct pool_worker *worker = sim_new(world, struct pool_worker);
        *worker = (struct pool_worker){pool, i};
        (void)sim_loop_new(world, i == 0 ? "ann" : "bob", pool_worker_main, worker);
    }
    (void)sim_loop_new(world, "source", pool_source_main, pool);
}

const struct sim_scenario explain_wrong_one = {.name = "test/wrong-one", .setup = wrong_one_setup};

/* ---- A descriptor that is asked for once. ---------------------------------------------------- */

struct line {
    struct sim_fds *fds;
    int ends[2];
    uint32_t received;
};

CALLED void
line_take(struct line *line)
{
    char byte;
    line->received += sim_fd_read(line->fds, line->ends[0], &byte, 1) == 1;
}

static void
line_server(struct sim_world *world, void *argument)
{
    struct line *line = argument;
    (void)world;
    SIM_ALWAYS(sim_fd_add(line->fds, line->ends[0], SIM_FD_IN | SIM_FD_ONESHOT, 0) == RT_OK);
    while (line->received < 2) {
        struct sim_fd_event event;
        if (sim_fd_wait(line->fds, &event, 1, SIM_NEVER) > 0) {
            line_take(line);
        }
    }
}

static void
line_client(struct sim_world *world, void *argument)
{
    struct line *line = argument;
    (void)world;
    for (uint32_t i = 0; i < 2; i++) {
        SIM_ALWAYS(sim_fd_write(line->fds, line->ends[1], "x", 1) == 1);
    }
}

static void
not_rearmed_setup(struct sim_world *world)
{
    struct line *line = sim_new(world, struct line);
    line->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), 3);
    SIM_ALWAYS(sim_fd_pair(line->fds, "line", RT_MS, RT_MS, line->ends) == RT_OK);
    (void)sim_loop_new(world, "server", line_server, line);
    (void)sim_loop_new(world, "client", line_client, line);
}

const struct sim_scenario explain_not_rearmed = {
        .name = "test/deaf", .setup = not_rearmed_setup, .profile = SIM_PROFILE_FD};

/* ---- A foreign executor whose wakes swallow each other. -------------------------------------- */

#define JOB_SCHEDULED 1u
#define JOB_SCHEDULING 2u

struct job {
    struct sim_world *world;
    struct sim_fds *fds;
    int bell;
    uint32_t state;
    bool queued;
    bool finished;
    uint32_t inbox;
};

CALLED void
job_ring(struct job *job)
{
    job->queued = true;
    SIM_ALWAYS(sim_fd_notify(job->fds, job->bell) == RT_OK);
}

/* Who comes while the first still says SCHEDULING goes away, though the job has run since. */
CALLED void
job_schedule(struct job *job)
{
    uint32_t before = job->state;
    job->state |= JOB_SCHEDULED | JOB_SCHEDULING;
    if ((before & JOB_SCHEDULING) == 0) {
        job_ring(job);
        sim_loop_pause(job->world);
        job->state &= ~JOB_SCHEDULING;
    }
}

static void
job_run(struct job *job)
{
    job->queued = false;
    job->state &= ~JOB_SCHEDULED;
    sim_foreign_poll(job);
    job->finished = job->inbox == 2;
    if (!job->finished) {
        sim_foreign_store(job, job, "two messages");
    }
    sim_foreign_polled(job, job->finished);
}

static void
job_loop(struct sim_world *world, void *argument)
{
    struct job *job = argument;
    (void)world;
    while (!job->finished) {
        struct sim_fd_event event;
        uint64_t times;
        if (job->queued) {
            job_run(job);
        } else if (sim_fd_wait(job->fds, &event, 1, SIM_NEVER) > 0) {
            (void)sim_fd_read(job->fds, job->bell, &times, sizeof(times));
        }
    }
}

static void
job_sender(struct sim_world *world, void *argument)
{
    struct job *job = argument;
    sim_sleep(world, sim_range(world, 1, 4) * RT_MS);
    job->inbox++;
    sim_foreign_fire(job);
    job_schedule(job);
}

static void
job_again(void *runtime, void *job)
{
    (void)runtime;
    job_run(job);
}

static void
dropped_setup(struct sim_world *world)
{
    struct job *job = sim_new(world, struct job);
    job->world = world;
    job->queued = true;
    job->fds = bell_fds(world, &job->bell);
    struct sim_loop *loop = sim_loop_new(world, "executor", job_loop, job);
    sim_foreign_spawn(sim_foreign_new(loop, job_again, job), job, "pump");
    (void)sim_loop_new(world, "sender a", job_sender, job);
    (void)sim_loop_new(world, "sender b", job_sender, job);
}

const struct sim_scenario explain_dropped = {
        .name = "test/dropped", .setup = dropped_setup, .profile = SIM_PROFILE_FD};

/* ---- The same, where the task is marked and its executor is not notified. -------------------- */

CALLED void
job_mark(struct job *job)
{
    job->queued = true;
}

static void
quiet_sender(struct sim_world *world, void *argument)
{
    struct job *job = argument;
    sim_sleep(world, RT_MS);
    job->inbox = 2;
    sim_foreign_fire(job);
    job_mark(job);
}

static void
unrung_setup(struct sim_world *world)
{
    struct job *job = sim_new(world, struct job);
    job->world = world;
    job->queued = true;
    job->fds = bell_fds(world, &job->bell);
    struct sim_loop *loop = sim_loop_new(world, "executor", job_loop, job);
    sim_foreign_spawn(sim_foreign_new(loop, job_again, job), job, "pump");
    (void)sim_loop_new(world, "sender", quiet_sender, job);
}

const struct sim_scenario explain_unrung = {
        .name = "test/unrung", .setup = unrung_setup, .profile = SIM_PROFILE_FD};

/* ---- A turn that takes so much and no more. -------------------------------------------------- */

struct posts {
    struct sim_fds *fds;
    int bell;
    uint32_t posted;
    uint32_t run;
};

CALLED void
posts_post(struct posts *posts)
{
    SIM_ALWAYS(sim_fd_notify(posts->fds, posts->bell) == RT_OK);
    posts->posted++;
}

CALLED void
posts_drain(struct posts *posts)
{
    for (uint32_t i = 0; i < 3 && posts->posted > 0; i++) {
        posts->posted--;
        posts->run++;
    }
}

static void
posts_loop(struct sim_world *world, void *argument)
{
    struct posts *posts = argument;
    (void)world;
    while (posts->run < 4) {
        struct sim_fd_event event;
        uint64_t times;
        if (sim_fd_wait(posts->fds, &event, 1, SIM_NEVER) > 0) {
            (void)sim_fd_read(posts->fds, posts->bell, &times, sizeof(times));
            posts_drain(posts);
        }
    }
}

static void
posts_poster(struct sim_world *world, void *argument)
{
    bool bursts = sim_pick(world, 2) == 1;
    for (uint32_t i = 0; i < 4; i++) {
        if (i == 0 || !bursts) {
            sim_sleep(world, RT_MS);
        }
        posts_post(argument);
    }
}

static void
left_over_setup(struct sim_world *world)
{
    struct posts *posts = sim_new(world, struct posts);
    posts->fds = bell_fds(world, &posts->bell);
    (void)sim_loop_new(world, "loop", posts_loop, posts);
    (void)sim_loop_new(world, "poster", posts_poster, posts);
}

const struct sim_scenario explain_left_over = {
        .name = "test/left-over", .setup = left_over_setup, .profile = SIM_PROFILE_FD};

/* ---- A driver that goes to sleep forever, with a timer that came in between. ---------------- */

struct alarms {
    struct sim_world *world;
    struct sim_fds *fds;
    int bell;
    uint64_t next_wake;
    uint64_t due[2];
    uint32_t count;
    uint32_t fired;
};

CALLED void
alarms_add(struct alarms *alarms, uint64_t when)
{
    if (when < alarms->next_wake) {
        SIM_ALWAYS(sim_fd_notify(alarms->fds, alarms->bell) == RT_OK);
    }
    alarms->due[alarms->count++] = when;
}

CALLED void
alarms_park(struct alarms *alarms)
{
    struct sim_fd_event event;
    uint64_t times;
    uint64_t when = SIM_NEVER;
    for (uint32_t i = 0; i < alarms->count; i++) {
        when = alarms->due[i] < when ? alarms->due[i] : when;
    }
    sim_loop_pause(alarms->world);
    uint64_t now = sim_now(alarms->world);
    uint64_t left = when > now ? when - now : 0;
    alarms->next_wake = when;
    if (sim_fd_wait(alarms->fds, &event, 1, when == SIM_NEVER ? SIM_NEVER : left) > 0) {
        (void)sim_fd_read(alarms->fds, alarms->bell, &times, sizeof(times));
    }
    for (uint32_t i = 0; i < alarms->count; i++) {
        alarms->fired += alarms->due[i] <= sim_now(alarms->world);
        alarms->due[i] = alarms->due[i] <= sim_now(alarms->world) ? SIM_NEVER : alarms->due[i];
    }
}

static void
alarms_driver(struct sim_world *world, void *argument)
{
    struct alarms *alarms = argument;
    (void)world;
    while (alarms->fired < 2) {
        alarms_park(alarms);
    }
}

static void
alarms_user(struct sim_world *world, void *argument)
{
    for (uint32_t i = 0; i < 2; i++) {
        sim_sleep(world, sim_range(world, 1, 3) * RT_MS);
        alarms_add(argument, sim_now(world) + 2 * RT_MS);
    }
}

static void
stale_park_setup(struct sim_world *world)
{
    struct alarms *alarms = sim_new(world, struct alarms);
    alarms->world = world;
    alarms->next_wake = SIM_NEVER;
    alarms->fds = bell_fds(world, &alarms->bell);
    (void)sim_loop_new(world, "driver", alarms_driver, alarms);
    (void)sim_loop_new(world, "user", alarms_user, alarms);
}

const struct sim_scenario explain_stale_park = {
        .name = "test/stale-park", .setup = stale_park_setup, .profile = SIM_PROFILE_FD};

/* ---- A foreign poll that gives way in its middle. -------------------------------------------- */

struct middle {
    struct sim_world *world;
    struct sim_fds *fds;
    int bell;
    bool woken;
    bool finished;
    uint32_t have;
};

static void
middle_run(struct middle *middle)
{
    sim_foreign_poll(middle);
    uint32_t seen = middle->have;
    sim_loop_pause(middle->world);
    middle->finished = seen == 2;
    if (!middle->finished) {
        sim_foreign_store(middle, middle, "an item");
    }
    middle->woken = false;
    sim_foreign_polled(middle, middle->finished);
}

static void
middle_loop(struct sim_world *world, void *argument)
{
    struct middle *middle = argument;
    (void)world;
    while (!middle->finished) {
        struct sim_fd_event event;
        uint64_t times;
        if (middle->woken) {
            middle_run(middle);
        } else if (sim_fd_wait(middle->fds, &event, 1, SIM_NEVER) > 0) {
            (void)sim_fd_read(middle->fds, middle->bell, &times, sizeof(times));
        }
    }
}

static void
middle_worker(struct sim_world *world, void *argument)
{
    struct middle *middle = argument;
    for (uint32_t i = 0; i < 2; i++) {
        sim_sleep(world, sim_range(world, 0, 2) * RT_MS);
        middle->have++;
        sim_foreign_fire(middle);
        middle->woken = true;
        SIM_ALWAYS(sim_fd_notify(middle->fds, middle->bell) == RT_OK);
    }
}

static void
middle_again(void *runtime, void *task)
{
    (void)runtime;
    middle_run(task);
}

static void
mid_poll_setup(struct sim_world *world)
{
    struct middle *middle = sim_new(world, struct middle);
    middle->world = world;
    middle->woken = true;
    middle->fds = bell_fds(world, &middle->bell);
    struct sim_loop *loop = sim_loop_new(world, "executor", middle_loop, middle);
    sim_foreign_spawn(sim_foreign_new(loop, middle_again, middle), middle, "job");
    (void)sim_loop_new(world, "worker", middle_worker, middle);
}

const struct sim_scenario explain_mid_poll = {
        .name = "test/mid-poll", .setup = mid_poll_setup, .profile = SIM_PROFILE_FD};

/* ---- An epoch that is read too late. --------------------------------------------------------- */

struct epoch {
    struct sim_world *world;
    struct sim_loop *waiting;
    uint32_t now;
    bool ready;
};

CALLED void
epoch_bump(struct epoch *epoch)
{
    if (epoch->waiting != NULL) {
        sim_loop_wake(epoch->waiting);
    }
    epoch->now++;
}

static void
epoch_consumer(struct sim_world *world, void *argument)
{
    struct epoch *epoch = argument;
    sim_sleep(world, 2 * RT_MS);
    while (!epoch->ready) {
        sim_loop_pause(world);
        uint32_t ticket = epoch->now;
        epoch->waiting = sim_loop_current(world);
        while (epoch->now == ticket) {
            sim_loop_block(world, 0, "the epoch", RT_HERE);
        }
        epoch->waiting = NULL;
    }
}

static void
epoch_producer(struct sim_world *world, void *argument)
{
    struct epoch *epoch = argument;
    sim_sleep(world, sim_range(world, 1, 3) * RT_MS);
    epoch->ready = true;
    epoch_bump(epoch);
    sim_loop_pause(world);
}

static void
late_ticket_setup(struct sim_world *world)
{
    struct epoch *epoch = sim_new(world, struct epoch);
    epoch->world = world;
    (void)sim_loop_new(world, "consumer", epoch_consumer, epoch);
    (void)sim_loop_new(world, "producer", epoch_producer, epoch);
}

const struct sim_scenario explain_late_ticket = {
        .name = "test/late-ticket", .setup = late_ticket_setup};

/* ---- Loops that do not end. ------------------------------------------------------------------ */

struct shut {
    struct sim_loop *loop;
    bool asleep;
    bool item;
    bool waiting;
    bool queued;
    bool finished;
};

static void
shut_poll(struct shut *shut)
{
    sim_foreign_poll(shut);
    shut->finished = shut->item;
    if (!shut->finished) {
        shut->waiting = true;
        sim_foreign_store(shut, &shut->waiting, "an item");
    }
    sim_foreign_polled(shut, shut->finished);
}

static void
shut_again(void *argument, void *task)
{
    (void)argument;
    shut_poll(task);
}

/* The queue is checked once: when it was woken for it, or when it has not waited so long. */
static void
shut_main(struct sim_world *world, void *argument)
{
    struct shut *shut = argument;
    shut_poll(shut);
    shut->asleep = sim_pick(world, 2) == 0;
    if (shut->asleep) {
        sim_loop_block(world, 0, "work", RT_HERE);
    } else {
        sim_sleep(world, RT_MS);
    }
    if (shut->queued) {
        shut_poll(shut);
    }
    while (!shut->finished) {
        sim_loop_pause(world);
    }
}

/* The call stands before something else, so that the compiler leaves the frame on the stack. */
CALLED void
shut_fire(struct shut *shut)
{
    sim_foreign_fire(&shut->waiting);
    if (shut->asleep) {
        sim_loop_wake(shut->loop);
    }
    shut->queued = true;
}

static void
shut_producer(struct sim_world *world, void *argument)
{
    struct shut *shut = argument;
    sim_sleep(world, RT_MS * 3 / 2);
    shut->item = true;
    shut_fire(shut);
}

static void
shut_down_setup(struct sim_world *world)
{
    struct shut *shut = sim_new(world, struct shut);
    shut->loop = sim_loop_new(world, "executor", shut_main, shut);
    sim_foreign_spawn(sim_foreign_new(shut->loop, shut_again, shut), shut, "task");
    (void)sim_loop_new_background(world, "producer", shut_producer, shut);
}

const struct sim_scenario explain_shut_down = {.name = "test/shut-down", .setup = shut_down_setup};

static volatile uint32_t spun;

CALLED void
spin_up(void)
{
    for (uint32_t i = 0; i < 1000; i++) {
        spun++;
    }
}

CALLED void
spin_down(void)
{
    for (uint32_t i = 0; i < 1000; i++) {
        spun--;
    }
}

CALLED void
spin_round(void)
{
    for (;;) {
        spin_up();
        spin_down();
    }
}

static void
spins_main(struct sim_world *world, void *argument)
{
    (void)argument;
    sim_loop_pause(world);
    spin_round();
}

static void
spins_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "spinner", spins_main, NULL);
}

const struct sim_scenario explain_spins = {.name = "test/spins", .setup = spins_setup};

CALLED void
clock_watch(struct sim_world *world)
{
    while (sim_now(world) != SIM_NEVER) {
    }
}

static void
spins_on_clock_main(struct sim_world *world, void *argument)
{
    (void)argument;
    sim_loop_pause(world);
    clock_watch(world);
}

static void
spins_on_clock_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "watcher", spins_on_clock_main, NULL);
}

const struct sim_scenario explain_spins_on_clock = {
        .name = "test/spins-on-clock", .setup = spins_on_clock_setup};

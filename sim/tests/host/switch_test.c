/*
 * switch_test.c -- a loop may be preempted before each of its calls of the host, and nowhere else.
 *
 * `caller` writes a line to the log and makes one call, while `witness` only takes steps. The
 * strategy preempts at each decision, so a call without a decision is found at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/fiber/call.h"
#include "sim/tests/host/host_lab.h"

/* What all the calls are made on. */
struct program {
    struct sim_world *world;
    struct sim_host *host;
    struct sim_fds *fds;
    int pair[2];
    int eventfd;
    int listener;
    struct sim_source *source;
    struct rt_pollable pollable; /* Of `source`; subscribed. */
    struct rt_pollable other;
    struct sim_input *input;
    struct sim_output *output;
    struct sim_request *request;
    struct sim_ring *ring;
    int32_t device;
    struct rt_net *net;
    struct rt_net_address address;
    int socket;     /* Listens. */
    int connection; /* Connects to it. */
    bool done;
};

/* ---- The calls. ------------------------------------------------------------------------------ */

#define CALL(identifier, ...) \
    static void identifier(struct program *program) \
    { \
        __VA_ARGS__; \
    }

/* Calls it, with any result. */
#define MAKE(call) ((void)!(call))

static char buffer[8];

CALL(call_pair, int fd[2]; MAKE(sim_fd_pair(program->fds, "another", 0, 0, fd)))
CALL(call_event_open, int fd; MAKE(sim_fd_event_open(program->fds, "another", &fd)))
CALL(call_listen, int fd; MAKE(sim_fd_listen(program->fds, "another", 0, 0, 0, &fd)))
CALL(call_accept, int fd; MAKE(sim_fd_accept(program->fds, program->listener, &fd, NULL)))
CALL(call_dup, int fd; MAKE(sim_fd_dup(program->fds, program->eventfd, &fd)))
CALL(call_close, MAKE(sim_fd_close(program->fds, program->eventfd)))
CALL(call_add, MAKE(sim_fd_add(program->fds, program->pair[1], SIM_FD_IN, 0)))
CALL(call_modify, MAKE(sim_fd_modify(program->fds, program->pair[0], SIM_FD_OUT, 0)))
CALL(call_remove, MAKE(sim_fd_remove(program->fds, program->pair[0])))
CALL(call_read, MAKE(sim_fd_read(program->fds, program->pair[0], buffer, sizeof(buffer))))
CALL(call_write, MAKE(sim_fd_write(program->fds, program->pair[0], buffer, sizeof(buffer))))
CALL(call_notify, MAKE(sim_fd_notify(program->fds, program->eventfd)))

CALL(call_now, (void)rt_host_now(sim_host_seam(program->host)))
CALL(call_subscribe, MAKE(rt_subscribe_instant(sim_host_seam(program->host), 0, &program->other)))
CALL(call_ready, (void)rt_pollable_ready(&program->pollable))
CALL(call_drop, rt_pollable_drop(&program->pollable))
CALL(call_host_notify, rt_host_notify(sim_host_seam(program->host)))

CALL(call_event, sim_source_event(program->source))
CALL(call_take, MAKE(sim_source_take(program->source)))
CALL(call_source_subscribe, MAKE(sim_source_subscribe(program->source, &program->other)))
CALL(call_source_drop, MAKE(sim_source_drop(program->source)))

CALL(call_input_read, size_t size;
        MAKE(sim_input_read(program->input, buffer, sizeof(buffer), &size)))
CALL(call_seam_read, size_t size;
        MAKE(sim_input_ops.read(program->input, buffer, sizeof(buffer), &size, NULL)))
CALL(call_input_subscribe, MAKE(sim_input_subscribe(program->input, &program->other)))
CALL(call_input_drop, MAKE(sim_input_drop(program->input)))
CALL(call_output_write, size_t size;
        MAKE(sim_output_write(program->output, buffer, sizeof(buffer), &size)))
CALL(call_output_subscribe, MAKE(sim_output_subscribe(program->output, &program->other)))
CALL(call_output_drop, MAKE(sim_output_drop(program->output)))

CALL(call_send, (void)sim_request_send(program->host, "another", "", "", 1, 0, 0))
CALL(call_get, const char *headers; struct sim_input * body;
        MAKE(sim_request_get(program->request, &headers, &body)))
CALL(call_request_subscribe, MAKE(sim_request_subscribe(program->request, &program->other)))
CALL(call_request_drop, MAKE(sim_request_drop(program->request)))

#define RING sim_ring_seam(program->ring)
CALL(call_enter, MAKE(RING->ops->enter(RING)))
CALL(call_reap, struct rt_completion completion; (void)RING->ops->reap(RING, &completion, 1))
CALL(call_overflowed, (void)RING->ops->overflowed(RING))
CALL(call_ring_subscribe, MAKE(RING->ops->subscribe(RING, &program->other)))
CALL(call_ring_close, MAKE(sim_ring_close(program->ring, program->device)))

#define NET(call, ...) program->net->ops->call(program->net, __VA_ARGS__)
CALL(call_net_listen, struct rt_net_address address = program->address; int fd; address.port++;
        MAKE(NET(listen_start, &address, 1, &fd)))
CALL(call_listen_finish, MAKE(NET(listen_finish, program->socket)))
CALL(call_connect, int fd; MAKE(NET(connect_start, &program->address, &fd)))
CALL(call_connect_finish, MAKE(NET(connect_finish, program->connection)))
CALL(call_net_accept, int fd; struct rt_net_address peer;
        MAKE(NET(accept, program->socket, &fd, &peer)))
CALL(call_net_read, size_t size;
        MAKE(NET(read, program->connection, buffer, sizeof(buffer), &size, NULL)))
CALL(call_net_write, size_t size;
        MAKE(rt_net_write(program->net, program->connection, buffer, sizeof(buffer), &size, NULL)))
CALL(call_shutdown, MAKE(NET(shutdown, program->connection)))
CALL(call_net_close, NET(close, program->connection))
CALL(call_watch, uint32_t object; MAKE(NET(watch, program->connection, 0, &object)))
CALL(call_unwatch, NET(unwatch, program->socket))
CALL(call_net_subscribe, MAKE(NET(subscribe, &program->other)))

struct call {
    const char *name; /* As in `show`. */
    void (*make)(struct program *program);
};

static const struct call calls[] = {{"pair", call_pair}, {"event_open", call_event_open},
        {"listen", call_listen}, {"accept", call_accept}, {"dup", call_dup}, {"close", call_close},
        {"add", call_add}, {"modify", call_modify}, {"remove", call_remove}, {"read", call_read},
        {"write", call_write}, {"notify", call_notify}, {"now", call_now},
        {"subscribe", call_subscribe}, {"ready", call_ready}, {"drop", call_drop},
        {"notify", call_host_notify}, {"event", call_event}, {"take", call_take},
        {"subscribe", call_source_subscribe}, {"drop", call_source_drop}, {"read", call_input_read},
        {"read", call_seam_read}, {"subscribe", call_input_subscribe}, {"drop", call_input_drop},
        {"write", call_output_write}, {"subscribe", call_output_subscribe},
        {"drop", call_output_drop}, {"send", call_send}, {"get", call_get},
        {"subscribe", call_request_subscribe}, {"drop", call_request_drop}, {"enter", call_enter},
        {"reap", call_reap}, {"overflowed", call_overflowed}, {"subscribe", call_ring_subscribe},
        {"close", call_ring_close}, {"listen", call_net_listen},
        {"listen_finish", call_listen_finish}, {"connect", call_connect},
        {"connect_finish", call_connect_finish}, {"accept", call_net_accept},
        {"read", call_net_read}, {"write", call_net_write}, {"shutdown", call_shutdown},
        {"close", call_net_close}, {"add", call_watch}, {"remove", call_unwatch},
        {"subscribe", call_net_subscribe}};

#define CALLS (sizeof(calls) / sizeof(calls[0]))

/* ---- The world. ------------------------------------------------------------------------------ */

static const struct call *the_call;

static void
add_network(struct program *program)
{
    struct sim_net *net = sim_net_new(program->world, NULL);
    struct sim_node *node = sim_node_new(net, program->host, "node");
    uint32_t object = 0;
    program->net = sim_node_seam(node);
    program->address = sim_node_address(node, 80);
    EXPECT_OK(NET(listen_start, &program->address, 1, &program->socket));
    EXPECT_OK(NET(watch, program->socket, 0, &object));
    EXPECT_OK(NET(connect_start, &program->address, &program->connection));
}

static struct program *
program_new(struct sim_world *world)
{
    struct program *program = sim_new(world, struct program);
    program->world = world;
    program->host = sim_host_new(world, NULL, SIM_PROFILE_FD);
    program->fds = sim_fds_new(program->host, 3);
    EXPECT_OK(sim_fd_pair(program->fds, "pair", 0, 0, program->pair));
    EXPECT_OK(sim_fd_add(program->fds, program->pair[0], SIM_FD_IN, 0));
    EXPECT_OK(sim_fd_event_open(program->fds, "eventfd", &program->eventfd));
    EXPECT_OK(sim_fd_listen(program->fds, "listener", 0, 0, 0, &program->listener));
    program->source = sim_source_new(program->host, "source");
    EXPECT_OK(sim_source_subscribe(program->source, &program->pollable));
    program->input = sim_input_new(program->host, "input", "text", 4, 4, 0, 0);
    program->output = sim_output_new(program->host, "output", 4, 0, 0);
    program->request = sim_request_send(program->host, "request", "", "", 1, 0, 0);
    program->ring = sim_ring_new(program->host, "ring", NULL);
    program->device = sim_ring_device(program->ring, "device", "", 0, 1, 0, 0);
    add_network(program);
    sim_set_state(world, program);
    return program;
}

/* The run is over, without a return of the loop: all that it has opened stays open. */
static bool
is_done(struct sim_world *world, void *state)
{
    (void)world;
    return ((const struct program *)state)->done;
}

static void
finish(struct program *program)
{
    program->done = true;
    sim_loop_pause(program->world);
}

static void
caller_main(struct sim_world *world, void *argument)
{
    struct program *program = argument;
    sim_log(world, "calls");
    the_call->make(program);
    finish(program);
}

static void
witness_main(struct sim_world *world, void *argument)
{
    const struct program *program = argument;
    while (!program->done) {
        sim_loop_pause(world);
    }
}

static void
both_setup(struct sim_world *world)
{
    struct program *program = program_new(world);
    (void)sim_loop_new(world, "caller", caller_main, program);
    (void)sim_loop_new(world, "witness", witness_main, program);
}

/* ---- The strategy. --------------------------------------------------------------------------- */

static uint32_t
eager_choose(struct sim_strategy *strategy, const struct sim_choice *choice)
{
    (void)strategy;
    return choice->kind == SIM_KIND_SWITCH ? 1 : 0;
}

static const struct sim_strategy_ops eager_ops = {.keyless = true, .choose = eager_choose};

static struct sim_strategy eager = {.ops = &eager_ops};

static struct sim_outcome
run_eagerly(struct lab *lab, const struct sim_scenario *scenario)
{
    struct sim_options options;
    struct sim_outcome outcome;
    sim_options_init(&options, scenario);
    sim_world_run(&lab->world, scenario, &options, 1, &eager,
            (struct sim_recording){.events = true, .texts = true}, &outcome);
    ck_assert_msg(outcome.verdict == SIM_VERDICT_PASS, "%s", outcome.message);
    return outcome;
}

/* ---- The record of a run. -------------------------------------------------------------------- */

/* The first event of `kind` from `from` on, or the count of all. */
static uint64_t
next_event(const struct lab *lab, uint32_t kind, uint64_t from)
{
    const struct sim_recorder *recorder = &lab->world.recorder;
    while (from < recorder->count && sim_recorder_event(recorder, from)->kind != kind) {
        from++;
    }
    return from;
}

/* How many SWITCH events there are. */
static uint32_t
switches_of(const struct lab *lab)
{
    return host_lab_count(lab, SIM_EVENT_SWITCH, 0);
}

/* The caller is preempted directly after its line in the log, and the witness takes a step before
 * the caller does. */
static void
expect_switch(const struct lab *lab, const struct call *call)
{
    const struct sim_recorder *recorder = &lab->world.recorder;
    uint64_t said = next_event(lab, SIM_EVENT_LOG, 0);
    uint64_t at = said + 1;
    ck_assert_msg(
            at < recorder->count && sim_recorder_event(recorder, at)->kind == SIM_EVENT_SWITCH,
            "no switch before %s()", call->name);
    EXPECT_STR(sim_recorder_text(recorder, SIM_TEXT_EVENT, at), call->name);
    uint32_t caller = sim_recorder_event(recorder, at)->actor;
    uint64_t step = next_event(lab, SIM_EVENT_STEP, at);
    EXPECT(step < recorder->count);
    EXPECT(sim_recorder_event(recorder, step)->actor != caller);
}

/* ---- Where it is preempted. ------------------------------------------------------------------ */

static const struct sim_scenario both = {.name = "test/switch",
        .about = "One loop makes one call, another one watches.",
        .setup = both_setup,
        .profile = SIM_PROFILE_FD,
        .done = is_done};

/*
 * Goal: every call of the seam is a point at which other actors may run, before it takes effect.
 * Method: each of the calls alone; the switch is directly after the line before it.
 */
TEST(switch_each_call_of_the_host_is_a_point_of_it)
{
    struct lab lab;
    lab_init(&lab, NULL, 0xa5);
    for (size_t i = 0; i < CALLS; i++) {
        the_call = &calls[i];
        (void)run_eagerly(&lab, &both);
        expect_switch(&lab, &calls[i]);
    }
    lab_fini(&lab);
}

/* Goal: the default schedule is not affected. Method: the baseline run of each call has none. */
TEST(switch_the_default_schedule_has_none)
{
    struct lab lab;
    lab_init(&lab, NULL, 0xa5);
    for (size_t i = 0; i < CALLS; i++) {
        the_call = &calls[i];
        struct sim_outcome outcome = lab_run(&lab, &both, 1, true);
        EXPECT_STR(sim_verdict_name(outcome.verdict), "pass");
        EXPECT_EQ(switches_of(&lab), 0);
    }
    lab_fini(&lab);
}

static void
many_main(struct sim_world *world, void *argument)
{
    struct program *program = argument;
    for (uint32_t i = 0; i < 20; i++) {
        call_now(program);
    }
    finish(program);
    (void)world;
}

static void
many_setup(struct sim_world *world)
{
    struct program *program = program_new(world);
    (void)sim_loop_new(world, "caller", many_main, program);
    (void)sim_loop_new(world, "witness", witness_main, program);
}

/* Goal: a strategy that always preempts does not keep a loop from its work. Method: of 20 calls in
 * a row every fifth is made at once. */
TEST(switch_at_most_four_times_in_a_row)
{
    static const struct sim_scenario many = {.name = "test/switch-many",
            .about = "One loop makes many calls.",
            .setup = many_setup,
            .profile = SIM_PROFILE_FD,
            .done = is_done};
    struct lab lab;
    lab_init(&lab, NULL, 0xa5);
    (void)run_eagerly(&lab, &many);
    EXPECT_EQ(switches_of(&lab), 16);
    lab_fini(&lab);
}

/* ---- Where it is not. ------------------------------------------------------------------------ */

static void
alone_main(struct sim_world *world, void *argument)
{
    struct sim_host *host = argument;
    (void)world;
    (void)rt_host_now(sim_host_seam(host));
}

static void
alone_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "caller", alone_main, sim_host_new(world, NULL, SIM_PROFILE_FD));
}

/* Goal: no decision where no other actor could run. Method: one loop, and not one choice. */
TEST(switch_a_loop_that_is_alone_has_no_choice)
{
    static const struct sim_scenario alone = {
            .name = "test/switch-alone", .about = "One loop.", .setup = alone_setup};
    struct lab lab;
    lab_init(&lab, NULL, 0xa5);
    (void)run_eagerly(&lab, &alone);
    EXPECT_EQ(switches_of(&lab), 0);
    EXPECT_EQ(lab.world.decider.asked, 0);
    lab_fini(&lab);
}

struct reader {
    struct rt_task task;
    struct program *program;
    struct sim_rt *rt;
    struct rt_store store;
    struct rt_call call;
};

static rt_poll
reader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct program *program = rt_container_of(task, struct reader, task)->program;
    (void)cx;
    call_read(program);
    call_now(program);
    return RT_READY;
}

/* Runs a task of our own runtime, which calls another host than the runtime's. */
static void
runtime_main(struct sim_world *world, void *argument)
{
    struct reader *reader = argument;
    rt_task_init(&reader->task, reader_poll, NULL, "reader");
    sim_spawn(reader->rt, &reader->task);
    EXPECT_OK(rt_run_to_completion(sim_rt_runtime(reader->rt)));
    (void)rt_host_now(sim_host_seam(sim_rt_host(reader->rt)));
    (void)world;
    finish(reader->program);
}

static void
runtime_setup(struct sim_world *world)
{
    struct sim_rt_options options = {.by_loop = true};
    struct reader *reader = sim_new(world, struct reader);
    reader->program = program_new(world);
    reader->rt = sim_rt_new(world, &options);
    (void)sim_loop_new(world, "runtime", runtime_main, reader);
    (void)sim_loop_new(world, "witness", witness_main, reader->program);
}

/*
 * Goal: a poll of a task of ours is one step, and so is what our runtime does between two polls.
 * Method: a task calls its own host, and its runtime calls another one, on a fiber.
 */
TEST(switch_not_in_a_poll_of_our_own_runtime_and_not_in_its_host)
{
    static const struct sim_scenario runtime = {.name = "test/switch-runtime",
            .about = "A runtime of ours on a loop.",
            .setup = runtime_setup,
            .profile = SIM_PROFILE_FD,
            .done = is_done};
    struct lab lab;
    lab_init(&lab, NULL, 0xa5);
    (void)run_eagerly(&lab, &runtime);
    EXPECT_EQ(switches_of(&lab), 0);
    lab_fini(&lab);
}

static void
host_reads(struct rt_host_call *host)
{
    call_read(host->guest->store->data);
    host->continuation.callback = rt_answered;
}

static void
reading_guest(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    (void)!rt_guest_host(guest, host_reads, arguments, results);
}

static void
guest_main(struct sim_world *world, void *argument)
{
    struct reader *reader = argument;
    struct rt_call_config config = {.guest = reading_guest, .name = "guest"};
    rt_store_init(&reader->store, sim_engine_new(world, NULL), reader->program);
    EXPECT_OK(rt_call_init(&reader->call, &reader->store, &config));
    (void)rt_call_poll(&reader->call);
    rt_call_delete(&reader->call);
    rt_store_fini(&reader->store);
    finish(reader->program);
}

static void
guest_setup(struct sim_world *world)
{
    struct reader *reader = sim_new(world, struct reader);
    reader->program = program_new(world);
    (void)sim_loop_new(world, "caller", guest_main, reader);
    (void)sim_loop_new(world, "witness", witness_main, reader->program);
}

/* Goal: a guest's host function runs on the guest's stack, from where no loop can switch.
 * Method: one that reads a descriptor, called by a loop. */
TEST(switch_not_in_a_guest)
{
    static const struct sim_scenario guest = {.name = "test/switch-guest",
            .about = "A guest on a loop.",
            .setup = guest_setup,
            .profile = SIM_PROFILE_FD,
            .done = is_done};
    struct lab lab;
    lab_init(&lab, NULL, 0xa5);
    (void)run_eagerly(&lab, &guest);
    EXPECT_EQ(switches_of(&lab), 0);
    lab_fini(&lab);
}

/* ---- A poll with a switch. ------------------------------------------------------------------- */

static void
watcher_main(struct sim_world *world, void *argument)
{
    struct program *program = argument;
    (void)world;
    sim_foreign_poll(program);
    call_notify(program);
    call_read(program);
    call_write(program);
    sim_foreign_polled(program, true);
    finish(program);
}

static void
watcher_setup(struct sim_world *world)
{
    struct program *program = program_new(world);
    struct sim_loop *loop = sim_loop_new(world, "caller", watcher_main, program);
    sim_foreign_spawn(sim_foreign_new(loop, NULL, NULL), program, "watcher");
    (void)sim_loop_new(world, "witness", witness_main, program);
}

/*
 * Goal: the task remains the actor of its events, also in the steps after a switch.
 * Method: a poll of another runtime makes three calls; the actor of their events.
 */
TEST(switch_in_a_poll_of_another_runtime_leaves_it_the_actor)
{
    static const struct sim_scenario watcher = {.name = "test/switch-foreign",
            .about = "A poll with switches.",
            .setup = watcher_setup,
            .profile = SIM_PROFILE_FD,
            .done = is_done};
    struct lab lab;
    lab_init(&lab, NULL, 0xa5);
    (void)run_eagerly(&lab, &watcher);
    EXPECT_EQ(switches_of(&lab), 3);
    const struct sim_recorder *recorder = &lab.world.recorder;
    uint64_t poll = next_event(&lab, RT_PROBE_POLL, 0);
    uint64_t polled = next_event(&lab, RT_PROBE_POLLED, poll);
    uint64_t written = next_event(&lab, SIM_EVENT_WRITE, poll);
    EXPECT(written < polled && polled < recorder->count);
    uint32_t task = sim_recorder_event(recorder, poll)->actor;
    EXPECT_EQ(sim_recorder_event(recorder, written)->actor, task);
    EXPECT_EQ(sim_recorder_event(recorder, polled)->actor, task);
    lab_fini(&lab);
}

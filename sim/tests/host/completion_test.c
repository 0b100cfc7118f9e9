/*
 * completion_test.c -- the completion host: its freedoms, and its checks of the user.
 *
 * Most scenarios are a loop that uses the seam directly, without an rt_ring; `seen` counts over
 * a sweep, so that a freedom that is never taken fails the test.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/tests/host/host_lab.h"

static const char text[] = "the quick brown fox";

static struct {
    uint32_t reordered; /* Completed before an older one. */
    uint32_t shorter;
    uint32_t more;
    uint32_t stopped; /* A last completion although more could have come. */
    uint32_t cancel_first;
    uint32_t target_first;
    uint32_t apart; /* Target and cancel in two reads of the queue. */
    uint32_t stale;
    uint32_t busy;
    uint32_t stopped_early; /* By the cancel. */
    uint32_t overflowed;
    uint32_t full;
    uint32_t again;
} seen;

struct fixture {
    struct sim_host *host;
    struct rt_host *seam;
    struct sim_ring *ring;
    struct rt_completion_host *side;
    struct rt_pollable pollable;
    struct rt_completion early[8]; /* Reaped to make space, for `next`. */
    uint32_t early_count;
    char buffer[64];
};

static struct fixture *
fixture_new(struct sim_world *world)
{
    struct fixture *fixture = sim_new(world, struct fixture);
    struct sim_ring_options small = {.submissions = 2, .completions = 1};
    fixture->host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    fixture->seam = sim_host_seam(fixture->host);
    fixture->ring = sim_ring_new(fixture->host, "ring", &small);
    fixture->side = sim_ring_seam(fixture->ring);
    EXPECT_OK(fixture->side->ops->subscribe(fixture->side, &fixture->pollable));
    sim_set_state(world, fixture);
    return fixture;
}

/* A scenario of one loop, whose function is given the fixture. */
#define SCENARIO(identifier, ...) \
    static void identifier##_setup(struct sim_world *world) \
    { \
        (void)sim_loop_new(world, "loop", identifier##_loop, fixture_new(world)); \
    } \
    static const struct sim_scenario identifier = {.name = "test/" #identifier, \
            .about = "A loop uses completions.", \
            .setup = identifier##_setup, \
            __VA_ARGS__}

static void
push(struct fixture *fixture, struct rt_submission submission)
{
    while (fixture->side->ops->push(fixture->side, &submission) == RT_E_FULL) {
        seen.full++;
        if (fixture->side->ops->enter(fixture->side) == RT_E_AGAIN) {
            seen.again++;
            sim_sleep(sim_world_current, MS);
            fixture->early_count += fixture->side->ops->reap(
                    fixture->side, &fixture->early[fixture->early_count], 1);
        }
    }
}

static struct rt_submission
submission_of(struct fixture *fixture, enum rt_opcode opcode, int32_t target, uint64_t user_data)
{
    bool moves = opcode == RT_OPCODE_READ || opcode == RT_OPCODE_WRITE;
    return (struct rt_submission){.opcode = opcode,
            .target = target,
            .buffer = moves ? fixture->buffer : NULL,
            .size = moves ? 16 : 0,
            .user_data = user_data};
}

/* Submits everything, and waits for one completion. */
static struct rt_completion
next(struct fixture *fixture)
{
    struct rt_completion completion;
    const struct rt_completion_ops *ops = fixture->side->ops;
    (void)ops->enter(fixture->side);
    if (fixture->early_count > 0) {
        return fixture->early[--fixture->early_count];
    }
    while (ops->reap(fixture->side, &completion, 1) == 0) {
        struct rt_pollable *list[1] = {&fixture->pollable};
        uint32_t index = 0;
        uint32_t ready = 0;
        EXPECT_OK(fixture->seam->ops->poll(fixture->seam, list, 1, &index, &ready));
        seen.overflowed += ops->overflowed(fixture->side);
        (void)ops->enter(fixture->side);
    }
    return completion;
}

static void
end(struct fixture *fixture)
{
    EXPECT_EQ(sim_ring_live(fixture->ring), 0);
    rt_pollable_drop(&fixture->pollable);
}

/* ---- Order, queues. -------------------------------------------------------------------------- */

static void
order_loop(struct sim_world *world, void *argument)
{
    struct fixture *fixture = argument;
    bool done[6] = {false};
    (void)world;
    for (int32_t i = 0; i < 6; i++) {
        (void)sim_ring_device(fixture->ring, "device", NULL, 0, 1, 0, 0);
        struct rt_submission write = submission_of(fixture, RT_OPCODE_WRITE, i, (uint64_t)i);
        write.size = 1;
        push(fixture, write);
    }
    for (uint32_t k = 0; k < 6; k++) {
        struct rt_completion completion = next(fixture);
        EXPECT_EQ(completion.result, 1);
        EXPECT(!completion.more);
        EXPECT(completion.user_data < 6 && !done[completion.user_data]);
        done[completion.user_data] = true;
        seen.reordered += completion.user_data != k;
        if (completion.user_data % 2 == 0) {
            sim_sleep(world, 2 * MS); /* The queue of one overflows meanwhile. */
        }
    }
    end(fixture);
}

SCENARIO(order, .survives = SIM_FAULT_CAPACITY);

/* Holds U4, U7: any order, each once; a queue of one that overflows, one of two that is full, and a
 * host that takes nothing for a while. */
TEST(completion_order_is_free_and_small_queues_lose_nothing)
{
    memset(&seen, 0, sizeof seen);
    host_lab_pass(&order, 500);
    EXPECT(seen.reordered > 100);
    EXPECT(seen.overflowed > 100);
    EXPECT(seen.full > 100);
    EXPECT(seen.again > 3);
}

/* ---- Reads, short and in many pieces. -------------------------------------------------------- */

static void
read_loop(struct sim_world *world, void *argument)
{
    struct fixture *fixture = argument;
    size_t size = strlen(text);
    size_t got = 0;
    (void)world;
    (void)sim_ring_device(fixture->ring, "text", text, size, size, 0, 2 * MS);
    for (uint64_t k = 1;; k++) {
        struct rt_submission read = submission_of(fixture, RT_OPCODE_READ, 0, k);
        struct rt_completion completion = {.more = true};
        size_t filled = 0;
        read.multi = k % 2 == 0;
        push(fixture, read);
        while (completion.more) {
            completion = next(fixture);
            EXPECT_EQ(completion.user_data, k);
            EXPECT(completion.result >= 0 && got + (size_t)completion.result <= size);
            EXPECT(memcmp(fixture->buffer + filled, text + got, (size_t)completion.result) == 0);
            filled += (size_t)completion.result;
            got += (size_t)completion.result;
            seen.shorter += completion.result > 0 && completion.result < 16;
            seen.more += completion.more;
            EXPECT(!completion.more || read.multi);
            seen.stopped += !completion.more && read.multi && completion.result > 0 && filled < 16;
        }
        if (completion.result == 0) {
            break;
        }
    }
    EXPECT_EQ(got, size);
    end(fixture);
}

SCENARIO(read, .slack_ns = 0);

/* Holds U5: a piece with more leaves the operation live, one without ends it, also early. */
TEST(completion_reads_come_short_and_in_pieces)
{
    memset(&seen, 0, sizeof seen);
    host_lab_pass(&read, 500);
    EXPECT(seen.shorter > 100);
    EXPECT(seen.more > 100);
    EXPECT(seen.stopped > 10);
}

/* ---- Cancel. --------------------------------------------------------------------------------- */

static void
cancel_loop(struct sim_world *world, void *argument)
{
    struct fixture *fixture = argument;
    struct rt_completion target = {0};
    struct rt_completion cancel = {0};
    (void)sim_ring_device(fixture->ring, "text", text, strlen(text), 64, 0, MS);
    push(fixture, submission_of(fixture, RT_OPCODE_READ, 0, 1));
    (void)fixture->side->ops->enter(fixture->side);
    sim_sleep(world, sim_range(world, 0, MS));
    struct rt_submission stop = submission_of(fixture, RT_OPCODE_CANCEL, 0, 2);
    stop.cancels = 1;
    push(fixture, stop);
    struct rt_completion first = next(fixture);
    uint64_t first_ns = sim_now(world);
    struct rt_completion second = next(fixture);
    EXPECT(first.user_data != second.user_data);
    target = first.user_data == 1 ? first : second;
    cancel = first.user_data == 1 ? second : first;
    bool stopped = target.result == RT_E_CANCELLED;
    EXPECT(stopped || target.result > 0);
    EXPECT_EQ(stopped, cancel.result == 0);
    EXPECT(stopped || cancel.result == RT_E_STALE || cancel.result == RT_E_BUSY);
    seen.stale += cancel.result == RT_E_STALE;
    seen.busy += cancel.result == RT_E_BUSY;
    seen.stopped_early += stopped;
    seen.cancel_first += stopped && first.user_data == 2;
    seen.target_first += stopped && first.user_data == 1;
    seen.apart += stopped && sim_now(world) > first_ns + MS / 2;
    end(fixture);
}

SCENARIO(cancel, .slack_ns = 0);

/* Holds U3: two completions, both orders, at once and apart; not found, too late, and stopped. */
TEST(completion_cancel_pairs_come_in_every_way)
{
    memset(&seen, 0, sizeof seen);
    host_lab_pass(&cancel, 1000);
    EXPECT(seen.stale > 20);
    EXPECT(seen.busy > 20);
    EXPECT(seen.cancel_first > 20);
    EXPECT(seen.target_first > 20);
    EXPECT(seen.apart > 20);
}

/* ---- Close, accept. -------------------------------------------------------------------------- */

static void
closed_loop(struct sim_world *world, void *argument)
{
    struct fixture *fixture = argument;
    (void)world;
    EXPECT_EQ(sim_ring_device(fixture->ring, "old", text, 4, 4, MS, MS), 0);
    push(fixture, submission_of(fixture, RT_OPCODE_READ, 0, 1));
    (void)fixture->side->ops->enter(fixture->side);
    EXPECT_OK(sim_ring_close(fixture->ring, 0));
    REFUSES(sim_ring_close(fixture->ring, 0), RT_E_STALE);
    EXPECT_EQ(sim_ring_listener(fixture->ring, "new", 1, "?", 0, MS), 0);
    struct rt_submission accept = submission_of(fixture, RT_OPCODE_ACCEPT, 0, 2);
    push(fixture, accept);
    push(fixture, submission_of(fixture, RT_OPCODE_ACCEPT, 9, 3));
    for (uint32_t i = 0; i < 3; i++) {
        struct rt_completion completion = next(fixture);
        EXPECT(completion.user_data != 1 || completion.result > 0);
        EXPECT(completion.user_data != 2 || completion.result == 1);
        EXPECT(completion.user_data != 3 || completion.result == RT_E_STALE);
    }
    EXPECT_EQ(sim_ring_open(fixture->ring), 2);
    end(fixture);
}

SCENARIO(closed, .slack_ns = 0);

/* Holds U6: a read continues after its device was closed and its number reused by a listener. */
TEST(completion_close_ends_no_operation)
{
    host_lab_pass(&closed, 300);
}

/* ---- Checks of the user. --------------------------------------------------------------------- */

static void
written_loop(struct sim_world *world, void *argument)
{
    struct fixture *fixture = argument;
    (void)world;
    (void)sim_ring_device(fixture->ring, "text", text, 4, 4, MS, MS);
    push(fixture, submission_of(fixture, RT_OPCODE_READ, 0, 1));
    (void)fixture->side->ops->enter(fixture->side);
    fixture->buffer[15] = 'x';
    (void)next(fixture);
}

static void
changed_loop(struct sim_world *world, void *argument)
{
    struct fixture *fixture = argument;
    (void)world;
    (void)sim_ring_device(fixture->ring, "text", NULL, 0, 1, 0, 0);
    memset(fixture->buffer, 'a', sizeof fixture->buffer);
    push(fixture, submission_of(fixture, RT_OPCODE_WRITE, 0, 1));
    (void)fixture->side->ops->enter(fixture->side);
    fixture->buffer[0] = 'b';
    (void)next(fixture);
}

static void
shared_loop(struct sim_world *world, void *argument)
{
    struct fixture *fixture = argument;
    (void)world;
    (void)sim_ring_device(fixture->ring, "text", text, 4, 4, MS, MS);
    push(fixture, submission_of(fixture, RT_OPCODE_READ, 0, 1));
    push(fixture, submission_of(fixture, RT_OPCODE_READ, 0, 2));
    (void)next(fixture);
}

static void
named_loop(struct sim_world *world, void *argument)
{
    struct fixture *fixture = argument;
    (void)world;
    (void)sim_ring_listener(fixture->ring, "text", 2, "?", MS, MS);
    push(fixture, submission_of(fixture, RT_OPCODE_ACCEPT, 0, 1));
    push(fixture, submission_of(fixture, RT_OPCODE_ACCEPT, 0, 1));
    (void)next(fixture);
}

SCENARIO(written, .slack_ns = 0);
SCENARIO(changed, .slack_ns = 0);
SCENARIO(shared, .slack_ns = 0);
SCENARIO(named, .slack_ns = 0);

/* Holds U1: a change of a submitted buffer, or one submitted twice, is found in every run. */
TEST(completion_host_finds_a_changed_buffer)
{
    host_lab_expect(&written, 50, SIM_VERDICT_CONTRACT, SIM_ORACLE_HOST);
    host_lab_expect(&changed, 50, SIM_VERDICT_CONTRACT, SIM_ORACLE_HOST);
    host_lab_expect(&shared, 50, SIM_VERDICT_CONTRACT, SIM_ORACLE_HOST);
}

/* Holds U8: two operations under one name are found. */
TEST(completion_host_finds_a_name_given_twice)
{
    host_lab_expect(&named, 50, SIM_VERDICT_CONTRACT, SIM_ORACLE_HOST);
}

/* ---- The real ring over it. ------------------------------------------------------------------ */

struct client {
    struct rt_task task;
    struct rt_op op;
    struct ringed *ringed;
    uint32_t times;
};

struct ringed {
    struct sim_ring *host;
    struct rt_ring ring;
    struct rt_ring_place places[2];
    struct rt_slab_entry entries[2];
    struct client clients[3];
};

/* Gets two reports of a waiting connection, and does not accept it. */
static rt_poll
client_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct client *client = rt_container_of(task, struct client, task);
    while (client->times < 2) {
        int32_t ready = 0;
        RT_AWAIT(rt_op_ready(&client->op, &client->ringed->ring, 0, RT_READABLE, cx, &ready));
        EXPECT_EQ(ready, RT_READABLE);
        client->times++;
    }
    return RT_READY;
}

static void
client_cleanup(struct rt_task *task)
{
    struct client *client = rt_container_of(task, struct client, task);
    rt_op_drop(&client->op);
}

static void
ringed_setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct ringed *ringed = sim_new(world, struct ringed);
    struct sim_ring_options small = {.submissions = 1, .completions = 1};
    ringed->host = sim_ring_new(sim_rt_host(rt), "ring", &small);
    struct rt_ring_config config = {.host = sim_ring_seam(ringed->host),
            .runtime = sim_rt_runtime(rt),
            .places = ringed->places,
            .entries = ringed->entries,
            .capacity = 2};
    EXPECT_OK(rt_ring_init(&ringed->ring, &config));
    (void)sim_ring_listener(ringed->host, "listener", 1, "?", 0, MS);
    for (uint32_t i = 0; i < 3; i++) {
        struct client *client = &ringed->clients[i];
        client->ringed = ringed;
        rt_op_init(&client->op);
        rt_task_init(&client->task, client_poll, client_cleanup, "client");
        sim_spawn(rt, &client->task);
    }
}

static const struct sim_scenario ringed = {.name = "test/ringed",
        .about = "Three tasks watch one listener through two places.",
        .setup = ringed_setup,
        .survives = SIM_FAULT_CANCEL | SIM_FAULT_CAPACITY};

/* Holds U7, U9: one poll operation a waiter, armed again, with too few slots and short queues,
 * with cancels and refusals; judged, and each quiescence audited. */
TEST(completion_ring_serves_every_waiter)
{
    struct lab lab;
    struct sim_options options;
    sim_options_init(&options, &ringed);
    options.audit_one_in = 1;
    lab_init(&lab, NULL, 0xa5);
    for (uint64_t seed = 0; seed < 500; seed++) {
        struct sim_outcome outcome = lab_judge_with(&lab, &ringed, &options, seed, seed == 0);
        ck_assert_msg(outcome.verdict == SIM_VERDICT_PASS, "seed %llu: %s: %s",
                (unsigned long long)seed, sim_verdict_name(outcome.verdict), outcome.message);
    }
    lab_fini(&lab);
}

/*
 * completion_test.c -- the completion host: its freedoms, and what it holds against a user.
 *
 * Most stories are a loop that talks to the seam itself, without an rt_ring; `seen` counts
 * what a sweep has seen, so that a freedom that is never taken is found missing.
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
    uint32_t apart; /* Target and cancel seen in two looks. */
    uint32_t stale;
    uint32_t busy;
    uint32_t stopped_early; /* By the cancel. */
    uint32_t overflowed;
    uint32_t full;
    uint32_t again;
} seen;

struct story {
    struct sim_host *host;
    struct rt_host *seam;
    struct sim_ring *ring;
    struct rt_completion_host *side;
    struct rt_pollable pollable;
    struct rt_completion early[8]; /* Reaped to make room, for `next`. */
    uint32_t early_count;
    char buffer[64];
};

static struct story *
story_new(struct sim_world *world)
{
    struct story *story = sim_new(world, struct story);
    struct sim_ring_options small = {.submissions = 2, .completions = 1};
    story->host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    story->seam = sim_host_seam(story->host);
    story->ring = sim_ring_new(story->host, "ring", &small);
    story->side = sim_ring_seam(story->ring);
    GOES_WELL(story->side->ops->subscribe(story->side, &story->pollable));
    sim_set_state(world, story);
    return story;
}

/* A scenario of one loop, whose function is given the story. */
#define STORY(identifier, ...) \
    static void identifier##_setup(struct sim_world *world) \
    { \
        (void)sim_loop_new(world, "loop", identifier##_loop, story_new(world)); \
    } \
    static const struct sim_scenario identifier = {.name = "test/" #identifier, \
            .about = "A story about completions.", \
            .setup = identifier##_setup, \
            __VA_ARGS__}

static void
push(struct story *story, struct rt_submission submission)
{
    while (story->side->ops->push(story->side, &submission) == RT_E_FULL) {
        seen.full++;
        if (story->side->ops->enter(story->side) == RT_E_AGAIN) {
            seen.again++;
            sim_sleep(sim_world_current, MS);
            story->early_count +=
                    story->side->ops->reap(story->side, &story->early[story->early_count], 1);
        }
    }
}

static struct rt_submission
submission_of(struct story *story, enum rt_opcode opcode, int32_t target, uint64_t user_data)
{
    bool moves = opcode == RT_OPCODE_READ || opcode == RT_OPCODE_WRITE;
    return (struct rt_submission){.opcode = opcode,
            .target = target,
            .buffer = moves ? story->buffer : NULL,
            .size = moves ? 16 : 0,
            .user_data = user_data};
}

/* Hands everything over, and waits for one completion. */
static struct rt_completion
next(struct story *story)
{
    struct rt_completion completion;
    const struct rt_completion_ops *ops = story->side->ops;
    (void)ops->enter(story->side);
    if (story->early_count > 0) {
        return story->early[--story->early_count];
    }
    while (ops->reap(story->side, &completion, 1) == 0) {
        struct rt_pollable *list[1] = {&story->pollable};
        uint32_t index = 0;
        uint32_t ready = 0;
        GOES_WELL(story->seam->ops->poll(story->seam, list, 1, &index, &ready));
        seen.overflowed += ops->overflowed(story->side);
        (void)ops->enter(story->side);
    }
    return completion;
}

static void
end(struct story *story)
{
    EXPECT_EQ(sim_ring_live(story->ring), 0);
    rt_pollable_drop(&story->pollable);
}

/* ---- Order, queues. -------------------------------------------------------------------------- */

static void
order_loop(struct sim_world *world, void *argument)
{
    struct story *story = argument;
    bool done[6] = {false};
    (void)world;
    for (int32_t i = 0; i < 6; i++) {
        (void)sim_ring_device(story->ring, "device", NULL, 0, 1, 0, 0);
        struct rt_submission write = submission_of(story, RT_OPCODE_WRITE, i, (uint64_t)i);
        write.size = 1;
        push(story, write);
    }
    for (uint32_t k = 0; k < 6; k++) {
        struct rt_completion completion = next(story);
        EXPECT_EQ(completion.result, 1);
        EXPECT(!completion.more);
        EXPECT(completion.user_data < 6 && !done[completion.user_data]);
        done[completion.user_data] = true;
        seen.reordered += completion.user_data != k;
        if (completion.user_data % 2 == 0) {
            sim_sleep(world, 2 * MS); /* The queue of one overflows meanwhile. */
        }
    }
    end(story);
}

STORY(order, .survives = SIM_FAULT_CAPACITY);

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
    struct story *story = argument;
    size_t size = strlen(text);
    size_t got = 0;
    (void)world;
    (void)sim_ring_device(story->ring, "text", text, size, size, 0, 2 * MS);
    for (uint64_t k = 1;; k++) {
        struct rt_submission read = submission_of(story, RT_OPCODE_READ, 0, k);
        struct rt_completion completion = {.more = true};
        size_t filled = 0;
        read.multi = k % 2 == 0;
        push(story, read);
        while (completion.more) {
            completion = next(story);
            EXPECT_EQ(completion.user_data, k);
            EXPECT(completion.result >= 0 && got + (size_t)completion.result <= size);
            EXPECT(memcmp(story->buffer + filled, text + got, (size_t)completion.result) == 0);
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
    end(story);
}

STORY(read, .slack_ns = 0);

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
    struct story *story = argument;
    struct rt_completion target = {0};
    struct rt_completion cancel = {0};
    (void)sim_ring_device(story->ring, "text", text, strlen(text), 64, 0, MS);
    push(story, submission_of(story, RT_OPCODE_READ, 0, 1));
    (void)story->side->ops->enter(story->side);
    sim_sleep(world, sim_range(world, 0, MS));
    struct rt_submission stop = submission_of(story, RT_OPCODE_CANCEL, 0, 2);
    stop.cancels = 1;
    push(story, stop);
    struct rt_completion first = next(story);
    uint64_t first_ns = sim_now(world);
    struct rt_completion second = next(story);
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
    end(story);
}

STORY(cancel, .slack_ns = 0);

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
    struct story *story = argument;
    (void)world;
    EXPECT_EQ(sim_ring_device(story->ring, "old", text, 4, 4, MS, MS), 0);
    push(story, submission_of(story, RT_OPCODE_READ, 0, 1));
    (void)story->side->ops->enter(story->side);
    GOES_WELL(sim_ring_close(story->ring, 0));
    REFUSES(sim_ring_close(story->ring, 0), RT_E_STALE);
    EXPECT_EQ(sim_ring_listener(story->ring, "new", 1, "?", 0, MS), 0);
    struct rt_submission accept = submission_of(story, RT_OPCODE_ACCEPT, 0, 2);
    push(story, accept);
    push(story, submission_of(story, RT_OPCODE_ACCEPT, 9, 3));
    for (uint32_t i = 0; i < 3; i++) {
        struct rt_completion completion = next(story);
        EXPECT(completion.user_data != 1 || completion.result > 0);
        EXPECT(completion.user_data != 2 || completion.result == 1);
        EXPECT(completion.user_data != 3 || completion.result == RT_E_STALE);
    }
    EXPECT_EQ(sim_ring_open(story->ring), 2);
    end(story);
}

STORY(closed, .slack_ns = 0);

/* Holds U6: a read goes on after its device was closed and its number given to a listener. */
TEST(completion_close_ends_no_operation)
{
    host_lab_pass(&closed, 300);
}

/* ---- What is held against the user. ---------------------------------------------------------- */

static void
written_loop(struct sim_world *world, void *argument)
{
    struct story *story = argument;
    (void)world;
    (void)sim_ring_device(story->ring, "text", text, 4, 4, MS, MS);
    push(story, submission_of(story, RT_OPCODE_READ, 0, 1));
    (void)story->side->ops->enter(story->side);
    story->buffer[15] = 'x';
    (void)next(story);
}

static void
changed_loop(struct sim_world *world, void *argument)
{
    struct story *story = argument;
    (void)world;
    (void)sim_ring_device(story->ring, "text", NULL, 0, 1, 0, 0);
    memset(story->buffer, 'a', sizeof story->buffer);
    push(story, submission_of(story, RT_OPCODE_WRITE, 0, 1));
    (void)story->side->ops->enter(story->side);
    story->buffer[0] = 'b';
    (void)next(story);
}

static void
shared_loop(struct sim_world *world, void *argument)
{
    struct story *story = argument;
    (void)world;
    (void)sim_ring_device(story->ring, "text", text, 4, 4, MS, MS);
    push(story, submission_of(story, RT_OPCODE_READ, 0, 1));
    push(story, submission_of(story, RT_OPCODE_READ, 0, 2));
    (void)next(story);
}

static void
named_loop(struct sim_world *world, void *argument)
{
    struct story *story = argument;
    (void)world;
    (void)sim_ring_listener(story->ring, "text", 2, "?", MS, MS);
    push(story, submission_of(story, RT_OPCODE_ACCEPT, 0, 1));
    push(story, submission_of(story, RT_OPCODE_ACCEPT, 0, 1));
    (void)next(story);
}

STORY(written, .slack_ns = 0);
STORY(changed, .slack_ns = 0);
STORY(shared, .slack_ns = 0);
STORY(named, .slack_ns = 0);

/* Holds U1: whoever touches the host's buffer, or lends one twice, is found; in every run. */
TEST(completion_host_finds_who_touches_its_buffer)
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

/* Is told twice that a connection waits, and leaves it there. */
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
    GOES_WELL(rt_ring_init(&ringed->ring, &config));
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

/* Holds U7, U9: one poll operation a waiter, armed again, through places and queues that are too
 * few, with cancels and refusals; judged, and each quiescence audited. */
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

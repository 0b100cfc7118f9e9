/*
 * ring.c -- the ring of operations against an array of all that were ever started.
 *
 * Its completion host is legal and no more: small queues, completions in any order (U4), held back
 * without space (U7), cancels that are answered late (U3). Each operation gets its results in
 * order, each once, and its buffer once, by a poll or by `release` (U1, U2, U5); the host must see
 * operations in the order of their starts. `release` starts, cancels and drops operations from
 * inside.
 *
 * The ring has no runtime here: it turns in a poll, in a drop, or when the tape says so.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/io/op.h"

#include <string.h>

#include "fuzz/runtime/clients.h"

FUZZ_UNSEEN_BEGIN

#define PLACES 4u
#define RESULTS 3u
#define RECORDS 256u
#define DONE_MAX 512u
#define QUEUE 4u
#define LIVE (2u * PLACES) /* Operations, and a cancel of each. */
#define DEPTH_MAX 3u

/* An operation that was started once. */
struct record {
    bool multi;
    bool sent;      /* The host has seen it. */
    bool withdrawn; /* It ended without the host. */
    bool dropped;   /* No client waits any more. */
    bool finished;  /* The ring was given the last completion. */
    bool back;      /* The buffer is its owner's. */
    bool wants;     /* A cancel is to be sent … */
    bool cancelled; /* … and is with the host. */
    uint8_t waker;  /* The waker stored for it; NONE. */
    uint32_t made;  /* Results that the host has made, … */
    uint32_t given; /* … that the ring has stored or released, … */
    uint32_t next;  /* … and that the owner has received. */
    uint64_t user_data;
};

struct entry {
    struct record *record;
    bool cancel;
    bool more;
    uint64_t user_data;
    int32_t result;
};

static struct {
    struct rt_completion_host host;
    struct entry queue[QUEUE];
    uint32_t queued, space;
    struct entry live[LIVE];
    uint32_t live_count;
    struct entry done[DONE_MAX];
    uint32_t done_count, shown, done_space;
    bool refuses;

    struct clients clients;
    struct fuzz_tape *tape;
    struct rt_ring ring;
    struct rt_ring_place places[PLACES];
    struct rt_slab_entry entries[PLACES];
    struct rt_ring_result results[RESULTS];
    struct rt_op ops[CLIENTS];
    bool poisoned[CLIENTS]; /* The handle's memory was reused. */
    struct record *of[CLIENTS];
    struct record records[RECORDS];
    uint32_t count;
    struct record *held;    /* Its completion waits for space. */
    struct record *polling; /* Polled just now … */
    bool taken;             /* … and this poll has its result. */
    uint32_t result_count;
    uint32_t capacity;
    uint32_t depth;
} run;

static void operate(void);

/* ---- The model. ------------------------------------------------------------------------------ */

/* The `k`th result of a record; some are errors, which end nothing by themselves (U5). */
static int32_t
value(const struct record *record, uint32_t k)
{
    int32_t number = (int32_t)((uint32_t)(record - run.records) * 1000 + k);
    return (record - run.records + k) % 3 == 1 ? -1 - number : number;
}

static uint32_t
there(const struct record *record)
{
    return record->given - record->next;
}

/* Whether its slot is free again, or was never needed. */
static bool
is_over(const struct record *record)
{
    return record->withdrawn || (record->finished && there(record) == 0 && !record->cancelled);
}

static uint32_t
active(void)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < run.count; i++) {
        count += !is_over(&run.records[i]);
    }
    return count;
}

/* Whether there is no space for one more result. The last one needs none. */
static bool
is_full(void)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < run.count; i++) {
        const struct record *record = &run.records[i];
        used += record->dropped || there(record) == 0 ? 0 : there(record) - record->finished;
    }
    return used >= run.result_count;
}

static void
give(struct record *record, bool more)
{
    record->given += 1;
    record->finished = !more;
    record->wants = record->wants && more;
    if (record->waker != NONE) {
        clients_write(&run.clients.expected, record->waker);
        record->waker = NONE;
    }
}

/* The ring continues, so the held completion was delivered. */
static void
give_held(void)
{
    if (run.held == 0) {
        return;
    }
    if (!run.held->dropped && is_full()) { /* Only the poll in progress has made space. */
        fuzz_check(run.polling != 0 && !run.taken && there(run.polling) > 0);
        run.polling->next += 1;
        run.taken = true;
        fuzz_check(!is_full());
    }
    struct record *record = run.held;
    run.held = 0;
    give(record, true);
}

/* ---- The host. ------------------------------------------------------------------------------- */

/* The next operation: they are seen in the order of their starts (U7). */
static const struct record *
next_unseen(void)
{
    for (uint32_t i = 0; i < run.count; i++) {
        if (!run.records[i].sent && !run.records[i].withdrawn) {
            return &run.records[i];
        }
    }
    return 0;
}

/* The operation submitted under that name, ever: none is used twice (U8). */
static struct record *
by_name(uint64_t user_data)
{
    for (uint32_t i = 0; i < run.count; i++) {
        if (run.records[i].sent && run.records[i].user_data == user_data) {
            return &run.records[i];
        }
    }
    return 0;
}

static rt_err
host_push(struct rt_completion_host *host, const struct rt_submission *submission)
{
    (void)host;
    if (run.queued == run.space) {
        return RT_E_FULL;
    }
    struct entry entry = {.user_data = submission->user_data};
    if (submission->opcode == RT_OPCODE_CANCEL) {
        entry.cancel = true;
        entry.record = by_name(submission->cancels);
        fuzz_check(entry.record != 0 && entry.record->wants && !entry.record->cancelled);
        entry.record->wants = false;
        entry.record->cancelled = true;
    } else {
        entry.record = submission->buffer;
        fuzz_check(entry.record == next_unseen());
        fuzz_check(submission->multi == entry.record->multi);
        fuzz_check(by_name(submission->user_data) == 0);
        entry.record->sent = true;
        entry.record->user_data = submission->user_data;
    }
    run.queue[run.queued++] = entry;
    return RT_OK;
}

static void
show(void)
{
    uint32_t shown = run.done_count < run.done_space ? run.done_count : run.done_space;
    run.shown = shown > run.shown ? shown : run.shown;
}

static rt_err
host_enter(struct rt_completion_host *host)
{
    (void)host;
    show();
    if (run.done_count > run.shown || (run.refuses && run.live_count + run.done_count > 0)) {
        return run.queued == 0 ? RT_OK : RT_E_AGAIN;
    }
    for (uint32_t i = 0; i < run.queued; i++) {
        fuzz_check(run.live_count < LIVE);
        run.live[run.live_count++] = run.queue[i];
    }
    run.queued = 0;
    return RT_OK;
}

static uint32_t
host_reap(struct rt_completion_host *host, struct rt_completion *ret_completions, uint32_t max)
{
    (void)host;
    fuzz_check(max > 0);
    give_held();
    if (run.shown == 0) {
        return 0;
    }
    struct entry entry = run.done[0];
    run.shown -= 1;
    run.done_count -= 1;
    memmove(run.done, &run.done[1], run.done_count * sizeof(run.done[0]));
    ret_completions[0] = (struct rt_completion){entry.user_data, entry.result, entry.more};
    if (entry.cancel) {
        entry.record->cancelled = false;
    } else if (entry.more && !entry.record->dropped && is_full()) {
        run.held = entry.record;
    } else {
        give(entry.record, entry.more);
    }
    return 1;
}

static bool
host_overflowed(struct rt_completion_host *host)
{
    (void)host;
    return run.done_count > run.shown;
}

static rt_err
host_subscribe(struct rt_completion_host *host, struct rt_pollable *pollable)
{
    (void)host;
    (void)pollable;
    return RT_OK;
}

static const struct rt_completion_ops host_ops = {
        host_push, host_enter, host_reap, host_overflowed, host_subscribe};

/* The host advances its operation at `index`; `last`: for the last time. */
static void
complete(uint32_t index, bool last)
{
    static const int32_t answers[] = {0, RT_E_STALE, RT_E_BUSY};
    if (run.done_count == DONE_MAX) {
        return;
    }
    struct entry entry = run.live[index];
    entry.more = !entry.cancel && entry.record->multi && !last;
    entry.result = entry.cancel ? answers[fuzz_below(run.tape, 3)]
                                : value(entry.record, entry.record->made++);
    run.done[run.done_count++] = entry;
    if (run.done_count <= run.done_space) {
        show();
    }
    if (!entry.more) {
        run.live_count -= 1;
        memmove(&run.live[index], &run.live[index + 1],
                (run.live_count - index) * sizeof(run.live[0]));
    }
}

/* ---- Operations. ----------------------------------------------------------------------------- */

/* A result is delivered to its owner, by a poll or by `release`. */
static void
arrived(struct record *record, uint32_t k, int32_t result, bool more)
{
    fuzz_check(!record->back);
    record->back = !more;
    if (record->withdrawn) {
        fuzz_check(result == RT_E_CANCELLED && !more);
        return;
    }
    fuzz_check(result == value(record, k));
    fuzz_check(more == !(record->finished && k + 1 == record->given));
}

static void
on_release(void *argument, int32_t result, bool more)
{
    struct record *record = argument;
    fuzz_check(record->dropped);
    if (!record->withdrawn && there(record) == 0) {
        fuzz_check(run.held == record);
        give_held();
    }
    arrived(record, record->next, result, more);
    record->next += !record->withdrawn;
    if (run.depth < DEPTH_MAX && fuzz_below(run.tape, 4) == 1) {
        run.depth += 1;
        operate();
        run.depth -= 1;
    }
}

static void
start(uint32_t id)
{
    if (run.of[id] != 0 || run.count == RECORDS) {
        return;
    }
    struct record *record = &run.records[run.count++];
    *record = (struct record){.multi = fuzz_below(run.tape, 3) == 1, .waker = NONE};
    run.of[id] = record;
    if (run.poisoned[id]) {
        rt_op_init(&run.ops[id]);
        run.poisoned[id] = false;
    }
    struct rt_op_request request = {
            .submission = {.opcode = RT_OPCODE_READ, .multi = record->multi, .buffer = record},
            .release = on_release,
            .argument = record};
    rt_op_start(&run.ops[id], &run.ring, &request);
}

static void
poll(uint32_t id, uint32_t waker)
{
    struct record *record = run.of[id];
    if (record == 0) {
        return;
    }
    run.polling = record;
    run.taken = record->withdrawn || there(record) > 0;
    record->next += there(record) > 0;
    record->waker = run.taken ? NONE : record->waker;
    struct rt_op_result result;
    rt_poll answer =
            rt_op_poll(&run.ops[id], clients_cx(&run.clients, id * WAKERS + waker), &result);
    if (!run.taken && there(record) > 0) {
        record->next += 1;
        run.taken = true;
    }
    run.polling = 0;
    fuzz_check(answer == (run.taken ? RT_READY : RT_PENDING));
    if (answer == RT_PENDING) {
        record->waker = (uint8_t)(id * WAKERS + waker);
        return;
    }
    /* More may have arrived after it, the last one too. */
    arrived(record, record->next - 1, result.result, result.more);
    run.of[id] = result.more ? record : 0;
}

static void
cancel(uint32_t id)
{
    struct record *record = run.of[id];
    if (run.poisoned[id] || (record != 0 && record == run.polling)) {
        return;
    }
    if (record != 0 && !record->sent && !record->withdrawn) {
        record->withdrawn = true;
        if (record->waker != NONE) {
            clients_write(&run.clients.expected, record->waker);
            record->waker = NONE;
        }
    } else if (record != 0 && record->sent && !record->finished && !record->cancelled) {
        record->wants = true;
    }
    rt_op_cancel(&run.ops[id]);
}

static void
drop(uint32_t id)
{
    struct record *record = run.of[id];
    if (run.poisoned[id] || (record != 0 && record == run.polling)) {
        return;
    }
    if (record != 0) {
        run.of[id] = 0;
        record->dropped = true;
        record->waker = NONE;
        record->withdrawn = record->withdrawn || !record->sent;
        record->wants = record->wants ||
                        (record->multi && record->sent && !record->finished && !record->cancelled);
    }
    rt_op_drop(&run.ops[id]);
    if (run.depth == 0 && run.of[id] == 0) { /* Else it was started again from inside. */
        memset(&run.ops[id], 0xee, sizeof(run.ops[id]));
        run.poisoned[id] = true;
    }
}

static void
end_waker(uint32_t number)
{
    if (!clients_end(&run.clients, number)) {
        return;
    }
    struct record *record = run.of[number / WAKERS];
    if (record != 0 && record->waker == number) {
        record->waker = NONE;
    }
}

static void
host_gets_on(void)
{
    for (uint32_t i = fuzz_below(run.tape, 4) + 1; i > 0 && run.live_count > 0; i--) {
        uint32_t index = fuzz_below(run.tape, run.live_count);
        complete(index, fuzz_below(run.tape, 2) == 1);
    }
}

static void
operate(void)
{
    uint32_t id = fuzz_below(run.tape, CLIENTS);
    switch (fuzz_below(run.tape, 7)) {
    case 0:
    case 1:
        start(id);
        break;
    case 2:
        cancel(id);
        break;
    case 3:
        drop(id);
        break;
    case 4:
        host_gets_on();
        break;
    case 5:
        run.space = 1 + fuzz_below(run.tape, QUEUE);
        run.space = run.space < run.queued ? run.queued : run.space;
        run.refuses = fuzz_below(run.tape, 3) == 1;
        break;
    default:
        rt_ring_turn(&run.ring);
    }
}

/* ---- Comparing. ------------------------------------------------------------------------------ */

/* Compares a handle with its record; true when it waits for a slot. */
static bool
check_handle(uint32_t id)
{
    const struct record *record = run.of[id];
    if (run.poisoned[id]) {
        return false;
    }
    enum rt_op_state state = rt_op_state(&run.ops[id]);
    if (record == 0) {
        fuzz_check(state == RT_OP_IDLE);
    } else if (record->withdrawn || there(record) > 0) {
        fuzz_check(state == RT_OP_COMPLETED);
    } else if (record->sent) {
        fuzz_check(state == RT_OP_WAITING || (state == RT_OP_SUBMITTED && record->waker == NONE));
    } else {
        fuzz_check(state != RT_OP_IDLE && state != RT_OP_COMPLETED);
    }
    return state == RT_OP_QUEUED;
}

static void
compare(void)
{
    uint32_t waiting = 0;
    uint32_t taken = active();
    for (uint32_t id = 0; id < CLIENTS; id++) {
        waiting += check_handle(id);
    }
    fuzz_check(waiting == (taken > run.capacity ? taken - run.capacity : 0));
    fuzz_check(rt_ring_used(&run.ring) == taken - waiting);
    fuzz_check(run.held == 0 || (is_full() && !run.held->dropped));
    for (uint32_t i = 0; i < run.count; i++) {
        const struct record *record = &run.records[i];
        fuzz_check(!record->dropped || there(record) == 0);
        fuzz_check(!record->dropped || record->back == (record->withdrawn || record->finished));
    }
    fuzz_check(rt_ring_audit(&run.ring) == 0);
    clients_compare(&run.clients);
}

/* All operations are dropped, and the host ends them: each buffer is returned, each slot free. */
static void
finish(void)
{
    run.refuses = false;
    run.depth = DEPTH_MAX;
    for (uint32_t id = 0; id < CLIENTS; id++) {
        drop(id);
    }
    for (uint32_t i = 0; rt_ring_used(&run.ring) > 0; i++) {
        fuzz_check(i < DONE_MAX);
        while (run.live_count > 0) {
            complete(0, true);
        }
        rt_ring_turn(&run.ring);
    }
    for (uint32_t i = 0; i < run.count; i++) {
        fuzz_check(run.records[i].back);
    }
    rt_ring_fini(&run.ring);
    clients_fini(&run.clients);
}

static void
begin(struct fuzz_tape *tape)
{
    memset(&run, 0, sizeof(run));
    run.tape = tape;
    run.host = (struct rt_completion_host){RT_COMPLETION_HOST_MAGIC, &host_ops};
    run.capacity = 1 + fuzz_below(tape, PLACES);
    run.result_count = fuzz_below(tape, RESULTS + 1);
    run.done_space = 1 + fuzz_below(tape, 4);
    run.space = QUEUE;
    struct rt_ring_config config = {.host = &run.host,
            .places = run.places,
            .entries = run.entries,
            .capacity = run.capacity,
            .results = run.results,
            .result_count = run.result_count};
    clients_init(&run.clients);
    fuzz_check(rt_ring_init(&run.ring, &config) == RT_OK);
    for (uint32_t id = 0; id < CLIENTS; id++) {
        rt_op_init(&run.ops[id]);
    }
}

FUZZ_UNSEEN_END

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_tape tape = fuzz_tape(data, size);
    begin(&tape);
    while (fuzz_more(&tape)) {
        uint32_t id = fuzz_below(&tape, CLIENTS);
        switch (fuzz_below(&tape, 4)) {
        case 0:
        case 1:
            poll(id, fuzz_below(&tape, WAKERS));
            break;
        case 2:
            operate();
            break;
        default:
            end_waker(id * WAKERS + fuzz_below(&tape, WAKERS));
        }
        compare();
    }
    finish();
    return 0;
}

/*
 * fiber.c -- guests that follow a drawn program, against an interpreter of that program.
 *
 * Three stores with a call each, over three stacks. A guest pays fuel, nests frames, calls host
 * functions (which answer at once, later, never, or fail), polls and deletes the calls of others
 * from its own stack, and overflows its stack. The tape polls or drives the calls, completes their
 * operations, ticks the epoch, changes fuel, deletes calls at any point. The interpreter computes
 * where each call stops, with what fuel, and how it ends; each frame that was entered is left, a
 * finalizer is called once, a stack is returned.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdalign.h>

#include "fuzz/runtime/clients.h"
#include "fuzz/runtime/guest.h"
#include "runtime/fiber/call.h"
#include "runtime/fiber/reply.h"

FUZZ_UNSEEN_BEGIN

#define CALLS 3u
#define STACK_SIZE ((size_t)64 << 10)
#define GUEST_MAX ((size_t)16 << 10)
#define NO_RESULT UINT64_C(0x6e6f6e6f6e6f6e6f)
#define FRAME_BYTES 1024u

struct work {
    struct rt_store store;
    struct rt_call call;
    struct rt_reply reply;
    uint64_t result;
    enum rt_trap trap;
    struct rt_future *awaited; /* Taken by the target, when it polls. */
    uint32_t asked;            /* Number of polls of the PATIENT host function. */
    uint32_t finalized;
    uint32_t hosts; /* Host functions with a finalizer that were begun. */
    uint32_t frames;
    bool live;
    bool running;
    bool drives;    /* Driven, not polled. */
    bool in_flight; /* An operation has the reply. */
    struct interpreter model;
};

static struct {
    struct clients clients;
    struct rt_stack_provider provider;
    struct rt_engine engine;
    bool out[CALLS]; /* Stacks. */
    uint64_t epoch;
    struct work works[CALLS];
} run;

static alignas(64) char stacks[CALLS][STACK_SIZE];

static void poll_call(uint32_t id, uint32_t waker);
static void delete_call(uint32_t id);

/* ---- Stacks. ------------------------------------------------------------------------------- */

static rt_err
alloc_stack(struct rt_stack_provider *provider, size_t size, struct rt_stack *ret_stack)
{
    (void)provider;
    for (uint32_t i = 0; i < CALLS; i++) {
        if (!run.out[i]) {
            run.out[i] = true;
            *ret_stack = (struct rt_stack){stacks[i], size};
            return RT_OK;
        }
    }
    return RT_E_FULL;
}

static void
release_stack(struct rt_stack_provider *provider, struct rt_stack stack)
{
    (void)provider;
    uint32_t i = (uint32_t)((size_t)(stack.base - stacks[0]) / STACK_SIZE);
    fuzz_check(i < CALLS && run.out[i] && stack.base == stacks[i]);
    run.out[i] = false;
}

/* ---- Host functions. ----------------------------------------------------------------------- */

static struct work *
work_of(const struct rt_host_call *host)
{
    return rt_container_of(host->guest->store, struct work, store);
}

static void
answer_now(struct rt_host_call *host)
{
    host->results[0] = host->arguments[0];
    host->continuation.callback = rt_answered;
}

static void
answer_failure(struct rt_host_call *host)
{
    host->trap = RT_TRAP_HOST;
    host->continuation.callback = rt_answered;
}

static bool
is_answered(void *env)
{
    struct rt_host_call *host = env;
    struct work *work = work_of(host);
    if (work->asked++ < host->arguments[0]) {
        return false;
    }
    host->results[0] = host->arguments[0];
    return true;
}

static void
count_finalizer(void *env)
{
    work_of(env)->finalized += 1;
}

static void
answer_patiently(struct rt_host_call *host)
{
    struct work *work = work_of(host);
    work->asked = 0;
    work->hosts += 1;
    host->continuation = (struct rt_continuation){is_answered, count_finalizer, host};
}

static void
complete(struct work *work, uint64_t value)
{
    work->in_flight = false;
    if (value == 0) {
        (void)rt_reply_fail(&work->reply, RT_TRAP_HOST);
    } else {
        (void)rt_reply_complete(&work->reply, &value, 1);
    }
}

/* An odd argument: the operation is complete before the call waits for it (F9). */
static void
answer_later(struct rt_host_call *host)
{
    struct work *work = work_of(host);
    work->in_flight = true;
    rt_reply_begin(&work->reply, host);
    if (host->arguments[0] % 2 == 1) {
        complete(work, host->arguments[0]);
    }
}

/* ---- The guest. ---------------------------------------------------------------------------- */

/* Deeper and deeper, until the stack is used up. */
static __attribute__((noinline)) uint64_t
sink(struct rt_guest *guest, uint64_t depth)
{
    volatile char frame[FRAME_BYTES];
    frame[depth % FRAME_BYTES] = 1;
    fuzz_check(depth < GUEST_MAX / FRAME_BYTES + 1);
    if (!rt_guest_check(guest, 0)) {
        return depth;
    }
    return sink(guest, depth + 1) + (uint64_t)frame[depth % FRAME_BYTES];
}

static bool
ask(struct rt_guest *guest, const struct step *step, uint64_t *sum)
{
    struct work *work = rt_container_of(guest->store, struct work, store);
    uint64_t argument = step->argument;
    uint64_t result = 0;
    rt_host_fn fn = answer_now;
    if (step->op == PATIENT) {
        fn = answer_patiently;
    } else if (step->op == FAIL) {
        fn = answer_failure;
    } else if (step->op == REPLY && !work->in_flight) {
        fn = answer_later;
    }
    if (!rt_guest_host(guest, fn, &argument, &result)) {
        /* Once its call is over, a guest gets the same answer again. */
        fuzz_check(!rt_guest_check(guest, 1));
        fuzz_check(!rt_guest_host(guest, fn, &argument, &result));
        return false;
    }
    *sum += result;
    return true;
}

/* False: it is over. */
static bool
follow(struct rt_guest *guest, struct work *work, uint32_t *at, uint64_t *sum)
{
    const struct step *step = &work->model.steps[*at];
    uint32_t id = (uint32_t)(work - run.works);
    uint32_t other = (id + 1 + step->argument % (CALLS - 1)) % CALLS;
    switch (step->op) {
    case PAY:
        return rt_guest_check(guest, step->argument);
    case POLL:
        poll_call(other, other * WAKERS);
        return true;
    case DELETE:
        delete_call(other);
        return true;
    case TRAP:
        rt_guest_trap(guest, RT_TRAP_UNREACHABLE);
        return false;
    case DEEP:
        (void)sink(guest, 0);
        return false;
    case NOW:
    case PATIENT:
    case REPLY:
    case FAIL:
        return ask(guest, step, sum);
    case FRAME:
    case LEAVE:
    case OPS:
        break;
    }
    return true;
}

/* A frame: the program up to its LEAVE or its end. Its locals survive each suspension. */
static __attribute__((noinline)) bool
frame(struct rt_guest *guest, struct work *work, uint32_t *at, uint64_t *sum)
{
    volatile uint64_t mark = (uint64_t)*at * 77;
    uint32_t entered = *at;
    bool continues = true;
    work->frames += 1;
    while (continues && *at < work->model.count) {
        enum op op = work->model.steps[*at].op;
        continues = follow(guest, work, at, sum);
        *at += 1;
        if (op == LEAVE) {
            break;
        }
        if (op == FRAME) {
            continues = frame(guest, work, at, sum);
        }
    }
    fuzz_check(mark == (uint64_t)entered * 77);
    work->frames -= 1;
    return continues;
}

static void
guest_main(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    struct work *work = rt_container_of(guest->store, struct work, store);
    uint32_t at = 0;
    uint64_t sum = arguments[0];
    while (at < work->model.count && frame(guest, work, &at, &sum)) {
    }
    results[0] = sum;
}

/* ---- Operations on calls. ------------------------------------------------------------------ */

static bool
may_use(const struct work *work)
{
    return work->live && !work->running;
}

/* Nothing is written before the end, all at the end (F1). */
static void
check_end(const struct work *work, bool ended)
{
    bool good = ended && work->model.trap == RT_TRAP_NONE;
    fuzz_check(work->result == (good ? work->model.sum : NO_RESULT));
    fuzz_check(work->trap == (ended ? work->model.trap : RT_TRAPS));
    fuzz_check(!ended || work->frames == 0);
}

/* A call that is polled by hand is waited for as a driver would. */
static void
await_pending(struct work *work, uint32_t waker)
{
    struct rt_future *pending = rt_store_take_pending(&work->store);
    fuzz_check((pending != 0) == work->model.awaits);
    if (pending != 0) {
        work->model.awaits = false;
        work->model.waker = waker;
        work->awaited = pending;
        fuzz_check(rt_future_poll(pending, clients_cx(&run.clients, waker)) == RT_PENDING);
    }
}

static void
poll_call(uint32_t id, uint32_t waker)
{
    struct work *work = &run.works[id];
    if (!may_use(work) || rt_call_complete(&work->call)) {
        return;
    }
    work->running = true;
    bool ended;
    if (work->drives) {
        bool expected = model_drive(&work->model, waker);
        struct rt_cx cx = *clients_cx(&run.clients, waker);
        ended = rt_call_drive(&work->call, &cx) == RT_READY;
        fuzz_check(ended == expected);
        /* The calls that its guest has polled are recorded first. */
        if (!ended && work->model.yielded) {
            clients_write(&run.clients.expected, waker);
        }
    } else {
        bool expected = model_poll(&work->model);
        ended = rt_call_poll(&work->call);
        fuzz_check(ended == expected);
        await_pending(work, waker);
    }
    work->running = false;
    fuzz_check(rt_call_complete(&work->call) == ended);
    check_end(work, ended);
}

static void
delete_call(uint32_t id)
{
    struct work *work = &run.works[id];
    if (!may_use(work)) {
        return;
    }
    bool complete = rt_call_complete(&work->call);
    if (work->awaited != 0) {
        rt_future_drop(work->awaited);
        work->awaited = 0;
    }
    work->running = true; /* While it unwinds, its guest may poll, but not be polled. */
    rt_call_delete(&work->call);
    work->running = false;
    work->live = false;
    work->model.waker = NONE;
    check_end(work, complete);
    fuzz_check(work->frames == 0 && work->finalized == work->hosts);
}

/* Completes the operation of a call; the call may be deleted. */
static void
complete_reply(struct work *work, uint64_t value)
{
    if (!work->in_flight || work->running) {
        return;
    }
    /* Its call may not be the one that began it. */
    bool wanted = work->live && work->model.stop == IN_HOST && work->model.replies;
    fuzz_check(rt_reply_wanted(&work->reply) == wanted);
    if (wanted && value == 0) {
        work->model.trap = RT_TRAP_HOST;
    } else if (wanted) {
        work->model.sum += value;
    }
    if (work->model.waker != NONE) {
        clients_write(&run.clients.expected, work->model.waker);
        work->model.waker = NONE;
    }
    work->model.in_flight = false;
    complete(work, value);
    work->awaited = 0;
}

static void
draw_program(struct work *work, struct fuzz_tape *tape)
{
    work->model.count = fuzz_below(tape, STEPS + 1);
    for (uint32_t i = 0; i < work->model.count; i++) {
        uint32_t drawn = fuzz_byte(tape);
        work->model.steps[i] = (struct step){(enum op)(drawn % 16 % OPS), drawn / 16};
    }
}

static void
set_fuel(struct work *work, struct fuzz_tape *tape)
{
    uint32_t drawn = fuzz_byte(tape);
    work->model.fuel = drawn % 8 == 0 ? RT_FUEL_MAX : drawn / 2;
    rt_fuel_set(&work->store, work->model.fuel);
    cut_chunk(&work->model);
}

static void
set_interval(struct work *work, struct fuzz_tape *tape)
{
    work->model.interval = fuzz_below(tape, 16);
    rt_fuel_yield_interval(&work->store, work->model.interval);
    cut_chunk(&work->model);
}

static void
set_epoch(struct work *work, struct fuzz_tape *tape)
{
    uint32_t drawn = fuzz_byte(tape);
    uint64_t in = drawn % 4 == 0 ? RT_EPOCH_NEVER : drawn % 4;
    work->model.deadline = in == RT_EPOCH_NEVER ? in : run.epoch + in;
    work->model.delta = drawn / 4 % 4 == 3 ? RT_EPOCH_NEVER : drawn / 4 % 4;
    rt_epoch_deadline(&work->store, in);
    rt_epoch_yield_every(&work->store, work->model.delta);
}

static const uint64_t arguments[] = {5};

static void
make_call(struct work *work, struct fuzz_tape *tape)
{
    struct rt_call_config config = {.guest = guest_main,
            .arguments = arguments,
            .results = &work->result,
            .result_count = 1,
            .trap = &work->trap};
    if (work->live) {
        struct rt_call other;
        fuzz_check(rt_call_init(&other, &work->store, &config) == RT_E_BUSY);
        return;
    }
    work->drives = fuzz_below(tape, 2) == 1;
    work->result = NO_RESULT;
    work->trap = RT_TRAPS;
    work->hosts = work->finalized = 0;
    work->live = true;
    work->model.at = 0;
    work->model.stop = AT_STEP;
    work->model.done = work->model.awaits = false;
    work->model.yields = work->model.yielded = false;
    work->model.trap = RT_TRAP_NONE;
    work->model.sum = arguments[0];
    draw_program(work, tape);
    fuzz_check(rt_call_init(&work->call, &work->store, &config) == RT_OK);
}

/* ---- A run. -------------------------------------------------------------------------------- */

static void
act(struct fuzz_tape *tape)
{
    uint32_t what = fuzz_below(tape, 16);
    uint32_t id = fuzz_below(tape, CALLS);
    struct work *work = &run.works[id];
    switch (what) {
    case 0:
        make_call(work, tape);
        break;
    case 1:
        complete_reply(work, fuzz_below(tape, 4));
        break;
    case 2:
        delete_call(id);
        break;
    case 3:
        run.epoch += 1;
        rt_epoch_tick(&run.engine);
        break;
    case 4:
        set_fuel(work, tape);
        break;
    case 5:
        set_interval(work, tape);
        break;
    case 6:
        set_epoch(work, tape);
        break;
    default:
        poll_call(id, id * WAKERS + what % WAKERS);
        break;
    }
}

static void
compare(void)
{
    uint32_t stacks_out = 0;
    uint32_t incomplete = 0;
    for (uint32_t i = 0; i < CALLS; i++) {
        const struct work *work = &run.works[i];
        fuzz_check(rt_fuel_get(&work->store) == work->model.fuel);
        stacks_out += run.out[i];
        incomplete += work->live && !rt_call_complete(&work->call);
    }
    fuzz_check(stacks_out == incomplete);
    clients_compare(&run.clients);
}

static void
set_up(void)
{
    clients_init(&run.clients);
    run.provider = (struct rt_stack_provider){alloc_stack, release_stack};
    struct rt_engine_config config = {.stacks = &run.provider, .stack = {STACK_SIZE, GUEST_MAX}};
    rt_engine_init(&run.engine, &config);
    run.epoch = 0;
    for (uint32_t i = 0; i < CALLS; i++) {
        struct work *work = &run.works[i];
        run.out[i] = false;
        rt_store_init(&work->store, &run.engine, 0);
        rt_reply_init(&work->reply, "the tape");
        work->live = work->running = false;
        work->in_flight = work->model.in_flight = false;
        work->awaited = 0;
        work->frames = 0;
        work->model.epoch = &run.epoch;
        work->model.fuel = RT_FUEL_MAX;
        work->model.interval = 0;
        work->model.deadline = RT_EPOCH_NEVER;
        work->model.delta = 0;
        work->model.waker = NONE;
        cut_chunk(&work->model);
    }
}

static void
tear_down(void)
{
    for (uint32_t i = 0; i < CALLS; i++) {
        delete_call(i);
        complete_reply(&run.works[i], 1);
        rt_store_fini(&run.works[i].store);
    }
    rt_engine_fini(&run.engine);
    clients_fini(&run.clients);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_tape tape = fuzz_tape(data, size);
    set_up();
    while (fuzz_more(&tape)) {
        act(&tape);
        compare();
    }
    tear_down();
    return 0;
}

FUZZ_UNSEEN_END

// SPDX-License-Identifier: Apache-2.0
/*
 * A task that writes a ledger by a completion ring, with a limit of time for each write. A write that was
 * cancelled may have been done in part; what it says is counted. Each operation has a buffer that
 * stays as it is until the operation has ended.
 */
#include <string.h>

#include <sim/rewake.h>

#define TEXT "ten of these, twenty of those, and nothing else"
#define SIZE (sizeof(TEXT) - 1)
#define PLACES 2

struct ledger {
    struct rt_task task;
    struct rt_ring ring;
    struct sim_ring *host;
    struct rt_ring_place places[PLACES];
    struct rt_slab_entry entries[PLACES];
    struct rt_op op;
    struct rt_op_result result;
    struct rt_sleep limit;
    uint64_t limit_ns;
    int32_t number;
    uint32_t written;
    uint32_t at;
};

static void
start_write(struct ledger *ledger)
{
    static char text[SIZE + 1] = TEXT;
    uint32_t size = (uint32_t)SIZE - ledger->written;
    struct rt_op_request request = {.submission = {.opcode = RT_OPCODE_WRITE,
                                            .target = ledger->number,
                                            .buffer = text + ledger->written,
                                            .size = size < 12 ? size : 12}};
    rt_op_start(&ledger->op, &ledger->ring, &request);
    rt_sleep_init(&ledger->limit, ledger->limit_ns);
}

/* READY: the write has ended; the limit only asks it to. */
static rt_poll
write_in_time(struct ledger *ledger, struct rt_cx *cx)
{
    if (rt_op_poll(&ledger->op, cx, &ledger->result) == RT_READY) {
        rt_sleep_cancel(&ledger->limit);
        return RT_READY;
    }
    if (ledger->limit_ns != 0 && rt_sleep_poll(&ledger->limit, cx) == RT_READY) {
        ledger->limit_ns = 0; /* The next ones have all the time. */
        rt_op_cancel(&ledger->op);
        return rt_op_poll(&ledger->op, cx, &ledger->result);
    }
    return RT_PENDING;
}

static rt_poll
ledger_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct ledger *ledger = rt_container_of(task, struct ledger, task);
    RT_BEGIN(ledger->at);
    while (ledger->written < SIZE) {
        start_write(ledger);
        RT_AWAIT_HERE(ledger->at, write_in_time(ledger, cx));
        SIM_ALWAYS(ledger->result.result > 0 || ledger->result.result == RT_E_CANCELLED);
        if (ledger->result.result > 0) {
            ledger->written += (uint32_t)ledger->result.result;
        }
    }
    RT_END(ledger->at);
}

static void
check(struct sim_world *world, void *state)
{
    const struct ledger *ledger = state;
    size_t size;
    const char *text = sim_ring_written(ledger->host, ledger->number, &size);
    (void)world;
    SIM_ALWAYS(size == SIZE && memcmp(text, TEXT, SIZE) == 0);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct ledger *ledger = sim_new(world, struct ledger);
    ledger->host = sim_ring_new(sim_rt_host(rt), "ring", NULL);
    struct rt_ring_config config = {.host = sim_ring_seam(ledger->host),
            .runtime = sim_rt_runtime(rt),
            .places = ledger->places,
            .entries = ledger->entries,
            .capacity = PLACES};
    SIM_ALWAYS(rt_ring_init(&ledger->ring, &config) == RT_OK);
    ledger->number = sim_ring_device(ledger->host, "book", "", 0, 1, RT_MS, RT_MS);
    ledger->limit_ns = sim_range(world, 100 * RT_US, 900 * RT_US);
    rt_op_init(&ledger->op);
    rt_task_init(&ledger->task, ledger_poll, NULL, "ledger");
    sim_spawn(rt, &ledger->task);
    sim_set_state(world, ledger);
}

SIM_SCENARIO(ledger, .name = "ok10/ledger", .about = "Writes by a ring, each with a limit of time.",
        .setup = setup, .check = check);

// SPDX-License-Identifier: Apache-2.0
/* Cause: parcel_poll() line 72: the result of a read that was cancelled is dropped, although
 * it may have ended with bytes before the cancel came; they are lost, and the parcel ends short.
 * Repair: count its bytes whenever the result is positive (as with `keep`). */
#include <string.h>

#include <sim/rewake.h>

#define TEXT "a parcel of forty bytes, in four pieces."
#define SIZE (sizeof(TEXT) - 1)
#define PLACES 2

struct parcel {
    struct rt_task task;
    struct rt_ring ring;
    struct rt_ring_place places[PLACES];
    struct rt_slab_entry entries[PLACES];
    struct rt_op op;
    struct rt_sleep limit;
    uint64_t limit_ns;
    int32_t number;
    uint32_t at;
    uint32_t slow; /* How often nothing came in time. */
    bool in_time;
    bool keep;
    struct rt_op_result result;
    uint32_t got;
    char text[SIZE];
};

static void
start_read(struct parcel *parcel)
{
    struct rt_op_request request = {.submission = {.opcode = RT_OPCODE_READ,
                                            .target = parcel->number,
                                            .buffer = parcel->text + parcel->got,
                                            .size = (uint32_t)(SIZE - parcel->got)}};
    rt_op_start(&parcel->op, &parcel->ring, &request);
}

/* READY: the read has ended, or the limit has passed. */
static rt_poll
read_in_time(struct parcel *parcel, struct rt_cx *cx)
{
    if (rt_op_poll(&parcel->op, cx, &parcel->result) == RT_READY) {
        rt_sleep_cancel(&parcel->limit);
        parcel->in_time = true;
        return RT_READY;
    }
    parcel->in_time = false;
    return rt_sleep_poll(&parcel->limit, cx);
}

static rt_poll
parcel_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct parcel *parcel = rt_container_of(task, struct parcel, task);
    RT_BEGIN(parcel->at);
    while (parcel->got < SIZE) {
        start_read(parcel);
        rt_sleep_init(&parcel->limit, parcel->limit_ns);
        RT_AWAIT_HERE(parcel->at, read_in_time(parcel, cx));
        if (parcel->in_time) {
            if (parcel->result.result <= 0) {
                break;
            }
            parcel->got += (uint32_t)parcel->result.result;
            continue;
        }
        parcel->slow++;
        rt_op_cancel(&parcel->op);
        RT_AWAIT_HERE(parcel->at, rt_op_poll(&parcel->op, cx, &parcel->result));
        if (parcel->keep && parcel->result.result > 0) {
            parcel->got += (uint32_t)parcel->result.result;
        }
    }
    SIM_ALWAYS(parcel->got == SIZE);
    SIM_ALWAYS(memcmp(parcel->text, TEXT, SIZE) == 0);
    RT_END(parcel->at);
}

static void
check(struct sim_world *world, void *state)
{
    const struct parcel *parcel = state;
    (void)world;
    SIM_ALWAYS(rt_op_state(&parcel->op) == RT_OP_IDLE);
}

static void
begin(struct sim_world *world, bool keep)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct parcel *parcel = sim_new(world, struct parcel);
    struct sim_ring *host = sim_ring_new(sim_rt_host(rt), "ring", NULL);
    struct rt_ring_config config = {.host = sim_ring_seam(host),
            .runtime = sim_rt_runtime(rt),
            .places = parcel->places,
            .entries = parcel->entries,
            .capacity = PLACES};
    SIM_ALWAYS(rt_ring_init(&parcel->ring, &config) == RT_OK);
    parcel->number = sim_ring_device(host, "line", TEXT, SIZE, 10, 500 * RT_US, 4 * RT_MS);
    parcel->keep = keep;
    parcel->limit_ns = sim_range(world, 2 * RT_MS, 3 * RT_MS);
    rt_op_init(&parcel->op);
    rt_task_init(&parcel->task, parcel_poll, NULL, "parcel");
    sim_spawn(rt, &parcel->task);
    sim_set_state(world, parcel);
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, false);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, true);
}

SIM_SCENARIO(parcel_broken, .name = "s10/parcel/broken",
        .about = "Reads with a time limit, on a completion ring.", .setup = setup_broken,
        .check = check);
SIM_SCENARIO(parcel_fixed, .name = "s10/parcel/fixed",
        .about = "Reads with a time limit, on a completion ring.", .setup = setup_fixed,
        .check = check);

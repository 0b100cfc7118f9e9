/* Cause: gauge_needs_inspection(), line 62: a read that was asked to cancel is taken for one that has read nothing. Order: patience ends (48), rt_op_cancel (52) comes too late, as the host has done the read; its result is a number of bytes, which gauge_poll (89-91) ignores, and starts the next read. Harm: SIM_ALWAYS 75 (the next bytes are not those expected), or 95. Fix: ask the result, not the flag (60).
 */
#include <sim/rewake.h>

#define PLACES 4

struct gauge {
    struct rt_task task;
    struct sim_world *world;
    struct rt_ring ring;
    struct rt_ring_place places[PLACES];
    struct rt_slab_entry entries[PLACES];
    int32_t channel;
    uint32_t at;
    struct rt_op op;
    struct rt_op_result result;
    char water[4];
    struct rt_sleep patience;
    bool cancelled;
    bool end;
    uint32_t litres;
    uint32_t sum;
    uint32_t inspections;
};

static const char water[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

static void
gauge_start(struct gauge *gauge)
{
    struct rt_op_request request = {.submission = {.opcode = RT_OPCODE_READ,
                                            .target = gauge->channel,
                                            .size = sizeof gauge->water,
                                            .buffer = gauge->water}};
    gauge->cancelled = false;
    rt_sleep_init(&gauge->patience, 2 * RT_MS);
    rt_op_start(&gauge->op, &gauge->ring, &request);
}

/* READY with the end of the read, whichever it is. */
static rt_poll
gauge_finish(struct gauge *gauge, struct rt_cx *cx)
{
    if (rt_op_poll(&gauge->op, cx, &gauge->result) == RT_READY) {
        rt_sleep_cancel(&gauge->patience);
        return RT_READY;
    }
    if (gauge->cancelled || rt_sleep_poll(&gauge->patience, cx) != RT_READY) {
        return RT_PENDING;
    }
    gauge->cancelled = true;
    rt_op_cancel(&gauge->op);
    return rt_op_poll(&gauge->op, cx, &gauge->result);
}

static bool
gauge_needs_inspection(const struct gauge *gauge)
{
#ifdef FIXED
    return gauge->result.result == RT_E_CANCELLED;
#else
    return gauge->cancelled;
#endif
}

static void
gauge_measure(struct gauge *gauge)
{
    SIM_ALWAYS(gauge->result.result >= 0);
    if (gauge->result.result == 0) {
        gauge->end = true;
        return;
    }
    for (int32_t i = 0; i < gauge->result.result; i++) {
        SIM_ALWAYS(gauge->water[i] == water[gauge->litres]);
        gauge->litres++;
        gauge->sum += (uint32_t)gauge->water[i];
    }
}

static rt_poll
gauge_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct gauge *gauge = rt_container_of(task, struct gauge, task);
    RT_BEGIN(gauge->at);
    while (!gauge->end) {
        gauge_start(gauge);
        RT_AWAIT_HERE(gauge->at, gauge_finish(gauge, cx));
        if (gauge_needs_inspection(gauge)) {
            gauge->inspections++;
            continue;
        }
        gauge_measure(gauge);
    }
    SIM_ALWAYS(gauge->litres == sizeof water);
    RT_END(gauge->at);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct gauge *gauge = sim_new(world, struct gauge);
    struct sim_ring_options options = {.min_ns = 100 * RT_US, .max_ns = RT_MS};
    struct sim_ring *host = sim_ring_new(sim_rt_host(rt), "aqueduct", &options);
    struct rt_ring_config config = {.host = sim_ring_seam(host),
            .runtime = sim_rt_runtime(rt),
            .places = gauge->places,
            .entries = gauge->entries,
            .capacity = PLACES};
    SIM_ALWAYS(rt_ring_init(&gauge->ring, &config) == RT_OK);
    gauge->world = world;
    gauge->channel = sim_ring_device(host, "channel", water, sizeof water, 4, RT_MS / 2, 3 * RT_MS);
    rt_op_init(&gauge->op);
    rt_task_init(&gauge->task, gauge_poll, NULL, "gauge");
    sim_spawn(rt, &gauge->task);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(aqueduct, .name = "s20/aqueduct/" FORM, .about = "Reads that are cancelled when nothing comes.",
        .setup = setup);

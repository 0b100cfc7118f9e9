/* Cause: shepherd_poll(), line 82: after its patience is over the shepherd cancels the read (56); the cancel is a request, and the operation may have read bytes already. What it has read is ignored because impatient is set, and not because the result is RT_E_CANCELLED. Harm: SIM_ALWAYS(memcmp(shepherd->noted, levels, ...) == 0), line 68, or line 95 for the last piece. Fix: test the result. */
#include <sim/rewake.h>
#include <string.h>

#define PLACES 4
#define CHUNK 6

static const char levels[] = "12 cm, 14 cm, 11 cm, 9 cm, dry";

struct gauge {
    struct rt_ring ring;
    struct rt_ring_place places[PLACES];
    struct rt_slab_entry entries[PLACES];
    struct sim_ring *host;
    int32_t device;
};

struct shepherd {
    struct rt_task task;
    struct sim_world *world;
    struct gauge *gauge;
    uint32_t at;
    struct rt_op op;
    struct rt_op_result result;
    struct rt_sleep patience;
    struct rt_sleep sheep;
    bool impatient;
    uint32_t walks;
    char buffer[CHUNK];
    char noted[sizeof levels];
    uint32_t size;
};

static void
read_start(struct shepherd *shepherd)
{
    const struct rt_op_request request = {.submission = {.opcode = RT_OPCODE_READ,
                                                  .target = shepherd->gauge->device,
                                                  .buffer = shepherd->buffer,
                                                  .size = CHUNK}};
    rt_op_start(&shepherd->op, &shepherd->gauge->ring, &request);
    rt_sleep_init(&shepherd->patience, sim_range(shepherd->world, RT_MS, 2 * RT_MS));
    shepherd->impatient = false;
}

/* READY when the operation has ended; it is cancelled when the time is over. */
static rt_poll
read_poll(struct shepherd *shepherd, struct rt_cx *cx)
{
    if (rt_op_poll(&shepherd->op, cx, &shepherd->result) == RT_READY) {
        rt_sleep_cancel(&shepherd->patience);
        return RT_READY;
    }
    if (!shepherd->impatient && rt_sleep_poll(&shepherd->patience, cx) == RT_READY) {
        shepherd->impatient = true;
        rt_op_cancel(&shepherd->op);
        return rt_op_poll(&shepherd->op, cx, &shepherd->result);
    }
    return RT_PENDING;
}

static void
note(struct shepherd *shepherd, uint32_t count)
{
    SIM_ALWAYS(shepherd->size + count < sizeof levels);
    memcpy(shepherd->noted + shepherd->size, shepherd->buffer, count);
    shepherd->size += count;
    SIM_ALWAYS(memcmp(shepherd->noted, levels, shepherd->size) == 0);
}

static rt_poll
shepherd_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct shepherd *shepherd = rt_container_of(task, struct shepherd, task);
    RT_BEGIN(shepherd->at);
    for (;;) {
        read_start(shepherd);
        RT_AWAIT_HERE(shepherd->at, read_poll(shepherd, cx));
#ifdef FIXED
        if (shepherd->result.result == RT_E_CANCELLED) {
#else
        if (shepherd->impatient) {
#endif
            shepherd->walks++;
            rt_sleep_init(&shepherd->sheep, sim_range(shepherd->world, RT_MS, 2 * RT_MS));
            RT_AWAIT_HERE(shepherd->at, rt_sleep_poll(&shepherd->sheep, cx));
            continue;
        }
        SIM_ALWAYS(shepherd->result.result >= 0);
        if (shepherd->result.result == 0) {
            break;
        }
        note(shepherd, (uint32_t)shepherd->result.result);
    }
    SIM_ALWAYS(shepherd->size == strlen(levels));
    RT_END(shepherd->at);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct gauge *gauge = sim_new(world, struct gauge);
    struct shepherd *shepherd = sim_new(world, struct shepherd);
    gauge->host = sim_ring_new(sim_rt_host(rt), "gauge", NULL);
    gauge->device = sim_ring_device(
            gauge->host, "levels", levels, strlen(levels), CHUNK, RT_MS / 4, 2 * RT_MS);
    const struct rt_ring_config config = {.host = sim_ring_seam(gauge->host),
            .runtime = sim_rt_runtime(rt),
            .places = gauge->places,
            .entries = gauge->entries,
            .capacity = PLACES};
    SIM_ALWAYS(rt_ring_init(&gauge->ring, &config) == RT_OK);
    shepherd->world = world;
    shepherd->gauge = gauge;
    rt_op_init(&shepherd->op);
    rt_task_init(&shepherd->task, shepherd_poll, NULL, "shepherd");
    sim_spawn(rt, &shepherd->task);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(trough, .name = "s21/trough/" FORM, .about = "A shepherd reads a gauge.", .setup = setup);

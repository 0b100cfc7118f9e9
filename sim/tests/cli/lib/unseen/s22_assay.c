/* Cause: Cancellation that comes with a result. When patience ends (48) assayer_poll() cancels the read (71), awaits its final completion (72) and starts a new read whatever that was (77). A cancel is a request only: the read may end with bytes. Order: the sleep is due; rt_op_cancel; the host has done (or does) the read meanwhile and answers with a result > 0 instead of RT_E_CANCELLED; these bytes in buffer are overwritten by the next read. Harm: SIM_ALWAYS line 92 in check (the text that was read lacks some bytes in the middle). Fix: lines 74-75: only a negative result is tried again; bytes are kept (84). */
#include <string.h>

#include <sim/rewake.h>

#define STAMPS "Ag925Au750Pt950"
#define PLACES 4

struct office {
    struct sim_world *world;
    struct rt_ring ring;
    struct rt_ring_place places[PLACES];
    struct rt_slab_entry entries[PLACES];
    int32_t bar;
    char read[sizeof STAMPS];
    uint32_t size;
};

struct assayer {
    struct rt_task task;
    struct office *office;
    struct rt_op op;
    struct rt_op_result result;
    struct rt_sleep patience;
    uint32_t at;
    char buffer[4];
    bool impatient;
    uint32_t retries;
};

static void assayer_begin(struct assayer *assayer)
{
    struct rt_op_request request = {.submission = {.opcode = RT_OPCODE_READ,
            .target = assayer->office->bar, .buffer = assayer->buffer,
            .size = sizeof assayer->buffer}};
    rt_op_start(&assayer->op, &assayer->office->ring, &request);
}

/* READY when the read has ended, or the patience has: `impatient`. */
static rt_poll assayer_wait(struct assayer *assayer, struct rt_cx *cx)
{
    assayer->impatient = false;
    if (rt_op_poll(&assayer->op, cx, &assayer->result) == RT_READY) {
        rt_sleep_cancel(&assayer->patience);
        return RT_READY;
    }
    RT_AWAIT(rt_sleep_poll(&assayer->patience, cx));
    assayer->impatient = true;
    return RT_READY;
}

static void assayer_keep(struct assayer *assayer)
{
    struct office *office = assayer->office;
    SIM_ALWAYS(office->size + (uint32_t)assayer->result.result < sizeof office->read);
    memcpy(office->read + office->size, assayer->buffer, (size_t)assayer->result.result);
    office->size += (uint32_t)assayer->result.result;
}

static rt_poll assayer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct assayer *assayer = rt_container_of(task, struct assayer, task);
    RT_BEGIN(assayer->at);
    for (;;) {
        assayer_begin(assayer);
        rt_sleep_init(&assayer->patience, assayer->retries < 3 ? 2 * RT_MS : RT_NEVER);
        RT_AWAIT_HERE(assayer->at, assayer_wait(assayer, cx));
        if (assayer->impatient) {
            /* The buffer is the host's until the read has ended. */
            assayer->retries++;
            rt_op_cancel(&assayer->op);
            RT_AWAIT_HERE(assayer->at, rt_op_poll(&assayer->op, cx, &assayer->result));
#ifdef FIXED
            if (assayer->result.result < 0)
                continue;
#else
            continue;
#endif
        }
        SIM_ALWAYS(assayer->result.result >= 0);
        if (assayer->result.result == 0)
            break;
        assayer_keep(assayer);
    }
    RT_END(assayer->at);
}

static void check(struct sim_world *world, void *state)
{
    struct office *office = state;
    (void)world;
    SIM_ALWAYS(strcmp(office->read, STAMPS) == 0);
}

static void setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct office *office = sim_new(world, struct office);
    struct assayer *assayer = sim_new(world, struct assayer);
    struct sim_ring *host = sim_ring_new(sim_rt_host(rt), "scale", NULL);
    struct rt_ring_config config = {.host = sim_ring_seam(host), .runtime = sim_rt_runtime(rt),
            .places = office->places, .entries = office->entries, .capacity = PLACES};
    SIM_ALWAYS(rt_ring_init(&office->ring, &config) == RT_OK);
    office->world = world;
    office->bar = sim_ring_device(host, "bar", STAMPS, strlen(STAMPS), 5, 1 * RT_MS, 4 * RT_MS);
    sim_set_state(world, office);
    assayer->office = office;
    rt_op_init(&assayer->op);
    rt_task_init(&assayer->task, assayer_poll, NULL, "assayer");
    sim_spawn(rt, &assayer->task);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(assay_scenario, .name = "s22/assay/" FORM, .about = "Reads with patience.",
        .setup = setup, .check = check);

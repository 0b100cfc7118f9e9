/* Cause: sluice_poll() takes every completion after rt_op_cancel() (68) for a cancelled read and drops its result (76), although the read may have been done with bytes already: the barges in it are not counted. (Completion ring.) */
#include <sim/rewake.h>

#define PLACES 4

static const char barges[] = "bbBbbB"; /* A small one counts 1, a large one 3. */
#define TONNAGE 10

struct sluice {
    struct rt_task task;
    struct rt_ring ring;
    struct rt_ring_place places[PLACES];
    struct rt_slab_entry entries[PLACES];
    int32_t sensor;
    struct rt_op op;
    struct rt_sleep patience;
    struct rt_op_result result;
    char seen[2];
    uint32_t tonnage;
    uint32_t inspections;
    bool over;
    bool ended;
    uint32_t at;
};

static void
count_barges(struct sluice *sluice, int32_t number)
{
    for (int32_t i = 0; i < number; i++) {
        sluice->tonnage += sluice->seen[i] == 'B' ? 3 : 1;
        SIM_PROGRESS();
    }
}

static void
start_read(struct sluice *sluice)
{
    struct rt_op_request request = {.submission = {.opcode = RT_OPCODE_READ,
                                            .target = sluice->sensor,
                                            .size = sizeof sluice->seen,
                                            .buffer = sluice->seen}};
    rt_op_start(&sluice->op, &sluice->ring, &request);
}

/* READY with a result, or when the keeper's patience is over. */
static rt_poll
await_barge(struct sluice *sluice, struct rt_cx *cx)
{
    if (rt_op_poll(&sluice->op, cx, &sluice->result) == RT_READY) {
        sluice->ended = true;
        rt_sleep_cancel(&sluice->patience);
        return RT_READY;
    }
    return rt_sleep_poll(&sluice->patience, cx);
}

static rt_poll
sluice_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct sluice *sluice = rt_container_of(task, struct sluice, task);
    RT_BEGIN(sluice->at);
    while (!sluice->over) {
        start_read(sluice);
        rt_sleep_init(&sluice->patience, 2 * RT_MS);
        sluice->ended = false;
        RT_AWAIT_HERE(sluice->at, await_barge(sluice, cx));
        if (!sluice->ended) {
            rt_op_cancel(&sluice->op);
            RT_AWAIT_HERE(sluice->at, rt_op_poll(&sluice->op, cx, &sluice->result));
            sluice->inspections++;
#ifdef FIXED
            if (sluice->result.result < 0) {
                continue;
            }
#else
            continue;
#endif
        }
        SIM_ALWAYS(sluice->result.result >= 0);
        sluice->over = sluice->result.result == 0;
        count_barges(sluice, sluice->result.result);
    }
    RT_END(sluice->at);
}

static void
check(struct sim_world *world, void *state)
{
    struct sluice *sluice = state;
    (void)world;
    SIM_ALWAYS(sluice->tonnage == TONNAGE);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct sluice *sluice = sim_new(world, struct sluice);
    struct sim_ring *host = sim_ring_new(sim_rt_host(rt), "sensors", NULL);
    sluice->sensor = sim_ring_device(
            host, "sensor", barges, sizeof barges - 1, 2, 500 * RT_US, 3 * RT_MS);
    struct rt_ring_config config = {.host = sim_ring_seam(host),
            .runtime = sim_rt_runtime(rt),
            .places = sluice->places,
            .entries = sluice->entries,
            .capacity = PLACES};
    SIM_ALWAYS(rt_ring_init(&sluice->ring, &config) == RT_OK);
    rt_op_init(&sluice->op);
    rt_task_init(&sluice->task, sluice_poll, NULL, "keeper");
    sim_spawn(rt, &sluice->task);
    sim_set_state(world, sluice);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(sluice, .name = "s19/sluice/" FORM, .about = "A keeper counts barges, and looks around.",
        .setup = setup, .check = check);

/* Cause: mould_next(), line 44: the moulds are used in turn, as if writes ended in the order in which they began. Order: of two writes under way the second one ends first; the next ingot takes begun % 2, the mould of the first, and fills it (53) while the host still has it. Harm: verdict contract (a buffer was changed before its last completion). Fix: take a mould that is not filled (38-42). */
#include <string.h>

#include <sim/rewake.h>

#define INGOTS 6
#define MOULDS 2
#define PLACES 4
#define WEIGHT 4

struct mould {
    char metal[WEIGHT];
    bool filled;
};

struct pour {
    struct rt_op op;
    struct mould *mould; /* NULL: it has not begun, or it has ended. */
};

struct smelter {
    struct rt_task task;
    struct rt_ring ring;
    struct rt_ring_place places[PLACES];
    struct rt_slab_entry entries[PLACES];
    int32_t yard;
    struct mould moulds[MOULDS];
    struct pour pours[INGOTS];
    uint32_t begun;
    uint32_t under_way;
    uint32_t poured;
};

static struct mould *
mould_next(struct smelter *smelter)
{
#ifdef FIXED
    uint32_t i = 0;
    while (smelter->moulds[i].filled) {
        i++;
    }
    return &smelter->moulds[i];
#else
    return &smelter->moulds[smelter->begun % MOULDS];
#endif
}

static void
pour_begin(struct smelter *smelter)
{
    struct pour *pour = &smelter->pours[smelter->begun];
    struct mould *mould = mould_next(smelter);
    memset(mould->metal, 'a' + (int)smelter->begun, sizeof mould->metal);
    mould->filled = true;
    pour->mould = mould;
    struct rt_op_request request = {.submission = {.opcode = RT_OPCODE_WRITE,
                                            .target = smelter->yard,
                                            .size = sizeof mould->metal,
                                            .buffer = mould->metal}};
    rt_op_start(&pour->op, &smelter->ring, &request);
    smelter->begun++;
    smelter->under_way++;
}

static bool
pour_end(struct smelter *smelter, struct pour *pour, struct rt_cx *cx)
{
    struct rt_op_result result;
    if (pour->mould == NULL || rt_op_poll(&pour->op, cx, &result) != RT_READY) {
        return false;
    }
    SIM_ALWAYS(result.result > 0);
    smelter->poured += (uint32_t)result.result;
    pour->mould->filled = false;
    pour->mould = NULL;
    smelter->under_way--;
    return true;
}

static rt_poll
smelter_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct smelter *smelter = rt_container_of(task, struct smelter, task);
    bool ended;
    do {
        while (smelter->begun < INGOTS && smelter->under_way < MOULDS) {
            pour_begin(smelter);
        }
        ended = false;
        for (uint32_t i = 0; i < smelter->begun; i++) {
            ended |= pour_end(smelter, &smelter->pours[i], cx);
        }
    } while (ended && smelter->begun < INGOTS);
    if (smelter->under_way > 0) {
        return RT_PENDING;
    }
    SIM_ALWAYS(smelter->poured > 0 && smelter->poured <= INGOTS * WEIGHT);
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct smelter *smelter = sim_new(world, struct smelter);
    struct sim_ring *host = sim_ring_new(sim_rt_host(rt), "smelter", NULL);
    struct rt_ring_config config = {.host = sim_ring_seam(host),
            .runtime = sim_rt_runtime(rt),
            .places = smelter->places,
            .entries = smelter->entries,
            .capacity = PLACES};
    SIM_ALWAYS(rt_ring_init(&smelter->ring, &config) == RT_OK);
    smelter->yard = sim_ring_device(host, "yard", "", 0, 1, RT_US, RT_US);
    for (uint32_t i = 0; i < INGOTS; i++) {
        rt_op_init(&smelter->pours[i].op);
    }
    rt_task_init(&smelter->task, smelter_poll, NULL, "smelter");
    sim_spawn(rt, &smelter->task);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(smelter, .name = "s20/smelter/" FORM, .about = "Ingots are poured from two moulds.", .setup = setup);

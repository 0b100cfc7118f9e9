/* orrery: an astronomer asks two observatories for a planet's place, the second when the first is slow. */
#include <sim/rewake.h>

#define PLANETS 2
#define OBSERVATORIES 2

struct orrery;

struct observatory {
    struct rt_task task;
    struct orrery *orrery;
    struct rt_slot asked;
    struct rt_sleep looking;
    uint32_t pending; /* The question, 0: none. */
    uint32_t question;
    uint32_t at;
};

struct orrery {
    struct sim_world *world;
    struct rt_task astronomer;
    struct observatory observatories[OBSERVATORIES];
    struct rt_slot answered;
    struct rt_sleep patience;
    uint32_t question;
    uint32_t answer; /* The question that it answers; 0: none. */
    uint32_t late;
    bool over;
    uint32_t at;
};

static void
ask(struct observatory *observatory, uint32_t question)
{
    observatory->pending = question;
    rt_slot_wake(&observatory->asked);
}

static rt_poll
observatory_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct observatory *self = rt_container_of(task, struct observatory, task);
    struct orrery *orrery = self->orrery;
    RT_BEGIN(self->at);
    while (!orrery->over) {
        if (self->pending == 0) {
            rt_slot_replace(&self->asked, cx, "a question");
            RT_YIELD_HERE(self->at);
            continue;
        }
        self->question = self->pending;
        self->pending = 0;
        rt_sleep_init(&self->looking, sim_range(orrery->world, 1 * RT_MS, 5 * RT_MS));
        RT_AWAIT_HERE(self->at, rt_sleep_poll(&self->looking, cx));
        if (self->question == orrery->question && orrery->answer == 0) {
            orrery->answer = self->question;
            rt_slot_wake(&orrery->answered);
        } else {
            orrery->late++;
        }
    }
    RT_END(self->at);
}

/* READY with the answer, or when the astronomer's patience is over. */
static rt_poll
await_answer(struct orrery *orrery, struct rt_cx *cx)
{
    if (orrery->answer != 0) {
        rt_sleep_cancel(&orrery->patience);
        return RT_READY;
    }
    rt_slot_replace(&orrery->answered, cx, "a planet's place");
    return rt_sleep_poll(&orrery->patience, cx);
}

static rt_poll
astronomer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct orrery *orrery = rt_container_of(task, struct orrery, astronomer);
    RT_BEGIN(orrery->at);
    for (orrery->question = 1; orrery->question <= PLANETS; orrery->question++) {
        orrery->answer = 0;
        ask(&orrery->observatories[0], orrery->question);
        rt_sleep_init(&orrery->patience, 3 * RT_MS);
        RT_AWAIT_HERE(orrery->at, await_answer(orrery, cx));
        if (orrery->answer == 0) {
            ask(&orrery->observatories[1], orrery->question);
            rt_sleep_init(&orrery->patience, RT_NEVER);
            RT_AWAIT_HERE(orrery->at, await_answer(orrery, cx));
        }
        SIM_ALWAYS(orrery->answer == orrery->question);
    }
    orrery->over = true;
    for (uint32_t i = 0; i < OBSERVATORIES; i++) {
        rt_slot_wake(&orrery->observatories[i].asked);
    }
    RT_END(orrery->at);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct orrery *orrery = sim_new(world, struct orrery);
    orrery->world = world;
    rt_slot_init(&orrery->answered);
    for (uint32_t i = 0; i < OBSERVATORIES; i++) {
        struct observatory *observatory = &orrery->observatories[i];
        observatory->orrery = orrery;
        rt_slot_init(&observatory->asked);
        rt_task_init(&observatory->task, observatory_poll, NULL, i == 0 ? "hill" : "tower");
        sim_spawn(rt, &observatory->task);
    }
    rt_task_init(&orrery->astronomer, astronomer_poll, NULL, "astronomer");
    sim_spawn(rt, &orrery->astronomer);
}

SIM_SCENARIO(orrery, .name = "orrery/planets", .about = "An astronomer asks two observatories.",
        .setup = setup);

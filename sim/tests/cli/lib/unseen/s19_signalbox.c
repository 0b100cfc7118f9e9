/* Cause: on_answer() stores the answer at the index answers (44), the order of arrival, as if section 0 always answered first; there is no order between shards. (Shards.) */
#include <sim/rewake.h>

#define SECTIONS 2

struct enquiry {
    struct rt_message message;
    struct signalbox *box;
    uint32_t section;
    uint32_t axles;
};

struct signalbox {
    struct rt_task task;
    struct rt_shard *shard;
    struct rt_shards *shards;
    struct enquiry enquiries[SECTIONS];
    uint32_t standing[SECTIONS];
    uint32_t table[SECTIONS];
    uint32_t answers;
    struct rt_slot answered;
    uint32_t at;
};

/* On the shard of the section. */
static void
on_enquiry(struct rt_message *message, struct rt_shard *shard)
{
    struct enquiry *enquiry = rt_container_of(message, struct enquiry, message);
    enquiry->axles = enquiry->box->standing[enquiry->section];
    rt_message_answer(message, shard, RT_OK);
}

/* On the shard of the signal box. */
static void
on_answer(struct rt_message *message, struct rt_shard *shard)
{
    struct enquiry *enquiry = rt_container_of(message, struct enquiry, message);
    struct signalbox *box = enquiry->box;
    (void)shard;
#ifdef FIXED
    box->table[enquiry->section] = enquiry->axles;
#else
    box->table[box->answers] = enquiry->axles;
#endif
    if (++box->answers == SECTIONS) {
        rt_slot_wake(&box->answered);
    }
}

static rt_poll
box_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct signalbox *box = rt_container_of(task, struct signalbox, task);
    if (box->at == 0) {
        box->at = 1;
        for (uint32_t i = 0; i < SECTIONS; i++) {
            SIM_ALWAYS(rt_message_send(&box->enquiries[i].message, box->shard, 1 + i) == RT_OK);
        }
    }
    if (box->answers < SECTIONS) {
        rt_slot_replace(&box->answered, cx, "the axles of all sections");
        return RT_PENDING;
    }
    for (uint32_t i = 0; i < SECTIONS; i++) {
        SIM_ALWAYS(box->table[i] == box->standing[i]);
    }
    rt_shards_close(box->shards);
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    struct sim_shard_group_options options = {.count = 1 + SECTIONS};
    struct sim_shard_group *group = sim_shard_group_new(world, &options);
    struct signalbox *box = sim_new(world, struct signalbox);
    box->shards = sim_shard_group_shards(group);
    box->shard = sim_shard_group_shard(group, 0);
    rt_slot_init(&box->answered);
    for (uint32_t i = 0; i < SECTIONS; i++) {
        box->standing[i] = 8 + 4 * i;
        box->enquiries[i].box = box;
        box->enquiries[i].section = i;
        rt_message_init(&box->enquiries[i].message, on_enquiry, on_answer);
    }
    rt_task_init(&box->task, box_poll, NULL, "signal box");
    sim_spawn(sim_shard_group_rt(group, 0), &box->task);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(signalbox, .name = "s19/signalbox/" FORM, .about = "A signal box asks two sections.",
        .setup = setup);

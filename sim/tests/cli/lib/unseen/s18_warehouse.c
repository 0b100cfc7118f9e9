/* Cause: office_poll(), line 69: the delivery goes to the warehouse and its announcement to the shop on another way, and the shop may ask the warehouse before the delivery is there; repair: announce only when the delivery was confirmed. */
#include <sim/rewake.h>

enum { OFFICE, WAREHOUSE, SHOP, SITES };

struct delivery {
    struct rt_submit submit;
    struct firm *firm;
};

struct firm {
    struct rt_task office;
    struct rt_shards *shards;
    struct rt_shard *office_shard;
    uint32_t at;
    struct delivery delivery;
    struct delivery announcement;
    struct rt_message question;
    unsigned stock; /* The warehouse's own. */
    unsigned told;
    bool confirms;
};

/* At the warehouse. */
static void
delivered(struct rt_message *message, struct rt_shard *shard)
{
    struct rt_submit *submit = rt_container_of(message, struct rt_submit, message);
    struct firm *firm = rt_container_of(submit, struct delivery, submit)->firm;
    firm->stock += 5;
    rt_message_answer(message, shard, RT_OK);
}

static void
asked(struct rt_message *message, struct rt_shard *shard)
{
    struct firm *firm = rt_container_of(message, struct firm, question);
    firm->told = firm->stock;
    rt_message_answer(message, shard, RT_OK);
}

/* At the shop. */
static void
told(struct rt_message *message, struct rt_shard *shard)
{
    struct firm *firm = rt_container_of(message, struct firm, question);
    SIM_ALWAYS(firm->told == 5);
    rt_message_answer(&firm->announcement.submit.message, shard, RT_OK);
}

static void
announced(struct rt_message *message, struct rt_shard *shard)
{
    struct rt_submit *submit = rt_container_of(message, struct rt_submit, message);
    struct firm *firm = rt_container_of(submit, struct delivery, submit)->firm;
    rt_message_init(&firm->question, asked, told);
    SIM_ALWAYS(rt_message_send(&firm->question, shard, WAREHOUSE) == RT_OK);
}

static rt_poll
office_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct firm *firm = rt_container_of(task, struct firm, office);
    RT_BEGIN(firm->at);
    rt_submit_to(&firm->delivery.submit, firm->office_shard, WAREHOUSE, delivered);
    if (firm->confirms) {
        RT_AWAIT_HERE(firm->at, rt_future_poll(&firm->delivery.submit.future, cx));
    }
    rt_submit_to(&firm->announcement.submit, firm->office_shard, SHOP, announced);
    RT_AWAIT_HERE(firm->at, rt_future_poll(&firm->announcement.submit.future, cx));
    if (!firm->confirms) {
        RT_AWAIT_HERE(firm->at, rt_future_poll(&firm->delivery.submit.future, cx));
    }
    rt_shards_close(firm->shards);
    RT_END(firm->at);
}

static void
set_up(struct sim_world *world, bool confirms)
{
    struct sim_shard_group *group =
            sim_shard_group_new(world, &(struct sim_shard_group_options){.count = SITES});
    struct firm *firm = sim_new(world, struct firm);
    firm->shards = sim_shard_group_shards(group);
    firm->office_shard = sim_shard_group_shard(group, OFFICE);
    firm->delivery.firm = firm->announcement.firm = firm;
    firm->confirms = confirms;
    rt_task_init(&firm->office, office_poll, NULL, "office");
    sim_spawn(sim_shard_group_rt(group, OFFICE), &firm->office);
}

static void
set_up_broken(struct sim_world *world)
{
    set_up(world, false);
}

static void
set_up_fixed(struct sim_world *world)
{
    set_up(world, true);
}

SIM_SCENARIO(broken, .name = "s18/warehouse/broken", .about = "A delivery and its announcement.",
        .setup = set_up_broken);
SIM_SCENARIO(fixed, .name = "s18/warehouse/fixed", .about = "A delivery and its announcement.",
        .setup = set_up_fixed);

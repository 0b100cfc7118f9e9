/* Cause: Order of messages between different pairs of shards is not promised. The clerk (shard 0) sends enter to the registrar (shard 1; 64), who sends open to the treasurer (shard 2; line 46), and, without awaiting the answer, after counting coins for up to 1 ms (70-71), pay to the treasurer directly (72). Order: shard 1 or the lanes 0→1, 1→2 are slower than the sleep plus lane 0→2, so pay_arrives runs before open_arrives on shard 2. Harm: SIM_ALWAYS line 55 (account_open). Fix: lines 66-67: pay is sent after the answer of enter, which comes after that of open (35-36). */
#include <sim/rewake.h>

enum { CLERK = 0, REGISTRAR = 1, TREASURER = 2 };

struct guild {
    struct sim_world *world;
    struct rt_shards *shards;
    /* The treasurer's. */
    bool account_open;
    uint32_t dues;
};

struct clerk {
    struct rt_task task;
    struct guild *guild;
    struct rt_shard *shard;
    uint32_t at;
    struct rt_submit enter;      /* To the registrar ... */
    struct rt_message open;      /* ... who asks the treasurer for an account. */
    struct rt_submit pay;        /* To the treasurer. */
    struct rt_sleep count;
};

/* On the treasurer's shard. */
static void open_arrives(struct rt_message *message, struct rt_shard *shard)
{
    struct clerk *clerk = rt_container_of(message, struct clerk, open);
    SIM_ALWAYS(!clerk->guild->account_open);
    clerk->guild->account_open = true;
    rt_message_answer(message, shard, RT_OK);
}

/* On the registrar's shard: the account is open. */
static void open_answered(struct rt_message *message, struct rt_shard *shard)
{
    struct clerk *clerk = rt_container_of(message, struct clerk, open);
    rt_message_answer(&clerk->enter.message, shard, message->result);
}

/* On the registrar's shard. */
static void enter_arrives(struct rt_message *message, struct rt_shard *shard)
{
    struct rt_submit *submit = rt_container_of(message, struct rt_submit, message);
    struct clerk *clerk = rt_container_of(submit, struct clerk, enter);
    rt_err err = rt_message_send(&clerk->open, shard, TREASURER);
    SIM_ALWAYS(err == RT_OK);
}

/* On the treasurer's shard. */
static void pay_arrives(struct rt_message *message, struct rt_shard *shard)
{
    struct rt_submit *submit = rt_container_of(message, struct rt_submit, message);
    struct clerk *clerk = rt_container_of(submit, struct clerk, pay);
    SIM_ALWAYS(clerk->guild->account_open);
    clerk->guild->dues += 12;
    rt_message_answer(message, shard, RT_OK);
}

static rt_poll clerk_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct clerk *clerk = rt_container_of(task, struct clerk, task);
    RT_BEGIN(clerk->at);
    rt_submit_to(&clerk->enter, clerk->shard, REGISTRAR, enter_arrives);
#ifdef FIXED
    RT_AWAIT_HERE(clerk->at, rt_future_poll(&clerk->enter.future, cx));
    rt_submit_to(&clerk->pay, clerk->shard, TREASURER, pay_arrives);
#else
    /* No need to wait: the coins are counted meanwhile. */
    rt_sleep_init(&clerk->count, RT_MS - sim_range(clerk->guild->world, 0, RT_MS));
    RT_AWAIT_HERE(clerk->at, rt_sleep_poll(&clerk->count, cx));
    rt_submit_to(&clerk->pay, clerk->shard, TREASURER, pay_arrives);
    RT_AWAIT_HERE(clerk->at, rt_future_poll(&clerk->enter.future, cx));
#endif
    SIM_ALWAYS(clerk->enter.message.result == RT_OK);
    RT_AWAIT_HERE(clerk->at, rt_future_poll(&clerk->pay.future, cx));
    SIM_ALWAYS(clerk->pay.message.result == RT_OK);
    rt_shards_close(clerk->guild->shards);
    RT_END(clerk->at);
}

static void check(struct sim_world *world, void *state)
{
    struct guild *guild = state;
    (void)world;
    SIM_ALWAYS(guild->account_open && guild->dues == 12);
}

static void setup(struct sim_world *world)
{
    struct sim_shard_group_options options = {.count = 3};
    struct sim_shard_group *group = sim_shard_group_new(world, &options);
    struct guild *guild = sim_new(world, struct guild);
    struct clerk *clerk = sim_new(world, struct clerk);
    guild->world = world;
    guild->shards = sim_shard_group_shards(group);
    sim_set_state(world, guild);
    clerk->guild = guild;
    clerk->shard = sim_shard_group_shard(group, CLERK);
    rt_message_init(&clerk->open, open_arrives, open_answered);
    rt_task_init(&clerk->task, clerk_poll, NULL, "clerk");
    sim_spawn(sim_shard_group_rt(group, CLERK), &clerk->task);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(guild_scenario, .name = "s22/guild/" FORM, .about = "A member, an account, dues.",
        .setup = setup, .check = check);

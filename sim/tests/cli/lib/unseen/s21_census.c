/* Cause: add_district(), line 64: the census counts as complete when as many answers are back as were *sent so far*; when the first two return while the clerk is between two sendings (85, 86), returned == sent is 2 == 2. Harm: SIM_ALWAYS(census->heads == all), line 105. Fix: compare with DISTRICTS. */
#include <sim/rewake.h>

#define DISTRICTS 4
#define SHARDS 3

struct census;

struct query {
    struct rt_message message;
    struct census *census;
    uint32_t district;
    uint32_t heads; /* The answer. */
};

struct census {
    struct sim_world *world;
    struct rt_shards *shards;
    struct rt_shard *origin;
    struct query queries[DISTRICTS];
    uint32_t sent;
    uint32_t returned;
    uint32_t heads;
    bool complete;
    struct rt_slot reader;
};

struct clerk {
    struct rt_task task;
    struct census *census;
    uint32_t at;
    uint32_t next;
    struct rt_sleep walk;
};

struct reader {
    struct rt_task task;
    struct census *census;
};

static const uint32_t heads[DISTRICTS] = {310, 45, 1200, 7};

/* On the shard of the district. */
static void
count_district(struct rt_message *message, struct rt_shard *shard)
{
    struct query *query = rt_container_of(message, struct query, message);
    query->heads = heads[query->district];
    rt_message_answer(message, shard, RT_OK);
}

/* On shard 0 again. */
static void
add_district(struct rt_message *message, struct rt_shard *shard)
{
    struct query *query = rt_container_of(message, struct query, message);
    struct census *census = query->census;
    (void)shard;
    census->heads += query->heads;
    census->returned++;
#ifdef FIXED
    if (census->returned == DISTRICTS) {
#else
    if (census->returned == census->sent) {
#endif
        census->complete = true;
        rt_slot_wake(&census->reader);
    }
}

static rt_poll
clerk_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct clerk *clerk = rt_container_of(task, struct clerk, task);
    struct census *census = clerk->census;
    RT_BEGIN(clerk->at);
    for (clerk->next = 0; clerk->next < DISTRICTS; clerk->next++) {
        struct query *query = &census->queries[clerk->next];
        if (rt_message_send(&query->message, census->origin, 1 + clerk->next % (SHARDS - 1)) !=
                RT_OK) {
            return RT_READY;
        }
        census->sent++;
        if (clerk->next % 2 == 1) {
            rt_sleep_init(&clerk->walk, sim_range(census->world, RT_US / 10, RT_US));
            RT_AWAIT_HERE(clerk->at, rt_sleep_poll(&clerk->walk, cx));
        }
    }
    RT_END(clerk->at);
}

static rt_poll
reader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct reader *reader = rt_container_of(task, struct reader, task);
    struct census *census = reader->census;
    uint32_t all = 0;
    if (!census->complete) {
        rt_slot_replace(&census->reader, cx, "the census");
        return RT_PENDING;
    }
    for (uint32_t i = 0; i < DISTRICTS; i++) {
        all += heads[i];
    }
    SIM_ALWAYS(census->heads == all);
    rt_shards_close(census->shards);
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    const struct sim_shard_group_options options = {.count = SHARDS};
    struct sim_shard_group *group = sim_shard_group_new(world, &options);
    struct sim_rt *rt = sim_shard_group_rt(group, 0);
    struct census *census = sim_new(world, struct census);
    struct clerk *clerk = sim_new(world, struct clerk);
    struct reader *reader = sim_new(world, struct reader);
    census->world = world;
    census->shards = sim_shard_group_shards(group);
    census->origin = sim_shard_group_shard(group, 0);
    rt_slot_init(&census->reader);
    for (uint32_t i = 0; i < DISTRICTS; i++) {
        struct query *query = &census->queries[i];
        query->census = census;
        query->district = i;
        rt_message_init(&query->message, count_district, add_district);
    }
    clerk->census = reader->census = census;
    rt_task_init(&clerk->task, clerk_poll, NULL, "clerk");
    rt_task_init(&reader->task, reader_poll, NULL, "reader");
    sim_spawn(rt, &clerk->task);
    sim_spawn(rt, &reader->task);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(census, .name = "s21/census/" FORM, .about = "A census over shards.", .setup = setup);

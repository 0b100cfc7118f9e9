/* Cause: a lost update: read and write as two messages. farmer_poll() reads the ledger of shard 1 (72-73), adds on shard 0 (74), and writes the sum back (75-76). Order: both farmers' reads are answered before the first one's write arrives (farmer B's read between A's ledger_read and A's ledger_write on shard 1). The second write overwrites the first. Harm: SIM_ALWAYS(sacks == 3 + 5) at 80. Fix: one message that adds on the owning shard (33-40, 67-70). Depends on the drawn way_ns (1 us: near certain to overlap; 2 ms: only with a slow one). */
#include <sim/rewake.h>

#define FARMERS 2

struct ledger { /* Of shard 1. */
    int64_t sacks;
};

struct booking {
    struct rt_submit submit;
    struct ledger *ledger;
    int64_t sacks; /* Argument, and answer. */
};

struct farmer {
    struct rt_task task;
    struct rt_shard *home;
    struct booking booking;
    int64_t brings;
    struct rt_sleep way;
    uint64_t way_ns;
    uint32_t at;
    uint32_t *left;
};

static struct booking *
booking_of(struct rt_message *message)
{
    return rt_container_of(message, struct booking, submit.message);
}

#ifdef FIXED
static void
ledger_add(struct rt_message *message, struct rt_shard *shard)
{
    struct booking *booking = booking_of(message);
    booking->ledger->sacks += booking->sacks;
    rt_message_answer(message, shard, RT_OK);
}
#else
static void
ledger_read(struct rt_message *message, struct rt_shard *shard)
{
    struct booking *booking = booking_of(message);
    booking->sacks = booking->ledger->sacks;
    rt_message_answer(message, shard, RT_OK);
}

static void
ledger_write(struct rt_message *message, struct rt_shard *shard)
{
    struct booking *booking = booking_of(message);
    booking->ledger->sacks = booking->sacks;
    rt_message_answer(message, shard, RT_OK);
}
#endif

static rt_poll
farmer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct farmer *farmer = rt_container_of(task, struct farmer, task);
    struct booking *booking = &farmer->booking;
    RT_BEGIN(farmer->at);
    rt_sleep_init(&farmer->way, farmer->way_ns);
    RT_AWAIT_HERE(farmer->at, rt_sleep_poll(&farmer->way, cx));
#ifdef FIXED
    booking->sacks = farmer->brings;
    rt_submit_to(&booking->submit, farmer->home, 1, ledger_add);
    RT_AWAIT_HERE(farmer->at, rt_future_poll(&booking->submit.future, cx));
#else
    rt_submit_to(&booking->submit, farmer->home, 1, ledger_read);
    RT_AWAIT_HERE(farmer->at, rt_future_poll(&booking->submit.future, cx));
    booking->sacks += farmer->brings;
    rt_submit_to(&booking->submit, farmer->home, 1, ledger_write);
    RT_AWAIT_HERE(farmer->at, rt_future_poll(&booking->submit.future, cx));
#endif
    SIM_ALWAYS(booking->submit.message.result == RT_OK);
    if (--*farmer->left == 0) {
        SIM_ALWAYS(booking->ledger->sacks == 3 + 5);
        rt_shards_close(farmer->home->shards);
    }
    RT_END(farmer->at);
}

static void
setup(struct sim_world *world)
{
    struct sim_shard_group *group = sim_shard_group_new(world, NULL);
    struct ledger *ledger = sim_new(world, struct ledger);
    uint32_t *left = sim_new(world, uint32_t);
    static const char *const names[FARMERS] = {"olga", "piet"};
    static const int64_t brings[FARMERS] = {3, 5};
    *left = FARMERS;
    for (uint32_t i = 0; i < FARMERS; i++) {
        struct farmer *farmer = sim_new(world, struct farmer);
        farmer->home = sim_shard_group_shard(group, 0);
        farmer->booking.ledger = ledger;
        farmer->brings = brings[i];
        farmer->left = left;
        farmer->way_ns = i == 0 ? 0 : sim_pick(world, 3) == 0 ? 2 * RT_MS : 1 * RT_US;
        rt_task_init(&farmer->task, farmer_poll, NULL, names[i]);
        sim_spawn(sim_shard_group_rt(group, 0), &farmer->task);
    }
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(granary, .name = "s23/granary/" FORM, .about = "Two farmers book sacks.",
        .setup = setup);

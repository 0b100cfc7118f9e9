/* Cause: signaller_poll(), line 101-103: the train is let depart right after the message to the points was sent. Order: shard 2 takes "depart" and sends "enter" to shard 1 (67), and shard 1 takes that, from the lane 2→1, before "points" of the lane 0→1: there is no order between different pairs. Harm: SIM_ALWAYS 76. Fix: depart when the points have answered (56).
 */
#include <sim/rewake.h>

#define TRAINS 2

enum { BOX, POINTS, PLATFORM, SHARDS };

struct railway {
    struct sim_world *world;
    struct rt_shards *shards;
    struct rt_shard *box;
    bool set[TRAINS]; /* Of the shard of the points: those of each track. */
    uint32_t away;    /* Of the shard of the trains. */
};

struct train {
    struct railway *railway;
    uint32_t track;
    struct rt_message points;
    struct rt_message depart;
    struct rt_message enter;
    struct train *next;
};

struct signaller {
    struct rt_task task;
    struct railway *railway;
    struct train *train;
    struct rt_sleep pause;
    uint32_t at;
};

/* On the shard of the points. */
static void
points_arrive(struct rt_message *message, struct rt_shard *shard)
{
    struct train *train = rt_container_of(message, struct train, points);
    train->railway->set[train->track] = true;
    rt_message_answer(message, shard, RT_OK);
}

static void
let_depart(struct train *train, struct rt_shard *box)
{
    SIM_ALWAYS(rt_message_send(&train->depart, box, PLATFORM) == RT_OK);
}

/* On the shard of the signal box. */
static void
points_answered(struct rt_message *message, struct rt_shard *shard)
{
    struct train *train = rt_container_of(message, struct train, points);
    SIM_ALWAYS(train->points.result == RT_OK);
#ifdef FIXED
    let_depart(train, shard);
#else
    (void)shard;
#endif
}

/* On the shard of the trains. */
static void
depart_arrive(struct rt_message *message, struct rt_shard *shard)
{
    struct train *train = rt_container_of(message, struct train, depart);
    SIM_ALWAYS(rt_message_send(&train->enter, shard, POINTS) == RT_OK);
    rt_message_answer(message, shard, RT_OK);
}

/* On the shard of the points. */
static void
enter_arrive(struct rt_message *message, struct rt_shard *shard)
{
    struct train *train = rt_container_of(message, struct train, enter);
    SIM_ALWAYS(train->railway->set[train->track]);
    rt_message_answer(message, shard, RT_OK);
}

/* On the shard of the trains. */
static void
enter_answered(struct rt_message *message, struct rt_shard *shard)
{
    struct train *train = rt_container_of(message, struct train, enter);
    struct railway *railway = train->railway;
    (void)shard;
    if (++railway->away == TRAINS) {
        rt_shards_close(railway->shards);
    }
}

static rt_poll
signaller_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct signaller *signaller = rt_container_of(task, struct signaller, task);
    struct railway *railway = signaller->railway;
    RT_BEGIN(signaller->at);
    while (signaller->train != NULL) {
        rt_sleep_init(&signaller->pause, sim_range(railway->world, RT_MS, 3 * RT_MS));
        RT_AWAIT_HERE(signaller->at, rt_sleep_poll(&signaller->pause, cx));
        SIM_ALWAYS(rt_message_send(&signaller->train->points, railway->box, POINTS) == RT_OK);
#ifndef FIXED
        let_depart(signaller->train, railway->box);
#endif
        signaller->train = signaller->train->next;
    }
    RT_END(signaller->at);
}

static void
setup(struct sim_world *world)
{
    struct sim_shard_group_options options = {.count = SHARDS};
    struct sim_shard_group *group = sim_shard_group_new(world, &options);
    struct railway *railway = sim_new(world, struct railway);
    railway->world = world;
    railway->shards = sim_shard_group_shards(group);
    railway->box = sim_shard_group_shard(group, BOX);
    struct train *train = NULL;
    for (uint32_t track = TRAINS; track-- > 0;) {
        struct train *one = sim_new(world, struct train);
        *one = (struct train){.railway = railway, .track = track, .next = train};
        rt_message_init(&one->points, points_arrive, points_answered);
        rt_message_init(&one->depart, depart_arrive, NULL);
        rt_message_init(&one->enter, enter_arrive, enter_answered);
        train = one;
    }
    struct signaller *signaller = sim_new(world, struct signaller);
    signaller->railway = railway;
    signaller->train = train;
    rt_task_init(&signaller->task, signaller_poll, NULL, "signaller");
    sim_spawn(sim_shard_group_rt(group, BOX), &signaller->task);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(signalbox, .name = "s20/signalbox/" FORM, .about = "Points are set, then a train departs.",
        .setup = setup);

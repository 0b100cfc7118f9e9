/* Cause: a permit is released that was never acquired. bather_poll() releases at 46 "however it ended", also when the acquire timed out (33-34; the timeout dropped it). Order: both places are taken, a third bather's patience ends (wait.expired), it releases a permit it has not got; with that one a fourth one (waiting in the queue, or coming) enters as the third inside, while the two still sweat. Harm: SIM_ALWAYS(inside <= PLACES) at 40. Fix: leave without the release when the wait has expired (35-37, 47-49). */
#include <sim/rewake.h>

#define PLACES 2u
#define BATHERS 4u

struct sauna {
    struct rt_semaphore places;
    uint32_t inside;
    uint32_t bathed;
    uint32_t left_early;
};

struct bather {
    struct rt_task task;
    struct sauna *sauna;
    struct rt_acquire acquire;
    struct rt_timeout wait;
    struct rt_sleep sweat;
    uint64_t patience_ns, sweat_ns;
    uint32_t at;
};

static rt_poll
bather_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct bather *bather = rt_container_of(task, struct bather, task);
    struct sauna *sauna = bather->sauna;
    RT_BEGIN(bather->at);
    rt_acquire_init(&bather->acquire, &sauna->places, 1);
    rt_timeout_init(&bather->wait, &bather->acquire.future, bather->patience_ns);
    RT_AWAIT_HERE(bather->at, rt_timeout_poll(&bather->wait, cx));
    if (bather->wait.expired) {
        sauna->left_early++;
#ifdef FIXED
        goto out;
#endif
    } else {
        sauna->inside++;
        SIM_ALWAYS(sauna->inside <= PLACES);
        rt_sleep_init(&bather->sweat, bather->sweat_ns);
        RT_AWAIT_HERE(bather->at, rt_sleep_poll(&bather->sweat, cx));
        sauna->inside--;
        sauna->bathed++;
    }
    SIM_ALWAYS(rt_semaphore_release(&sauna->places, 1) == RT_OK); /* However it ended. */
#ifdef FIXED
out:
#endif
    RT_END(bather->at);
}

static void
sauna_check(struct sim_world *world, void *state)
{
    struct sauna *sauna = state;
    (void)world;
    SIM_ALWAYS(sauna->bathed + sauna->left_early == BATHERS);
    SIM_ALWAYS(sauna->inside == 0);
}

static void
setup(struct sim_world *world)
{
    static const char *const names[BATHERS] = {"aino", "eero", "ilmi", "otso"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct sauna *sauna = sim_new(world, struct sauna);
    sim_set_state(world, sauna);
    rt_semaphore_init(&sauna->places, PLACES);
    for (uint32_t i = 0; i < BATHERS; i++) {
        struct bather *bather = sim_new(world, struct bather);
        bather->sauna = sauna;
        bather->patience_ns = 7 * RT_MS - sim_range(world, 0, 5 * RT_MS);
        bather->sweat_ns = sim_range(world, 3 * RT_MS, 6 * RT_MS);
        rt_task_init(&bather->task, bather_poll, NULL, names[i]);
        sim_spawn(rt, &bather->task);
    }
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(sauna, .name = "s23/sauna/" FORM, .about = "Bathers share two places.",
        .setup = setup, .check = sauna_check);

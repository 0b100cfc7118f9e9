/* Cause: leave(), line 53: the drawer of a read that is not wanted any more is free at once, and the completion of that read, which still comes, is taken for that of the next one in the drawer; repair: keep the drawer until its completion has come. */
#include <sim/rewake.h>

#define DRAWERS 2
#define SEEDS 3

struct drawer {
    bool taken;
    bool wanted;
    unsigned seed;
    char *label;
};

struct bank {
    struct sim_host *host;
    struct rt_completion_host *reads;
    struct rt_pollable completed;
    int32_t shelf[SEEDS];
    char labels[SEEDS]; /* What was read; 0: not yet. */
    struct drawer drawers[DRAWERS];
    uint64_t patience_ns;
    unsigned handed_out;
    unsigned left;
    bool keeps;
};

static bool
begin(struct bank *bank, unsigned seed)
{
    for (unsigned i = 0; i < DRAWERS; i++) {
        struct drawer *drawer = &bank->drawers[i];
        if (!drawer->taken) {
            *drawer = (struct drawer){
                    .taken = true, .wanted = true, .seed = seed, .label = &bank->labels[seed]};
            struct rt_submission read = {.opcode = RT_OPCODE_READ, .target = bank->shelf[seed],
                    .buffer = drawer->label, .size = 1, .user_data = i};
            SIM_ALWAYS(bank->reads->ops->push(bank->reads, &read) == RT_OK);
            (void)bank->reads->ops->enter(bank->reads);
            return true;
        }
    }
    return false;
}

/* The visitor who asked for `seed` goes, unless he has got it. */
static void
leave(struct bank *bank, unsigned seed)
{
    for (unsigned i = 0; i < DRAWERS; i++) {
        struct drawer *drawer = &bank->drawers[i];
        if (drawer->taken && drawer->wanted && drawer->seed == seed) {
            drawer->wanted = false;
            drawer->taken = bank->keeps;
            bank->left++;
        }
    }
}

static void
hand_out(struct bank *bank)
{
    struct rt_completion done;
    while (bank->reads->ops->reap(bank->reads, &done, 1) == 1) {
        struct drawer *drawer = &bank->drawers[done.user_data];
        SIM_ALWAYS(done.result == 1);
        if (drawer->taken && drawer->wanted) {
            SIM_ALWAYS(*drawer->label == (char)('a' + drawer->seed));
            bank->handed_out++;
        }
        drawer->taken = false;
    }
    if (bank->reads->ops->overflowed(bank->reads)) {
        (void)bank->reads->ops->enter(bank->reads);
    }
}

/* Waits for a completion, or until `until_ns`. */
static void
wait(struct bank *bank, struct sim_world *world, uint64_t until_ns)
{
    struct rt_host *seam = sim_host_seam(bank->host);
    struct rt_pollable clock;
    struct rt_pollable *list[2] = {&bank->completed, &clock};
    uint32_t ready[2], count = 2;
    (void)world;
    SIM_ALWAYS(rt_host_subscribe(seam, RT_SUBSCRIBE_INSTANT, until_ns, &clock) == RT_OK);
    SIM_ALWAYS(rt_host_poll(seam, list, 2, ready, &count) == RT_OK);
    rt_pollable_drop(&clock);
    hand_out(bank);
}

static void
counter_main(struct sim_world *world, void *argument)
{
    struct bank *bank = argument;
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        while (!begin(bank, seed)) {
            wait(bank, world, sim_now(world) + RT_MS);
        }
        uint64_t until = sim_now(world) + bank->patience_ns;
        while (bank->handed_out + bank->left <= seed && sim_now(world) < until) {
            wait(bank, world, until);
        }
        leave(bank, seed);
    }
    rt_pollable_drop(&bank->completed);
}

static void
set_up(struct sim_world *world, bool keeps)
{
    struct bank *bank = sim_new(world, struct bank);
    bank->host = sim_host_new(world, "seed bank", SIM_PROFILE_DEFAULT);
    struct sim_ring *ring = sim_ring_new(bank->host, "reads", NULL);
    static const char labels[SEEDS + 1] = "abc";
    bank->reads = sim_ring_seam(ring);
    bank->keeps = keeps;
    bank->patience_ns = sim_range(world, 1 * RT_MS, 3 * RT_MS);
    for (unsigned i = 0; i < SEEDS; i++) {
        bank->shelf[i] =
                sim_ring_device(ring, "shelf", &labels[i], 1, 1, 500 * RT_US, 4 * RT_MS);
    }
    SIM_ALWAYS(bank->reads->ops->subscribe(bank->reads, &bank->completed) == RT_OK);
    (void)sim_loop_new(world, "counter", counter_main, bank);
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

SIM_SCENARIO(broken, .name = "s18/seedbank/broken", .about = "Visitors without patience.",
        .setup = set_up_broken);
SIM_SCENARIO(fixed, .name = "s18/seedbank/fixed", .about = "Visitors without patience.",
        .setup = set_up_fixed);

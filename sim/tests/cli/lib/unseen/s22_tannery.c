/* Cause: A count of pending parts that touches zero too early, because a callback may be called at once. gather() raises pending before each fetch() (59-60); a hide on the shelf calls on_hide() synchronously (47-48), which lowers it (33): 1 to 0, and sew() is called before the other hides have been asked for. Order: the vat man has put the first hide (number 0) on the shelf (93ff.) before the order comes and gather() runs. Harm: SIM_ALWAYS line 28 in sew() (hides == HIDES, it is 1) (later it would be line 26, sewn twice). Fix: lines 56 and 63: a count of its own until all are asked for. */
#include <sim/rewake.h>

#define HIDES 3

struct tannery {
    struct sim_world *world;
    struct sim_fds *fds;
    int bell;
    /* The shelf: hides that are ready at once. The vat man fills it. */
    bool shelf[HIDES];
    bool wanted[HIDES]; /* The loop waits for this one. */
    bool cured[HIDES];  /* By the vat man, and not yet reported. */
    struct saddle *saddle;
};

struct saddle {
    struct tannery *tannery;
    uint32_t pending;
    uint32_t hides;
    bool sewn;
};

static void sew(struct saddle *saddle)
{
    SIM_ALWAYS(!saddle->sewn);
    saddle->sewn = true;
    SIM_ALWAYS(saddle->hides == HIDES);
}

static void hide_done(struct saddle *saddle)
{
    if (--saddle->pending == 0)
        sew(saddle);
}

/* The callback of one hide. */
static void on_hide(struct saddle *saddle)
{
    saddle->hides++;
    SIM_PROGRESS();
    hide_done(saddle);
}

static void fetch(struct tannery *tannery, uint32_t number)
{
    if (tannery->shelf[number])
        on_hide(tannery->saddle);
    else
        tannery->wanted[number] = true;
}

static void gather(struct saddle *saddle)
{
#ifdef FIXED
    saddle->pending = 1; /* Our own, until all are asked for. */
#endif
    for (uint32_t i = 0; i < HIDES; i++) {
        saddle->pending++;
        fetch(saddle->tannery, i);
    }
#ifdef FIXED
    hide_done(saddle);
#endif
}

static void loop_main(struct sim_world *world, void *argument)
{
    struct tannery *tannery = argument;
    /* The order for a saddle comes in. */
    sim_sleep(world, sim_range(world, 1 * RT_MS, 4 * RT_MS));
    gather(tannery->saddle);
    while (!tannery->saddle->sewn) {
        struct sim_fd_event event;
        uint64_t count;
        if (sim_fd_wait(tannery->fds, &event, 1, SIM_NEVER) == 0)
            continue;
        (void)sim_fd_read(tannery->fds, tannery->bell, &count, sizeof count);
        for (uint32_t i = 0; i < HIDES; i++) {
            if (tannery->cured[i]) {
                tannery->cured[i] = false;
                on_hide(tannery->saddle);
            }
        }
    }
}

/* Takes the hides out of the vat in turn. */
static void vat_main(struct sim_world *world, void *argument)
{
    struct tannery *tannery = argument;
    for (uint32_t i = 0; i < HIDES; i++) {
        sim_sleep(world, sim_range(world, 2 * RT_MS, 5 * RT_MS));
        tannery->shelf[i] = true;
        if (tannery->wanted[i]) {
            tannery->wanted[i] = false;
            tannery->cured[i] = true;
            SIM_ALWAYS(sim_fd_notify(tannery->fds, tannery->bell) == RT_OK);
        }
    }
}

static void setup(struct sim_world *world)
{
    struct tannery *tannery = sim_new(world, struct tannery);
    tannery->world = world;
    tannery->saddle = sim_new(world, struct saddle);
    tannery->saddle->tannery = tannery;
    tannery->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), 3);
    SIM_ALWAYS(sim_fd_event_open(tannery->fds, "bell", &tannery->bell) == RT_OK);
    SIM_ALWAYS(sim_fd_add(tannery->fds, tannery->bell, SIM_FD_IN, 0) == RT_OK);
    (void)sim_loop_new(world, "loop", loop_main, tannery);
    (void)sim_loop_new(world, "vat man", vat_main, tannery);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(tannery_scenario, .name = "s22/tannery/" FORM, .about = "A saddle from three hides.",
        .setup = setup);

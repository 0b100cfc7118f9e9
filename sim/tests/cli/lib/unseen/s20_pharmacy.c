/* Cause: clerk_poll(), line 82-92: the place on the counter is kept while the clerk mixes (88). Order: the other clerk hands out meanwhile, and counter_remove (61) moves the last prescription to the freed place; if it was this clerk's, its place is another one now. Harm: SIM_ALWAYS 69 (another clerk's prescription is there) or 60 (beyond the end). Fix: find the place again by the number (90). */
#include <sim/rewake.h>

#define CLERKS 2
#define COUNTER 4

struct prescription {
    uint32_t number;
    uint32_t clerk; /* 0: nobody prepares it. */
    uint32_t grams;
};

struct pharmacy {
    struct sim_world *world;
    struct prescription counter[COUNTER];
    uint32_t count;
    uint32_t handed_out;
    uint32_t grams;
};

struct clerk {
    struct rt_task task;
    struct pharmacy *pharmacy;
    uint32_t number;
    uint32_t at;
    uint32_t place; /* On the counter, of what the clerk prepares. */
    uint32_t prescription;
    struct rt_sleep mixing;
};

#define NOWHERE UINT32_MAX

/* The place of the first prescription that nobody prepares. */
static uint32_t
counter_claim(struct pharmacy *pharmacy, uint32_t clerk)
{
    for (uint32_t i = 0; i < pharmacy->count; i++) {
        if (pharmacy->counter[i].clerk == 0) {
            pharmacy->counter[i].clerk = clerk;
            return i;
        }
    }
    return NOWHERE;
}

static uint32_t
counter_find(const struct pharmacy *pharmacy, uint32_t number)
{
    for (uint32_t i = 0; i < pharmacy->count; i++) {
        if (pharmacy->counter[i].number == number) {
            return i;
        }
    }
    return NOWHERE;
}

static void
counter_remove(struct pharmacy *pharmacy, uint32_t place)
{
    SIM_ALWAYS(place < pharmacy->count);
    pharmacy->counter[place] = pharmacy->counter[--pharmacy->count];
}

static void
hand_out(struct clerk *clerk, uint32_t place)
{
    struct pharmacy *pharmacy = clerk->pharmacy;
    const struct prescription *ready = &pharmacy->counter[place];
    SIM_ALWAYS(ready->clerk == clerk->number);
    pharmacy->grams += ready->grams;
    pharmacy->handed_out++;
    counter_remove(pharmacy, place);
}

static rt_poll
clerk_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct clerk *clerk = rt_container_of(task, struct clerk, task);
    struct pharmacy *pharmacy = clerk->pharmacy;
    RT_BEGIN(clerk->at);
    for (;;) {
        clerk->place = counter_claim(pharmacy, clerk->number);
        if (clerk->place == NOWHERE) {
            break;
        }
        clerk->prescription = pharmacy->counter[clerk->place].number;
        rt_sleep_init(&clerk->mixing, sim_range(pharmacy->world, 1 * RT_MS, 4 * RT_MS));
        RT_AWAIT_HERE(clerk->at, rt_sleep_poll(&clerk->mixing, cx));
#ifdef FIXED
        clerk->place = counter_find(pharmacy, clerk->prescription);
#endif
        hand_out(clerk, clerk->place);
    }
    RT_END(clerk->at);
}

static void
check(struct sim_world *world, void *state)
{
    struct pharmacy *pharmacy = state;
    (void)world;
    SIM_ALWAYS(pharmacy->count == 0);
    SIM_ALWAYS(counter_find(pharmacy, 1) == NOWHERE);
    SIM_ALWAYS(pharmacy->handed_out == COUNTER);
    SIM_ALWAYS(pharmacy->grams == 10 + 20 + 30 + 40);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct pharmacy *pharmacy = sim_new(world, struct pharmacy);
    pharmacy->world = world;
    for (uint32_t i = 0; i < COUNTER; i++) {
        pharmacy->counter[i] = (struct prescription){.number = i + 1, .grams = 10 * (i + 1)};
    }
    pharmacy->count = COUNTER;
    static const char *const names[CLERKS] = {"Ines", "Jon"};
    for (uint32_t i = 0; i < CLERKS; i++) {
        struct clerk *clerk = sim_new(world, struct clerk);
        clerk->pharmacy = pharmacy;
        clerk->number = i + 1;
        rt_task_init(&clerk->task, clerk_poll, NULL, names[i]);
        sim_spawn(rt, &clerk->task);
    }
    sim_set_state(world, pharmacy);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(pharmacy, .name = "s20/pharmacy/" FORM, .about = "Clerks prepare what lies on a counter.",
        .setup = setup, .check = check);

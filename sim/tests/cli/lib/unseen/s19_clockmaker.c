/* Cause: wheel_advance() keeps next (71) across the callback chime_strike() (73), which may move that very chime to another slot (chime_start, 54): it is struck from the old list before it is due (50). (Timer wheel.) */
#include <sim/rewake.h>

#define SLOTS 8
#define CHIMES 3

struct chime {
    const char *name;
    struct chime *next, **previous; /* In the list of a slot. */
    uint64_t due;
    struct chime *puts_off; /* NULL: none. */
    uint32_t struck;
};

struct wheel {
    struct chime *slots[SLOTS];
    uint64_t now;
    struct chime chimes[CHIMES];
};

static void
chime_stop(struct chime *chime)
{
    if (chime->previous != NULL) {
        *chime->previous = chime->next;
        if (chime->next != NULL) {
            chime->next->previous = chime->previous;
        }
    }
    chime->next = NULL;
    chime->previous = NULL;
}

static void
chime_start(struct wheel *wheel, struct chime *chime, uint64_t due)
{
    struct chime **slot = &wheel->slots[due % SLOTS];
    chime_stop(chime);
    while (*slot != NULL) {
        slot = &(*slot)->next;
    }
    chime->due = due;
    chime->previous = slot;
    *slot = chime;
}

static void
chime_strike(struct wheel *wheel, struct chime *chime)
{
    SIM_ALWAYS(chime->due == wheel->now);
    chime->struck++;
    SIM_PROGRESS();
    if (chime->puts_off != NULL && chime->puts_off->struck == 0) {
        chime_start(wheel, chime->puts_off, wheel->now + 3);
    }
}

static void
wheel_advance(struct wheel *wheel)
{
    struct chime **slot = &wheel->slots[++wheel->now % SLOTS];
#ifdef FIXED
    struct chime *chime;
    while ((chime = *slot) != NULL) {
        chime_stop(chime);
        chime_strike(wheel, chime);
    }
#else
    struct chime *next;
    for (struct chime *chime = *slot; chime != NULL; chime = next) {
        next = chime->next;
        chime_stop(chime);
        chime_strike(wheel, chime);
    }
#endif
}

static void
clock_main(struct sim_world *world, void *argument)
{
    struct wheel *wheel = argument;
    uint32_t struck;
    do {
        sim_sleep(world, 10 * RT_MS);
        wheel_advance(wheel);
        struck = 0;
        for (uint32_t i = 0; i < CHIMES; i++) {
            SIM_ALWAYS(wheel->chimes[i].struck <= 1);
            SIM_ALWAYS(wheel->chimes[i].struck == 1 || wheel->chimes[i].due > wheel->now);
            struck += wheel->chimes[i].struck;
        }
    } while (struck < CHIMES);
}

static void
mayor_main(struct sim_world *world, void *argument)
{
    struct wheel *wheel = argument;
    struct chime *hour = &wheel->chimes[2];
    sim_sleep(world, sim_range(world, 5 * RT_MS, 45 * RT_MS));
    if (hour->struck == 0) {
        chime_start(wheel, hour, wheel->now + 2);
    }
}

static void
setup(struct sim_world *world)
{
    static const char *const names[CHIMES] = {"quarter", "half", "hour"};
    struct wheel *wheel = sim_new(world, struct wheel);
    for (uint32_t i = 0; i < CHIMES; i++) {
        struct chime *chime = &wheel->chimes[i];
        chime->name = names[i];
        chime->puts_off = i < CHIMES - 1 ? &wheel->chimes[i + 1] : NULL;
        chime_start(wheel, chime, 2 + i + sim_pick(world, 3));
    }
    (void)sim_loop_new(world, "clock", clock_main, wheel);
    (void)sim_loop_new(world, "mayor", mayor_main, wheel);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(clockmaker, .name = "s19/clockmaker/" FORM, .about = "A wheel strikes three chimes.",
        .setup = setup);

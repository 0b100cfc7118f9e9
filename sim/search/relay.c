/*
 * relay.c -- `relay`: an actor that would read what another one has just written goes first.
 *
 * A handshake continues only while each side reacts to the last action of the other; one step too
 * many of either side ends it. Random orders, and constraints on one pair of lines, seldom get
 * through eight turns of it. Here the first of these runnable actors runs:
 *
 *      one that would see something new   its next step reads what another one wrote since it last
 *                                         read it (without a guess: anything that it has read); or
 *                                         another one woke it
 *      else the one that ran last         it ends its turn
 *      else any
 *
 * From the FAIR_AFTER-th choice on it is always any: two actors that wait for a third by asking
 * each other would never end. In half of the runs one choice in `rest` is any actor's instead. So
 * each run follows messages to their end, or nearly so. Nothing is promised: it is for
 * conversations.
 *
 * Without a source: a runtime's LIFO slot does this (the task woken last runs first); here shared
 * memory counts as a message as well.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/assert.h"
#include "sim/search/footprints.h"

#define STREAM UINT32_C(0x72656c79)
#define WRITTEN_BITS 10u
#define WRITTEN_TRIES 8u
#define NONE UINT32_MAX
#define FAIR_AFTER 2000u

/* What was written last to a resource. */
struct written {
    struct sim_key resource; /* Of this run. */
    uint64_t seen;           /* A bit for each actor that touched it since, hashed to 64. */
    uint64_t touched;        /* … and for each that has ever touched it. */
};

struct relay {
    struct sim_ordering ordering;
    uint64_t rest;    /* Once in so many choices any actor runs. */
    bool strays;      /* In this run. */
    uint32_t asked;   /* Choices of this run. */
    uint32_t last;    /* The actor that ran last: in-run index. */
    uint64_t stirred; /* Bits of actors that touched what others wrote since they ran last. */
    struct written written[1u << WRITTEN_BITS];
    struct sim_footprints footprints;
};

static inline uint64_t
bit_of(uint32_t actor)
{
    return UINT64_C(1) << (actor & 63);
}

/* NULL: it was not touched in this run, or is forgotten; *ret_place is the place for it. */
static struct written *
find(struct relay *relay, uint32_t resource, uint32_t *ret_place)
{
    struct written *all = relay->written;
    uint32_t run = relay->ordering.run;
    *ret_place = sim_probe(all, sizeof(*all), WRITTEN_BITS, WRITTEN_TRIES, run, resource);
    if (*ret_place == UINT32_MAX) {
        *ret_place = sim_probe_start(WRITTEN_BITS, resource); /* The first one is forgotten. */
        return NULL;
    }
    return all[*ret_place].resource.stamp == run ? &all[*ret_place] : NULL;
}

static void
relay_begin(struct sim_strategy *strategy, uint64_t seed)
{
    struct relay *relay = (void *)strategy;
    sim_ordering_begin(&relay->ordering, seed, STREAM);
    sim_footprints_begin(&relay->footprints);
    relay->strays = sim_ordering_below(&relay->ordering, 2) != 0;
    relay->asked = 0;
    relay->last = NONE;
    relay->stirred = 0;
}

static void
touch(struct relay *relay, const struct sim_line_access *location, uint64_t bit)
{
    uint32_t place = 0;
    struct written *written = find(relay, location->resource, &place);
    if (written == NULL) {
        written = &relay->written[place];
        *written = (struct written){{location->resource, relay->ordering.run}, .seen = UINT64_MAX};
    }
    if (location->mode != SIM_MODE_READ) {
        relay->stirred |= written->touched & ~bit;
        written->seen = 0;
    }
    written->seen |= bit;
    written->touched |= bit;
}

static void
take_event(struct relay *relay, const struct sim_event *event)
{
    struct sim_line_access locations[SIM_ACCESSES_MAX];
    sim_footprints_event(&relay->footprints, event);
    uint32_t stepping = relay->footprints.states.stepping;
    uint32_t count = event->object != 0
                             ? sim_states_locations(&relay->footprints.states, event, locations)
                             : 0;
    for (uint32_t i = 0; i < count; i++) {
        touch(relay, &locations[i], bit_of(stepping));
    }
}

/* Whether the next step of `actor` would see something that it has not seen. */
static bool
sees_news(struct relay *relay, uint32_t actor)
{
    const struct sim_standing *standing = sim_states_of(&relay->footprints.states, actor);
    const struct sim_guess *guess = sim_footprints_guess(&relay->footprints, actor);
    if (standing != NULL && standing->woken) {
        return true;
    }
    if (guess == NULL) {
        return (relay->stirred & bit_of(actor)) != 0;
    }
    for (uint32_t i = 0; i < guess->count; i++) {
        uint32_t place = 0;
        const struct written *written = find(relay, guess->resource[i], &place);
        if (guess->mode[i] == SIM_MODE_READ && written != NULL &&
                (written->seen & bit_of(actor)) == 0) {
            return true;
        }
    }
    return false;
}

static uint32_t
relay_pick(struct sim_ordering *ordering, const uint16_t *actors, uint32_t count)
{
    struct relay *relay = (void *)ordering;
    sim_footprints_asked(&relay->footprints, ordering, actors);
    uint32_t place = sim_ordering_below(ordering, count);
    bool strays = relay->strays && sim_ordering_below(ordering, (uint32_t)relay->rest) == 0;
    if (!strays && relay->asked++ < FAIR_AFTER) {
        uint32_t at = place;
        for (uint32_t i = 0; i < count; i++) {
            place = actors[i] == relay->last ? i : place;
        }
        for (uint32_t i = 0; i < count; i++) {
            if (sees_news(relay, actors[at])) {
                place = at;
                break;
            }
            at = at + 1 < count ? at + 1 : 0;
        }
    }
    relay->last = actors[place];
    relay->stirred &= ~bit_of(relay->last);
    return place;
}

SIM_STRATEGY_EVENTS(relay_events, relay, take_event)

static void
relay_init(void *memory, const struct sim_strategy_setting *setting)
{
    struct relay *relay = memory;
    relay->ordering.pick = relay_pick;
    relay->rest = sim_search_param(setting->search, "rest");
    sim_footprints_init(&relay->footprints, &setting->learned->facts);
}

const struct sim_strategy_kind sim_strategy_relay = {
        .name = "relay",
        .about = "an actor that would read what another has just written goes first",
        .params = {{"rest", "in half of the runs, one choice in so many is free", 8, 2, 1000}},
        .adaptive = true,
        .size = sizeof(struct relay),
        .ops = {.begin = relay_begin, .choose = sim_ordering_choose, .events = relay_events},
        .init = relay_init,
};

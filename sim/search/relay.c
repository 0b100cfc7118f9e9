/*
 * relay.c -- `relay`: whoever would find what another one has just left goes first.
 *
 * A handshake goes on only while each side acts on what the other did last; one step too many of
 * either, and both are soon at their end. Random orders, and constraints on one pair of lines,
 * seldom get through eight turns of it. Here, of those who stand ready, goes first
 *
 *      who would see something new      its next step looks at what another one wrote, and it has
 *                                       not looked since; where nobody knows its next step, any
 *                                       that it has looked at; or another one woke it
 *      else who ran last                it brings its turn to an end
 *      else anybody
 *
 * (as of the FAIR_AFTER-th choice always anybody: two that wait for a third by asking each other
 * would never end), and in half of the runs one choice in `rest` is anybody's instead. So each run
 * is one of a few that follow messages to their end, or near one of them. Nothing is promised: it
 * is for conversations, and comes to little where nobody talks.
 *
 * Without a source: it is what a runtime's LIFO slot does (who was woken last runs first), with
 * shared memory for a message as well.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/assert.h"
#include "runtime/base/list.h"
#include "sim/search/footprints.h"
#include "sim/search/kinds.h"
#include "sim/search/ordering.h"

#define STREAM UINT32_C(0x72656c79)
#define WRITTEN 1024u
#define NOBODY UINT32_MAX
#define FAIR_AFTER 2000u

/* What was written last to a resource. */
struct written {
    uint32_t run;
    uint32_t resource;
    uint64_t seen;    /* A bit for whoever touched it since, the writer among them; hashed to 64. */
    uint64_t touched; /* … and for whoever has ever touched it. */
};

struct relay {
    struct sim_ordering ordering;
    uint64_t rest;    /* Once in so many choices it is anybody's turn. */
    bool strays;      /* In this run it is. */
    uint32_t asked;   /* Choices of this run. */
    uint32_t last;    /* Who ran last: in-run index. */
    uint64_t stirred; /* Bits of those who touched what others wrote since they ran last. */
    struct written written[WRITTEN];
    struct sim_footprints footprints;
};

static struct relay *
relay_of(struct sim_ordering *ordering)
{
    return rt_container_of(ordering, struct relay, ordering);
}

static inline uint64_t
bit_of(uint32_t actor)
{
    return UINT64_C(1) << (actor & 63);
}

/* The entry of `resource`, or the place where it would stand; a table that is full of others' gives
 * the first of them up. */
static struct written *
written_of(struct relay *relay, uint32_t resource)
{
    uint32_t at = (resource * UINT32_C(0x9e3779b1)) >> 22;
    for (uint32_t i = 0; i < 8; i++) {
        struct written *written = &relay->written[(at + i) % WRITTEN];
        if (written->run != relay->ordering.run || written->resource == resource) {
            return written;
        }
    }
    return &relay->written[at];
}

static void
relay_begin(struct sim_strategy *strategy, uint64_t seed)
{
    struct relay *relay = relay_of(rt_container_of(strategy, struct sim_ordering, strategy));
    sim_ordering_begin(&relay->ordering, seed, STREAM);
    sim_footprints_begin(&relay->footprints);
    relay->strays = sim_ordering_below(&relay->ordering, 2) != 0;
    relay->asked = 0;
    relay->last = NOBODY;
    relay->stirred = 0;
}

static void
touch(struct relay *relay, const struct sim_line_access *location, uint64_t bit)
{
    struct written *written = written_of(relay, location->resource);
    if (written->run != relay->ordering.run || written->resource != location->resource) {
        *written = (struct written){relay->ordering.run, location->resource, UINT64_MAX, 0};
    }
    if (location->mode != SIM_MODE_READ) {
        relay->stirred |= written->touched & ~bit;
        written->seen = 0;
    }
    written->seen |= bit;
    written->touched |= bit;
}

static void
hear(struct relay *relay, const struct sim_event *event)
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

static void
relay_events(struct sim_strategy *strategy, const struct sim_event *events, uint32_t count)
{
    struct relay *relay = relay_of(rt_container_of(strategy, struct sim_ordering, strategy));
    for (uint32_t i = 0; i < count; i++) {
        hear(relay, &events[i]);
    }
}

/* Whether the next step of `actor` would see something that it has not seen. */
static bool
has_news(struct relay *relay, uint32_t actor)
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
        const struct written *written = written_of(relay, guess->resource[i]);
        if (guess->mode[i] == SIM_MODE_READ && written->run == relay->ordering.run &&
                written->resource == guess->resource[i] && (written->seen & bit_of(actor)) == 0) {
            return true;
        }
    }
    return false;
}

static uint32_t
relay_pick(struct sim_ordering *ordering, const uint16_t *actors, uint32_t count)
{
    struct relay *relay = relay_of(ordering);
    sim_footprints_asked(&relay->footprints, ordering, actors);
    uint32_t place = sim_ordering_below(ordering, count);
    bool strays = relay->strays && sim_ordering_below(ordering, (uint32_t)relay->rest) == 0;
    if (!strays && relay->asked++ < FAIR_AFTER) {
        uint32_t at = place;
        for (uint32_t i = 0; i < count; i++) {
            place = actors[i] == relay->last ? i : place;
        }
        for (uint32_t i = 0; i < count; i++) {
            if (has_news(relay, actors[at])) {
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

static const struct sim_strategy_ops relay_ops = {
        .name = "relay",
        .about = "who would find what another one has just left goes first",
        .begin = relay_begin,
        .choose = sim_ordering_choose,
        .events = relay_events,
};

static struct sim_strategy *
relay_init(void *memory, const struct sim_strategy_setting *setting)
{
    struct relay *relay = memory;
    relay->ordering.strategy.ops = &relay_ops;
    relay->ordering.pick = relay_pick;
    relay->rest = sim_search_param(setting->search, "rest");
    sim_footprints_init(&relay->footprints, &setting->learned->facts);
    return &relay->ordering.strategy;
}

const struct sim_strategy_kind sim_strategy_relay = {
        .name = "relay",
        .about = "who would find what another one has just left goes first",
        .source = "none; as a runtime's LIFO slot, with shared memory for a message too",
        .params = {{"rest", "in half of the runs, one choice in so many is anybody's", 8, 2, 1000}},
        .adaptive = true,
        .size = sizeof(struct relay),
        .init = relay_init,
};

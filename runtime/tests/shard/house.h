/*
 * house.h -- shards to test on, on one thread, each over a separate dumb host.
 *
 * The test decides which shard runs; code between two turns runs "on shard `current`". The
 * loop's `between` is the test's own hook.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TESTS_SHARD_HOUSE_H
#define RT_TESTS_SHARD_HOUSE_H

#include <string.h>

#include "runtime/shard/shard.h"
#include "runtime/shard/submit.h"
#include "runtime/tests/io/dumb_host.h"

#define HOUSE_SHARDS 3
#define HOUSE_LANE 4
#define HOUSE_ALIENS 2

struct house;

struct house_unit {
    struct house *house;
    struct dumb_runtime dumb;
    struct rt_shard shard;
    struct rt_remote_cell cells[DUMB_TASKS];
};

struct house {
    struct rt_shards shards;
    struct rt_shard *members[HOUSE_SHARDS];
    struct rt_pipe pipes[HOUSE_SHARDS * HOUSE_SHARDS];
    struct rt_message *places[HOUSE_SHARDS * HOUSE_SHARDS * HOUSE_LANE];
    struct house_unit units[HOUSE_SHARDS];
    uint32_t current; /* On whose thread we are. */
    void (*between)(struct house *house, uint32_t number);
    uint32_t countdown; /* For `between`. */
};

static inline bool
house_here(void *argument)
{
    const struct house_unit *unit = argument;
    return &unit->house->units[unit->house->current] == unit;
}

static inline void
house_between(void *argument)
{
    struct house_unit *unit = argument;
    if (unit->house->between != NULL) {
        unit->house->between(unit->house, unit->shard.number);
    }
}

static inline void
house_init(struct house *house)
{
    memset(house, 0xa5, sizeof(*house));
    house->current = 0;
    house->between = NULL;
    struct rt_shards_config config = {
            HOUSE_SHARDS, house->members, house->pipes, house->places, HOUSE_LANE};
    rt_shards_init(&house->shards, &config);
    for (uint32_t i = 0; i < HOUSE_SHARDS; i++) {
        struct house_unit *unit = &house->units[i];
        unit->house = house;
        dumb_init(&unit->dumb);
        struct rt_shard_config shard = {
                .runtime = &unit->dumb.runtime,
                .cells = unit->cells,
                .aliens_max = HOUSE_ALIENS,
                .here = house_here,
                .between = house_between,
                .argument = unit,
        };
        EXPECT_EQ(rt_shard_init(&unit->shard, &house->shards, i, &shard), RT_OK);
    }
}

static inline struct rt_shard *
house_shard(struct house *house, uint32_t number)
{
    return &house->units[number].shard;
}

/* One turn of shard `number` on its thread. True when the shutdown is complete. */
static inline bool
house_turn_in(struct house *house, uint32_t number, enum rt_turn_mode mode)
{
    uint32_t before = house->current;
    bool over = false;
    house->current = number;
    EXPECT_EQ(rt_shard_turn(house_shard(house, number), mode, &over), RT_OK);
    house->current = before;
    for (uint32_t i = 0; i < HOUSE_SHARDS; i++) {
        const char *audit = rt_shard_audit(&house_shard(house, i)->object);
        ck_assert_msg(audit == NULL, "shard %u: %s", i, audit);
    }
    return over;
}

static inline bool
house_turn(struct house *house, uint32_t number)
{
    return house_turn_in(house, number, RT_TURN_POLL);
}

/* Turns of all shards, `rounds` times. */
static inline void
house_turns(struct house *house, uint32_t rounds)
{
    for (uint32_t i = 0; i < rounds * HOUSE_SHARDS; i++) {
        (void)house_turn(house, i % HOUSE_SHARDS);
    }
}

/* Closes all shards and turns until the shutdown is complete. Fails if it never is. */
static inline void
house_close(struct house *house)
{
    bool over[HOUSE_SHARDS] = {false};
    rt_shards_close(&house->shards);
    for (uint32_t i = 0; i < 50 * HOUSE_SHARDS; i++) {
        uint32_t number = i % HOUSE_SHARDS;
        over[number] = over[number] || house_turn(house, number);
    }
    for (uint32_t i = 0; i < HOUSE_SHARDS; i++) {
        EXPECT(over[i]);
    }
}

static inline void
house_fini(struct house *house)
{
    for (uint32_t i = 0; i < HOUSE_SHARDS; i++) {
        house->current = i;
        rt_shard_fini(house_shard(house, i));
        dumb_fini(&house->units[i].dumb);
    }
}

/* ---- Letters: messages that write down where they have been. --------------------------------- */

struct letter {
    struct rt_message message;
    struct house *house;
    uint32_t number;
    uint32_t arrived_at; /* The how-manieth arrival of the house it was; 0: it has not. */
    uint32_t answered_at;
    uint32_t arrived_on;
    uint32_t answered_on;
    uint32_t *arrivals; /* Counters, shared by the letters of one test. */
    uint32_t *answers;
    bool kept;     /* The target keeps it in hand. */
    rt_err result; /* What the target says. */
};

static inline void
letter_arrive(struct rt_message *message, struct rt_shard *shard)
{
    struct letter *letter = rt_container_of(message, struct letter, message);
    EXPECT_EQ(letter->arrived_at, 0);
    letter->arrived_at = ++*letter->arrivals;
    letter->arrived_on = shard->number;
    EXPECT_EQ(letter->house->current, shard->number);
    if (!letter->kept) {
        rt_message_answer(message, shard, letter->result);
    }
}

static inline void
letter_answered(struct rt_message *message, struct rt_shard *shard)
{
    struct letter *letter = rt_container_of(message, struct letter, message);
    EXPECT_EQ(letter->answered_at, 0);
    letter->answered_at = ++*letter->answers;
    letter->answered_on = shard->number;
    EXPECT_EQ(letter->house->current, shard->number);
}

static inline void
letter_init(struct letter *letter, struct house *house, uint32_t *arrivals, uint32_t *answers)
{
    memset(letter, 0, sizeof(*letter));
    rt_message_init(&letter->message, letter_arrive, letter_answered);
    letter->house = house;
    letter->arrivals = arrivals;
    letter->answers = answers;
}

/* Sends it from shard `from`, on its thread. */
static inline void
letter_send(struct letter *letter, uint32_t from, uint32_t to)
{
    uint32_t before = letter->house->current;
    letter->house->current = from;
    EXPECT_EQ(rt_message_send(&letter->message, house_shard(letter->house, from), to), RT_OK);
    letter->house->current = before;
}

#endif

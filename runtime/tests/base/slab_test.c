/*
 * slab_test.c -- keys that name one thing once, and what becomes of used-up entries.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/slab.h"
#include "runtime/tests/bed.h"

static int things[64];

static struct rt_key
insert(struct rt_slab *slab, void *thing)
{
    struct rt_key key = {0, 0};
    EXPECT_EQ(rt_slab_insert(slab, thing, &key), RT_OK);
    rt_slab_audit(slab);
    return key;
}

TEST(slab_inserted_pointer_is_found_by_its_key)
{
    struct rt_slab_entry entries[4];
    memset(entries, 0xff, sizeof(entries));
    struct rt_slab slab;
    rt_slab_init(&slab, entries, 4);
    struct rt_key a = insert(&slab, &things[0]);
    struct rt_key b = insert(&slab, &things[1]);
    EXPECT(rt_slab_get(&slab, a) == &things[0]);
    EXPECT(rt_slab_get(&slab, b) == &things[1]);
    EXPECT(rt_slab_remove(&slab, a) == &things[0]);
    EXPECT(rt_slab_get(&slab, b) == &things[1]);
    EXPECT_EQ(slab.used, 1);
}

/* Holds P1. */
TEST(slab_stale_key_names_nothing_after_the_entry_is_reused)
{
    struct rt_slab_entry entries[1];
    struct rt_slab slab;
    rt_slab_init(&slab, entries, 1);
    struct rt_key old = insert(&slab, &things[0]);
    EXPECT(rt_slab_remove(&slab, old) == &things[0]);
    EXPECT(rt_slab_get(&slab, old) == NULL);
    struct rt_key young = insert(&slab, &things[1]);
    EXPECT_EQ(young.index, old.index);
    EXPECT(young.generation != old.generation);
    EXPECT(rt_slab_get(&slab, old) == NULL);
    EXPECT(rt_slab_remove(&slab, old) == NULL);
    EXPECT(rt_slab_get(&slab, young) == &things[1]);
    EXPECT_EQ(slab.used, 1);
}

/* Holds P1. */
TEST(slab_key_out_of_range_names_nothing)
{
    struct rt_slab_entry entries[2];
    memset(entries, 0xff, sizeof(entries));
    struct rt_slab slab;
    rt_slab_init(&slab, entries, 2);
    (void)insert(&slab, &things[0]);
    EXPECT(rt_slab_get(&slab, (struct rt_key){1, 1}) == NULL);
    EXPECT(rt_slab_get(&slab, (struct rt_key){2, 1}) == NULL);
    EXPECT(rt_slab_get(&slab, (struct rt_key){UINT32_MAX, UINT32_MAX}) == NULL);
    EXPECT(rt_slab_remove(&slab, (struct rt_key){7, 1}) == NULL);
}

/* Holds P2. */
TEST(slab_entry_freed_last_is_given_out_first)
{
    struct rt_slab_entry entries[4];
    struct rt_slab slab;
    rt_slab_init(&slab, entries, 4);
    struct rt_key keys[3];
    for (int i = 0; i < 3; i++) {
        keys[i] = insert(&slab, &things[i]);
        EXPECT_EQ(keys[i].index, i);
    }
    (void)rt_slab_remove(&slab, keys[0]);
    (void)rt_slab_remove(&slab, keys[2]);
    (void)rt_slab_remove(&slab, keys[1]);
    EXPECT_EQ(insert(&slab, &things[0]).index, 1);
    EXPECT_EQ(insert(&slab, &things[0]).index, 2);
    EXPECT_EQ(insert(&slab, &things[0]).index, 0);
    EXPECT_EQ(insert(&slab, &things[0]).index, 3);
}

/* Holds P2. */
TEST(slab_generation_zero_is_never_given_out)
{
    struct rt_slab_entry entries[1];
    memset(entries, 0, sizeof(entries));
    struct rt_slab slab;
    rt_slab_init(&slab, entries, 1);
    struct rt_key zero = {0, 0};
    EXPECT(rt_slab_get(&slab, zero) == NULL);
    for (uint32_t i = 1; i <= 100; i++) {
        struct rt_key key = insert(&slab, &things[0]);
        EXPECT_EQ(key.generation, i);
        EXPECT(rt_slab_get(&slab, zero) == NULL);
        (void)rt_slab_remove(&slab, key);
        EXPECT(rt_slab_remove(&slab, zero) == NULL);
    }
}

/* Holds P2. */
TEST(slab_entry_with_no_generation_left_is_retired)
{
    struct rt_slab_entry entries[2];
    struct rt_slab slab;
    rt_slab_init_bounded(&slab, entries, 2, 2);
    struct rt_key first = insert(&slab, &things[0]);
    (void)rt_slab_remove(&slab, first);
    struct rt_key second = insert(&slab, &things[1]);
    EXPECT_EQ(second.generation, 2);
    EXPECT(rt_slab_remove(&slab, second) == &things[1]);
    EXPECT_EQ(slab.retired, 1);
    EXPECT_EQ(insert(&slab, &things[2]).index, 1);
    struct rt_key none = {7, 7};
    EXPECT_EQ(rt_slab_insert(&slab, &things[3], &none), RT_E_FULL);
    EXPECT_EQ(none.index, 7);
    EXPECT(rt_slab_get(&slab, first) == NULL);
    EXPECT(rt_slab_get(&slab, second) == NULL);
    rt_slab_audit(&slab);
}

TEST(slab_without_entries_refuses_everything)
{
    struct rt_slab slab;
    rt_slab_init(&slab, NULL, 0);
    struct rt_key key;
    EXPECT_EQ(rt_slab_insert(&slab, &things[0], &key), RT_E_FULL);
    EXPECT(rt_slab_at(&slab, 0, NULL) == NULL);
    rt_slab_audit(&slab);
}

TEST(slab_walk_by_index_shows_taken_entries_only)
{
    struct rt_slab_entry entries[3];
    struct rt_slab slab;
    rt_slab_init(&slab, entries, 3);
    struct rt_key a = insert(&slab, &things[0]);
    struct rt_key b = insert(&slab, &things[1]);
    (void)rt_slab_remove(&slab, a);
    struct rt_key seen = {9, 9};
    EXPECT(rt_slab_at(&slab, 0, &seen) == NULL);
    EXPECT_EQ(seen.index, 9);
    EXPECT(rt_slab_at(&slab, 1, &seen) == &things[1]);
    EXPECT(seen.index == b.index && seen.generation == b.generation);
    EXPECT(rt_slab_at(&slab, 2, NULL) == NULL);
    EXPECT(rt_slab_at(&slab, 3, NULL) == NULL);
}

TEST(slab_key_survives_packing_into_a_word)
{
    const struct rt_key keys[] = {{0, 1}, {1, 1}, {0xfffe, 0xfffe}, {12, 0xffff}};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        uintptr_t word = rt_key_pack(keys[i]);
        EXPECT(word != 0);
        struct rt_key back = rt_key_unpack(word);
        EXPECT_EQ(back.index, keys[i].index);
        EXPECT_EQ(back.generation, keys[i].generation);
    }
    EXPECT_EQ(rt_key_pack((struct rt_key){0, 0}), 0);
    EXPECT_EQ(rt_key_unpack(0).generation, 0);
}

TEST(slab_audit_panics_when_a_count_is_wrong)
{
    struct rt_slab_entry entries[2];
    struct rt_slab slab;
    rt_slab_init(&slab, entries, 2);
    (void)insert(&slab, &things[0]);
    slab.used = 2;
    EXPECT_PANIC(rt_slab_audit(&slab));
    slab.used = 1;
    rt_slab_audit(&slab);
    entries[0].taken = false;
    EXPECT_PANIC(rt_slab_audit(&slab));
}

TEST(slab_audit_panics_when_the_free_list_is_a_ring)
{
    struct rt_slab_entry entries[2];
    struct rt_slab slab;
    rt_slab_init(&slab, entries, 2);
    struct rt_key a = insert(&slab, &things[0]);
    (void)rt_slab_remove(&slab, a);
    entries[0].as.next_free = 0;
    EXPECT_PANIC(rt_slab_audit(&slab));
}

/* The naive map: every key that was ever given out, and what it names now. */
#define MODEL_KEYS 4096
struct model {
    struct rt_key keys[MODEL_KEYS];
    void *pointers[MODEL_KEYS]; /* NULL: removed. */
    uint32_t count;
    uint32_t alive;
};

static void
model_step(struct model *model, struct rt_slab *slab, uint64_t *random)
{
    if (bed_below(random, 2) == 0 && model->count < MODEL_KEYS) {
        void *thing = &things[bed_below(random, 64)];
        struct rt_key key;
        rt_err err = rt_slab_insert(slab, thing, &key);
        EXPECT_EQ(err == RT_E_FULL, model->alive + slab->retired == slab->capacity);
        if (err == RT_OK) {
            model->keys[model->count] = key;
            model->pointers[model->count++] = thing;
            model->alive++;
        }
    } else if (model->count > 0) {
        /* Mostly keys that are stale: the recent third has the live ones. */
        uint32_t i = bed_below(random, model->count);
        void *gone = rt_slab_remove(slab, model->keys[i]);
        EXPECT(gone == model->pointers[i]);
        model->alive -= gone != NULL ? 1 : 0;
        model->pointers[i] = NULL;
    }
}

/*
 * Holds P1, P2.
 * Goal: no key ever names a second thing. Method: remember every key ever given out, and ask all of
 * them after each step. Generations end at 5, so that retiring happens all the time.
 */
TEST(slab_long_random_history_agrees_with_a_naive_map)
{
    static struct model model;
    uint64_t random = 42;
    for (int round = 0; round < 30; round++) {
        struct rt_slab_entry entries[12];
        struct rt_slab slab;
        rt_slab_init_bounded(&slab, entries, 12, 5);
        model.count = 0;
        model.alive = 0;
        for (int step = 0; step < 400; step++) {
            model_step(&model, &slab, &random);
            rt_slab_audit(&slab);
            EXPECT_EQ(slab.used, model.alive);
            for (uint32_t i = 0; i < model.count; i++) {
                EXPECT(rt_slab_get(&slab, model.keys[i]) == model.pointers[i]);
            }
        }
        EXPECT(slab.retired > 0);
    }
}

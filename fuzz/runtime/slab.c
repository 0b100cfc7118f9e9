/*
 * slab.c -- the slab of generational keys against a list of everything that it ever returned.
 *
 * The model keeps each key with what it named and whether it still does. So every key stays known
 * when its entry is gone, and is looked up again: a stale key that succeeds is the typical bug of
 * slabs (P1). Slots, and generations before a slot is retired, are few: both limits are near.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/slab.h"
#include "fuzz/fuzz.h"

#define PLACES 6u
#define KEYS 160u /* More than operations: one key each. */

struct model {
    struct rt_key keys[KEYS];
    bool live[KEYS];
    uint32_t count;
    uint32_t used;
    uint32_t freed[KEYS]; /* Free slots, the last freed on top (P2). */
    uint32_t free_count;
    uint32_t retired;
    uint32_t generations[PLACES]; /* Of the last key of each slot. */
    uint32_t touched;
};

/* What key number `k` names: no two keys name the same. */
static char things[KEYS];

/* The next slot; UINT32_MAX when there is none. */
static uint32_t
next_place(const struct model *model, uint32_t capacity)
{
    if (model->free_count > 0) {
        return model->freed[model->free_count - 1];
    }
    return model->touched < capacity ? model->touched : UINT32_MAX;
}

static void
insert(struct rt_slab *slab, struct model *model)
{
    uint32_t place = next_place(model, slab->capacity);
    struct rt_key key = {77, 0};
    rt_err err = rt_slab_insert(slab, &things[model->count], &key);
    if (place == UINT32_MAX) {
        fuzz_check(err == RT_E_FULL);
        return;
    }
    fuzz_check(err == RT_OK);
    fuzz_check(key.index == place);
    fuzz_check(key.generation == model->generations[place] + 1);
    if (model->free_count > 0) {
        model->free_count -= 1;
    } else {
        model->touched += 1;
    }
    model->generations[place] = key.generation;
    model->keys[model->count] = key;
    model->live[model->count] = true;
    model->count += 1;
    model->used += 1;
}

static void
drop(struct rt_slab *slab, struct model *model, uint32_t k)
{
    void *was = rt_slab_remove(slab, model->keys[k]);
    fuzz_check(was == (model->live[k] ? &things[k] : 0));
    if (!model->live[k]) {
        return;
    }
    model->live[k] = false;
    model->used -= 1;
    if (model->keys[k].generation == slab->generation_max) {
        model->retired += 1;
    } else {
        model->freed[model->free_count++] = model->keys[k].index;
    }
}

/* Every key that was ever returned behaves as in the model. */
static void
compare(const struct rt_slab *slab, const struct model *model)
{
    fuzz_check(slab->used == model->used);
    fuzz_check(slab->retired == model->retired);
    for (uint32_t k = 0; k < model->count; k++) {
        void *is = rt_slab_get(slab, model->keys[k]);
        fuzz_check(is == (model->live[k] ? &things[k] : 0));
    }
}

static void
ask_for_nonsense(struct rt_slab *slab, struct fuzz_tape *tape)
{
    struct rt_key key = {fuzz_below(tape, PLACES * 2), 0};
    fuzz_check(rt_slab_get(slab, key) == 0);
    fuzz_check(rt_slab_remove(slab, key) == 0);
    key.generation = slab->generation_max + 1 + fuzz_below(tape, 4);
    fuzz_check(rt_slab_get(slab, key) == 0);
    key.index = UINT32_MAX - fuzz_below(tape, 4);
    fuzz_check(rt_slab_remove(slab, key) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_tape tape = fuzz_tape(data, size);
    struct rt_slab_entry entries[PLACES];
    struct rt_slab slab;
    struct model model = {0};
    uint32_t capacity = (fuzz_byte(&tape) + PLACES) % (PLACES + 1);
    rt_slab_init_bounded(&slab, entries, capacity, 1 + fuzz_below(&tape, 8));

    while (fuzz_more(&tape)) {
        switch (fuzz_below(&tape, 5)) {
        case 0:
        case 1:
            insert(&slab, &model);
            break;
        case 2:
        case 3:
            if (model.count > 0) {
                drop(&slab, &model, fuzz_below(&tape, model.count));
            }
            break;
        case 4:
            ask_for_nonsense(&slab, &tape);
            break;
        }
        compare(&slab, &model);
    }
    rt_slab_audit(&slab);
    return 0;
}

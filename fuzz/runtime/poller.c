/*
 * poller.c -- the poller against a list of names and a list of what was listed.
 *
 * Its host returns results in any order, and omits ready ones (P6). The poller must return the keys
 * of exactly the reported positions, in list order, without the runtime's own (R6). A pollable may
 * have several names, be in the list several times (P5), and lose its name while it is listed: then
 * its old key is returned, and names nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/io/poller.h"
#include "fuzz/fuzz.h"

FUZZ_UNSEEN_BEGIN

#define POLLABLES 8u
#define HUGE 32u                          /* Names at most, and keys in a list. */
#define KEYS (HUGE + FUZZ_OPERATIONS_MAX) /* Ever given out: a huge poller is filled once. */
#define LIST (HUGE + RT_POLLER_EXTRA)

struct bench {
    struct rt_host host; /* First: the seam passes it to the host. */
    struct fuzz_tape *tape;
    struct rt_pollable pollables[POLLABLES];
    bool ready[POLLABLES];
    bool reported[LIST]; /* By the last poll, by position in the list. */

    struct rt_poller poller;
    struct rt_key keys[KEYS];
    struct rt_pollable *names[KEYS]; /* NULL: it names nothing any more. */
    uint32_t given;                  /* Keys given out so far. */
    uint32_t used;
    bool filled;

    struct rt_pollable *list[LIST];
    uint32_t list_keys[LIST]; /* Numbers of keys; KEYS: the runtime's own. */
    uint32_t listed;
    uint32_t extras;
};

static struct rt_slab_entry entries[HUGE];
static struct rt_pollable *list[LIST];
static struct rt_key list_keys[LIST];
static uint32_t ready_places[LIST];

/* ---- The host: any answer that is legal. ----------------------------------------------------- */

static struct bench *
bench_of(struct rt_host *host)
{
    return (struct bench *)host;
}

static bool
is_ready(const struct bench *bench, const struct rt_pollable *pollable)
{
    return bench->ready[pollable - bench->pollables];
}

/* The ready positions of the list, some of them hidden by the tape; at least one. */
static uint32_t
find_ready(struct bench *bench, uint32_t *indices)
{
    uint8_t hidden = fuzz_byte(bench->tape);
    uint32_t ready = 0;
    uint32_t first = UINT32_MAX;
    for (uint32_t i = 0; i < bench->listed; i++) {
        if (!is_ready(bench, bench->list[i])) {
            continue;
        }
        first = first == UINT32_MAX ? i : first;
        if ((hidden >> i % 8 & 1) == 0) {
            indices[ready++] = i;
        }
    }
    if (ready == 0 && first != UINT32_MAX) {
        indices[ready++] = first;
    }
    return ready;
}

static void
swap(uint32_t *indices, uint32_t a, uint32_t b)
{
    uint32_t index = indices[a];
    indices[a] = indices[b];
    indices[b] = index;
}

/* In order, backwards, or with some positions swapped: the order of a result has no meaning. */
static void
disorder(struct bench *bench, uint32_t *indices, uint32_t ready)
{
    uint32_t how = fuzz_below(bench->tape, 8);
    if (how == 1) {
        for (uint32_t i = 0; i < ready / 2; i++) {
            swap(indices, i, ready - 1 - i);
        }
    }
    for (uint32_t i = 2; i < how; i++) {
        swap(indices, fuzz_below(bench->tape, ready), fuzz_below(bench->tape, ready));
    }
}

static rt_err
host_poll(struct rt_host *host, struct rt_pollable *const *in, uint32_t count,
        uint32_t *ret_indices, uint32_t *ret_ready)
{
    struct bench *bench = bench_of(host);
    fuzz_check(count == bench->listed);
    for (uint32_t i = 0; i < count; i++) {
        fuzz_check(in[i] == bench->list[i]);
        bench->reported[i] = false;
    }
    if (count == 0) {
        return RT_E_EMPTY_POLL;
    }
    uint32_t ready = find_ready(bench, ret_indices);
    if (ready == 0) { /* It would block: until this one is ready. */
        uint32_t place = fuzz_below(bench->tape, count);
        bench->ready[in[place] - bench->pollables] = true;
        ready = find_ready(bench, ret_indices);
    }
    disorder(bench, ret_indices, ready);
    for (uint32_t i = 0; i < ready; i++) {
        bench->reported[ret_indices[i]] = true;
    }
    *ret_ready = ready;
    return RT_OK;
}

static const struct rt_host_ops host_ops = {.poll = host_poll};

/* ---- Operations. ----------------------------------------------------------------------------- */

static void
insert(struct bench *bench, uint32_t pollable)
{
    struct rt_key key = {77, 0};
    rt_err err = rt_poller_insert(&bench->poller, &bench->pollables[pollable], &key);
    if (bench->used == bench->poller.capacity) {
        fuzz_check(err == RT_E_FULL);
        fuzz_check(key.index == 77);
        return;
    }
    fuzz_check(err == RT_OK);
    bench->keys[bench->given] = key;
    bench->names[bench->given] = &bench->pollables[pollable];
    bench->given += 1;
    bench->used += 1;
}

static void
drop(struct bench *bench, uint32_t k)
{
    rt_err err = rt_poller_remove(&bench->poller, bench->keys[k]);
    fuzz_check(err == (bench->names[k] != 0 ? RT_OK : RT_E_STALE));
    bench->used -= bench->names[k] != 0;
    bench->names[k] = 0;
}

static void
list_key(struct bench *bench, uint32_t k)
{
    if (bench->listed - bench->extras == bench->poller.capacity) {
        return;
    }
    rt_err err = rt_poller_list_add(&bench->poller, bench->keys[k]);
    fuzz_check(err == (bench->names[k] != 0 ? RT_OK : RT_E_STALE));
    if (err == RT_OK) {
        bench->list[bench->listed] = bench->names[k];
        bench->list_keys[bench->listed] = k;
        bench->listed += 1;
    }
}

static void
list_extra(struct bench *bench, uint32_t pollable)
{
    if (bench->extras == RT_POLLER_EXTRA) {
        return;
    }
    rt_poller_list_add_extra(&bench->poller, &bench->pollables[pollable]);
    bench->list[bench->listed] = &bench->pollables[pollable];
    bench->list_keys[bench->listed] = KEYS;
    bench->listed += 1;
    bench->extras += 1;
}

static void
clear(struct bench *bench)
{
    rt_poller_list_clear(&bench->poller);
    bench->listed = 0;
    bench->extras = 0;
}

/* The result is what the host reported, in list order, without the runtime's own. */
static void
poll(struct bench *bench)
{
    static struct rt_key answer[HUGE + 1];
    uint32_t count = 77;
    uint32_t next = 0;
    rt_err err = rt_poller_poll(&bench->poller, answer, &count);
    if (bench->listed == 0) {
        fuzz_check(err == RT_E_EMPTY_POLL);
        fuzz_check(count == 77);
        return;
    }
    fuzz_check(err == RT_OK);
    for (uint32_t i = 0; i < bench->listed; i++) {
        if (bench->reported[i] && bench->list_keys[i] != KEYS) {
            const struct rt_key *key = &bench->keys[bench->list_keys[i]];
            fuzz_check(next < count);
            fuzz_check(answer[next].index == key->index);
            fuzz_check(answer[next].generation == key->generation);
            next += 1;
        }
    }
    fuzz_check(next == count);
}

/* All names that there is capacity for, once an input. */
static void
fill(struct bench *bench)
{
    if (bench->filled) {
        return;
    }
    bench->filled = true;
    for (uint32_t i = 0; bench->used < bench->poller.capacity; i++) {
        insert(bench, i % POLLABLES);
    }
    insert(bench, 0);
}

/* Lists everything from key `k` on, until the list is full. */
static void
list_all(struct bench *bench, uint32_t k)
{
    for (uint32_t i = 0; i < bench->given; i++) {
        list_key(bench, (k + i) % bench->given);
    }
}

static void
ask_for_nonsense(struct bench *bench)
{
    struct rt_key key = {fuzz_below(bench->tape, POLLABLES), 0};
    fuzz_check(rt_poller_get(&bench->poller, key) == 0);
    fuzz_check(rt_poller_list_add(&bench->poller, key) == RT_E_STALE);
    key.generation = FUZZ_OPERATIONS_MAX + 2; /* Later than any that an input reaches. */
    fuzz_check(rt_poller_remove(&bench->poller, key) == RT_E_STALE);
    key.index = bench->poller.capacity + fuzz_below(bench->tape, 2);
    fuzz_check(rt_poller_get(&bench->poller, key) == 0);
}

static void
operate(struct bench *bench, struct fuzz_tape *tape)
{
    switch (fuzz_below(tape, 16)) {
    case 0:
    case 1:
        insert(bench, fuzz_below(tape, POLLABLES));
        break;
    case 2:
    case 3:
    case 4:
        poll(bench);
        break;
    case 5:
    case 6:
    case 7:
    case 8:
        if (bench->given > 0) {
            list_key(bench, fuzz_below(tape, bench->given));
        }
        break;
    case 9:
        list_extra(bench, fuzz_below(tape, POLLABLES));
        break;
    case 10:
    case 11:
        if (bench->given > 0) {
            drop(bench, fuzz_below(tape, bench->given));
        }
        break;
    case 12:
        bench->ready[fuzz_below(tape, POLLABLES)] ^= true;
        break;
    case 13:
        clear(bench);
        break;
    case 14:
        fill(bench);
        list_all(bench, fuzz_below(tape, bench->given + 1));
        break;
    case 15:
        ask_for_nonsense(bench);
        break;
    }
}

/* Every key that was ever returned behaves as in the model. */
static void
compare(const struct bench *bench)
{
    fuzz_check(bench->poller.count == bench->listed);
    for (uint32_t k = 0; k < bench->given; k++) {
        fuzz_check(rt_poller_get(&bench->poller, bench->keys[k]) == bench->names[k]);
    }
}

static void
begin(struct bench *bench, struct fuzz_tape *tape)
{
    static const uint32_t capacities[] = {6, 6, 6, 6, 5, 2, 1, 0};
    uint32_t size = fuzz_byte(tape);
    bench->host = (struct rt_host){.magic = RT_HOST_MAGIC, .ops = &host_ops};
    bench->tape = tape;
    bench->given = bench->used = bench->listed = bench->extras = 0;
    bench->filled = false;
    for (uint32_t i = 0; i < POLLABLES; i++) {
        bench->pollables[i] = (struct rt_pollable){{RT_POLLABLE_MAGIC, i}, &bench->host, i};
        bench->ready[i] = false;
    }
    struct rt_poller_config config = {
            .entries = entries,
            .list = list,
            .list_keys = list_keys,
            .ready = ready_places,
            .capacity = size < 255 ? capacities[size % 8] : HUGE,
    };
    rt_poller_init(&bench->poller, &bench->host, &config);
}

FUZZ_UNSEEN_END

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct bench bench;
    struct fuzz_tape tape = fuzz_tape(data, size);
    begin(&bench, &tape);
    while (fuzz_more(&tape)) {
        operate(&bench, &tape);
        compare(&bench);
    }
    rt_slab_audit(&bench.poller.slab);
    return 0;
}

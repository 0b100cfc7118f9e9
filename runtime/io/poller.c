/*
 * poller.c -- builds the list for the host, and translates its answer into keys.
 *
 *      list        p4     p1     deadline  p7     do-not-block      for the host
 *      list_keys   4.g2   1.g9   0.g0      7.g1   0.g0              beside it; 0.g0: an extra
 *      ready       2  0                                             what the host answered
 *      answer      4.g2                                             in list order, no extras
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/io/poller.h"

#include <stddef.h>

#include "runtime/base/assert.h"

#include "runtime/base/banned.h"

#define POLLER_MAGIC 0x52504c52u

static void
check_poller(const struct rt_poller *poller)
{
    rt_check(poller, POLLER_MAGIC);
    rt_assert(poller->count <= poller->capacity + RT_POLLER_EXTRA);
}

/* No entry of a slab has generation 0, so this is the key of nothing in it. */
static bool
is_extra(struct rt_key key)
{
    return key.generation == 0;
}

static void
append(struct rt_poller *poller, struct rt_pollable *pollable, struct rt_key key)
{
    rt_assert(pollable != NULL);
    rt_assert(poller->count < poller->capacity + RT_POLLER_EXTRA);
    poller->list[poller->count] = pollable;
    poller->list_keys[poller->count] = key;
    poller->count++;
}

/* By insertion: hosts answer nearly in order, and no index is there twice (rt_host_poll). */
static void
sort(uint32_t *indices, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        uint32_t index = indices[i];
        uint32_t at = i;
        while (at > 0 && indices[at - 1] > index) {
            indices[at] = indices[at - 1];
            at--;
        }
        rt_assert(at == 0 || indices[at - 1] < index);
        indices[at] = index;
    }
}

void
rt_poller_init(
        struct rt_poller *poller, struct rt_host *host, const struct rt_poller_config *config)
{
    rt_assert(poller != NULL);
    rt_check(host, RT_HOST_MAGIC);
    rt_assert(config->capacity <= RT_SLAB_CAPACITY_MAX - RT_POLLER_EXTRA);
    rt_assert(config->list != NULL);
    rt_assert(config->list_keys != NULL);
    rt_assert(config->ready != NULL);
    *poller = (struct rt_poller){
            .magic = POLLER_MAGIC,
            .capacity = config->capacity,
            .list = config->list,
            .list_keys = config->list_keys,
            .ready = config->ready,
            .host = host,
    };
    rt_slab_init(&poller->slab, config->entries, config->capacity);
}

rt_err
rt_poller_insert(struct rt_poller *poller, struct rt_pollable *pollable, struct rt_key *ret_key)
{
    check_poller(poller);
    rt_assert(pollable != NULL);
    rt_assert(ret_key != NULL);
    return rt_slab_insert(&poller->slab, pollable, ret_key);
}

struct rt_pollable *
rt_poller_get(const struct rt_poller *poller, struct rt_key key)
{
    check_poller(poller);
    return rt_slab_get(&poller->slab, key);
}

rt_err
rt_poller_remove(struct rt_poller *poller, struct rt_key key)
{
    check_poller(poller);
    return rt_slab_remove(&poller->slab, key) != NULL ? RT_OK : RT_E_STALE;
}

void
rt_poller_list_clear(struct rt_poller *poller)
{
    check_poller(poller);
    poller->count = 0;
}

rt_err
rt_poller_list_add(struct rt_poller *poller, struct rt_key key)
{
    struct rt_pollable *pollable = rt_poller_get(poller, key);
    if (pollable == NULL) {
        return RT_E_STALE;
    }
    append(poller, pollable, key);
    return RT_OK;
}

void
rt_poller_list_add_extra(struct rt_poller *poller, struct rt_pollable *pollable)
{
    check_poller(poller);
    append(poller, pollable, (struct rt_key){0, 0});
}

rt_err
rt_poller_poll(struct rt_poller *poller, struct rt_key *ret_keys, uint32_t *ret_count)
{
    check_poller(poller);
    rt_assert(ret_keys != NULL);
    rt_assert(ret_count != NULL);
    uint32_t ready = 0;
    rt_err err = rt_host_poll(poller->host, poller->list, poller->count, poller->ready, &ready);
    if (err != RT_OK) {
        return err;
    }
    sort(poller->ready, ready);
    uint32_t count = 0;
    for (uint32_t i = 0; i < ready; i++) {
        struct rt_key key = poller->list_keys[poller->ready[i]];
        if (!is_extra(key)) {
            rt_assert(count < poller->capacity);
            ret_keys[count++] = key;
        }
    }
    *ret_count = count;
    return RT_OK;
}

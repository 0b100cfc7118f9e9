/*
 * learned.c -- three copies in turn.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/search/learn/learned.h"

#include <string.h>
#include <sys/mman.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"

#define COPIES 3u

/* Shared with workers. Pages are zero at first, and only those are touched that are needed. */
struct mapping {
    struct sim_learned copies[COPIES];
    struct {
        struct sim_fact facts[SIM_LEARNED_FACTS];
        uint32_t index[2 * SIM_LEARNED_FACTS];
        struct sim_corpus_memory corpus;
    } tables[COPIES + 1]; /* The last one is the master's, whose head is the parent's alone. */
};

void
sim_epochs_init(struct sim_epochs *epochs)
{
    *epochs = (struct sim_epochs){.copies = NULL};
    struct mapping *mapping = sim_heap_map_shared(sizeof(*mapping));
    rt_assert(sizeof(mapping->tables->facts) + sizeof(mapping->tables->index) ==
              sim_facts_size(SIM_LEARNED_FACTS));
    epochs->copies = mapping->copies;
    sim_epochs_inherit(epochs, false);
    for (uint32_t i = 0; i <= COPIES; i++) {
        struct sim_learned *learned = i < COPIES ? &mapping->copies[i] : &epochs->master;
        sim_facts_lay_out(&learned->facts, mapping->tables[i].facts, SIM_LEARNED_FACTS);
        sim_corpus_init(&learned->corpus, &mapping->tables[i].corpus);
    }
}

void
sim_epochs_fini(struct sim_epochs *epochs)
{
    sim_heap_unmap(epochs->copies, sizeof(struct mapping));
    *epochs = (struct sim_epochs){.copies = NULL};
}

static void
clear(struct sim_learned *learned)
{
    learned->runs = 0;
    memset(learned->yields, 0, sizeof(learned->yields));
    sim_facts_clear(&learned->facts);
    learned->corpus.count = 0;
    learned->corpus.set_count = 0;
}

void
sim_epochs_clear(struct sim_epochs *epochs)
{
    for (uint32_t i = 0; i < COPIES; i++) {
        clear(&epochs->copies[i]);
    }
    clear(&epochs->master);
    epochs->closed = 0;
    epochs->orders = 0;
}

/* Epochs of one run, each of which waits for the one before it. */
#define EAGER 4u

static void
write_copy(struct sim_epochs *epochs, uint64_t epoch)
{
    struct sim_learned *copy = &epochs->copies[epoch % COPIES];
    rt_assert(copy->runs <= epochs->master.runs);
    copy->runs = epochs->master.runs;
    memcpy(copy->yields, epochs->master.yields, sizeof(copy->yields));
    sim_facts_copy(&copy->facts, &epochs->master.facts);
    sim_corpus_copy(&copy->corpus, &epochs->master.corpus);
}

void
sim_epochs_close(struct sim_epochs *epochs)
{
    rt_assert(sim_epochs_is_open(epochs, epochs->closed));
    epochs->closed++;
    if (epochs->closed < EAGER) {
        write_copy(epochs, epochs->closed);
    }
    write_copy(epochs, epochs->closed + 1);
}

bool
sim_epochs_is_open(const struct sim_epochs *epochs, uint64_t epoch)
{
    return epoch < EAGER ? epoch <= epochs->closed : epoch < epochs->closed + 2;
}

const struct sim_learned *
sim_epochs_of(const struct sim_epochs *epochs, uint64_t epoch)
{
    rt_assert(sim_epochs_is_open(epochs, epoch));
    return &epochs->copies[epoch % COPIES];
}

void
sim_epochs_count(struct sim_epochs *epochs, uint32_t strategy, uint64_t added)
{
    rt_assert(strategy < SIM_STRATEGIES_MAX);
    epochs->master.runs++;
    epochs->master.yields[strategy].drawn++;
    epochs->master.yields[strategy].added += added;
}

void
sim_epochs_inherit(const struct sim_epochs *epochs, bool inherit)
{
    if (epochs->copies != NULL) {
        (void)madvise(
                epochs->copies, sizeof(struct mapping), inherit ? MADV_DOFORK : MADV_DONTFORK);
    }
}

void
sim_epochs_seal(const struct sim_epochs *epochs)
{
    if (epochs->copies != NULL) {
        (void)mprotect(epochs->copies, sizeof(struct mapping), PROT_READ);
    }
}

/* Epochs 0 to 3 are of one run, then two of each power of two. */
uint64_t
sim_epoch_of(uint64_t index, uint64_t *ret_end)
{
    uint64_t epoch = 0;
    uint64_t end = 1;
    uint64_t size = 1;
    while (index >= end && size < SIM_EPOCH_RUNS_MAX) {
        epoch++;
        size = epoch < 4 ? 1 : UINT64_C(1) << (epoch - 2) / 2;
        end += size;
    }
    if (index >= end) {
        uint64_t more = (index - end) / SIM_EPOCH_RUNS_MAX + 1;
        epoch += more;
        end += more * SIM_EPOCH_RUNS_MAX;
    }
    *ret_end = end;
    return epoch;
}

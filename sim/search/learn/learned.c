/*
 * learned.c -- three copies in turn.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/search/learn/learned.h"

#include <string.h>
#include <sys/mman.h>

#include "runtime/base/assert.h"

#define COPIES 3u
#define PAGE 4096u

/* One mapping has the heads of the copies, then the tables of each copy, then those of the master,
 * whose head is in the parent's memory. */
static size_t
heads_size(void)
{
    return PAGE;
}

static size_t
tables_size(void)
{
    return sim_facts_size(SIM_LEARNED_FACTS) + sizeof(struct sim_corpus_memory);
}

/* In pages of the system's, which are zero: writing zeros there would only touch them. */
static void
lay_out(struct sim_learned *learned, char *at)
{
    sim_facts_lay_out(&learned->facts, at, SIM_LEARNED_FACTS);
    sim_corpus_init(&learned->corpus, (void *)(at + sim_facts_size(SIM_LEARNED_FACTS)));
}

bool
sim_epochs_init(struct sim_epochs *epochs)
{
    _Static_assert(COPIES * sizeof(struct sim_learned) <= PAGE, "heads fit into their page");
    *epochs = (struct sim_epochs){.size = heads_size() + (COPIES + 1) * tables_size()};
    char *base = mmap(NULL, epochs->size, PROT_READ | PROT_WRITE,
            MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) {
        epochs->size = 0;
        return false;
    }
    (void)madvise(base, epochs->size, MADV_DONTFORK);
    epochs->copies = (struct sim_learned *)(void *)base;
    char *at = base + heads_size();
    for (uint32_t i = 0; i < COPIES; i++, at += tables_size()) {
        lay_out(&epochs->copies[i], at);
    }
    lay_out(&epochs->master, at);
    return true;
}

void
sim_epochs_fini(struct sim_epochs *epochs)
{
    if (epochs->copies != NULL) {
        (void)munmap(epochs->copies, epochs->size);
    }
    *epochs = (struct sim_epochs){.size = 0};
}

static void
clear(struct sim_learned *learned)
{
    learned->runs = 0;
    memset(learned->drawn, 0, sizeof(learned->drawn));
    memset(learned->news, 0, sizeof(learned->news));
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
    copy->runs = epochs->master.runs;
    memcpy(copy->drawn, epochs->master.drawn, sizeof(copy->drawn));
    memcpy(copy->news, epochs->master.news, sizeof(copy->news));
    sim_facts_copy(&copy->facts, &epochs->master.facts);
    sim_corpus_copy(&copy->corpus, &epochs->master.corpus);
}

void
sim_epochs_close(struct sim_epochs *epochs)
{
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
sim_epochs_count(struct sim_epochs *epochs, uint32_t arm, uint64_t news)
{
    rt_assert(arm < SIM_STRATEGIES_MAX);
    epochs->master.runs++;
    epochs->master.drawn[arm]++;
    epochs->master.news[arm] += news;
}

void
sim_epochs_inherit(const struct sim_epochs *epochs, bool inherited)
{
    if (epochs->copies != NULL) {
        (void)madvise(epochs->copies, epochs->size, inherited ? MADV_DOFORK : MADV_DONTFORK);
    }
}

void
sim_epochs_seal(const struct sim_epochs *epochs)
{
    if (epochs->copies != NULL) {
        (void)mprotect(epochs->copies, epochs->size, PROT_READ);
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

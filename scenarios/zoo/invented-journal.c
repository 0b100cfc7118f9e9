/*
 * invented-journal.c -- a walk over waiting commits stops at the first record that is not synced.
 *
 * A relative of A20 and A18, invented: no public issue.
 *
 * The bug. A commit waits until the journal is synced up to its record. After a sync, the waiting
 * commits are walked, and those are woken whose records are on disk. The walk stops at the first
 * record that is not, as if the list were ordered by record. It is ordered by the start of the
 * wait, and a client that updates its indices between its write and its wait joins later than one
 * that does not.
 *
 * The fix. The walk continues to the end of the list: wake_synced() below.
 *
 * Here. Four clients write a record each, at some time, and one task syncs. A record that is
 * written during a sync belongs to the next one. If its client is in the list before one whose
 * record is in this sync, the latter is woken a sync later, a millisecond too late.
 *
 * Cause: never-fired in wake_synced or syncer_poll
 * Must end in: late-wakeup of a client. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define SYNC_NS RT_MS

enum { CLIENTS = 4 };

/* ---- The journal. ---------------------------------------------------------------------------- */

struct journal {
    bool broken;
    uint64_t written; /* The last record. */
    uint64_t synced;  /* Records up to this one are on disk. */
    uint64_t target;  /* The last record of the sync under way. */
    struct rt_list commits;
    struct rt_slot unsynced;
    struct rt_sleep disk;
    struct rt_task syncer;
    uint32_t at;
};

struct commit {
    struct rt_list node;
    struct rt_slot slot;
    uint64_t record;
};

static uint64_t
journal_write(struct journal *journal)
{
    journal->written++;
    rt_slot_wake(&journal->unsynced);
    return journal->written;
}

static rt_poll
commit_poll(struct commit *commit, struct journal *journal, struct rt_cx *cx)
{
    if (commit->record <= journal->synced) {
        rt_list_unlink(&commit->node);
        return RT_READY;
    }
    if (rt_list_empty(&commit->node)) {
        rt_list_push_back(&journal->commits, &commit->node);
    }
    rt_slot_replace(&commit->slot, cx, "its record on disk");
    return RT_PENDING;
}

static void
wake_synced(struct journal *journal)
{
    struct rt_list *node = journal->commits.next;
    while (node != &journal->commits) {
        struct commit *commit = rt_container_of(node, struct commit, node);
        node = node->next;
        if (commit->record <= journal->synced) {
            rt_list_unlink(&commit->node);
            rt_slot_wake(&commit->slot);
        } else if (journal->broken) {
            return; /* Those after it were written later still. */
        }
    }
}

static rt_poll
unsynced_poll(struct journal *journal, struct rt_cx *cx)
{
    if (journal->synced < journal->written) {
        return RT_READY;
    }
    rt_slot_replace(&journal->unsynced, cx, "a record to sync");
    return RT_PENDING;
}

static rt_poll
syncer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct journal *journal = rt_container_of(task, struct journal, syncer);
    RT_BEGIN(journal->at);
    while (journal->synced < CLIENTS) {
        RT_AWAIT_HERE(journal->at, unsynced_poll(journal, cx));
        journal->target = journal->written;
        rt_sleep_init(&journal->disk, SYNC_NS);
        RT_AWAIT_HERE(journal->at, rt_sleep_poll(&journal->disk, cx));
        journal->synced = journal->target;
        wake_synced(journal);
    }
    RT_END(journal->at);
}

/* ---- The clients. ---------------------------------------------------------------------------- */

struct client {
    struct rt_task task;
    uint32_t at;
    struct journal *journal;
    struct rt_sleep arrival;
    struct rt_sleep indices;
    struct commit commit;
};

static rt_poll
client_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct client *client = rt_container_of(task, struct client, task);
    RT_BEGIN(client->at);
    RT_AWAIT_HERE(client->at, rt_sleep_poll(&client->arrival, cx));
    client->commit.record = journal_write(client->journal);
    RT_AWAIT_HERE(client->at, rt_sleep_poll(&client->indices, cx));
    RT_AWAIT_HERE(client->at, commit_poll(&client->commit, client->journal, cx));
    RT_END(client->at);
}

static void
begin(struct sim_world *world, bool broken)
{
    static const char *const names[CLIENTS] = {"ann", "bob", "cem", "dee"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct journal *journal = sim_new(world, struct journal);
    journal->broken = broken;
    rt_list_init(&journal->commits);
    rt_slot_init(&journal->unsynced);
    rt_task_init(&journal->syncer, syncer_poll, NULL, "syncer");
    sim_spawn(rt, &journal->syncer);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        struct client *client = sim_new(world, struct client);
        client->journal = journal;
        rt_sleep_init(&client->arrival, sim_range(world, 0, 3 * RT_MS));
        rt_sleep_init(&client->indices, sim_range(world, 0, RT_MS));
        rt_list_init(&client->commit.node);
        rt_slot_init(&client->commit.slot);
        rt_task_init(&client->task, client_poll, NULL, names[i]);
        sim_spawn(rt, &client->task);
    }
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, true);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, false);
}

SIM_SCENARIO(zoo_invented_journal_broken, .name = "zoo/invented-journal/broken", .bug = "R01",
        .reference = "relative of A20, A18",
        .about = "A walk over waiting commits stops at the first that is not synced.",
        .setup = setup_broken, .expect = SIM_VERDICT_LATE_WAKEUP);
SIM_SCENARIO(zoo_invented_journal_fixed, .name = "zoo/invented-journal/fixed",
        .about = "A walk over waiting commits covers all of them.", .setup = setup_fixed);

/* A file in three pieces, each of which is fetched from a mirror, and from a second one if that is slow.
 * Cause: piece_arrived() line 44: a piece that comes from both mirrors is counted twice, so the file is taken
 * for complete while another piece is missing; repair: count only the first. */
#include <sim/rewake.h>

#define PIECES 3

struct file;

struct piece {
    struct file *file;
    bool filled;
    unsigned copies;
};

struct file {
    struct piece pieces[PIECES];
    unsigned arrived;
    struct rt_slot joiner;
    bool fixed;
};

struct fetch {
    struct rt_task task;
    struct piece *piece;
    uint32_t at;
    uint64_t hedge_ns; /* 0: the first mirror. */
    uint64_t latency_ns;
    struct rt_sleep sleep;
};

struct assemble {
    struct rt_task task;
    struct file *file;
};

static void
piece_arrived(struct piece *piece)
{
    struct file *file = piece->file;
    bool first = !piece->filled;
    piece->filled = true;
    piece->copies++;
    if (first || !file->fixed) {
        file->arrived++;
    }
    if (file->arrived >= PIECES) {
        rt_slot_wake(&file->joiner);
    }
}

static rt_poll
fetch_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct fetch *fetch = rt_container_of(task, struct fetch, task);
    RT_BEGIN(fetch->at);
    if (fetch->hedge_ns > 0) {
        rt_sleep_init(&fetch->sleep, fetch->hedge_ns);
        RT_AWAIT_HERE(fetch->at, rt_sleep_poll(&fetch->sleep, cx));
        if (fetch->piece->filled) {
            return RT_READY;
        }
    }
    rt_sleep_init(&fetch->sleep, fetch->latency_ns);
    RT_AWAIT_HERE(fetch->at, rt_sleep_poll(&fetch->sleep, cx));
    piece_arrived(fetch->piece);
    RT_END(fetch->at);
}

static rt_poll
assemble_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct assemble *assemble = rt_container_of(task, struct assemble, task);
    struct file *file = assemble->file;
    if (file->arrived < PIECES) {
        rt_slot_replace(&file->joiner, cx, "all pieces");
        return RT_PENDING;
    }
    for (unsigned i = 0; i < PIECES; i++) {
        SIM_ALWAYS(file->pieces[i].filled);
    }
    return RT_READY;
}

static void
spawn_fetch(struct sim_world *world, struct sim_rt *rt, struct piece *piece, const char *name,
        uint64_t hedge_ns)
{
    struct fetch *fetch = sim_new(world, struct fetch);
    fetch->piece = piece;
    fetch->hedge_ns = hedge_ns;
    fetch->latency_ns = sim_range(world, 1 * RT_MS, 6 * RT_MS);
    rt_task_init(&fetch->task, fetch_poll, NULL, name);
    sim_spawn(rt, &fetch->task);
}

static void
set_up(struct sim_world *world, bool fixed)
{
    static const char *const names[PIECES][2] = {
            {"piece 1", "piece 1 again"},
            {"piece 2", "piece 2 again"},
            {"piece 3", "piece 3 again"},
    };
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct file *file = sim_new(world, struct file);
    file->fixed = fixed;
    rt_slot_init(&file->joiner);
    for (unsigned i = 0; i < PIECES; i++) {
        struct piece *piece = &file->pieces[i];
        piece->file = file;
        spawn_fetch(world, rt, piece, names[i][0], 0);
        spawn_fetch(world, rt, piece, names[i][1], 3 * RT_MS);
    }
    struct assemble *assemble = sim_new(world, struct assemble);
    assemble->file = file;
    rt_task_init(&assemble->task, assemble_poll, NULL, "assemble");
    sim_spawn(rt, &assemble->task);
}

static void
set_up_broken(struct sim_world *world)
{
    set_up(world, false);
}

static void
set_up_fixed(struct sim_world *world)
{
    set_up(world, true);
}

SIM_SCENARIO(broken, .name = "s13_hedge/broken", .about = "Hedged fetches, broken.",
        .setup = set_up_broken, .expect = SIM_VERDICT_INVARIANT);
SIM_SCENARIO(fixed, .name = "s13_hedge/fixed", .about = "Hedged fetches.", .setup = set_up_fixed);
/* SPDX-License-Identifier: Apache-2.0 */

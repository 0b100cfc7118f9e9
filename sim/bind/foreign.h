/*
 * foreign.h -- another runtime in the world: its tasks, slots and wakes, and the oracle.
 *
 * The runtime is the user's, with its own tasks, wakers and run queue. It runs on a
 * loop (core/loop.h), and blocks and reads the clock through the fake host
 * (runtime/io/host.h, host/host.h, host/fd.h). That alone makes it deterministic,
 * and a loop that is blocked forever is found. For reports that name the task, the
 * lost wake and the line, the runtime calls these functions:
 *
 *      sim_foreign_store      a waker of this task is stored in this slot
 *      sim_foreign_fire       the slot is emptied, and its waker woken
 *
 * These two make the wake ledger. Two more make the columns, and the steps:
 *
 *      sim_foreign_poll       this task is polled now
 *      sim_foreign_polled     … and the poll has returned; other actors may run
 *
 * Three more serve deadlocks, for locks and permits of the runtime's own, and for threads:
 *
 *      sim_wanted             the caller waits for this lock
 *      sim_granted            it has it now, or this task has
 *      sim_released           it was given back
 *
 * And one callback serves the oracle: "poll this task again". It is called for each blocked task
 * in a stall or an audit, each in a separate replay. A task that makes progress with the call and
 * not without it had lost its wake. A loop of callbacks has no wakers: there a task is a watcher
 * (sim_foreign_watch), a poll is a call of its callback, and a spurious poll is a
 * spurious event.
 *
 * Tasks and slots are identified by their addresses, which appear in no trace; a slot
 * holds one waker. Memory may be reused for another task when the one before has
 * finished. Between runs all these calls do nothing, so their callers may also run
 * without the simulator. Called inside a run for a task that was never spawned they
 * end it with verdict contract.
 *
 * sim/docs/host-seam.md shows it in use; scenarios/foreign/ has two such runtimes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/core/loop.h"
#include "sim/core/scenario.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sim_foreign;

/*
 * Declares that `loop` runs a runtime. When a run stalls, again(runtime, task) must poll `task`
 * once, woken or not (a watcher: call it with a spurious event), with the same sim_foreign calls
 * as for any poll. It is called between any two polls while the loop is suspended, on another
 * stack, so it must not block; a correct task does nothing in a spurious poll. A poll must check
 * the condition that it waits for, and not only a flag that it was woken: with the flag alone no
 * spurious poll makes progress, and a lost wake is reported as deadlock. NULL: tasks cannot be
 * polled, and only a spurious report to the loop can show a lost wake. `runtime` is passed to
 * `again`.
 *
 * When the loop's function returns, all remaining tasks have ended.
 */
struct sim_foreign *sim_foreign_new(
        struct sim_loop *loop, void (*again)(void *runtime, void *task), void *runtime);

/* A task that the run waits for; `name` is borrowed. Comes before all other calls for the task. */
void sim_foreign_spawn(struct sim_foreign *foreign, const void *task, const char *name);

/* As sim_foreign_spawn, but the run does not wait for it to finish: a server, say. */
void sim_foreign_spawn_background(struct sim_foreign *foreign, const void *task, const char *name);

/*
 * A watcher: a task without wakers. Whenever its callback is not running, it waits for `event`
 * (borrowed; a description for reports) at the line of this call; each call of the callback
 * (sim_foreign_poll, sim_foreign_polled) is such an event.
 */
#define sim_foreign_watch(foreign, watcher, name, event) \
    sim_foreign_watch_at((foreign), (watcher), (name), (event), RT_HERE)
void sim_foreign_watch_at(struct sim_foreign *foreign, const void *watcher, const char *name,
        const char *event, const struct rt_site *line);

/* A poll of `task` begins: what happens from now on is attributed to it. */
void sim_foreign_poll(const void *task);

/* The poll has returned; `finished`: the task is done. The step ends here, and others may run
 * before the loop continues. */
void sim_foreign_polled(const void *task, bool finished);

/* `task` ended outside of its poll: it was cancelled. Finished already: no-op. */
void sim_foreign_end(const void *task);

/*
 * A waker of `task` was stored in `slot`, replacing any other. `reason` describes what it
 * waits for ("a reply"): borrowed for the run. Reports have the line of the call; where all stores
 * go through one function of the runtime, pass its caller's line instead: a parameter
 * `const struct rt_site *line` that the caller sets to RT_HERE.
 */
#define sim_foreign_store(task, slot, reason) \
    sim_foreign_store_at((task), (slot), (reason), RT_HERE)
void sim_foreign_store_at(
        const void *task, const void *slot, const char *reason, const struct rt_site *line);

/* Names `slot`, in the ledger, in columns and in messages, from its first store on;
 * `name` is borrowed for the run. Without it a slot is named by the reason of its first store. */
void sim_foreign_name(const void *slot, const char *name);

/* The waker in `slot`, if there is one, was taken out and is woken now, by any actor.
 * Called before the wake itself. Where no poll follows, reports have the reason of this slot, and
 * the line that stored. */
#define sim_foreign_fire(slot) sim_foreign_fire_at((slot), RT_HERE)
void sim_foreign_fire_at(const void *slot, const struct rt_site *line);

/*
 * Locks, permits, buffers: what one holds and others wait for. A deadlock is then explained by who
 * holds what, since which line, and by the circle. `resource` is any address that is its own;
 * sim_foreign_name names it. None of the three changes anything in the run.
 *
 * The caller of sim_wanted (the task that is polled, else the loop) waits for it until it is
 * granted to it, or it ends.
 */
#define sim_wanted(resource) sim_wanted_at((resource), RT_HERE)
void sim_wanted_at(const void *resource, const struct rt_site *line);

/* `task`, or the caller (NULL), holds it now; another that holds it, too, is no error. */
#define sim_granted(resource, task) sim_granted_at((resource), (task), RT_HERE)
void sim_granted_at(const void *resource, const void *task, const struct rt_site *line);

/* The caller gives it back, or waits for it no more; where it did neither, the actor that took it
 * last has given it back. */
#define sim_released(resource) sim_released_at((resource), RT_HERE)
void sim_released_at(const void *resource, const struct rt_site *line);

/* `slot` was emptied, and no task woken: a timer or a wait that was cancelled. */
#define sim_foreign_erase(slot) sim_foreign_erase_at((slot), RT_HERE)
void sim_foreign_erase_at(const void *slot, const struct rt_site *line);

#ifdef __cplusplus
}
#endif

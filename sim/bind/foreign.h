/*
 * foreign.h -- somebody else's runtime in the world: who waits where, who is woken, and the oracle.
 *
 * The runtime is the reader's own, with its own tasks, wakers and queue. It runs on
 * a loop (core/loop.h), and sleeps and looks at the clock through the fake host
 * (runtime/io/host.h, host/host.h, host/fd.h). That alone makes it deterministic,
 * and a loop that sleeps forever is found. To be told which task lost which wake
 * at which line it says in a few places what it does:
 *
 *      sim_foreign_store      a waker of this task lies in this place from now on
 *      sim_foreign_fire       the place was emptied, and its waker is woken now
 *
 * These two are the ledger. The polls make the picture, and the steps:
 *
 *      sim_foreign_poll       this task is polled now
 *      sim_foreign_polled     … and has given way; so does the loop, others may run
 *
 * And one callback is the oracle: "poll this one again". It is called for each blocked task in a
 * stall or an audit, each in its own replay. One that makes progress with the call and not without
 * it had lost its wake. A loop of callbacks has no wakers: there a task is a watcher
 * (sim_foreign_watch), a poll is a call of its callback, and the question is an
 * event for nothing.
 *
 * Tasks and places are known by their addresses, which appear in no trace; a place
 * holds one waker. Memory may be used again for another task when the one before
 * has finished. Between runs all these calls do nothing, so what calls them may
 * also run without the simulator. Called inside a run for a task that was never
 * spawned they end it with verdict contract.
 *
 * sim/docs/host-seam.md shows it in use; scenarios/foreign/ has two such runtimes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_BIND_FOREIGN_H
#define SIM_BIND_FOREIGN_H

#include "sim/core/loop.h"
#include "sim/core/scenario.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sim_foreign;

/*
 * Declares that what runs on `loop` is a runtime. When a run stalls, again(runtime, task) is to
 * poll `task` once more, woken or not (a watcher: to call it with an event for nothing), with the
 * same reports around it as always. It is called while the loop gives way, on another stack, so it
 * must not block, and must cope with being called between any two polls; a healthy task does
 * nothing when it is polled for nothing. A poll must look at what it waits for, and not only
 * at a note that it was woken: who believes such a note alone goes on for no question, and what it
 * has lost is reported as deadlock. NULL: tasks cannot be asked, and only a report for nothing to
 * the loop can show that something was lost. `runtime` is handed to `again`.
 *
 * When the loop's function returns, all tasks that are left are taken to have ended.
 */
struct sim_foreign *sim_foreign_new(
        struct sim_loop *loop, void (*again)(void *runtime, void *task), void *runtime);

/* A task that the run waits for; `name` is borrowed. Before anything else is said of it. */
void sim_foreign_spawn(struct sim_foreign *foreign, const void *task, const char *name);

/* As sim_foreign_spawn; nobody waits for it to finish, as for a server. */
void sim_foreign_spawn_background(struct sim_foreign *foreign, const void *task, const char *name);

/*
 * A watcher: a task that has no waker. It waits for `event` (borrowed; in words for people) at the
 * line of this call whenever its callback is not running, and each call of that (sim_foreign_poll,
 * sim_foreign_polled) is such an event.
 */
#define sim_foreign_watch(foreign, watcher, name, event) \
    sim_foreign_watch_at((foreign), (watcher), (name), (event), RT_HERE)
void sim_foreign_watch_at(struct sim_foreign *foreign, const void *watcher, const char *name,
        const char *event, const struct rt_site *line);

/* A poll of `task` begins: what happens from now on is its doing. */
void sim_foreign_poll(const void *task);

/* It has returned; `finished`: for good. The step ends here, and others may run before the loop
 * goes on. */
void sim_foreign_polled(const void *task, bool finished);

/* `task` ended in another way than by its poll: it was cancelled. Finished already: no-op. */
void sim_foreign_end(const void *task);

/*
 * A waker of `task` was put into `place`, whatever was there; again the same task: it waits on.
 * `reason` is what it waits for, in words for people ("a reply"): borrowed for the run. The line of
 * the call is named in reports; where that says little, since all stores go through one function of
 * the runtime, hand the caller's line down: take `const struct rt_site *line`, and give it RT_HERE
 * where it matters.
 */
#define sim_foreign_store(task, place, reason) \
    sim_foreign_store_at((task), (place), (reason), RT_HERE)
void sim_foreign_store_at(
        const void *task, const void *place, const char *reason, const struct rt_site *line);

/* Names `place`, in the ledger, in columns and in messages, from its first store on; `name` is
 * borrowed for the run. Without it a place is called by the reason of its first store. */
void sim_foreign_name(const void *place, const char *name);

/* The waker in `place`, if there is one, was taken out and is woken now, from whatever actor. To be
 * called before whatever the wake itself does. Where no poll follows, reports name the task by this
 * place: its reason, and the line that stored. */
#define sim_foreign_fire(place) sim_foreign_fire_at((place), RT_HERE)
void sim_foreign_fire_at(const void *place, const struct rt_site *line);

/* `place` was emptied, and no task woken: a timer or a wait that was cancelled. */
#define sim_foreign_erase(place) sim_foreign_erase_at((place), RT_HERE)
void sim_foreign_erase_at(const void *place, const struct rt_site *line);

#ifdef __cplusplus
}
#endif
#endif

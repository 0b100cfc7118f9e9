/*
 * actor_table.h -- who is who in a recorded run.
 *
 * A *part* is one who acts: an actor of the world or, where one actor runs many
 * tasks (a loop of the reader's own, order `fifo`), a task. Part 0 is the world.
 * Each event belongs to one part: to the task whose poll it happened in, else to
 * the actor whose step it was.
 *
 * Also names. Nothing in a report is called by a number alone: an object without a
 * name is "timer 2 of pinger", an actor without one "actor 7". Numbers are counted by
 * each maker; where two have made a timer 2, it is "its timer 2", or that "of the setup".
 *
 * Trust. Events and texts may come from a process that crashed while it wrote them:
 * every number read here is checked, and one that makes no sense is no actor.
 *
 * Ownership. An actor table owns its tables (malloc) and borrows the recorder.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/base/page.h"
#include "sim/core/actor.h"
#include "sim/core/record/recorder.h"
#include "sim/explain/view/moves.h"

#define SIM_PART_NONE UINT32_MAX
#define SIM_EVENT_NONE UINT64_MAX

struct sim_part {
    const char *name;    /* Borrowed from the recorder; NULL: none was kept. */
    uint32_t object;     /* The task or source that it is; 0: not known. */
    uint32_t actor;      /* Index of the actor whose steps are its own; 0: it has none. */
    uint32_t kind;       /* enum sim_actor_kind. */
    uint64_t first_poll; /* SIM_EVENT_NONE: none on record. */
    bool finished;       /* Completed, cancelled or done by the end of the record. */
};

/* What a place without a name is known for: the reason of the first store in it. */
struct sim_nickname {
    const char *reason;
    uint32_t object;
    uint32_t await; /* Where it was used first. */
    uint32_t site;
};

#define SIM_NICKNAMES_MAX 256u

/* The number by which the program has called a description last. */
struct sim_descriptor {
    uint32_t object;
    uint32_t fd;
};

#define SIM_DESCRIPTORS_MAX 256u

struct sim_actor_table {
    const struct sim_recorder *recorder;
    struct sim_nickname *nicknames;
    struct sim_descriptor *descriptors;
    struct sim_part *parts;
    uint32_t count;
    uint32_t capacity;
    uint64_t first; /* Events first .. end-1 are there. */
    uint64_t end;
    uint16_t *part_of; /* For each event from `first` on. */
    uint32_t *texts;   /* Texts of events, by event. */
    uint32_t *names;   /* Texts of objects. */
    uint32_t texts_count;
    uint32_t names_count;
    uint32_t *by_actor;  /* Part of each actor index, SIM_PART_NONE: none. */
    uint32_t *by_object; /* Hash table: parts by their object. */
    uint32_t by_object_size;
    uint32_t nicknames_count;
    uint32_t descriptors_count;
    uint16_t *numbered;     /* Who made the n-th of a kind: see note_number. */
    struct sim_moves moves; /* Timers that were started while they ran. */
};

/* Reads the recorded run. */
void sim_actor_table_make(struct sim_actor_table *actor_table, const struct sim_recorder *recorder);
void sim_actor_table_free(struct sim_actor_table *actor_table);

/* Whose event it is; 0 for one that is not there. */
uint32_t sim_actor_table_part_of(const struct sim_actor_table *actor_table, uint64_t event);

/* The stable id of `part`, 0: it is no actor; and the part of the actor with that id (1: the
 * world), SIM_PART_NONE: there is none. Each looks through the events. */
uint32_t sim_actor_table_id(const struct sim_actor_table *actor_table, uint32_t part);
uint32_t sim_actor_table_of_id(const struct sim_actor_table *actor_table, uint32_t id);

/* The part of actor `index`, or of the task or source `object`; SIM_PART_NONE: none. */
uint32_t sim_actor_table_actor(const struct sim_actor_table *actor_table, uint32_t index);
uint32_t sim_actor_table_object(const struct sim_actor_table *actor_table, uint32_t object);

/* What was said at `event` (a log, a line, the reason of a store), or NULL. */
const char *sim_actor_table_text(const struct sim_actor_table *actor_table, uint64_t event);

/* The event at index `event`, which must be there. */
const struct sim_event *sim_actor_table_event(
        const struct sim_actor_table *actor_table, uint64_t event);

/* The first event of `step`, SIM_EVENT_NONE when there is none. */
uint64_t sim_actor_table_step_first(const struct sim_actor_table *actor_table, uint64_t step);

/* The virtual time of `step`; false when it is not recorded. */
bool sim_actor_table_step_time(
        const struct sim_actor_table *actor_table, uint64_t step, uint64_t *ret_ns);

/* The limit that cut the run off, as a verdict, whatever the judge has found behind it;
 * SIM_VERDICT_PASS: none did. */
uint32_t sim_actor_table_limit(const struct sim_actor_table *actor_table);

/* What `part` waits for at a deadlock, as it said itself when the run was judged; NULL: it was not
 * asked. */
const char *sim_actor_table_waits_for(const struct sim_actor_table *actor_table, uint32_t part);

/* The last BLOCK of the loop `part` before the event `before`, when no UNBLOCK followed;
 * SIM_EVENT_NONE. */
uint64_t sim_actor_table_blocked(
        const struct sim_actor_table *actor_table, uint32_t part, uint64_t before);

/* ---- Names. ---------------------------------------------------------------------------------- */

/* Adds the name of `part`. */
void sim_actor_table_put_part(
        const struct sim_actor_table *actor_table, struct sim_page *page, uint32_t part);

/* Adds the name of `object` as seen by `part`: what is its own is not said to be "of" it. */
void sim_actor_table_put_object(const struct sim_actor_table *actor_table, struct sim_page *page,
        uint32_t object, uint32_t part);

/* Whether the program calls `object` by the number of a descriptor. */
bool sim_actor_table_has_number(const struct sim_actor_table *actor_table, uint32_t object);

/* True when `object` has a name of its own. */
bool sim_actor_table_has_name(const struct sim_actor_table *actor_table, uint32_t object);

/* True when `object` has the name of `part`: a source that is an actor and an object. */
bool sim_actor_table_same_name(
        const struct sim_actor_table *actor_table, uint32_t part, uint32_t object);

/* Adds what is waited for: "the reply (timer 2)", by reason and object, whichever are there. */
void sim_actor_table_put_wanted(const struct sim_actor_table *actor_table, struct sim_page *page,
        uint32_t object, const char *reason, uint32_t part);

/* The user's line, else that of the runtime; NULL: neither is known, or it is in a library without
 * line numbers. */
const struct rt_site *sim_actor_table_place(uint32_t await, uint32_t site);

/* Adds "file.c:41 in function()" of that line. False: it is not known, nothing added. */
bool sim_actor_table_put_place(struct sim_page *page, uint32_t await, uint32_t site);

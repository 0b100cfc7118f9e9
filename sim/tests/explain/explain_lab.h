/*
 * explain_lab.h -- small broken programs, each with the answer that is expected of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/core/scenario.h"

/* A reader stores its waker and does not look (again) whether the mail has come; the writer may
 * come before it. */
extern const struct sim_scenario explain_unlooked;
extern const struct sim_scenario explain_unheard;
extern const struct sim_scenario explain_gate;
extern const uint32_t explain_gate_line;
/* A driver of alarms fires one, and is to start its timer for the next; a number decides. */
extern const struct sim_scenario explain_unarmed;
/* A permit is handed to a waiter that gives up at the same time. */
extern const struct sim_scenario explain_unpassed;
/* A loop does not ask its host again for a descriptor; a number decides. */
extern const struct sim_scenario explain_unasked;
/* A loop takes down the flag that it is awake after it has looked at its queue. */
extern const struct sim_scenario explain_turned_away;
/* A second waiter takes the place of the first. */
extern const struct sim_scenario explain_replaced;
/* What comes is written over by an actor that resets it, before any had checked. */
extern const struct sim_scenario explain_written_over;
/* A reader is woken, sees what has come, and puts it off: it is not woken again. */
extern const struct sim_scenario explain_put_off;
/* A job is done, and who waits for it is not reported. */
extern const struct sim_scenario explain_not_notified;
/* Fails where the first of two numbers is 3, and then the second is 2. */
extern const struct sim_scenario explain_two_numbers;
/* Of three that wait in a queue, one is woken when all should be; by a function of two callers. */
extern const struct sim_scenario explain_one_of_three;

/* ---- locks.c --------------------------------------------------------------------------------- */

/* Two threads take two locks in opposite order. */
extern const struct sim_scenario explain_crossed;
/* A task ends with a mutex of the runtime. */
extern const struct sim_scenario explain_kept;
/* A shard takes a message, and does not answer it. */
extern const struct sim_scenario explain_mislaid;
/* A consumer checks whether the producer is blocked, before that says so. */
extern const struct sim_scenario explain_bounded;

/* ---- queues.c -------------------------------------------------------------------------------- */

/* Two tasks are woken in one step, and the queue has one place. */
extern const struct sim_scenario explain_one_place;
/* An executor blocks without looking once more; who wakes a task has seen it awake. */
extern const struct sim_scenario explain_no_look;
/* A seat is handed to a task that leaves, and does not pass it on. */
extern const struct sim_scenario explain_handed;

/* ---- guards.c -------------------------------------------------------------------------------- */

/* A writer does not wake the reader, which it believes to be awake. */
extern const struct sim_scenario explain_busy;
/* A flag is raised, and lowered again before a watcher comes that was away. */
extern const struct sim_scenario explain_lowered;
/* What is outstanding is counted to 0 before all was asked: an assertion fails. */
extern const struct sim_scenario explain_complete;
/* A worker gives way and is not polled again; a run in which it stops at once passes too. */
extern const struct sim_scenario explain_chore;

/* ---- values.c -------------------------------------------------------------------------------- */

/* A sum is written that was computed from what another has changed since. */
extern const struct sim_scenario explain_purse;
/* What would have been written when a wake had been heard, which finds no waiter. */
extern const struct sim_scenario explain_doors;
/* A number that is kept over a wait, and then means what another has taken. */
extern const struct sim_scenario explain_shelf;
/* A copy by memcpy overwrites what was written. */
extern const struct sim_scenario explain_office;
/* What is checked at the end has been computed from what differs. */
extern const struct sim_scenario explain_scale;
/* A loop goes round until another stops it. */
extern const struct sim_scenario explain_mill;

/* ---- ways.c ---------------------------------------------------------------------------------- */

/* What is put aside is taken up only after a report, and none comes any more. */
extern const struct sim_scenario explain_put_aside;
/* What came while the one before was used is marked as seen. */
extern const struct sim_scenario explain_marked;
/* A clock is set again only if something was due. */
extern const struct sim_scenario explain_unset;
/* Who is kept out at a limit is not let in when there is room again. */
extern const struct sim_scenario explain_kept_out;
/* What is added while something else is done is cleared with that. */
extern const struct sim_scenario explain_thrown_away;
/* A wake is dropped, as a flag is taken down only after the poll. */
extern const struct sim_scenario explain_still_queued;
/* Of two that are woken at once one is polled, and the loop blocks. */
extern const struct sim_scenario explain_one_a_turn;
/* A push is refused, and not made again. */
extern const struct sim_scenario explain_put_off_push;

/* ---- threads.c ------------------------------------------------------------------------------- */

/* A thread sleeps on what it had looked at before; who would wake it comes in between, */
extern const struct sim_scenario explain_met_none;
/* … or tells it not to fall asleep, as it says by then that it prepares to. */
extern const struct sim_scenario explain_arrived_early;
/* A bell is not stage, for a flag says that it was; another took its event and left the flag. */
extern const struct sim_scenario explain_turned_back;
/* A signal goes to a worker who has nothing to do. */
extern const struct sim_scenario explain_wrong_one;
/* A loop asks for a descriptor once, and does not ask again. Fails however things are decided. */
extern const struct sim_scenario explain_not_rearmed;
/* A foreign executor: a wake is dropped by another that is on its way. */
extern const struct sim_scenario explain_dropped;
extern const struct sim_scenario explain_unrung;
/* A loop takes three of what was posted a turn, and leaves the fourth. */
extern const struct sim_scenario explain_left_over;
/* A driver sleeps forever on what it reckoned before a timer came. */
extern const struct sim_scenario explain_stale_park;
/* A thread sleeps until an epoch changes that it has read too late; asked, it sleeps on. */
extern const struct sim_scenario explain_late_ticket;
/* A foreign executor ends, and waits for a task that it takes no more out of its queue: the lost
 * wake-up is found at the livelock limit. */
extern const struct sim_scenario explain_shut_down;
/* A loop spins, in a function that calls two others in turn. */
extern const struct sim_scenario explain_spins;
/* A loop waits in one step for a time that the clock never reaches. */
extern const struct sim_scenario explain_spins_on_clock;
/* A foreign poll gives way in its middle, and stores its waker in a later step. */
extern const struct sim_scenario explain_mid_poll;

/*
 * explain.h -- why a run fails, for a reader who has not seen the code.
 *
 *   the cause       which wake is missing, or what else is to blame, and where
 *   the decision    the nearest run that passes, and what it decides differently
 *   the order       two events whose order decides
 *
 * Every claim is checked by running: candidates are made in a worker of their own. What could
 * not be found is said to be not found.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/base/page.h"
#include "sim/engine/worker/single.h"
#include "sim/explain/cause/cause.h"
#include "sim/explain/cause/meanwhile.h"
#include "sim/explain/decision.h"
#include "sim/explain/drawn.h"
#include "sim/explain/look/branches.h"
#include "sim/explain/order/order.h"

/* What an explanation may take, where nothing else is asked for. */
#define SIM_EXPLAIN_TIME_MS 10000u

struct sim_explanation {
    struct sim_failure failure;
    struct sim_budget budget; /* Where it was used up the explanation is incomplete: `cuts`. */
    struct sim_places *places;
    struct sim_analysis *analysis;
    struct sim_analysis *loop_analysis; /* Of the loop that should poll a woken task; or NULL. */
    struct sim_single failing;          /* Makes the failing run; its record stays there. */
    struct sim_single passing;          /* The nearest that passes, where there is one. */
    struct sim_outcome given;           /* How the failure itself ended. */
    struct sim_decision decision;
    struct sim_deciding_number number; /* Where the deciding one is a number. */
    bool compared;                     /* `passing` has its record, and is read. */
    struct sim_actor_table passing_actor_table;
    struct sim_ledger passing_ledger;
    struct sim_actor_table actor_table; /* Of the failing run. */
    struct sim_ledger ledger;
    struct sim_holds holds;
    struct sim_wake_outcome wake_outcome;
    struct sim_counterfactual counterfactual; /* Where no task makes progress. */
    struct sim_attempt attempt;               /* … or a loop's wake was dropped: who came. */
    /* … and the way of who would do it, or of the blocked loop; NULL: not walked. */
    struct sim_trace *here;
    struct sim_trace *there;
    struct sim_trace *held; /* What was executed with what is held; NULL: not walked. */
    struct sim_trace *over; /* The step that writes over what came; NULL: not walked. */
    /* What the reader's code executes in both runs; NULL: not walked. */
    struct sim_code *code;
    struct sim_executed *executed;
    struct sim_executed *passing_executed;
    bool lined; /* The events of both have the reader's lines (lines.h). */
    struct sim_cause cause;
    struct sim_unusual unusual;
    /* Of each choice of the failing run; and of one that waits in the end. */
    struct sim_meanwhile meanwhile[SIM_MEANWHILE_MAX + 1];
    uint32_t meanwhile_count;
    struct sim_location for_nothing; /* Where a wait of a program ends for nothing; step 0: none. */
    bool meanwhile_first;            /* It leads: little else is known. */
    struct sim_wakers *wakers; /* What ends such waits in many runs that pass; NULL: not asked. */
    bool unusual_adds;         /* It stands also where something else leads, … */
    bool unusual_first;        /* … before that. */
    struct sim_swap order;
};

/*
 * Runs the failure, and finds what is to be found. It explains the run that was made of it by
 * dropping what it does not need. Where it does not fail (`given`), nothing is looked for; a hang
 * is made once, and where it spins is all that is looked for.
 * False: the system refused, see failing.worker.error. sim_explanation_free must follow in any
 * case.
 */
bool sim_explanation_make(struct sim_explanation *explanation, const struct sim_failure *failure);
void sim_explanation_free(struct sim_explanation *explanation);

/* How the explained run ended. */
const struct sim_outcome *sim_explanation_outcome(const struct sim_explanation *explanation);

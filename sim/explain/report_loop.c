/*
 * report_loop.c -- what is said where nobody goes on: of loops and threads, which have no wakers,
 * and of who would have woken them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/report_priv.h"
#include "sim/explain/words.h"

/* A loop asks its host for less than it does in the run that passes. */
void
sim__say_unregistered(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_cause *cause = &explanation->cause;
    sim_words_put_who(&explanation->actor_table, page, sim__waiter(explanation));
    sim_page_put(page, " is blocked, and does not ask its host for what it waits for. In the "
                       "nearest run that passes it does,");
    sim__say_place(page, cause, 0, cause->at_count);
    sim_page_put(page, ", before it blocks; here that call is not made.");
    if (sim__say_names(
                page, cause, 0, cause->at_count, true, " In its last step it goes through ")) {
        sim_page_put(page, ".");
    }
}

/* It was told once of something, and has not asked for it again. */
void
sim__say_not_rearmed(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_cause *cause = &explanation->cause;
    uint32_t part = sim__waiter(explanation);
    sim_words_put_who(&explanation->actor_table, page, part);
    sim_page_put(page, " is blocked, and ");
    size_t from = page->length;
    sim_page_put(page, "`");
    sim_actor_table_put_object(
            &explanation->actor_table, page, explanation->counterfactual.object, part);
    sim_page_put(page, "`");
    sim_page_refer(page, SIM_REF_NAME, from, 0);
    sim_page_put(page, " has an event for it that its host does not report: it asks for that with "
                       "SIM_FD_ONESHOT, once");
    if (cause->at_count > 0) {
        sim_page_put(page, ", got it reported at ");
        sim_page_put_step(page, cause->at[0].step);
        sim_page_put(page, ", went");
        sim_page_put(page, " through ");
        sim_page_printf(page, "%s() (%s:%u)", cause->at[0].place.function,
                sim_place_file(&cause->at[0].place), (unsigned)cause->at[0].place.line);
        (void)sim__say_names(page, cause, 0, cause->at_count, false, " and ");
        sim_page_put(page, " then");
    }
    sim_page_put(page, ", and has not asked for it again since (sim_fd_modify). Once it asks "
                       "again, it gets the report and makes progress.");
}

/* It had come, the loop was told, and left it. */
void
sim__say_left(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_cause *cause = &explanation->cause;
    sim_words_put_who(&explanation->actor_table, page, sim__waiter(explanation));
    sim_page_put(page, " blocks at ");
    sim_page_put_step(page, explanation->counterfactual.step);
    sim_page_put(page, " with something left to do: at ");
    sim_page_put_step(page, cause->before.step);
    sim_page_put(page, " ");
    sim_words_put_who(&explanation->actor_table, page, cause->before.part);
    sim_page_put(page, " writes what it waits for, ");
    sim_words_put_place(page, &cause->before.place);
    sim_page_put(page, "; its host reports it at ");
    sim_page_put_step(page, cause->at[0].step);
    sim_page_put(page, ", goes through ");
    sim_page_printf(page, "%s() (%s:%u)", cause->at[0].place.function,
            sim_place_file(&cause->at[0].place), (unsigned)cause->at[0].place.line);
    (void)sim__say_names(page, cause, 0, cause->at_count, false, " and ");
    sim_page_put(page,
            ", and blocks without having taken all. With one more report it would make progress.");
}

/* "`hasty` is given what `patient` waits for, by `holder` in …, and does not pass it on" */
static void
put_lost(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_cause *cause = &explanation->cause;
    const struct sim_location *at = &cause->at[0];
    sim_words_put_who(&explanation->actor_table, page, at->part);
    if (cause->given.place.function[0] != '\0') {
        sim_page_put(page, " is given at ");
        sim_page_put_step(page, cause->given.step);
        sim_page_put(page, " what ");
        sim_words_put_who(&explanation->actor_table, page, sim__waiter(explanation));
        sim_page_put(page, " waits for, by ");
        sim_words_put_who(&explanation->actor_table, page, cause->given.part);
        sim_page_put(page, " ");
        sim_words_put_place(page, &cause->given.place);
        sim_page_put(page, ", and does not pass it on: it");
    } else {
        sim_page_put(page, " does not do what ");
        sim_words_put_who(&explanation->actor_table, page, sim__waiter(explanation));
        sim_page_put(page, " waits for: it");
    }
    sim_page_put(page, " takes another path at ");
    sim_page_put_step(page, at->step);
    sim_page_put(page, ", ");
    sim_words_put_place(page, &at->place);
    sim_page_put(page, cause->lost_only ? ", which it does not reach in the run that passes" : "");
    (void)sim__say_names(page, cause, 0, cause->lost_count, false, "; it goes through ");
    sim_page_put(page, ".");
}

/* The step is one of the run that passes. */
void
sim__say_elsewhere(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_cause *cause = &explanation->cause;
    const struct sim_location *at = &cause->at[cause->lost_count];
    if (cause->lost_count > 0) {
        put_lost(page, explanation);
        sim_page_put(page, " In the nearest run that passes it is done");
    } else {
        sim_words_put_who(&explanation->actor_table, page, sim__waiter(explanation));
        sim_page_put(page,
                " waits for something that is not done here. The nearest run that passes does it");
    }
    sim__say_place(page, cause, cause->lost_count, cause->at_count);
    sim_page_put(page, ", at its ");
    sim_page_put_step(page, at->step);
    if (at->part != SIM_PART_NONE) {
        sim_page_put(page, ", a step of ");
        sim_words_put_who(&explanation->passing_actor_table, page, at->part);
    }
    sim_page_put(page, ". With what it writes there in memory here too, ");
    sim_words_put_who(&explanation->actor_table, page, sim__waiter(explanation));
    sim_page_put(page, " would make progress.");
    if (cause->lost_count == 0 && sim__say_names(page, cause, 0, cause->at_count, true,
                                          " Here, before it blocks, it goes through ")) {
        sim_page_put(page, ".");
    }
}

/* What turned the visitor back, and who takes that away where all is well. */
static void
put_flag(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_attempted_wake *visited = &explanation->cause.attempted;
    if (visited->flag.step == 0) {
        return;
    }
    sim_page_put(page, " The value that makes it return was written at ");
    sim_page_put_step(page, visited->flag.step);
    sim_page_put(page, " by ");
    sim_words_put_who(&explanation->actor_table, page, visited->flag.part);
    sim_page_put(page, " ");
    sim_words_put_place(page, &visited->flag.place);
    sim_page_put(page, "; without it the wake is sent, as a replay shows");
    if (visited->clear.step != 0) {
        sim_page_put(page, ". In the nearest run that passes ");
        sim_words_put_who(&explanation->passing_actor_table, page, visited->clear.part);
        sim_page_put(page, " resets it before that, ");
        sim_words_put_place(page, &visited->clear.place);
        sim_page_put(page, ", at its ");
        sim_page_put_step(page, visited->clear.step);
    }
    sim_page_put(page, ".");
}

/* What became of a wake that was on its way to a loop. */
void
sim__say_attempted(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_attempted_wake *visited = &explanation->cause.attempted;
    if (!visited->known) {
        return;
    }
    if (visited->instead.part != SIM_PART_NONE) {
        sim_page_put(page, " In that step it wakes ");
        sim_words_put_who(&explanation->actor_table, page, visited->instead.part);
        sim_page_put(page, " instead");
        sim_page_put(page, visited->instead.place.function[0] != '\0' ? ", " : "");
        sim_words_put_place(page, &visited->instead.place);
        sim_page_put(page, ".");
    } else if (visited->at.step != 0) {
        sim_page_put(page, " It reaches ");
        sim_page_printf(page, "%s() (%s:%u)", visited->at.place.function,
                sim_place_file(&visited->at.place), (unsigned)visited->at.place.line);
        const struct sim_attempt *attempt = &explanation->attempt;
        if (attempt->has_beyond) {
            sim_page_put(page, " and returns there; in the nearest run that passes it continues, ");
            sim_words_put_place(page, &attempt->beyond);
            sim_page_put(page, ".");
        } else {
            sim_page_put(page,
                    " and returns there, where in the nearest run that passes a wake is sent.");
        }
        put_flag(page, explanation);
    }
}

/* Somebody changed what it had looked at, and told it nothing. */
void
sim__say_not_notified(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_cause *cause = &explanation->cause;
    sim_words_put_who(&explanation->actor_table, page, sim__waiter(explanation));
    sim__say_when(page, explanation, " is never woken:");
    sim_page_put(page, " changes what it checked before it blocked,");
    sim__say_at(page, cause);
    sim_page_put(page, ", and does not wake it. If it checked again, it would make progress.");
    sim__say_attempted(page, explanation);
}

/* Of a loop that sleeps on what it had looked at before. */
void
sim__say_falls_asleep(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_cause *cause = &explanation->cause;
    if (cause->by_counterfactual != SIM_COUNTERFACTUAL_DROPPED && !cause->by_attempt) {
        return;
    }
    sim_page_put(page, " Only at ");
    sim_page_put_step(page, (cause->by_attempt ? explanation->attempt.blocked_step
                                               : explanation->counterfactual.step));
    sim_page_put(page, " ");
    sim_words_put_who(&explanation->actor_table, page, sim__waiter(explanation));
    sim_page_put(page, " blocks");
    if (cause->blocked_at.place.function[0] != '\0') {
        sim_page_put(page, ", ");
        sim_words_put_place(page, &cause->blocked_at.place);
        sim_page_put(page, ",");
    }
    sim_page_put(page, " on what it had checked before, and does not check again.");
}

/* Who would wake a loop came before it slept. */
void
sim__say_met_nobody(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_cause *cause = &explanation->cause;
    const struct sim_attempt *attempt = &explanation->attempt;
    uint32_t part = sim__waiter(explanation);
    sim_page_put(page, "the wake of ");
    sim_words_put_who(&explanation->actor_table, page, part);
    sim__say_when(page, explanation, " comes too early:");
    sim_page_put(page, " tries to wake it");
    sim__say_at(page, cause);
    sim_page_put(page, ", and finds it not blocked.");
    sim__say_falls_asleep(page, explanation);
    sim_page_printf(page,
            " In the nearest run that passes it is blocked by then, and is woken at step %llu.",
            (unsigned long long)attempt->there_step);
}

/* A loop blocks although a wake for it had come. */
void
sim__say_blocked_on(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_cause *cause = &explanation->cause;
    sim_words_put_who(&explanation->actor_table, page, sim__waiter(explanation));
    sim_page_put(page, " blocks at ");
    sim_page_put_step(page, explanation->counterfactual.step);
    sim_page_put(page, " although it was woken before:");
    sim__say_when(page, explanation, "");
    sim_page_put(page, " wakes it");
    sim__say_at(page, cause);
    sim_page_put(page, ", and it does not check for that. Had its host returned with nothing, it "
                       "would have made progress.");
}

/* Who would wake it was turned away by a flag that it takes down too late. */
void
sim__say_turned_away(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_cause *cause = &explanation->cause;
    const struct sim_location *flag = &cause->at[cause->lost_count];
    sim__say_when(page, explanation, "the wake is dropped:");
    sim_page_put(page, " tries to wake ");
    sim_words_put_who(&explanation->actor_table, page, sim__waiter(explanation));
    sim__say_place(page, cause, 0, cause->lost_count);
    sim_page_put(page, ", and sends no wake, as a flag in memory says that it is awake or will be. "
                       "In the nearest run that passes ");
    sim_words_put_who(&explanation->actor_table, page, sim__waiter(explanation));
    sim_page_put(page, " clears that flag before,");
    sim__say_place(page, cause, cause->lost_count, cause->at_count);
    sim_page_put(page, ", at its ");
    sim_page_put_step(page, flag->step);
    sim_page_put(page, ". Had it done so here, it would be woken.");
}

/* A loop of the reader's fell asleep on something that its host had told it of before. */
void
sim__say_untaken(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_cause *cause = &explanation->cause;
    sim_words_put_who(&explanation->actor_table, page, sim__waiter(explanation));
    sim_page_put(page, " blocks at ");
    sim_page_put_step(page, sim_explanation_outcome(explanation)->missing_wake_step);
    sim_page_put(page, " with something not taken: its host has it ready, has reported it before, "
                       "and does not report it again. It was last");
    sim__say_at(page, cause);
    sim_page_put(page, ", and did not take all that was there.");
}

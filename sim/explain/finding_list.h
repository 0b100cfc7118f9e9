/*
 * finding_list.h -- the kinds of findings, and the text of each: see finding.c for the holes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

/* clang-format off */
#define SIM_FINDING_LIST(X) \
    SIM_FINDING_JOINTS(X) \
    SIM_FINDING_CAUSES(X) \
    SIM_FINDING_FATES(X) \
    SIM_FINDING_DECISIONS(X) \
    SIM_FINDING_ORDERS(X) \
    SIM_FINDING_HEADLINES(X) \
    SIM_FINDING_WAKES(X) \
    SIM_FINDING_CLUES(X) \
    SIM_FINDING_REASONS(X) \
    SIM_FINDING_DEADLOCKS(X) \
    SIM_FINDING_VERDICTS(X)

/* Between others. */
#define SIM_FINDING_JOINTS(X) \
    X(END, " ") /* Of a paragraph. */ \
    X(TEXT, "{text}") \
    X(STOP, ".") \
    X(COMMA, ",") \
    X(SEMICOLON, ";") \
    X(NEXT, "; ") \
    X(NUMBER, "{number}") \
    X(DURATION, "{duration}") \
    X(ALSO, ", {other}")

/* `explain`: the cause. {at} is where it goes wrong. */
#define SIM_FINDING_CAUSES(X) \
    X(REPLACED, "the waker of {actor} is lost: {when} puts another into its place[ {path}].") \
    X(ERASED, "the waker of {actor} is lost: {when} empties its place without waking[ {path}].") \
    X(DROPPED, "the waker of {actor} is lost: {when} drops it without waking[ {path}].") \
    X(STORED, "[ It had stored its waker {then.in} at {then.at.step}.]") \
    X(PAST, "the wake of {actor} goes past {own}: at {at.step} its own waker is stored[ {path}], " \
            "where that of {own} should be. Polled after that wake, {own} polls no child that " \
            "was not reported to it.") \
    X(UNARMED, "{actor} blocks[ at {step}] with something left to do") \
    X(UNARMED_NOTHING, ", and arranges for no wake") \
    X(UNARMED_PASSING, ": it does not start the timer, or store the waker, {place}, as it does " \
            "in that turn of the nearest run that passes (step {number} of that run).[ Here it " \
            "goes through {passed}.]") \
    X(UNARMED_LAST, ". In that step it is last[ {lines}].") \
    X(ASKS_NO_MORE, "{actor} blocks at {at.step} and does not ask its host again: its last line " \
            "is[ {path}]. Then {other} is ready, at {step}, and {text}.") \
    X(TIMER_STOPPED, "{actor} waits for {own}, which does not run: its waker is stored[ {path}], " \
            "and the timer is not started for that wait.") \
    X(NOWHERE, "{actor} is blocked, and neither its waker nor a deadline is where it would be " \
            "woken. It should have been put there[ {path}].") \
    X(UNHEARD, "[ At {then.at.step} {then.at.actor} wakes a slot for it {then.in}, and no " \
               "waker is stored there.]") \
    X(UNREGISTERED, "{actor} is blocked, and does not ask its host for what it waits for. In the " \
            "nearest run that passes it does, {place}, before it blocks; here that call is not " \
            "made.[ In its last step it goes through {passed}.]") \
    X(TIMER_UNARMED, "{actor} is blocked, and its timer {named} is not armed. Once it is armed " \
            "again, it makes progress.") \
    X(ONESHOT, "{actor} is blocked, and {named} has an event for it that its host does not " \
            "report: it asks for that with SIM_FD_ONESHOT, once") \
    X(ONESHOT_SEEN, ", got it reported at {at.step}, went through {call}") \
    X(AND_CALLERS, "[ and {callers}]") \
    X(ONESHOT_THEN, " then") \
    X(ONESHOT_AGAIN, ", and has not asked for it again since (sim_fd_modify). Once it asks " \
            "again, it gets the report and makes progress.") \
    X(LEFT, "{actor} blocks at {step} with something left to do: at {then.at.step} " \
            "{then.at.actor} writes what it waits for, {then.in}; its host reports it at " \
            "{at.step}, goes through {call}[ and {callers}], and blocks without having taken " \
            "all. With one more report it would make progress.") \
    X(UNTAKEN, "{actor} is blocked, and makes progress in a replay in which its host reports " \
            "all that it asked for once more. Before it blocked it was last[ {path}].") \
    X(OVERDUE, "{actor} is not woken: {own} is due, and is not fired[ at {at.step}] {place}, " \
            "where timers are fired.[ There {at.actor} goes through {passed}.]") \
    X(NO_LINE_FOR_WAKE, "{actor} could make progress, and is not woken; no line is on record for " \
            "that (a library records its lines when it is built with the flags of pkg-config " \
            "rewake).") \
    X(NOT_WOKEN, "{actor} is not woken: ") \
    X(NOT_WOKEN_IN_TIME, "{actor} is not woken in time: ") \
    X(MAKES_POSSIBLE, "{when} makes progress possible for it, {place}, and fires nothing for it " \
            "there.") \
    X(SHOULD_WAKE, "{when} should have woken it, {place}, and did not") \
    X(SENDS_NONE, "no wake is sent {place}[, at {at.step}].") \
    X(THERE_WAKES, ": there it wakes {other}") \
    X(PASSING_WAKES, "{actor} is not woken[ after {step}]. In the nearest run that passes it is, " \
            "{place}, at {at.there}[, a step of {at.passing}].") \
    X(STEP_PASSED, "[ In that step it goes through {passed}.]") \
    X(LOST_GIVEN, "{at.actor} is given at {then.at.step} what {actor} waits for, by " \
            "{then.at.actor} {then.in}, and does not pass it on: it") \
    X(LOST_NOT_DONE, "{at.actor} does not do what {actor} waits for: it") \
    X(LOST_PATH, " takes another path at {at.step}, {in}") \
    X(LOST_ONLY, ", which it does not reach in the run that passes") \
    X(LOST_CALLERS, "[; it goes through {callers}].") \
    X(PASSING_DOES, " In the nearest run that passes it is done") \
    X(NOT_DONE, "{actor} waits for something that is not done here. The nearest run that passes " \
            "does it") \
    X(DONE_AT, " {place}, at {at.there}[, a step of {at.passing}]. With what it writes there " \
            "in memory here too, {actor} would make progress.") \
    X(BLOCK_PASSED, "[ Here, before it blocks, it goes through {passed}.]") \
    X(UNREPORTED, "{actor} is not woken: {when} changes what it checked before it blocked,[ " \
            "{path}], and does not wake it. If it checked again, it would make progress.") \
    X(WAKES_INSTEAD, " In that step it wakes {at.actor} instead[, {in}].") \
    X(REACHES, " It reaches {call} and returns there") \
    X(REACHES_PASSING, "; in the nearest run that passes it continues, {in}.") \
    X(REACHES_WAKE, ", where in the nearest run that passes a wake is sent.") \
    X(FLAG, " The value that makes it return was written at {at.step} by {at.actor} {in}; " \
            "without it the wake is sent, as a replay shows") \
    X(FLAG_CLEARED, ". In the nearest run that passes {at.passing} resets it before that, {in}, " \
            "at {at.there}") \
    X(BLOCKS_ON_OLD, " Only at {step} {actor} blocks[, {then.in},] on what it had checked " \
            "before, and does not check again.") \
    X(EARLY_WRITE, "what {actor} waits for comes too early: {when} writes it[ {path}]") \
    X(NO_WAKER_YET, ", where no waker is stored yet.") \
    X(NO_WAITER_YET, ", before it blocks, so there is no waiter to wake yet.") \
    X(EARLY_FIRE, "the wake comes too early: {when} fires it[ {path}], when no waiter is " \
            "registered yet.") \
    X(EARLY_SENT, "the wake comes too early: {other} sends it at {step}, when no waiter is " \
            "registered yet.") \
    X(STORED_AFTER, "[ Only afterwards {actor} stores its waker {then.in} at {then.at.step}, and " \
            "does not check again.]") \
    X(OVERWRITTEN, "what {actor} waits for arrived, and is lost: at {then.at.step} " \
            "{then.at.actor} writes it {then.in}, and {when} overwrites it[ {path}]") \
    X(OVERWRITTEN_ITSELF, ", as it blocks; were it still there, {actor} would make progress.") \
    X(OVERWRITTEN_UNREAD, ". No step between reads it; were it still there, {actor} would make " \
            "progress.") \
    X(RESET, "what {actor} waits for came, and went before it looked: {when} writes it[, {in},]") \
    X(RESET_BY, " and at {at.step} {at.actor} overwrites it[, {in}].") \
    X(RESET_READ, " Only at {at.step} {at.actor} looks[, {in}].") \
    X(RESET_TRIED, " With its condition there decided the other way, and nothing else changed, " \
            "it passes, as a replay shows.") \
    X(DISCARDED_WRITE, "what {at.actor} writes at {at.step}, {in}, is lost:") \
    X(DISCARDED, "what {at.actor} adds to {text} at {at.step}, {in}, is lost:") \
    X(DISCARDED_BY, " at {at.step} {at.actor} overwrites it, {in}, and no line reads it between. " \
            "With that write left out, and nothing else changed, it passes, as a replay shows.") \
    X(MARKED, "what {actor} waits for came, and was taken for seen: {when} writes it[, {in},]") \
    X(MARKED_BY, " and at {at.step} {at.actor} copies that[, {in}].") \
    X(MARKED_READ, " As both are equal then, it finds nothing new[, {in}].") \
    X(CALLED_BEFORE, " Right before it overwrote it, {function} had called {then.call}.") \
    X(BLOCKS_WOKEN, "{actor} blocks at {step} although it was woken before: {when} wakes it[ " \
            "{path}], and it does not check for that. Had its host returned with nothing, it " \
            "would have made progress.") \
    X(TURNED_AWAY, "the wake is dropped: {when} tries to wake {actor} {place}, and sends no " \
            "wake, as a flag in memory says that it is awake or will be. In the nearest run that " \
            "passes {actor} clears that flag before, {then.place}, at {then.at.there}" \
            ". Had it done so here, it would be woken.") \
    X(COALESCED, "the wake of {actor} is sent, and dropped: {when} sends it[ " \
            "{path}]") \
    X(NO_POLL, ", and no poll of it follows.") \
    X(POLL_MISSED, ", and the poll that followed has not seen it.") \
    X(LOOP_NOT_WOKEN, "{actor} is woken, and {other}, the loop that should poll it, is not: at " \
            "{at.step} {at.actor} gives it something to do, {place}, and it stays blocked.") \
    X(LOOP_SLEEPS, "{actor} is woken at {step}, and {other}, the loop that should poll it, " \
            "blocks without doing so.") \
    X(UNPOLLED_LOST, "{actor} is woken, and not polled: {then.at.actor} notes that it is to be " \
            "polled {then.in}, at {then.at.step}, and {when} overwrites that[ {path}], before it " \
            "is read. Were it still there, {other} would poll {actor}, as a replay shows.") \
    X(UNPOLLED_TAKEN, "{actor} is woken at {then.at.step}[, {then.in},] and {other} blocks at " \
            "{step} without polling it: {when} took the notification of that wake[ {path}]. " \
            "Had its host returned with nothing, it " \
            "would have polled {actor}, as a replay shows.") \
    X(UNPOLLED_LEFT, "{actor} is woken at {then.at.step}[, {then.in},] and {other} blocks at " \
            "{step} without polling it,[ {path}]: it does not look for woken tasks once more " \
            "before it blocks, and is not notified. Had its host returned with nothing, it would " \
            "have polled {actor}, as a replay shows.") \
    X(POLLER, "[ It was being polled by {call} then, which should have polled it once more.]") \
    X(HELD_BY, "{actor} waits for {own}[, {line}], which {other} took at {step}[ {in}]") \
    X(HELD_BY_ITSELF, "{actor} waits for {own}[, {line}], which it took itself at {step}[ {in}]") \
    X(HELD_TO_END, "{actor} waits for {other} to end[, {line}]") \
    X(HELD_FULL, "{actor} waits for space in {own}[, {line}], from which {other} alone takes") \
    X(HELD_FULL_CIRCLE, ": none of them can go first. Take what is there before more is sent, or " \
            "make room for all of it.") \
    X(HELD_BEHIND, "; {other} waits for it since {step}[, {line}], and goes before it") \
    X(HELD_JOINED, ": none of them can go first. Give it back before waiting for the end.") \
    X(HELD_IN_CIRCLE, " and has not given back") \
    X(HELD_CIRCLE, ": none of them can go first. Take them in one order everywhere, or give one " \
            "back before waiting for the next.") \
    X(HELD_ENDED, " and did not give back before it ended.") \
    X(HELD_THROUGH, " In its last step it goes through {call}") \
    X(HANDED, "{actor} waits for {other} to answer {own}, sent at {step}[, {line}]") \
    X(HANDED_OPEN, "; it is never answered.") \
    X(HANDED_THROUGH, " In the turns after that {other} goes through {call}") \
    X(NO_WAKE_MISSING, "no missing wake was found") \
    X(NO_LINE, ", and the record names no line.") \
    X(WAS_LAST, "{at.actor} was last {place}[, after {passed}]") \
    X(IS_BLOCKED, "{at.actor} is blocked {place}[, after {passed}]") \
    X(MERGED, " The last turn of {other}, at {step}, answers more than one wake: at {at.step} " \
            "{at.actor} woke it too, {in}, when it was awake already. If that turn handled the " \
            "first only, what the other was for is lost.") \
    X(MEANWHILE, " Meanwhile ") \
    X(WAITS_SINCE, "{other} waits for {text} since {step}[, {line}]") \
    X(MEANWHILE_END, ", and no actor that runs wakes it.") \
    X(IN_THE_END, " In the end ") \
    X(RUN_LOOPS, "the run loops[ {path}].") \
    X(OTHERS_RUN, "the others run[ {path}].") \
    X(STEP_SPINS, "the step spins[ {path}].") \
    X(GOES_WRONG, "it goes wrong[ {path}].")

/* `explain`: what became of the wake that the nearest run that passes has. */
#define SIM_FINDING_FATES(X) \
    X(UNNOTIFIED_SPENT, "{actor} is not notified that {own} is ready: it is armed for one " \
            "report, by {phrase} of {at.actor} at {at.step}[, {in}][, called from {from}], " \
            "and not again.") \
    X(UNNOTIFIED_EDGE, "{actor} is not notified that {own} has more to read: it is " \
            "edge-triggered, by {phrase} of {at.actor} at {at.step}[, {in}][, called from " \
            "{from}], and what was left before is not reported again.") \
    X(UNNOTIFIED_TIMER, "{actor} waits for {own}, which is not armed: the last call is " \
            "{phrase} of {at.actor} at {at.step}[, {in}][, called from {from}].") \
    X(UNNOTIFIED_UNASKED, "{actor} does not ask for what {own} is ready for: the last call is " \
            "{phrase} of {at.actor} at {at.step}[, {in}][, called from {from}].") \
    X(UNNOTIFIED_COUNTED, "{actor} gets one report for {number} {text} {own}: {phrase} of " \
            "{at.actor} at {at.step}[, {in}][, called from {from}],") \
    X(UNNOTIFIED_BEFORE, " comes when that of {at.actor} at {at.step}[, {in},] is not read yet.") \
    X(UNNOTIFIED_TAKEN, " {at.actor} takes them as one at {at.step}[, {in}][, called from " \
            "{from}], and blocks with something left.") \
    X(UNNOTIFIED_PUSHED, "{actor} waits for what was never handed over: {phrase} of {at.actor} " \
            "at {at.step}[, {in}][, called from {from}], is not followed by an enter().") \
    X(UNNOTIFIED_SET_ASIDE, "{number} completion{s} of {own} wait outside of its queue, which " \
            "was full at {at.step}: an enter() alone moves them into it, and none follows.") \
    X(UNNOTIFIED_REAPED, " The last call that reaps is {phrase} of {at.actor} at {at.step}[, " \
            "{in}][, called from {from}].") \
    X(UNNOTIFIED_LAST_ENTER, " The last one is {phrase} of {at.actor} at {at.step}[, {in}].") \
    X(UNNOTIFIED_UNDOES, " That undoes {phrase} of {at.actor} at {at.step}[, {in}].") \
    X(UNNOTIFIED_REPORTED, " The report goes to {at.actor} at {at.step}[, {in}].") \
    X(UNNOTIFIED_DROPPED, " {other} does not read it, and drops the report.") \
    X(UNNOTIFIED_LAST_CALL, " {phrase} of {at.actor} at {at.step}[, {in}][, called from " \
            "{from}], is the last that is done with it") \
    X(UNNOTIFIED_LAST, " The last that is done with it is that {at.actor} {phrase} at " \
            "{at.step}[, {in}]") \
    X(UNNOTIFIED_LEAVES, ", and leaves {number} {text}{s}") \
    X(UNNOTIFIED_FULL, " {phrase} of {at.actor} at {at.step}[, {in}], has to wait for space, " \
            "which is not asked for.") \
    X(UNNOTIFIED_UNWATCHED, "{actor} leaves something in {own}, and no actor waits for that any " \
            "more.") \
    X(UNNOTIFIED_UNWATCHED_MUCH, "{actor} leaves {number} {text}{s} in {own}, and no actor waits " \
            "for that any more.") \
    X(UNNOTIFIED_ASKED, " The last call that asks for it is {phrase} of {at.actor} at " \
            "{at.step}[, {in}][, called from {from}]") \
    X(UNNOTIFIED_UNDONE, ", and {phrase} of {at.actor} at {at.step}[, {in}][, called from " \
            "{from}], undoes that") \
    X(UNNOTIFIED_TWICE, "{actor} blocks with something left: with one more report of {own} in a " \
            "replay, it makes progress. What notifies it is read in two places: {phrase} of " \
            "{at.actor} at {at.step}[, {in}][, called from {from}],") \
    X(UNNOTIFIED_THERE, " takes it last, and before that {phrase} at {at.step}[, {in}][, called " \
            "from {from}]. What the one place takes, the other waits for.") \
    X(UNNOTIFIED_UNUSED, " The last report of it goes to {at.actor} at {at.step}[, {in}], and it " \
            "is not read then.") \
    X(OMITTED, " At {at.step} {at.actor} does not go on with it, {in}") \
    X(OMITTED_NEITHER, " Then it does not go on with it either.") \
    X(OMITTED_PASSES, " With that decided the other way, and nothing else changed, the run " \
            "passes, as a replay shows.") \
    X(OMITTED_READS, " With that decided the other way, and nothing else changed, it is read on, " \
            "as a replay shows.") \
    X(UNNOTIFIED_TRIED, " Notified in a replay, {actor} makes progress.") \
    X(UNNOTIFIED_ARMED, " With the timer armed in a replay, {actor} makes progress.") \
    X(UNNOTIFIED_REPEATED, " With a report for each in a replay, {actor} makes progress.") \
    X(UNNOTIFIED_ENTERED, " With an enter() in a replay, {actor} makes progress.") \
    X(REFUSED, "at {at.step} a call of {at.actor} is refused, as there is no space[, {in}]: " \
            "{object} is not taken, and the call is not made again. In the nearest run that " \
            "passes it is not refused, or is made again.") \
    X(REFUSED_PUSH, "{phrase} of {at.actor} at {at.step}[, {in}][, called from {from}], is " \
            "refused, as the queue is full, and is not made again. In the nearest run that " \
            "passes it is not refused, or is made again.") \
    X(REFUSED_FULL, "at {at.step} {object} is full and refuses what {at.actor} puts in[, {in}], " \
            "and that is not put in again. In the nearest run that passes it is not refused, or " \
            "is put in again.") \
    X(POSTED, "the event that {at.actor} posts at {at.step}[, {in}], reaches no subscriber, and " \
            "is gone.") \
    X(EMPTY, "the wake that {at.actor} sends at {at.step}[, {in}], reaches no waiter") \
    X(EMPTY_SINCE, ": at {at.step} {at.actor} erased the waker of {other} that was there[, " \
            "{in}].") \
    X(EMPTY_OWN, ": at {at.step} {at.actor} erased its own waker that was there[, {in}].") \
    X(UNLISTENED, " {at.actor} ended its subscription before, at {at.step}[, {in}]") \
    X(LISTENS_LATE, ", and {at.actor} subscribes again only at {at.step}[, {in}].") \
    X(MERGES, "two notifications become one: {at.actor} notifies at {at.step}[, {in}]") \
    X(MERGES_BEFORE, ", when that of {at.actor} at {at.step}[, {in},] is not taken yet.") \
    X(MERGES_TAKEN, " {at.actor} takes it once, at {at.step}[, {in}]: what the other was for is " \
            "left. In the nearest run that passes fewer become one.") \
    X(UNCANCELLED, "{at.actor} waits for an operation that does not end, and that no cancel is " \
            "for: {phrase} at {at.step}[, {in}][, called from {callers}].") \
    X(CANCEL_BEFORE, " The cancel was pushed before that, {phrase} at {at.step}[, {in}][, called " \
            "from {callers}]") \
    X(CANCEL_ENDED, ", and ends with {phrase} at {at.step}") \
    X(LEAVES, "{at.actor} takes one thing from {own} at {at.step}[, {in}], and leaves {number} " \
            "in there as it stops; it gets no other wake for that.") \
    X(LEFT_BEFORE, " It was woken once for two: {at.actor} puts one in at {at.step}[, {in}],") \
    X(LEFT_SECOND, " and {at.actor} another one at {at.step}[, {in}], before the first is taken.") \
    X(FATE_EARLY, "{actor} misses its wake: {at.actor} sends it at {at.step}, {in}, and {actor} " \
            "begins to wait for {wait} only at {then.at.step}[, {then.in}]; nothing wakes it " \
            "after that.") \
    X(FATE_TAKEN, "the wake of {actor} goes to another: at {at.step} {at.actor}[, {in},] wakes " \
            "{other}, which waits for {wait} too, and not {actor}, which has waited[ {then.in}] " \
            "since {then.at.step}.") \
    X(FATE_HANDED, "what {actor} waits for goes to another: at {at.step} {at.actor}[, {in},] " \
            "wakes {other}, which waits for {wait} as {actor} does[, {then.in}], since " \
            "{then.at.step}.") \
    X(FATE_AGAIN, " {other} waits again at {at.step}[, {in}]") \
    X(FATE_NO_OTHER, ", and wakes no other.") \
    X(FATE_CANCELLED, " {other} is cancelled at {at.step}[, {in}], before it has used what it " \
            "was given, and that is not passed on to {actor}.") \
    X(FATE_KEPT, " {other} continues from its wait[ {in}], and does not wake {actor} in its " \
            "turn.") \
    X(FATE_SWALLOWED, "{at.actor} makes the call {in} at {at.step}, by which {actor} is woken in " \
            "runs that pass. Here {actor} waits[ {then.in}] since {then.at.step}, and is not " \
            "woken.") \
    X(FATE_MERGED, "{at.actor} makes the call {in} at {at.step}, by which {actor} is woken in " \
            "runs that pass. Here it notifies no one,") \
    X(FATE_MERGED_BEFORE, " as what {at.actor} has written at {at.step}[, {in},] is not taken " \
            "yet. {actor} takes one for both at {step}, and waits[ {then.in}] since " \
            "{then.at.step}, with something left.") \
    X(FATE_WAY, " Unlike all that are woken there in runs that pass, at {at.step} {at.actor} " \
            "leaves the function by the condition {in}.") \
    X(FATE_WAY_TO, " Unlike all that are woken there in runs that pass, at {at.step} {at.actor} " \
            "goes to line {number} from the condition {in}.") \
    X(FATE_RUNS_WAKE, "{actor} waits[ {then.in}] since {then.at.step}. In runs that pass it is " \
            "woken {in}") \
    X(FATE_NOT_REACHED, "{actor} waits[ {then.in}] since {then.at.step}. In the nearest run that " \
            "passes {at.passing} ") \
    X(FATE_PASSING_WAKES, "wakes it {in}") \
    X(FATE_PASSING_WAKES_AFTER, "wakes it after {call}") \
    X(FATE_PASSING_WRITES, "writes what {actor} reads, {in}") \
    X(FATE_LAST_TIME, "; here it was there for the last time at {step}.") \
    X(FATE_ELSEWHERE, "; here {at.actor} goes another way at {step}, {in}[: {source}].") \
    X(FATE_NOT_SO, "; here it does not.") \
    X(FATE_SKIPPED, "At {at.step} {at.actor} decides otherwise than in the nearest run that " \
            "passes, {in}[, and does not come to {then.call}].") \
    X(FATE_STANDS, "{actor} waits[ {in}] since {at.step}.") \
    X(FATE_RAISED, " {at.actor} has raised it at {at.step}[, {in}]") \
    X(FATE_RAISED_TOO, ", and {at.actor} at {at.step}[, {in}]") \
    X(FATE_RAISED_WAIT, ": each of them waits, and none takes that back.") \
    X(FATE_RETURNED, ", as it did at {at.step}[, {in}].") \
    X(FATE_RETURNED_BY, " In between it was changed {number} times, last by {at.actor} at " \
            "{at.step}[, {in}], and is the same again: what has come is not seen.") \
    X(FATE_READ, " At {at.step} {at.actor} reads {text} {in}") \
    X(FATE_VALUE, ": {text}") \
    X(FATE_READ_ELSE, "; in the run that passes it reads something else") \
    X(FATE_WRITTEN, "[, which {at.actor} wrote at {at.step}, {in}]") \
    X(FATE_READ_PASSING, "; in the run that passes it reads {text}") \
    X(FATE_WRITTEN_PASSING, "[, which {at.passing} writes {in}]") \
    X(FATE_LATER, ", here only at {step}") \
    X(FATE_EARLIER, ", here before that, at {step}") \
    X(FATE_NEVER, ", and not here after that") \
    X(FATE_CONDITION, " The two runs part at {at.step}, where {at.actor} decides otherwise {in}.") \
    X(FATE_DECIDED, " At {at.step} {at.actor} decides {in} otherwise than there.") \
    X(STALE_READ, " At {at.step} {at.actor} reads a pointer {in}") \
    X(STALE_CHANGED, ". {at.actor} changes it after that, at {at.step}[, {in}]") \
    X(STALE_USED, ", and at {at.step} {at.actor} writes what it has made of the old value[, " \
            "{in}].") \
    X(ROUND, " Each round goes through {call}") \
    X(ROUND_ALSO, ", {call}") \
    X(ROUND_RESULT, ", where the call returns {text}") \
    X(FILLED, " That is what the call at {at.step} has put there, {in}: it returns {text}") \
    X(FILLED_THERE, ", and {text} in the run that passes.") \
    X(LED, " There a call of {at.passing} leads to that, {in}") \
    X(LED_LATE, "; here it comes to that only at {at.step}, when the call {then.in} has " \
            "returned, at {then.at.step}.") \
    X(LED_RESULT, "; here that call, at {at.step}, returns {text}") \
    X(LED_PASSING_RESULT, ", and there {text}.") \
    X(UNUSUAL, "Unlike {number} runs that pass") \
    X(UNUSUAL_FAILING, ", like {number} other failing run{s}") \
    X(UNUSUAL_MORE, "More often than {number} runs that pass") \
    X(UNUSUAL_NOT_ALL, " (in {number} of the {limit} that fail") \
    X(UNUSUAL_AND_ALSO, ", and in {number} of the {limit})") \
    X(UNUSUAL_ALSO, " (in {number} of the {limit}, too)") \
    X(UNUSUAL_BRANCH, "{when} leaves the function by the condition {in}") \
    X(UNUSUAL_BRANCH_TO, "{when} goes to line {number} from the condition {in}") \
    X(UNUSUAL_WITHIN, "{when} goes another way within what is called in {call}") \
    X(UNUSUAL_READ, "{when} reads what {then.at.actor} wrote[ at {then.at.step}] in " \
            "{then.call}, {in}") \
    X(UNUSUAL_OVERWRITTEN, "{when} overwrites what {then.at.actor} wrote[ at {then.at.step}] in " \
            "{then.call}, {in}") \
    X(UNUSUAL_LOST, "{when} overwrites in {call} what {then.at.actor} wrote[ at {then.at.step}] " \
            "in {then.call}, and has not seen that") \
    X(UNUSUAL_STALE, "{when} comes to {call} and has not seen what {then.at.actor} changed[ at " \
            "{then.at.step}] in {then.call}") \
    X(UNUSUAL_STALE_READ, ": it read that last[ at {at.step}] in {call}") \
    X(UNUSUAL_OUTDATED, "{when} uses in {call} what {then.at.actor} read[ at {then.at.step}] in " \
            "{then.call}") \
    X(UNUSUAL_MERGED, "what {at.actor} sends[ at {at.step}] in {call} is one with what was sent " \
            "before, which is still pending") \
    X(UNUSUAL_OVERTAKES, "what {at.actor} begins[ at {at.step}] in {call} ends before what " \
            "{then.at.actor} began[ at {then.at.step}] in {then.call}, with the same descriptor") \
    X(UNUSUAL_NOT_CANCELLED, "the cancel by {at.actor}[ at {at.step}] in {call} comes too late: " \
            "what was begun[ at {then.at.step}] in {then.call} has succeeded") \
    X(UNUSUAL_ASKED_AGAIN, "{when} uses in {call} the answer to what it wrote" \
            "[ at {then.at.step}] in {then.call}") \
    X(UNUSUAL_ASKED_AGAIN_SINCE, ", and has written the next one since[, at {at.step}] in {call}") \
    X(UNUSUAL_REUSED, "{when} uses in {call} what {then.at.actor} referred to[ at " \
            "{then.at.step}] in {then.call}") \
    X(UNUSUAL_REUSED_SINCE, ", but {at.actor} has filled that again[ at {at.step}] in {call}: it " \
            "stands for something else by then") \
    X(UNUSUAL_OUTDATED_SINCE, ", and {at.actor} has changed that[ at {at.step}] in {call}") \
    X(UNUSUAL_UNREAD, "what {at.actor} writes[ at {at.step}] in {call} is never seen by " \
            "{then.at.actor}, which looked last[ at {then.at.step}] in {then.call}") \
    X(UNUSUAL_WHILE, "{when} comes to {call} while {then.at.actor} is at {then.call}") \
    X(GUARD, " That follows from one condition, at {at.step} {in}") \
    X(GUARD_READ, ": {at.actor} reads {text}") \
    X(GUARD_READ_IN, ": {at.actor} reads {text} {in}") \
    X(OUTDATED, "; that is a copy of what {at.actor} changes at {at.step}[, {in}]") \
    X(GUARD_AFTER, "; {at.actor} changes that only at {at.step}[, {in}]") \
    X(FATE_TRIED, " With the condition {in} decided the other way, and nothing else changed, it " \
            "passes, as a replay shows.") \
    X(GUARD_TRIED_ONWARD, " With that decided the other way from then on, and nothing else " \
            "changed, it passes, as a replay shows.") \
    X(FATE_TRIED_THERE, " With that decided the other way, and nothing else changed, it passes, " \
            "as a replay shows.") \
    X(FATE_TRIED_TIMES, " With that decided the other way these {number} times, and nothing else " \
            "changed, it passes, as a replay shows.")

/* `explain`: what decides between the run and the nearest that passes. */
#define SIM_FINDING_DECISIONS(X) \
    X(UNTRIED_HANG, "Whether another decision avoids it was not tried: each run of a hang takes " \
            "its full time limit.") \
    X(NO_PASSING, "What decides is not known: no run that passes was found") \
    X(NO_PASSING_UNDONE, " by undoing one or two of its decisions") \
    X(NO_PASSING_NOR, ", nor") \
    X(NO_PASSING_RANDOM, " among {number} random run{s} with its options") \
    X(BASELINE_FAILS, "It fails on the default schedule. It passes when ") \
    X(BASELINE_ALONE, "It fails on the default schedule.") \
    X(DECIDES, "It fails when ") \
    X(HERE_IT_IS, "; here it is ") \
    X(PASSES_WITH, "; it passes with ") \
    X(PASSES_WHEN, "; it passes when ") \
    X(FORMER_FAILS, ". With what follows drawn at random, {number} of {limit} runs fail after " \
            "the failing choice") \
    X(FORMER_OTHERWISE, " ({number} of them with another verdict)") \
    X(LATTER_FAILS, ", {number} of {limit} after the passing one.") \
    X(HELD_AT, "At {at.step} {at.actor} stands {in}[, called from {from}], and continues only " \
            "at {step}.") \
    X(HELD_FOREVER, "At {at.step} {at.actor} stands {in}[, called from {from}], and does not " \
            "continue.") \
    X(WOKEN_FOR_NOTHING, "At {at.step} {at.actor} is woken for nothing, as may happen at any " \
            "time, {in}[, called from {from}]: without that it passes.") \
    X(MEANWHILE_CHANGE, " Meanwhile {at.actor} changes at {at.step}, {in}") \
    X(MEANWHILE_READ, ", what {at.actor} had read at {at.step}, {in}") \
    X(MEANWHILE_READS, ", what {at.actor} reads next at {at.step}, {in}") \
    X(MEANWHILE_USED, ", and uses again at {at.step}, {in}") \
    X(INCOMPLETE_TIME, "This is incomplete: {number} ms of real time were used up while ") \
    X(INCOMPLETE_STEPS, "This is incomplete: the budget of {number} replayed steps was used up " \
            "while ") \
    X(MORE_TIME, "; --time {number}s asks for more. ") \
    X(NEEDED, "Of the {number} decisions in which the failure differs from the baseline run it " \
            "needs {limit}; the run below has no others.") \
    X(CHOICE_RUN, "{other} runs before {actor}, the {nth} time that {actor} is next in the run " \
            "queue") \
    X(CHOICE_SLOW_STEP, "{step}, of {actor}, lasts {text}") \
    X(CHOICE_SLOW, "the {nth} step of {actor} that may take longer lasts {text}") \
    X(CHOICE_LATE, "the host reports {actor} late, the {nth} time that this may be") \
    X(CHOICE_SPURIOUS, "{actor} is woken, or reported to, for nothing, the {nth} time that this " \
            "may be") \
    X(CHOICE_SWITCH_CALL, "{actor} {phrase} at {step}") \
    X(CHOICE_SWITCH, "at its {nth} call of the host before which it may give way, {actor} does") \
    X(CHOICE_SETUP, "the {nth} number that the scenario draws while it is set up (sim_pick, " \
            "sim_range) is ") \
    X(CHOICE_OF, "at the {nth} choice \"{text}\" of {actor} ") \
    X(CHOICE_LATENCY, "how long the host takes for it is ") \
    X(CHOICE_SUBSET, "a poll of the host reports not all that is ready: ") \
    X(CHOICE_ORDER, "what is ready is reported in another order: ") \
    X(CHOICE_LENGTH, "fewer bytes are moved than could be: ") \
    X(CHOICE_FAULT, "a fault is injected: ") \
    X(CHOICE_CALL, "the call {phrase} of {actor}[ at {site}]") \
    X(CHOICE_USER, "the number that it draws (sim_pick, sim_range) is ") \
    X(CHOICE_FREEDOM, "the runtime takes another of its paths: ") \
    X(CHOICE_OTHER, "it is ") \
    X(ALTERNATIVE, "alternative {number} of {limit} and not the first") \
    X(DEFAULT_RUN, "{actor} runs first") \
    X(DEFAULT_SLOW, "that step takes no longer") \
    X(DEFAULT_SWITCH, "{actor} does not give way") \
    X(DEFAULT_NOT, "that is not so") \
    X(DEFAULT_FIRST, "it is the first") \
    X(DRAWN, "{actor} draws the number {number}") \
    X(DRAWN_SETUP, "the scenario draws the number {number}") \
    X(DRAWN_LATENCY, "the host takes {duration} for {actor}") \
    X(DRAWN_BYTE, "{number} byte is moved for {actor}") \
    X(DRAWN_BYTES, "{number} bytes are moved for {actor}") \
    X(DRAWN_RANGE, "[ at {step}][ {in}], out of {number} to {limit}") \
    X(DRAWN_TIMES, "[ at {step}][ {in}], out of {duration} to {due}") \
    X(DRAWN_NTH, ", as the {nth} that it draws")

/* `explain`: two events whose order decides. */
#define SIM_FINDING_ORDERS(X) \
    X(ORDER_DECIDES, "The order that decides: ") \
    X(ORDER_EVENT, "{at.actor}[ {phrase}] [{in}]") \
    X(ORDER_BEFORE, " before ") \
    X(ORDER_PASSING, "; in the run that passes it is the other way round. With these two " \
            "exchanged and nothing else, it passes.")

/* The first sentence about a run. */
#define SIM_FINDING_HEADLINES(X) \
    X(VERDICT, "{text}: ") \
    X(HEAD_PASS, "all work was done, in {limit} steps and {duration}.") \
    X(HEAD_LOST, "{actor} is blocked forever although it could make progress: ") \
    X(HEAD_LOST_ROUNDS, "{actor} is blocked forever although it could finish: ") \
    X(HEAD_LATE_POLL, "{actor} was polled too late: ") \
    X(HEAD_LATE_WAKE, "{actor} was woken too late: ") \
    X(WAITS_POLL, "it waits for its next poll") \
    X(WAITS, "it waits for {wait}") \
    X(WAITS_OBJECT, "it waits for {wanted}") \
    X(SINCE, " since {time}") \
    X(WAS_THERE, ", when it could already make progress") \
    X(COULD_AFTER, ", could have made progress after {time}") \
    X(WOKE_ITSELF, ", woke itself at {time}") \
    X(WAS_WOKEN, ", was woken at {time}") \
    X(NEVER_POLLED, " and was never polled after that.") \
    X(NEVER_WOKEN, " and was never woken.") \
    X(STILL_BLOCKED, " and was still blocked when nothing could run, at {time}.") \
    X(NO_RECOVERY, "the run does not recover: {text}.") \
    X(NO_PROGRESS, "the run makes no progress: {text}.") \
    X(IN_ACTOR, "in {actor}, ") \
    X(AT_TIME, ", at {time}") \
    X(IN_STEP, ", {time}") \
    X(OF_ACTOR, " of {actor}") \
    X(HEAD_PENDING, "{actor} returned PENDING without registering a waker{text}, at {time}. " \
            "Nothing can ever wake it.") \
    X(HEAD_DEADLOCK, "no task can make progress: ") \
    X(HEAD_NO_PROGRESS, "no task makes progress: ") \
    X(HEAD_WAITS, "{actor} waits for ") \
    X(HEAD_NO_RECORD, "no record says what it waits for") \
    X(HEAD_MORE, "; and {number} more") \
    X(FIRST_FRAME, "#{number} {text}") \
    X(FRAME, "  #{number} {text}")

/* What became of the waker: its store, what happened to it, the step that should have woken. */
#define SIM_FINDING_WAKES(X) \
    X(STORE_BEFORE, "before the record begins {other} stored its waker") \
    X(STORE_CLONE, "{since} {other} gave away a clone of its waker[ at {site}]") \
    X(STORE, "{since} {other} stored its waker for {wanted}[ at {site}]") \
    X(STORE_CHILD, ", as a child of {parent}") \
    X(STORE_KEPT, " (and kept it {text} since)") \
    X(WAKE_DUE_THERE, " That step should have woken it.") \
    X(WAKE_DUE, " {actor} should have been woken by {deed}.") \
    X(WAKE_DUE_LINE, " Its last line on record is[ at {site}].") \
    X(WAKE_NOT_STORED, "the last poll of {actor}, at {time}, returned pending, but no waker was " \
            "stored for it, then or before: nothing could wake it.") \
    X(WAKE_STILL_THERE, "; it is still there, and was never fired.") \
    X(WAKE_STILL_THERE_LATE, "; it was still there when nothing could run, and had not been " \
            "fired.") \
    X(WAKE_EARLY, ", but what it waits for had happened by then: {since} {other} had woken the " \
            "empty slot[ at {site}]. It checked first and stored its waker afterwards, and did " \
            "not check again.") \
    X(WAKE_EARLY_UNSEEN, ". Polled again at that step it makes progress, and no empty slot was " \
            "woken since its poll before: either it checked first and stored its waker " \
            "afterwards, or it blocked with something left to do, or without the timer that it " \
            "needs.") \
    X(WAKE_REPLACED, ", in a slot for one waker; {since} {other} put another one there[ at " \
            "{site}], and from then on nothing could wake {actor}.") \
    X(WAKE_ERASED, "; {since} {other} emptied the slot without waking[ at {site}], and the waker " \
            "was gone.") \
    X(WAKE_DROPPED, "; {since} {other} dropped it without waking[ at {site}].") \
    X(WAKE_STORED_BUT, "; but ") \
    X(WAKE_NONE_STORED, "no waker of {actor} was stored; ") \
    X(WAKE_FIRED, "{since} {other} fired {object}[ at {site}], and the waker in it is ") \
    X(WAKE_OF_OTHER, "{other}'s, stored at {time}[ at {site}].") \
    X(WAKE_OF_UNKNOWN, "another task's.") \
    X(WAKE_DEAD, "; {since} {other} fired it[ at {site}], but it was the waker of a task that " \
            "has finished: such a wake has no effect.") \
    X(WAKE_STOPPED, "; {since} {other} fired it[ at {site}], the combinator noted which child it " \
            "is for, and did not wake {actor}.") \
    X(WAKE_NOT_PASSED_ON, "; at {time} the host reported it as ready, and the runtime did not " \
            "fire the waker.") \
    X(WAKE_ITSELF, "{since} {other} woke itself[ at {site}]") \
    X(WAKE_SENT, "{since} {other} woke {actor}[ at {site}]") \
    X(WAKE_IN_POLL, ", while it was being polled, and the runtime dropped that") \
    X(WAKE_TAKEN_FOR_QUEUED, ", which was taken for queued already, and was not") \
    X(WAKE_QUEUED, ", which was queued") \
    X(WAKE_POLLED_LATE, ": no poll followed before {time}.") \
    X(WAKE_NOT_POLLED, ": no poll followed. So the wake was sent, and lost between there and the " \
            "poll.") \
    X(WAKE_QUEUE_LOST, " The waker was called; the run queue lost the task.") \
    X(WAKE_LOOP_LOST, " The waker was called; {other}, which polls it, did not poll it") \
    X(WAKE_LOOP_BLOCKED, ": it blocked at {time}") \
    X(BEGAN_TO_WAIT, "{actor} began to wait for {wanted} at {time}") \
    X(NOT_NOTIFIED, "; what it waits for arrived after that, and it was not notified.") \
    X(NOT_NOTIFIED_BEFORE, ", when it could already have made progress; it was not notified " \
            "after that.") \
    X(WAKE_UNKNOWN, "; the record does not say why it was not woken by that.") \
    X(WAKER_UNKNOWN, "the record says nothing about a waker of {actor}.")

/* Beside what became of the waker: what is no more than a guess begins with "If". */
#define SIM_FINDING_CLUES(X) \
    X(CONTINUED, " {other} continued at {time}, left it there, and then waited for {wanted}.") \
    X(LAST_WAKER, "; the last waker in there was that of {other}, stored at {time}[ at {site}] " \
            "and {text} at ") \
    X(TIME, "{time}.") \
    X(MOVED_TIMER, " At {time} {other} moved that timer from {due} to {moved-to}[ at {site}].") \
    X(AND_SO_ON, " And so on.")

/* Why each other verdict was given. */
#define SIM_FINDING_REASONS(X) \
    X(WHY, "Why: ") \
    X(WHY_PASS, "nothing was found.") \
    X(WHY_ROUNDS, "polled once more, no task made progress; with all blocked tasks polled in " \
            "turn, round after round, {actor} finished. They wait for each other, and only the " \
            "wake-ups between them are missing. They were blocked here:") \
    X(WHY_CLOCK, "the clock moved while all waited, and it moved past a deadline: the next " \
            "deadline that the host was given was a later one.") \
    X(WHY_LIVENESS, "up to that step there were faults, late or spurious events, or slow steps; " \
            "then they stopped. A program that they only slow down ends soon after that. This " \
            "one stays busy with their effects. The last 1000 steps went to ") \
    X(WHY_LIVENESS_END, ".") \
    X(WHY_LIVELOCK, "in that time no task finished, nothing was consumed, no byte moved, and no " \
            "task reported progress. The last 1000 steps went to ") \
    X(WHY_LIVELOCK_END, ". At least one of them waits for something by polling for it.") \
    X(WHY_STARVED, "{actor} was woken at {time}[ at {site}] and has not run since. Meanwhile the " \
            "steps went to ") \
    X(WHY_LAST_STEPS, "the last 1000 steps went to ") \
    X(WHY_STARVED_END, ". The simulator itself passes no actor over for so long: the order of " \
            "the runtime, or of the loop, does.") \
    X(BUSY, "{other} ({number})") \
    X(ALSO_BUSY, ", {other} ({number})") \
    X(BUSY_NONE, "no actor on record") \
    X(HAPPENED, "it happened in {deed}.") \
    X(HAPPENED_ASKED, "it happened in a replay: one that waits was polled once more, to see " \
            "whether it could make progress. A wait may end for nothing at any time, so who " \
            "waits looks again at what is waited for, and waits again. The last step before that " \
            "is {deed}.") \
    X(LINE_IS, "[ The line is at {site}.]") \
    X(STORE_THE_WAKER, " Store the waker of cx before returning RT_PENDING.") \
    X(HAPPENED_WHERE, " It happened{text}.") \
    X(WHY_LEAK, "it was counted after the run had ended and all background tasks had been " \
            "cancelled.") \
    X(WAS_TAKEN, " It was taken[ at {site}].") \
    X(LAST_EVENT, " The last event on record is of {time}, by {other}: {phrase}[ at {site}].") \
    X(CLONE_LOST, "This clone is lost:") \
    X(CLONES_LOST, "One of these is lost:") \
    X(CLONE, "- the waker of {other}, cloned[ at {site}] in {time}") \
    X(OVERWRITTEN_IN, "It was overwritten or forgotten in {deed}") \
    X(CLONES_AGAIN, ", which clones a waker[ at {site}]") \
    X(LAST_LINE, "; its last line on record is[ at {site}]") \
    X(HANG_IN_POLL, "it never returned from a poll") \
    X(DIED_IN_POLL, "it died in a poll") \
    X(ASKED_AT_END, " that was made at the end of the run, in a replay, to see which task could " \
            "make progress. A task may be polled at any time, also without a wake. The last step " \
            "before that is {deed}.") \
    X(HANG_STEP, "the step that never returned is {deed}.") \
    X(DIED_STEP, "the step in which it died is {deed}.") \
    X(WHY_DIVERGED, "the same scenario, options, seed and decisions gave another run in another " \
            "process. Something in it depends on an address, on memory that was not set, on a " \
            "clock, or on what ran before.") \
    X(WHY_SPINS, "the step that never returned is {deed}. While a step runs no other task does, " \
            "so what it waits for can come only from the clock; the clock reached the limit.") \
    X(WHY_LIMIT, "the run was cut off there; it made progress until then, so it may just be " \
            "long. The last 1000 steps went to ")

/* All are blocked: which task waits for what, and what was tried. */
#define SIM_FINDING_DEADLOCKS(X) \
    X(WHY_DEADLOCK, "no actor can run, no timer is running, no host event is pending, and all " \
            "that are left are blocked") \
    X(LIST_FOLLOWS, ":") \
    X(LISTED, "- {actor} waits for ") \
    X(MORE_LISTED, "- and {number} more") \
    X(FOR_CLONE, "a wake through a clone of its waker") \
    X(FOR_WAIT, "{wait}") \
    X(FOR_OBJECT, "{wanted}") \
    X(FOR_NOTHING, "nothing on record") \
    X(AT_SITE, "[ at {site}]") \
    X(AND_FOR, ", and for ") \
    X(AND_FOR_MORE, ", and for more") \
    X(WOKE_EMPTY, "At {time} {other} woke the empty slot {object}") \
    X(WOKE_EMPTY_AT_START, "From {time} {other} woke the empty slot {object}") \
    X(HAS_FINISHED, " {other} has finished.") \
    X(CYCLE, "They wait in a cycle: {other}") \
    X(CYCLE_FIRST, " waits for {other}") \
    X(CYCLE_NEXT, ", which waits for {other}") \
    X(NAME, "{other}") \
    X(IS_LOOP, " is a loop of the program: it cannot be polled, only its host can be made to " \
            "report again; a wake lost inside it looks like this too.") \
    X(ARE_LOOPS, " are loops of the program: they cannot be polled, only their host can be made " \
            "to report again; a wake lost inside one looks like this too.") \
    X(TRIED, "In replays each {text} was polled once more, the host reported everything ready " \
            "again, and then all were polled in turn, up to 64 rounds; none made progress") \
    X(TRIED_HOST, "In a replay the host reported everything ready again; no task made progress") \
    X(TRIED_MORE, ", so the verdict is deadlock and not lost-wakeup. In a replay with the above " \
            "put right a task made progress.")

/* How it was found that a wake is missing. */
#define SIM_FINDING_VERDICTS(X) \
    X(IS_LATE, "While nothing could run, before the clock moved on, the blocked task was polled " \
            "once more in a replay, and made progress; so it could have been woken earlier") \
    X(IS_LATE_LOOP, "While nothing could run, before the clock moved, its host returned from the " \
            "loop's wait for nothing, in a replay, as a host may at any time, and the loop made " \
            "progress; so it could have been woken earlier") \
    X(LIMIT_REACHED, "When the limit was reached ({text})") \
    X(STALLED, "When the run stalled") \
    X(LOST_ROUNDS, ", all blocked tasks were polled in turn, round after round, in a replay, and " \
            "this one finished; so only wake-ups were missing") \
    X(LOST_REPORT, ", the host reported everything ready again, in a replay, and this one made " \
            "progress; so a report or a notification was lost") \
    X(LOST_LOOP, ", the host of this loop reported something to it for nothing, in a replay, as " \
            "a host may at any time, and it made progress; so it was not woken for what had " \
            "arrived") \
    X(LOST_POLL, ", each blocked task was polled once more in a replay, and this one made " \
            "progress; so all that was missing") \
    X(LOST_FOR, " for {number} steps") \
    X(LOST_WAKE, " was a wake-up")
/* clang-format on */

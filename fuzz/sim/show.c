/*
 * show.c -- any recorded run can be printed: pages of runs that no program has made.
 *
 * The tape draws a run event by event: actors with odd names, polls and wakes of anything, wakers
 * stored nowhere, texts with control sequences, a verdict about a missing actor. Most are no runs
 * of any program; but a foreign runtime may report anything, and a ring loses the beginning of a
 * long run. Every writer must print it: no line beyond 100 columns, no foreign control character,
 * the same output twice.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "fuzz/fuzz.h"
#include "runtime/base/probe.h"
#include "sim/core/record/event.h"
#include "sim/explain/view/describe.h"
#include "sim/explain/view/diff.h"
#include "sim/tests/explain/tale.h"

#define ACTORS_MAX 12u
#define WIDTH_MAX 100u

/* Without a blank to break it at, and wider than a terminal. */
#define LONG_WORD \
    "name-that-goes-on-and-on-and-on-and-on-and-on-and-on-and-on-and-on-and-on-and-on-and-on" \
    "-beyond-the-width-of-a-terminal"

static const char *const words[] = {"client", "server", "", "a name of many words that is longer",
        "\033[31mred", "line\nbreak", "tab\there", "\xc3\xa9\xc3\xa8", "\xff\xfe", "%s%n", "<&>\"'",
        LONG_WORD};

#define WORDS ((uint32_t)(sizeof(words) / sizeof(*words)))

static const char *
word(struct fuzz_tape *tape)
{
    return words[fuzz_below(tape, WORDS)];
}

/* Usually an existing object. */
static uint32_t
object(struct fuzz_tape *tape, const struct tale *tale)
{
    switch (fuzz_below(tape, 8)) {
    case 7:
        return (uint32_t)fuzz_word(tape);
    case 6:
        return SIM_OBJECT(fuzz_below(tape, 16), fuzz_below(tape, 4), fuzz_below(tape, 4));
    case 5:
        return 0;
    default:
        return tale_object_of(tale, fuzz_below(tape, tale->actors));
    }
}

static uint64_t
number(struct fuzz_tape *tape, const struct tale *tale)
{
    switch (fuzz_below(tape, 4)) {
    case 0:
        return fuzz_below(tape, 8);
    case 1:
        return object(tape, tale);
    case 2:
        return fuzz_below(tape, tale->step + 1);
    default:
        return fuzz_word(tape);
    }
}

static uint32_t
site(struct fuzz_tape *tape)
{
    uint32_t n = fuzz_below(tape, TALE_SITES + 2);
    return n < TALE_SITES ? tale_site(n) : n == TALE_SITES ? 0 : (uint32_t)fuzz_word(tape);
}

static uint32_t
any_kind(struct fuzz_tape *tape)
{
    uint32_t n = fuzz_below(tape, RT_PROBE_KINDS + SIM_EVENT_END_OF_KINDS - SIM_EVENT_FIRST);
    return n < RT_PROBE_KINDS ? n : SIM_EVENT_FIRST + n - RT_PROBE_KINDS;
}

static void
one_event(struct fuzz_tape *tape, struct tale *tale)
{
    uint32_t actor = fuzz_below(tape, tale->actors);
    switch (fuzz_below(tape, 10)) {
    case 0:
        tale_poll(tale, actor, number(tape, tale), fuzz_below(tape, tale->step + 1));
        break;
    case 1:
        tale_polled(tale, actor, fuzz_below(tape, 3));
        break;
    case 2:
        tale_store(tale, actor, object(tape, tale), word(tape), site(tape));
        break;
    case 3:
        tale_step(tale, actor, number(tape, tale));
        break;
    case 4:
        tale_say(tale, fuzz_below(tape, 2) ? SIM_EVENT_LOG : SIM_EVENT_OUT, word(tape));
        break;
    case 5:
        tale_clock(tale, number(tape, tale));
        break;
    case 6:
        tale_name(tale, object(tape, tale), word(tape));
        break;
    case 7:
        if (tale->actors < ACTORS_MAX) {
            (void)tale_actor(
                    tale, (enum sim_actor_kind)fuzz_below(tape, SIM_ACTOR_OTHER + 1), word(tape));
        }
        break;
    default:
        tale_do_at(tale, any_kind(tape), object(tape, tale), number(tape, tale), site(tape),
                site(tape));
        break;
    }
}

static struct tale *
draw(struct fuzz_tape *tape)
{
    struct tale *tale = tale_new();
    (void)tale_task(tale, "first");
    while (fuzz_more(tape)) {
        one_event(tape, tale);
    }
    /* What the outcome reports of memory that a bad run may have written to. */
    struct sim_outcome *outcome = &tale->outcome;
    outcome->oracle = (uint8_t)fuzz_below(tape, SIM_ORACLES);
    outcome->object = object(tape, tale);
    outcome->site = site(tape);
    outcome->missing_wake_step = number(tape, tale);
    outcome->audit_step = number(tape, tale);
    snprintf(outcome->actor_name, sizeof(outcome->actor_name), "%s", word(tape));
    snprintf(outcome->message, sizeof(outcome->message), "%s", word(tape));
    tale_end(tale, (enum sim_verdict)fuzz_below(tape, SIM_VERDICTS),
            fuzz_below(tape, 8) == 7 ? UINT32_MAX : fuzz_below(tape, tale->actors));
    return tale;
}

/* Escape sequences are only ours, and only with colour. */
static void
check_page(const struct sim_page *page, bool colour)
{
    const char *text = sim_page_text(page);
    fuzz_check(tale_width(text) <= WIDTH_MAX);
    for (const char *c = text; *c != '\0'; c++) {
        fuzz_check((unsigned char)*c >= ' ' || *c == '\n' || (*c == '\033' && colour));
        fuzz_check(*c != 0x7f);
    }
}

static void
write_all(const struct tale *tale, const struct tale *other, uint32_t rows_max, bool colour,
        struct sim_page *page)
{
    const struct sim_run_view shown = {
            .recorder = &tale->recorder, .outcome = &tale->outcome, .rows_max = rows_max};
    sim_page_init(page, colour);
    sim_describe_run(page, &shown, SIM_DESCRIBE_FAILURE);
    sim_describe_run(page, &shown, SIM_DESCRIBE_LEDGER);
    sim_diff_put(page, &tale->recorder, "this", &other->recorder, "that");
    check_page(page, colour);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_tape tape = fuzz_tape(data, size);
    uint32_t rows_max = fuzz_below(&tape, 60);
    bool colour = fuzz_below(&tape, 2) == 1;
    uint32_t cut = fuzz_below(&tape, 256);
    struct sim_page pages[2];
    struct tale *tale = draw(&tape);
    struct fuzz_tape part = fuzz_tape(data, size > cut + 3 ? size - cut : size);
    part.next = size > 3 ? data + 3 : part.end;
    struct tale *other = draw(&part);
    write_all(tale, other, rows_max, colour, &pages[0]);
    write_all(tale, other, rows_max, colour, &pages[1]);
    fuzz_check(strcmp(sim_page_text(&pages[0]), sim_page_text(&pages[1])) == 0);
    sim_page_fini(&pages[0]);
    sim_page_fini(&pages[1]);
    tale_free(other);
    tale_free(tale);
    return 0;
}

/*
 * outcome.c -- words for verdicts and oracles.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/record/outcome.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/names.h"

static const struct sim_name verdicts[] = {SIM_VERDICT_LIST(SIM_NAME_ROW)};
static const struct sim_name oracles[] = {SIM_ORACLE_LIST(SIM_NAME_ROW)};

const char *
sim_verdict_name(uint32_t verdict)
{
    return sim_name_at(verdicts, SIM_VERDICTS, verdict)->name;
}

const char *
sim_verdict_meaning(uint32_t verdict)
{
    return sim_name_at(verdicts, SIM_VERDICTS, verdict)->meaning;
}

const char *
sim_oracle_name(uint32_t oracle)
{
    return sim_name_at(oracles, SIM_ORACLES, oracle)->name;
}

const char *
sim_oracle_meaning(uint32_t oracle)
{
    return sim_name_at(oracles, SIM_ORACLES, oracle)->meaning;
}

bool
sim_outcome_same(const struct sim_outcome *a, const struct sim_outcome *b)
{
    return a->verdict == b->verdict && a->oracle == b->oracle && a->site == b->site;
}

bool
sim_outcome_spins(const struct sim_outcome *outcome)
{
    /* Without an actor the time limit was reached between two steps. */
    return outcome->verdict == SIM_VERDICT_HANG ||
           (outcome->verdict == SIM_VERDICT_TIME_LIMIT && outcome->actor != UINT32_MAX);
}

/* Takes the last character off, if some of its bytes are missing. */
static void
cut_character(char *text, size_t length)
{
    size_t first = length;
    while (first > 0 && ((unsigned char)text[first - 1] & 0xc0) == 0x80) {
        first--;
    }
    if (first > 0 && (unsigned char)text[first - 1] >= 0xc0) {
        unsigned char lead = (unsigned char)text[first - 1];
        size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
        if (length - (first - 1) < bytes) {
            text[first - 1] = '\0';
        }
    }
}

void
sim_outcome_vsay(struct sim_outcome *outcome, const char *format, va_list arguments)
{
    int length = vsnprintf(outcome->message, sizeof(outcome->message), format, arguments);
    if (length >= (int)sizeof(outcome->message)) {
        cut_character(outcome->message, sizeof(outcome->message) - 1);
    }
}

void
sim_outcome_say(struct sim_outcome *outcome, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    sim_outcome_vsay(outcome, format, arguments);
    va_end(arguments);
}

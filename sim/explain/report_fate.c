/*
 * report_fate.c -- what became of a wake, as findings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/assert.h"
#include "sim/explain/report.h"

static struct sim_locations
one(const struct sim_location *location)
{
    return (struct sim_locations){location, 1};
}

/* What it reads, which of both lines wrote that, and what is read there instead. */
static void
find_read(const struct sim_deciding_read *read, struct sim_findings *findings)
{
    bool pointer = read->value[0] == '\0' || (read->compared && read->passing_value[0] == '\0');
    rt_assert(read->at.step != 0);
    SIM_FIND(findings, SIM_FINDING_FATE_READ, .at = one(&read->at),
            .text = read->name[0] != '\0' ? read->name : "memory");
    if (!pointer) {
        SIM_FIND(findings, SIM_FINDING_FATE_VALUE, .text = read->value);
    }
    if (read->by.step != 0) {
        SIM_FIND(findings, SIM_FINDING_FATE_WRITTEN, .at = one(&read->by));
    }
    if (read->compared) {
        SIM_FIND(findings, pointer ? SIM_FINDING_FATE_READ_ELSE : SIM_FINDING_FATE_READ_PASSING,
                .text = read->passing_value);
    }
    if (read->passing_by.step != 0) {
        SIM_FIND(findings, SIM_FINDING_FATE_WRITTEN_PASSING, .at = one(&read->passing_by));
        SIM_FIND(findings, read->later != 0 ? SIM_FINDING_FATE_LATER : SIM_FINDING_FATE_NEVER,
                .step = read->later);
    }
    SIM_FIND(findings, SIM_FINDING_STOP);
}

/* It does not come to the line that would wake, or comes to a wait that it would not come to. */
static void
find_turned(const struct sim_fate *fate, struct sim_findings *findings)
{
    bool waits = fate->wake.part == SIM_PART_NONE;
    SIM_FIND(findings, waits ? SIM_FINDING_FATE_WAITS : SIM_FINDING_FATE_NOT_REACHED,
            .actor = fate->sleeps.part, .at = one(waits ? &fate->sleeps : &fate->wake),
            .other = fate->condition.part, .wait = &fate->wait);
    if (fate->read.at.step != 0) {
        find_read(&fate->read, findings);
    } else if (fate->condition.step != 0) {
        SIM_FIND(findings, SIM_FINDING_FATE_CONDITION, .at = one(&fate->condition));
    }
    if (fate->tried) {
        SIM_FIND(findings, SIM_FINDING_FATE_TRIED, .at = one(&fate->condition));
    }
}

void
sim__find_fate(const struct sim_explanation *explanation, struct sim_findings *findings)
{
    const struct sim_fate *fate = &explanation->cause.fate;
    rt_assert(fate->kind != SIM_FATE_NONE);
    if (fate->kind == SIM_FATE_EARLY) {
        SIM_FIND(findings, SIM_FINDING_FATE_EARLY, .actor = fate->sleeps.part,
                .at = one(&fate->call), .then = one(&fate->sleeps), .wait = &fate->wait);
    } else if (fate->kind == SIM_FATE_TAKEN) {
        SIM_FIND(findings, fate->ended.step != 0 ? SIM_FINDING_FATE_HANDED : SIM_FINDING_FATE_TAKEN,
                .actor = fate->sleeps.part, .at = one(&fate->call), .other = fate->taker.part,
                .then = one(&fate->sleeps), .wait = &fate->wait);
        SIM_FIND(findings,
                fate->again             ? SIM_FINDING_FATE_AGAIN
                : fate->ended.step != 0 ? SIM_FINDING_FATE_CANCELLED
                                        : SIM_FINDING_FATE_KEPT,
                .other = fate->taker.part, .actor = fate->sleeps.part,
                .at = one(fate->ended.step != 0 ? &fate->ended : &fate->taker));
        if (fate->read.at.step != 0) {
            find_read(&fate->read, findings);
        }
    } else if (fate->kind == SIM_FATE_OWED) {
        find_read(&fate->read, findings);
    } else if (fate->kind == SIM_FATE_SWALLOWED) {
        SIM_FIND(findings, SIM_FINDING_FATE_SWALLOWED, .actor = fate->sleeps.part,
                .at = one(&fate->call));
    } else {
        find_turned(fate, findings);
    }
}

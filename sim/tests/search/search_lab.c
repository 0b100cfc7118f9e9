/*
 * search_lab.c -- a strategy by name in a lab, and small programs to let it loose on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/search/search_lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/search/learn/observe.h"

static void
begin(struct search_lab *lab)
{
    const struct sim_strategy_kind *kind = sim_strategy_at(lab->search.kind);
    const struct sim_strategy_setting setting = {&lab->search, &lab->learned, 0, false};
    memset(lab->memory, 0, kind->size);
    lab->strategy = sim_strategy_make(lab->memory, &setting);
}

void
search_lab_init(struct search_lab *lab, const char *text)
{
    char error[SIM_STRATEGY_ERROR_MAX];
    lab_init(&lab->lab, NULL, 0);
    lab->runs = 0;
    lab->learned.runs = 0;
    if (!sim_search_parse(text, &lab->search, error)) {
        (void)fprintf(stderr, "%s\n", error);
        abort();
    }
    size_t size = sim_strategy_at(lab->search.kind)->size;
    lab->memory = aligned_alloc(64, (size + 63) / 64 * 64);
    void *facts = malloc(sim_facts_size(SIM_LEARNED_FACTS));
    if (lab->memory == NULL || facts == NULL) {
        abort();
    }
    sim_facts_init(&lab->learned.facts, facts, SIM_LEARNED_FACTS);
    begin(lab);
}

void
search_lab_fini(struct search_lab *lab)
{
    free(lab->learned.facts.entries);
    free(lab->memory);
    lab_fini(&lab->lab);
}

void
search_lab_learn(struct search_lab *lab)
{
    lab->learned.runs = lab->runs;
    begin(lab);
}

struct sim_outcome
search_lab_run(
        struct search_lab *lab, const struct sim_scenario *scenario, uint64_t seed, bool teaches)
{
    struct sim_options options;
    struct sim_outcome outcome;
    sim_options_init(&options, scenario);
    sim_world_run(&lab->lab.world, scenario, &options, seed, lab->strategy,
            (struct sim_recording){true, false}, &outcome);
    if (teaches) {
        sim_observe(&lab->learned.facts, &lab->lab.world, lab->runs++);
    }
    return outcome;
}

void
search_lab_school(
        struct search_lab *lab, const struct sim_scenario *scenario, uint64_t seed, uint64_t runs)
{
    for (uint64_t i = 0; i < runs; i++) {
        (void)search_lab_run(lab, scenario, seed + i, true);
        if ((i & (i + 1)) == 0 || i + 1 == runs) {
            search_lab_learn(lab);
        }
    }
}

/* ---- Programs. ------------------------------------------------------------------------------- */

const char *script[SCRIPT_TASKS + 1];
struct script_doing script_said[SCRIPT_POLLS];
uint32_t script_polls;

#define CELLS 8u

struct script_state {
    struct sim_cell cells[CELLS];
};

struct script_task {
    struct rt_task task;
    struct script_state *state;
    const char *word;
    uint32_t number;
    uint32_t at;
};

/* A separate line for each cell and kind of access, as in a real program. */
static void
touch(struct script_state *state, char letter)
{
    switch (letter) {
    case 'a':
        sim_cell_set(&state->cells[0], 1);
        break;
    case 'A':
        (void)sim_cell_get(&state->cells[0]);
        break;
    case 'b':
        sim_cell_set(&state->cells[1], 1);
        break;
    case 'B':
        (void)sim_cell_get(&state->cells[1]);
        break;
    case 'c':
        sim_cell_set(&state->cells[2], 1);
        break;
    case 'C':
        (void)sim_cell_get(&state->cells[2]);
        break;
    default:
        break;
    }
}

static rt_poll
script_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct script_task *one = rt_container_of(task, struct script_task, task);
    char letter = one->word[one->at++];
    touch(one->state, letter);
    script_said[script_polls++ % SCRIPT_POLLS] =
            (struct script_doing){(uint8_t)one->number, letter};
    if (one->word[one->at] == '\0') {
        return RT_READY;
    }
    if (letter == ',') {
        rt_cx_reenqueue(cx);
        return RT_PENDING;
    }
    rt_cx_reenqueue(cx);
    return RT_PENDING;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct script_state *state = sim_new(world, struct script_state);
    for (uint32_t i = 0; i < CELLS; i++) {
        sim_cell_init(world, &state->cells[i], NULL, 0);
    }
    script_polls = 0;
    for (uint32_t i = 0; script[i] != NULL; i++) {
        struct script_task *one = sim_new(world, struct script_task);
        one->state = state;
        one->word = script[i];
        one->number = i;
        rt_task_init(&one->task, script_poll, NULL, "one");
        sim_spawn(rt, &one->task);
    }
}

const struct sim_scenario script_scenario = {
        .name = "test/script", .setup = setup, .declared = true};

void
script_order(char cell, char text[SCRIPT_POLLS + 1])
{
    uint32_t length = 0;
    for (uint32_t i = 0; i < script_polls && i < SCRIPT_POLLS; i++) {
        if (cell == '*' || (script_said[i].letter | 0x20) == cell) {
            text[length++] = (char)('0' + script_said[i].task);
        }
    }
    text[length] = '\0';
}

uint64_t
chi_square(const uint32_t *counts, uint32_t n)
{
    uint64_t total = 0;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        total += counts[i];
    }
    uint64_t expected = total / n;
    for (uint32_t i = 0; i < n; i++) {
        int64_t off = (int64_t)counts[i] - (int64_t)expected;
        sum += (uint64_t)(off * off) * 1000 / expected;
    }
    return sum;
}

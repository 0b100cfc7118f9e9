/*
 * words.h -- a decision, and a place, in words.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_EXPLAIN_WORDS_H
#define SIM_EXPLAIN_WORDS_H

#include "sim/core/decide/tape.h"
#include "sim/explain/cause/cause.h"
#include "sim/explain/view/actor_table.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whose choices stand on `stream` with kind `kind`; SIM_PART_NONE: nobody in the record. */
uint32_t sim_stream_part(const struct sim_actor_table *actor_table, uint32_t stream, uint32_t kind);

/* Adds what was decided: "the 3rd time that `reader` is first in line, `writer` goes before it". */
void sim_words_put_decision(const struct sim_actor_table *actor_table, struct sim_page *page,
        const struct sim_deviation *deviation);

/* Adds what the default way is: "the one that is first in line goes". */
void sim_words_put_plain(const struct sim_actor_table *actor_table, struct sim_page *page,
        const struct sim_deviation *deviation);

/* Adds "in permit_release() (tokio-2854.c:84)"; nothing where no function is known. */
void sim_words_put_place(struct sim_page *page, const struct sim_place *place);

/* Adds "`client`"; "another actor" for SIM_PART_NONE, "the world" for 0. */
void sim_words_put_who(
        const struct sim_actor_table *actor_table, struct sim_page *page, uint32_t part);

/* Adds "1st", "2nd", "11th". */
void sim_words_put_nth(struct sim_page *page, uint32_t n);

#ifdef __cplusplus
}
#endif
#endif

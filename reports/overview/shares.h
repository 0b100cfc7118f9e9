/*
 * shares.h -- the shares of the strategies in the runs of a sweep.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPORTS_OVERVIEW_SHARES_H
#define REPORTS_OVERVIEW_SHARES_H

#include <stddef.h>
#include <stdint.h>

#include "sim/store/read.h"

#ifdef __cplusplus
extern "C" {
#endif

/* More than there are strategies. */
#define REPORT_SHARES_MAX 24u

struct report_shares {
    int64_t sweep;
    size_t count;
    int64_t runs[REPORT_SHARES_MAX]; /* Of each strategy, most first. */
    char words[480];                 /* "surw 28 %, rf 23 %"; cut where it is longer. */
};

struct report_share_list;

/* Reads those of all sweeps; report_shares_free must follow in any case. */
RT_MUST_CHECK enum sim_store_err report_shares_read(
        struct sim_store *store, struct report_share_list **ret_list);
void report_shares_free(struct report_share_list **list);

/* Of `sweep`; NULL: not known. */
const struct report_shares *report_shares_find(const struct report_share_list *list, int64_t sweep);

#ifdef __cplusplus
}
#endif
#endif

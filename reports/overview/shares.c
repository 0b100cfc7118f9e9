/*
 * shares.c -- the shares of the strategies in the runs of a sweep.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/overview/shares.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/base/ask.h"
#include "runtime/base/assert.h"

struct report_share_list {
    struct report_shares *shares; /* By their sweeps. */
    size_t count;
};

static struct report_shares *
add_sweep(struct report_share_list *list, int64_t sweep)
{
    /* Powers of two. */
    if ((list->count & (list->count - 1)) == 0) {
        size_t capacity = list->count != 0 ? list->count * 2 : 1;
        list->shares = reallocarray(list->shares, capacity, sizeof(*list->shares));
        rt_assert(list->shares != NULL);
    }
    list->shares[list->count] = (struct report_shares){.sweep = sweep};
    return &list->shares[list->count++];
}

static void
add_share(struct report_shares *shares, const char *strategy, int64_t runs, int64_t of)
{
    if (shares->count == REPORT_SHARES_MAX) {
        return;
    }
    size_t used = strlen(shares->words);
    (void)snprintf(shares->words + used, sizeof(shares->words) - used, "%s%s %lld %%",
            shares->count > 0 ? ", " : "", strategy, (long long)(of > 0 ? runs * 100 / of : 0));
    shares->runs[shares->count++] = runs;
}

enum sim_store_err
report_shares_read(struct sim_store *store, struct report_share_list **ret_list)
{
    struct report_shares *last = NULL;
    *ret_list = calloc(1, sizeof(**ret_list));
    rt_assert(*ret_list != NULL);
    struct report_ask ask = report_ask(store,
            "SELECT sweep, strategy, runs, sum(runs) OVER (PARTITION BY sweep)"
            " FROM sweep_strategies WHERE runs > 0 ORDER BY sweep, runs DESC, strategy");
    while (report_row(&ask)) {
        if (last == NULL || last->sweep != report_int(&ask, 0)) {
            last = add_sweep(*ret_list, report_int(&ask, 0));
        }
        add_share(last, report_text(&ask, 1), report_int(&ask, 2), report_int(&ask, 3));
    }
    return report_done(&ask);
}

void
report_shares_free(struct report_share_list **list)
{
    if (*list != NULL) {
        free((*list)->shares);
        free(*list);
        *list = NULL;
    }
}

static int
against_sweep(const void *sweep, const void *shares)
{
    int64_t wanted = *(const int64_t *)sweep;
    int64_t has = ((const struct report_shares *)shares)->sweep;
    return (wanted > has) - (wanted < has);
}

const struct report_shares *
report_shares_find(const struct report_share_list *list, int64_t sweep)
{
    return list->count == 0 ? NULL
                            : bsearch(&sweep, list->shares, list->count, sizeof(list->shares[0]),
                                      against_sweep);
}

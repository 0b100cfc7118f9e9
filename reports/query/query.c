/*
 * query.c -- named queries.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/query/query.h"

#include <stdlib.h>
#include <string.h>

#include "reports/base/ask.h"
#include "runtime/base/assert.h"

#define NEEDS "-- needs "
#define WEAK __attribute__((weak))
extern const struct report_query *const __start_rewake_queries[] WEAK;
extern const struct report_query *const __stop_rewake_queries[] WEAK;

const struct report_query *
report_query_find(const char *name)
{
    for (const struct report_query *const *each = __start_rewake_queries;
            each != __stop_rewake_queries; each++) {
        if (strcmp((*each)->name, name) == 0) {
            return *each;
        }
    }
    return NULL;
}

const struct report_query *
report_query_next(const char *name)
{
    const struct report_query *next = NULL;
    for (const struct report_query *const *each = __start_rewake_queries;
            each != __stop_rewake_queries; each++) {
        if (strcmp((*each)->name, name) > 0 &&
                (next == NULL || strcmp((*each)->name, next->name) < 0)) {
            next = *each;
        }
    }
    return next;
}

static bool
read_param(const char *line, struct report_query_head *head)
{
    size_t length = strcspn(line, " \n");
    if (head->param_count == REPORT_PARAMS_MAX || length >= REPORT_PARAM_NAME_MAX ||
            line[length] != ' ') {
        return false;
    }
    char *name = head->params[head->param_count];
    memcpy(name, line, length);
    name[length] = '\0';
    head->about[head->param_count++] = line + length + 1;
    return true;
}

bool
report_query_read(const struct report_query *query, struct report_query_head *ret_head)
{
    struct report_query_head head = {.question = query->sql + 3};
    if (strncmp(query->sql, "-- ", 3) != 0) {
        return false;
    }
    head.question_length = strcspn(head.question, "\n");
    const char *line = head.question + head.question_length + 1;
    while (strncmp(line, "-- :", 4) == 0 || strncmp(line, "-- = ", 5) == 0 ||
            strncmp(line, NEEDS, sizeof(NEEDS) - 1) == 0) {
        if (line[3] == NEEDS[3]) {
            head.needs = line + sizeof(NEEDS) - 1;
        } else if (line[3] == '=' && head.param_count > 0) {
            head.otherwise[head.param_count - 1] = line + 5;
        } else if (!read_param(line + 3, &head)) {
            return false;
        }
        line = strchr(line, '\n') + 1;
    }
    *ret_head = head;
    return true;
}

enum sim_store_err
report_query_otherwise(struct sim_store *store, const struct report_query_head *head,
        uint32_t param, char **ret_text)
{
    *ret_text = NULL;
    const char *line = head->otherwise[param];
    if (line == NULL) {
        return SIM_STORE_OK;
    }
    char *sql = strndup(line, strcspn(line, "\n"));
    rt_assert(sql != NULL);
    struct report_ask ask = report_ask(store, sql);
    if (report_row(&ask) && !report_null(&ask, 0)) {
        *ret_text = strdup(report_text(&ask, 0));
        rt_assert(*ret_text != NULL);
    }
    free(sql);
    return report_done(&ask);
}

enum sim_store_err
report_query_has(struct sim_store *store, const struct report_query_head *head, bool *ret_has)
{
    *ret_has = true;
    if (head->needs == NULL) {
        return SIM_STORE_OK;
    }
    struct report_ask ask = report_ask(store,
            "SELECT 1 FROM sqlite_master WHERE substr(?, 1, length(name) + 1) = name || ':'");
    report_put_text(&ask, head->needs);
    *ret_has = report_row(&ask);
    return report_done(&ask);
}

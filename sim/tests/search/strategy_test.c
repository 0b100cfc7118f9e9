/*
 * strategy_test.c -- strategies by name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/search/strategy.h"

#include <string.h>

#include "runtime/tests/test.h"

TEST(each_strategy_reads_what_it_writes)
{
    char error[SIM_STRATEGY_ERROR_MAX];
    char text[SIM_STRATEGY_TEXT_MAX];
    for (uint32_t i = 0; i < sim_strategy_count(); i++) {
        const struct sim_strategy_kind *kind = sim_strategy_at(i);
        struct sim_search search;
        struct sim_search again;
        sim_search_init(&search, i);
        EXPECT_EQ(sim_strategy_find(kind->name), i);
        EXPECT(kind->size <= SIM_STRATEGY_BYTES_MAX);
        for (uint32_t k = 0; k < SIM_STRATEGY_PARAMS_MAX && kind->params[k].name != NULL; k++) {
            EXPECT(kind->params[k].value >= kind->params[k].min);
            EXPECT(kind->params[k].value <= kind->params[k].max);
            search.params[k] = kind->params[k].max;
            EXPECT_EQ(sim_search_param(&search, kind->params[k].name), kind->params[k].max);
        }
        search.swarm ^= !kind->sequential;
        sim_search_text(&search, text, sizeof(text));
        EXPECT(sim_search_parse(text, &again, error));
        EXPECT_EQ(again.kind, search.kind);
        EXPECT_EQ(again.swarm, search.swarm);
        EXPECT(memcmp(again.params, search.params, sizeof(search.params)) == 0);
    }
}

TEST(what_is_no_strategy_is_refused)
{
    static const char *const texts[] = {"", "best", "Random", "random ", "random:", "random:x=1",
            "random:swarm", "random:swarm=", "random:swarm=2", "random:swarm=1,", "random:swarm=-1",
            "random:swarm=1x", "random:swarm=99999999999999999999999", ":", "random,swarm=1",
            "exhaustive:swarm=1"};
    for (uint32_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        char error[SIM_STRATEGY_ERROR_MAX] = "";
        struct sim_search search = {.kind = 77};
        EXPECT(!sim_search_parse(texts[i], &search, error));
        EXPECT_EQ(search.kind, 77);
        EXPECT(strlen(error) > 10);
        EXPECT(strchr(error, '\n') == NULL);
    }
}

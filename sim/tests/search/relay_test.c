/*
 * relay_test.c -- relay: an actor that would read what another has just written goes first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <ctype.h>
#include <string.h>

#include "sim/tests/search/search_lab.h"

#define RUNS 200u

/* How often, in `RUNS` runs of it, a write was followed at once by the other's read of it. */
static uint32_t
answers(const char *strategy)
{
    struct search_lab lab;
    uint32_t count = 0;
    search_lab_init(&lab, strategy);
    search_lab_school(&lab, &script_scenario, 1, 64);
    for (uint64_t seed = 1000; seed < 1000 + RUNS; seed++) {
        (void)search_lab_run(&lab, &script_scenario, seed, false);
        for (uint32_t i = 0; i + 1 < script_polls; i++) {
            const struct script_doing *now = &script_said[i];
            const struct script_doing *next = &script_said[i + 1];
            count += islower((unsigned char)now->letter) && now->task != next->task &&
                     next->letter == toupper((unsigned char)now->letter);
        }
    }
    search_lab_fini(&lab);
    return count;
}

/*
 * Goal: a message is read before its writer's next step.
 * Method: two tasks talk beside a third; how often a read comes right after its write is compared
 * with random runs.
 */
TEST(relay_lets_who_has_news_go_first)
{
    script[0] = "aBaBaB";
    script[1] = "AbAbAb";
    script[2] = "......";
    script[3] = NULL;
    uint32_t relay = answers("relay");
    uint32_t random = answers("random");
    EXPECT(random > 0);
    EXPECT(relay > 2 * random);
}

/*
 * nearest_test.c -- what a mistyped word was meant to be.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/base/nearest.h"

#include <stddef.h>
#include <string.h>

#include "runtime/tests/test.h"

static const char *
nearest(const char *word)
{
    static const char *const names[] = {"show", "shrink", "merge", "measure", "run"};
    struct sim_nearest found = {.word = word};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        sim_nearest_try(&found, names[i], names[i]);
    }
    return found.name != NULL ? found.name : "";
}

/* Method: one letter left out, added, replaced, exchanged; then words that are no mistake. */
TEST(nearest_finds_a_word_that_few_letters_make)
{
    EXPECT(strcmp(nearest("shrik"), "shrink") == 0);
    EXPECT(strcmp(nearest("shrinkk"), "shrink") == 0);
    EXPECT(strcmp(nearest("shrimk"), "shrink") == 0);
    EXPECT(strcmp(nearest("hsow"), "show") == 0);
    EXPECT(strcmp(nearest("rnu"), "run") == 0);
    EXPECT(strcmp(nearest("mesure"), "measure") == 0);
    EXPECT(strcmp(nearest("frobnicate"), "") == 0);
    EXPECT(strcmp(nearest("xyz"), "") == 0);
    EXPECT(strcmp(nearest(""), "") == 0);
}

TEST(nearest_of_a_part_is_the_whole_name)
{
    struct sim_nearest found = {.word = "lost-wakup"};
    char hint[SIM_NEAREST_HINT_MAX];
    sim_nearest_try(&found, "canary/lost-wakeup", "canary/lost-wakeup");
    EXPECT(found.name == NULL);
    EXPECT(strcmp(sim_nearest_hint(&found, hint), "") == 0);
    sim_nearest_try(&found, "canary/lost-wakeup", "lost-wakeup");
    EXPECT(strcmp(sim_nearest_hint(&found, hint), ": did you mean 'canary/lost-wakeup'?") == 0);
}

/* Goal: a word of any length is compared within the table, or not at all. */
TEST(nearest_leaves_long_words_alone)
{
    char word[SIM_NEAREST_MAX + 2];
    char name[SIM_NEAREST_MAX + 2];
    memset(word, 'a', sizeof(word));
    memset(name, 'a', sizeof(name));
    word[SIM_NEAREST_MAX] = name[SIM_NEAREST_MAX] = '\0';
    struct sim_nearest found = {.word = word};
    name[0] = 'b';
    sim_nearest_try(&found, name, name);
    EXPECT(found.name == name && found.distance == 1);
    word[SIM_NEAREST_MAX] = 'a';
    word[SIM_NEAREST_MAX + 1] = '\0';
    found = (struct sim_nearest){.word = word};
    sim_nearest_try(&found, name, name);
    EXPECT(found.name == NULL);
}

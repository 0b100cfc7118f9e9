/*
 * registry_test.c -- scenarios by name: sorted, unique, well formed, found by globs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/tests/test.h"
#include "sim/base/glob.h"
#include "sim/engine/registry.h"

static void
nothing(struct sim_world *world)
{
    (void)world;
}

#define STORY(id, title) \
    static const struct sim_scenario id = {.name = title, .about = "A test.", .setup = nothing}

STORY(zebra, "z/zebra");
STORY(ape, "a/ape");
STORY(bear, "b/bear");
STORY(ape_again, "a/ape");

static bool
add(struct sim_registry *registry, const struct sim_scenario *scenario)
{
    return sim_registry_add(registry, &scenario, &scenario + 1, NULL);
}

/* In whatever order they come, they stand by name, and each is found. */
TEST(registry_of_three_is_sorted_and_finds_each)
{
    struct sim_registry registry = {.count = 0};
    const struct sim_scenario *const all[] = {&zebra, &ape, &bear};
    EXPECT(sim_registry_add(&registry, all, all + 3, "./mine.so"));
    EXPECT_EQ(registry.count, 3);
    EXPECT_STR(registry.entries[0].scenario->name, "a/ape");
    EXPECT_STR(registry.entries[1].scenario->name, "b/bear");
    EXPECT_STR(registry.entries[2].scenario->name, "z/zebra");
    EXPECT(sim_registry_find(&registry, "b/bear")->scenario == &bear);
    EXPECT_STR(sim_registry_find(&registry, "z/zebra")->library, "./mine.so");
    EXPECT(sim_registry_find(&registry, "b") == NULL);
    EXPECT(sim_registry_find(&registry, "zz") == NULL);
    sim_registry_fini(&registry);
}

TEST(registry_second_scenario_of_a_name_is_refused)
{
    struct sim_registry registry = {.count = 0};
    EXPECT(add(&registry, &ape));
    EXPECT(!add(&registry, &ape_again));
    EXPECT(strstr(registry.error, "a/ape") != NULL);
    EXPECT_EQ(registry.count, 1);
    EXPECT(sim_registry_find(&registry, "a/ape")->scenario == &ape);
    sim_registry_fini(&registry);
}

/* What would break a token, a pattern or a shell never gets in. */
TEST(registry_name_with_a_colon_or_glob_is_refused)
{
    static const char *const bad[] = {"", "a:b", "a b", "a*", "a?", "a[b]", "a\"b", "a'b", "a\nb"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct sim_registry registry = {.count = 0};
        const struct sim_scenario scenario = {.name = bad[i], .about = "A test.", .setup = nothing};
        ck_assert_msg(!add(&registry, &scenario), "taken: '%s'", bad[i]);
        sim_registry_fini(&registry);
    }
}

TEST(registry_default_outside_its_range_is_refused)
{
    static const struct sim_param params[] = {
            {.name = "n", .value = 5, .min = 1, .max = 4}, {.name = NULL}};
    const struct sim_scenario scenario = {
            .name = "x", .about = "A test.", .setup = nothing, .params = params};
    struct sim_registry registry = {.count = 0};
    EXPECT(!add(&registry, &scenario));
    EXPECT_EQ(sim_scenario_params(&scenario), 1);
    sim_registry_fini(&registry);
}

TEST(registry_patterns_are_shell_globs_over_whole_names)
{
    char star[] = "zoo/*";
    char exact[] = "a/ape";
    char *patterns[] = {star, exact};
    EXPECT(sim_glob_matches("zoo/async-io-07b6cca/broken", patterns, 2));
    EXPECT(sim_glob_matches("a/ape", patterns, 2));
    EXPECT(!sim_glob_matches("a/ape2", patterns, 2));
    EXPECT(!sim_glob_matches("my/zoo/a", patterns, 2));
    EXPECT(sim_glob_matches("anything", patterns, 0));
}

/*
 * host_fixture.c -- making it, and polling.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/host/host_fixture.h"

#include <string.h>

struct host_fixture *
host_fixture_new(struct sim_world *world)
{
    static const char *const names[3] = {"a", "b", "c"};
    struct host_fixture *fixture = sim_new(world, struct host_fixture);
    fixture->host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    fixture->seam = sim_host_seam(fixture->host);
    for (uint32_t i = 0; i < 3; i++) {
        fixture->sources[i] = sim_source_new(fixture->host, names[i]);
    }
    return fixture;
}

void
host_fixture_subscribe_all(struct host_fixture *fixture)
{
    for (uint32_t i = 0; i < 3; i++) {
        EXPECT_OK(sim_source_subscribe(fixture->sources[i], &fixture->pollables[i]));
    }
}

void
host_fixture_drop_all(struct host_fixture *fixture)
{
    for (uint32_t i = 0; i < 3; i++) {
        rt_pollable_drop(&fixture->pollables[i]);
    }
}

void
host_fixture_poll(struct host_fixture *fixture, const char *places)
{
    struct rt_pollable *list[8];
    uint32_t count = (uint32_t)strlen(places);
    for (uint32_t i = 0; i < count; i++) {
        list[i] = &fixture->pollables[places[i] - '0'];
    }
    EXPECT_OK(fixture->seam->ops->poll(
            fixture->seam, list, count, fixture->indices, &fixture->ready));
    EXPECT(fixture->ready >= 1);
    EXPECT(fixture->ready <= count);
    for (uint32_t i = 0; i < fixture->ready; i++) {
        EXPECT(fixture->indices[i] < count);
    }
}

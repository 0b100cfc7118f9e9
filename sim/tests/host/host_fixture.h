/*
 * host_fixture.h -- a fake host with three sources, for loops that call its seam directly.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/tests/host/host_lab.h"

struct host_fixture {
    struct sim_host *host;
    struct rt_host *seam;
    struct sim_source *sources[3];
    struct rt_pollable pollables[3];
    uint32_t ready;
    uint32_t indices[8];
};

/* With a new host, in the run's memory. */
struct host_fixture *host_fixture_new(struct sim_world *world);

/* A pollable of each source; drops them. */
void host_fixture_subscribe_all(struct host_fixture *fixture);
void host_fixture_drop_all(struct host_fixture *fixture);

/* Polls the given places of fixture->pollables: "02" is the first and the last. */
void host_fixture_poll(struct host_fixture *fixture, const char *places);

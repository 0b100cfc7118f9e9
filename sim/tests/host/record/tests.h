/*
 * tests.h -- tests of runtime/tests/host whose calls are recorded, as functions; record_tests is a
 * table of them. Included by a file for each host.
 *
 * Only those whose both ends are in one runtime: of the others the record has one end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "runtime/tests/test.h"
#include "sim/tests/host/record/record.h"

#define METAL_NET(net) record_begin(net)
#define METAL_ENDED() ((void)record_check())
#define METAL_TEXT 5000u

#undef TEST
#define TEST(name) static void __attribute__((unused)) recorded_##name(void)

#include "runtime/tests/host/local_metal_test.c"
#include "runtime/tests/host/tcp_metal_test.c"
#include "runtime/tests/host/udp_metal_test.c"
#include "runtime/tests/host/worker.c"

#undef TEST
#define TEST(name) \
    void name(int test__unused); \
    void name(int test__unused __attribute__((unused)))

/* Runs one, and fails where the simulated network cannot have its record. */
#define RECORDED(name) recorded_##name()

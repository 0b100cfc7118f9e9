/*
 * rewake.h -- everything that a scenario may use.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_REWAKE_H
#define SIM_REWAKE_H

#include "runtime/runtime.h"
#include "sim/bind/guest.h"
#include "sim/bind/runtime.h"
#include "sim/bind/shard.h"
#include "sim/bind/ticker.h"
#include "sim/bind/worker.h"
#include "sim/host/completion.h"
#include "sim/host/fd.h"
#include "sim/host/host.h"
#include "sim/net/net.h"
#include "sim/scenario.h"
#include "sim/world/loop.h"
#include "sim/world/mock.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What a shared library of scenarios shows: made by every file that includes this one, kept once by
 * the linker. In the program itself it is found by nobody.
 */
extern const struct sim_library rewake_library __attribute__((weak, visibility("default")));
const struct sim_library rewake_library = {SIM_LIBRARY_VERSION, sizeof(struct sim_scenario),
        __start_rewake_scenarios, __stop_rewake_scenarios, __start_rt_sites, __stop_rt_sites};

#ifdef __cplusplus
}
#endif

#endif

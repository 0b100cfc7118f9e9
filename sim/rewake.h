/*
 * rewake.h -- everything that a scenario may use.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_REWAKE_H
#define SIM_REWAKE_H

#include "runtime/runtime.h"
#include "sim/bind/runtime.h"
#include "sim/host/fd.h"
#include "sim/host/host.h"
#include "sim/scenario.h"
#include "sim/world/loop.h"

#endif

/*
 * build.h -- the build in one line, for people and for the database.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stddef.h>

#include "runtime/base/version.h"

#define SIM_VERSION RT_VERSION
#define SIM_BUILD_MAX 192u

/*
 * One line: version, compiler, and numbers for the contents of the program and of `library` (NULL:
 * none). Equal lines are equal builds: a replay that differs then is nondeterminism.
 */
void sim_build_text(const char *library, char ret_text[SIM_BUILD_MAX]);

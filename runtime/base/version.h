/*
 * version.h -- the version, in one place.
 *
 * Semantic versioning: while the first number is 0, each increase of the second one may break
 * users of the runtime; libraries of scenarios are checked by a separate number
 * (SIM_LIBRARY_VERSION), tokens and databases by theirs.
 *
 * The Makefile takes it from here for the name of the shared library, *.pc files and manual pages;
 * CHANGELOG.md begins with it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_BASE_VERSION_H
#define RT_BASE_VERSION_H

#define RT_VERSION_MAJOR 0
#define RT_VERSION_MINOR 1
#define RT_VERSION_PATCH 0
#define RT_VERSION "0.1.0"

#endif

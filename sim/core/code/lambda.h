/*
 * lambda.h -- a name for the body of a lambda, which compilers call "operator()".
 *
 * It is named after the function around it: "read_letters::lambda", and the call operator of a
 * class after the class: "Ready::operator"; the caller adds the "()". Both compilers' spellings
 * give the same name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>

/* The compiler's name for it. */
#define SIM_LAMBDA "operator()"

/* The name for the function whose whole name, from __PRETTY_FUNCTION__, is `pretty`: from malloc.
 * NULL: there is none better than "operator()". */
char *sim_lambda_name(const char *pretty);

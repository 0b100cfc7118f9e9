/*
 * lambda.h -- what to call the body of a lambda, of which the compiler says "operator()".
 *
 * It is called after the function that it stands in: "read_letters::lambda", and the call operator
 * of a class after the class: "Ready::operator"; who prints it adds the "()". Both compilers'
 * spellings come to the same name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_CORE_LAMBDA_H
#define SIM_CORE_LAMBDA_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a compiler calls it. */
#define SIM_LAMBDA "operator()"

/* The name for the function whose whole name, from __PRETTY_FUNCTION__, is `pretty`: from malloc.
 * NULL: nothing better than the own name can be said. */
char *sim_lambda_name(const char *pretty);

#ifdef __cplusplus
}
#endif
#endif

/*
 * json.h -- objects of JSON, one a line.
 *
 *      struct sim_json json;
 *      sim_json_begin(&json, stdout, "summary");
 *      sim_json_number(&json, "runs", 12);
 *      sim_json_end(&json);
 *
 * prints {"v":1,"event":"summary","runs":12}. Any text is made valid: control characters are
 * escaped, bytes that are not UTF-8 become U+FFFD.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_BASE_JSON_H
#define SIM_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct sim_json {
    FILE *file;
    bool more; /* A comma is due. */
};

/* Opens an object: with "v" and "event", or (`event` NULL) an empty one. */
void sim_json_begin(struct sim_json *json, FILE *file, const char *event);

/* Ends it; one with an event also ends the line, and is written out at once. */
void sim_json_end(struct sim_json *json);

/* NULL is null. */
void sim_json_text(struct sim_json *json, const char *key, const char *text);
void sim_json_number(struct sim_json *json, const char *key, uint64_t number);
void sim_json_signed(struct sim_json *json, const char *key, int64_t number);
void sim_json_bool(struct sim_json *json, const char *key, bool value);

/* As text: a seed, of which readers would lose bits as of a double. */
void sim_json_long(struct sim_json *json, const char *key, uint64_t number);

/* Thousandths, with three decimals: nanoseconds as microseconds. */
void sim_json_thousandths(struct sim_json *json, const char *key, uint64_t thousandths);

/* Milliseconds as seconds with three decimals. */
void sim_json_seconds(struct sim_json *json, const char *key, uint64_t ms);

/* An object or array inside; elements of an array have no key. */
void sim_json_open(struct sim_json *json, const char *key, char bracket);
void sim_json_close(struct sim_json *json, char bracket);

#endif

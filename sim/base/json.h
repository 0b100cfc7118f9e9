/*
 * json.h -- records, printed as objects of JSON, one a line.
 *
 *      SIM_JSON_LINE("summary", SIM_NUMBER("runs", 12), SIM_TEXT("git", NULL));
 *
 * prints {"v":1,"event":"summary","runs":12,"git":null}. Any text is made valid: control characters
 * are escaped, bytes that are not UTF-8 become U+FFFD. A record that is not known at once is
 * written piece by piece, between sim_json_begin and sim_json_end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct sim_json {
    FILE *file;
    bool more; /* A comma is due. */
};

/* A field of a record: a name, and a value of one kind. */
struct sim_field {
    const char *key;
    enum {
        SIM_FIELD_END, /* After the last. */
        SIM_FIELD_NONE,
        SIM_FIELD_TEXT,
        SIM_FIELD_NUMBER,
        SIM_FIELD_INTEGER,
        SIM_FIELD_BOOL,
        SIM_FIELD_LONG,    /* As text: a seed, of which readers would lose bits as of a double. */
        SIM_FIELD_SECONDS, /* Milliseconds, as seconds with three decimals. */
        SIM_FIELD_HEX,     /* As text of 16 digits: a digest. */
        SIM_FIELD_FIELDS
    } kind;
    union {
        const char *text;
        uint64_t number;
        int64_t integer;
        const struct sim_field *fields;
    } value;
};

/* One of each kind; FIELDS is an object inside, IF a field that may be left out. */
#define SIM_TEXT(key, of) ((struct sim_field){key, SIM_FIELD_TEXT, {.text = (of)}})
#define SIM_NUMBER(key, of) ((struct sim_field){key, SIM_FIELD_NUMBER, {.number = (of)}})
#define SIM_INTEGER(key, of) ((struct sim_field){key, SIM_FIELD_INTEGER, {.integer = (of)}})
#define SIM_BOOL(key, of) ((struct sim_field){key, SIM_FIELD_BOOL, {.number = (of)}})
#define SIM_LONG(key, of) ((struct sim_field){key, SIM_FIELD_LONG, {.number = (of)}})
#define SIM_SECONDS(key, ms) ((struct sim_field){key, SIM_FIELD_SECONDS, {.number = (ms)}})
#define SIM_HEX(key, of) ((struct sim_field){key, SIM_FIELD_HEX, {.number = (of)}})
#define SIM_RECORD(...) ((const struct sim_field[]){__VA_ARGS__, {NULL, SIM_FIELD_END, {0}}})
#define SIM_FIELDS(key, ...) \
    ((struct sim_field){key, SIM_FIELD_FIELDS, {.fields = SIM_RECORD(__VA_ARGS__)}})
#define SIM_IF(condition, field) \
    ((condition) ? (field) : (struct sim_field){NULL, SIM_FIELD_NONE, {0}})

/* Prints a record as a line of stdout; adds one to an object. */
#define SIM_JSON_LINE(event, ...) sim_json_line(event, SIM_RECORD(__VA_ARGS__))
#define SIM_JSON_PUT(json, ...) sim_json_put(json, SIM_RECORD(__VA_ARGS__))
void sim_json_line(const char *event, const struct sim_field *fields);
void sim_json_put(struct sim_json *json, const struct sim_field *fields);

/* Opens an object: with "v" and "event", or (`event` NULL) an empty one. */
void sim_json_begin(struct sim_json *json, FILE *file, const char *event);

/* Ends it; one with an event also ends the line, and is written out at once. */
void sim_json_end(struct sim_json *json);

/* NULL is null. */
void sim_json_text(struct sim_json *json, const char *key, const char *text);
void sim_json_number(struct sim_json *json, const char *key, uint64_t number);
void sim_json_signed(struct sim_json *json, const char *key, int64_t number);
void sim_json_bool(struct sim_json *json, const char *key, bool value);
/* A value as it is written in JSON. */
void sim_json_raw(struct sim_json *json, const char *key, const char *value);

/* Thousandths, with three decimals: nanoseconds as microseconds. */
void sim_json_thousandths(struct sim_json *json, const char *key, uint64_t thousandths);

/* An object or array inside; elements of an array have no key. */
void sim_json_open(struct sim_json *json, const char *key, char bracket);
void sim_json_close(struct sim_json *json, char bracket);

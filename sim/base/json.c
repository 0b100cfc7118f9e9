/*
 * json.c -- writing JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/base/json.h"

#include "runtime/base/assert.h"
#include "sim/base/utf8.h"

static void
put_escaped(FILE *file, const char *text)
{
    size_t length = 0;
    (void)fputc('"', file);
    for (; *text != '\0'; text += length) {
        uint32_t character = sim_character(text, &length);
        if (character < 0x20 || character == 0x7f) {
            (void)fprintf(file, "\\u%04x", character);
        } else if (character == '"' || character == '\\') {
            (void)fprintf(file, "\\%c", (int)character);
        } else if (character == SIM_NO_CHARACTER && length == 1) {
            (void)fputs("\\ufffd", file);
        } else {
            (void)fwrite(text, 1, length, file);
        }
    }
    (void)fputc('"', file);
}

static void
put_key(struct sim_json *json, const char *key)
{
    if (json->more) {
        (void)fputc(',', json->file);
    }
    json->more = true;
    if (key != NULL) {
        put_escaped(json->file, key);
        (void)fputc(':', json->file);
    }
}

void
sim_json_begin(struct sim_json *json, FILE *file, const char *event)
{
    rt_assert(file != NULL);
    *json = (struct sim_json){.file = file};
    (void)fputc('{', file);
    if (event != NULL) {
        sim_json_number(json, "v", 1);
        sim_json_text(json, "event", event);
    }
}

void
sim_json_end(struct sim_json *json)
{
    (void)fputs("}\n", json->file);
    (void)fflush(json->file);
}

void
sim_json_text(struct sim_json *json, const char *key, const char *text)
{
    if (text == NULL) {
        sim_json_raw(json, key, "null");
    } else {
        put_key(json, key);
        put_escaped(json->file, text);
    }
}

void
sim_json_raw(struct sim_json *json, const char *key, const char *value)
{
    put_key(json, key);
    (void)fputs(value, json->file);
}

void
sim_json_number(struct sim_json *json, const char *key, uint64_t number)
{
    put_key(json, key);
    (void)fprintf(json->file, "%llu", (unsigned long long)number);
}

void
sim_json_signed(struct sim_json *json, const char *key, int64_t number)
{
    put_key(json, key);
    (void)fprintf(json->file, "%lld", (long long)number);
}

void
sim_json_bool(struct sim_json *json, const char *key, bool value)
{
    sim_json_raw(json, key, value ? "true" : "false");
}

void
sim_json_thousandths(struct sim_json *json, const char *key, uint64_t thousandths)
{
    put_key(json, key);
    (void)fprintf(json->file, "%llu.%03llu", (unsigned long long)(thousandths / 1000),
            (unsigned long long)(thousandths % 1000));
}

void
sim_json_open(struct sim_json *json, const char *key, char bracket)
{
    put_key(json, key);
    (void)fputc(bracket, json->file);
    json->more = false;
}

void
sim_json_close(struct sim_json *json, char bracket)
{
    (void)fputc(bracket, json->file);
    json->more = true;
}

static void
put_field(struct sim_json *json, const struct sim_field *field)
{
    switch (field->kind) {
    case SIM_FIELD_END:
    case SIM_FIELD_NONE:
        return;
    case SIM_FIELD_TEXT:
        sim_json_text(json, field->key, field->value.text);
        return;
    case SIM_FIELD_NUMBER:
        sim_json_number(json, field->key, field->value.number);
        return;
    case SIM_FIELD_INTEGER:
        sim_json_signed(json, field->key, field->value.integer);
        return;
    case SIM_FIELD_BOOL:
        sim_json_bool(json, field->key, field->value.number != 0);
        return;
    case SIM_FIELD_LONG:
        put_key(json, field->key);
        (void)fprintf(json->file, "\"%llu\"", (unsigned long long)field->value.number);
        return;
    case SIM_FIELD_SECONDS:
        sim_json_thousandths(json, field->key, field->value.number);
        return;
    case SIM_FIELD_HEX:
        put_key(json, field->key);
        (void)fprintf(json->file, "\"%016llx\"", (unsigned long long)field->value.number);
        return;
    case SIM_FIELD_FIELDS:
        sim_json_open(json, field->key, '{');
        sim_json_put(json, field->value.fields);
        sim_json_close(json, '}');
        return;
    }
}

void
sim_json_put(struct sim_json *json, const struct sim_field *fields)
{
    for (; fields->kind != SIM_FIELD_END; fields++) {
        put_field(json, fields);
    }
}

void
sim_json_line(const char *event, const struct sim_field *fields)
{
    struct sim_json json;
    sim_json_begin(&json, stdout, event);
    sim_json_put(&json, fields);
    sim_json_end(&json);
}

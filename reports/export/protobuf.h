/*
 * protobuf.h -- Protocol Buffers, as far as a trace needs them: writing only.
 *
 * A message is a run of fields, each a key (number and wire type) and a value. A message inside of
 * another begins with its length, which is known only at its end: a varint of fixed width is
 * reserved for it.
 *
 *      struct report_protobuf out = {.bytes = NULL};
 *      size_t packet = report_protobuf_open(&out, 1);
 *      report_protobuf_number(&out, 8, time_ns);
 *      report_protobuf_close(&out, packet);
 *      … out.bytes, out.length …
 *      report_protobuf_fini(&out);
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPORTS_EXPORT_PROTOBUF_H
#define REPORTS_EXPORT_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct report_protobuf {
    uint8_t *bytes; /* Owned; malloc. */
    size_t length;
    size_t capacity;
    bool failed; /* No memory: what follows is lost. */
};

void report_protobuf_fini(struct report_protobuf *out);

/* Forgets what was written, and keeps the memory. */
void report_protobuf_clear(struct report_protobuf *out);

/* Of types uint32, uint64, bool and enum, and of int32 and int64 where it is not negative. */
void report_protobuf_number(struct report_protobuf *out, uint32_t field, uint64_t number);

/* Of type fixed64. */
void report_protobuf_fixed64(struct report_protobuf *out, uint32_t field, uint64_t number);

/* Of type string. Bytes that are no UTF-8, which a reader would refuse, become U+FFFD. */
void report_protobuf_text(struct report_protobuf *out, uint32_t field, const char *text);

/* A message inside: what is written until close belongs to it. Its mark is for close. A message
 * holds less than 256 MiB. */
size_t report_protobuf_open(struct report_protobuf *out, uint32_t field);
void report_protobuf_close(struct report_protobuf *out, size_t mark);

#ifdef __cplusplus
}
#endif
#endif

/*
 * protobuf.h -- Protocol Buffers, as far as a trace needs them: writing only.
 *
 * A message is a run of fields, each a key (number and wire type) and a value. A message inside of
 * another begins with its length, which is known only at its end: a varint of fixed width is
 * reserved for it.
 *
 *      struct sim_page out;
 *      sim_page_init(&out, false);
 *      size_t packet = report_protobuf_open(&out, 1);
 *      report_protobuf_number(&out, 8, time_ns);
 *      report_protobuf_close(&out, packet);
 *      … out.bytes, out.length …
 *      sim_page_fini(&out);
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/base/page.h"

/* Of types uint32, uint64, bool and enum, and of int32 and int64 where it is not negative. */
void report_protobuf_number(struct sim_page *out, uint32_t field, uint64_t number);

/* Of type fixed64. */
void report_protobuf_fixed64(struct sim_page *out, uint32_t field, uint64_t number);

/* Of type string. Bytes that are no UTF-8, which a reader would refuse, become U+FFFD. */
void report_protobuf_text(struct sim_page *out, uint32_t field, const char *text);

/* A message inside: what is written until close belongs to it. Its mark is for close. A message
 * holds less than 256 MiB. */
size_t report_protobuf_open(struct sim_page *out, uint32_t field);
void report_protobuf_close(struct sim_page *out, size_t mark);

/*
 * style.h -- how every page of a report looks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

/* The style sheet; static. */
extern const char *const report_style[];

/* Its colours by themselves, for a picture that is taken out of its page; static. */
extern const char report_colours[];

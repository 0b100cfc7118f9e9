/*
 * export.h -- files for other programs, as the commands write them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "reports/export/format.h"

/* Opens `path` ("-": stdout) for a file of some format; `append`: at its end. NULL after a line on
 * stderr. */
FILE *sim_export_open(const char *path, bool append);

/* Writes it, and closes export->file, which came from sim_export_open(path). 0, or the exit status
 * after a line. */
int sim_export_write(
        const struct report_format *format, const struct report_export *export, const char *path);

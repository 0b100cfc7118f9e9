/*
 * path.h -- how a file is called in what other programs read.
 *
 * A compiler is given paths of any kind: relative to the folder in which it ran, with "..", or
 * absolute, as CMake does. Annotations and editors want them relative to the repository.
 *
 *   1. Which file it is. A relative path is looked for below the working directory, then below the
 *      folders in which the library's files were compiled, as its debug information has them.
 *   2. What it is called: relative to $GITHUB_WORKSPACE where it is below that, else to the root of
 *      the git work tree that it is in, else to the working directory; else its absolute path. A
 *      relative path whose file is not found stays as it is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

/* From malloc. `library`: the file whose debug information is asked; NULL or "": rewake itself. */
char *report_path(const char *file, const char *library);

/*
 * link.h -- the address of a line of source, for an editor or for a forge.
 *
 * The variable REWAKE_LINK has its form: "vscode://file{path}:{line}", or
 * "https://forge/me/it/blob/COMMIT/{file}#L{line}". {path} is absolute, {file} relative to the
 * repository where that is known. Terminals have file://{path} without it, pages no links.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/base/page.h"

/* REWAKE_LINK; NULL: it is not set, or empty. */
const char *sim_link_form(void);

/* Adds the address, with what is no letter of an address as %20. Nothing where the file does not
 * exist here and `form` asks for its {path}. */
void sim_link_put(
        struct sim_page *page, const char *form, const char *path, const char *file, uint32_t line);

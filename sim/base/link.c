/*
 * link.c -- the address of a line of source.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/base/link.h"

#include <stdlib.h>
#include <string.h>

const char *
sim_link_form(void)
{
    const char *form = getenv("REWAKE_LINK");
    return form != NULL && form[0] != '\0' ? form : NULL;
}

static void
put_encoded(struct sim_page *page, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-._~/";
    for (; *text != '\0'; text++) {
        if (strchr(plain, *text) != NULL) {
            sim_page_add(page, text, 1);
        } else {
            sim_page_printf(page, "%%%02X", (unsigned)(unsigned char)*text);
        }
    }
}

void
sim_link_put(
        struct sim_page *page, const char *form, const char *path, const char *file, uint32_t line)
{
    char *real = realpath(path, NULL);
    bool known = real != NULL || strstr(form, "{path}") == NULL;
    for (const char *c = form; known && *c != '\0'; c++) {
        if (strncmp(c, "{path}", 6) == 0) {
            put_encoded(page, real);
            c += 5;
        } else if (strncmp(c, "{file}", 6) == 0) {
            put_encoded(page, file);
            c += 5;
        } else if (strncmp(c, "{line}", 6) == 0) {
            sim_page_printf(page, "%u", line);
            c += 5;
        } else if ((unsigned char)*c > ' ' && *c != 0x7f) {
            sim_page_add(page, c, 1);
        }
    }
    free(real);
}

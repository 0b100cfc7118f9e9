/*
 * source.c -- opening source files, reading one line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/code/source.h"

#include <ctype.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/base/assert.h"

#define SIZE_MAX_BYTES (8 << 20)
#define LINE_MAX_BYTES 512
#define BLANKS " \t\r\n"

static bool
is_source(const char *file)
{
    static const char *const ends[] = {
            ".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".inc", ".patch"};
    const char *dot = strrchr(file, '.');
    for (size_t i = 0; dot != NULL && i < sizeof(ends) / sizeof(ends[0]); i++) {
        if (strcmp(dot, ends[i]) == 0) {
            return true;
        }
    }
    return false;
}

FILE *
sim_source_open(const char *file, int64_t *ret_modified_s)
{
    struct stat what;
    if (!is_source(file) || stat(file, &what) != 0 || !S_ISREG(what.st_mode) ||
            what.st_size > SIZE_MAX_BYTES) {
        return NULL;
    }
    if (ret_modified_s != NULL) {
        *ret_modified_s = (int64_t)what.st_mtime;
    }
    return fopen(file, "re");
}

/* Copies `text` without the blanks around it. */
static void
copy_trimmed(const char *text, char *ret_text, size_t size)
{
    text += strspn(text, BLANKS);
    size_t length = strlen(text);
    while (length > 0 && strchr(BLANKS, text[length - 1]) != NULL) {
        length--;
    }
    length = length < size - 1 ? length : size - 1;
    memcpy(ret_text, text, length);
    ret_text[length] = '\0';
}

bool
sim_source_line(const char *file, uint32_t line, char *ret_text, size_t size)
{
    char text[LINE_MAX_BYTES];
    FILE *source = sim_source_open(file, NULL);
    rt_assert(size > 0);
    ret_text[0] = '\0';
    for (uint32_t number = 1; source != NULL && number <= line;) {
        if (fgets(text, sizeof(text), source) == NULL) {
            break;
        }
        if (number == line) {
            copy_trimmed(text, ret_text, size);
            break;
        }
        number += strchr(text, '\n') != NULL;
    }
    if (source != NULL) {
        (void)fclose(source);
    }
    return ret_text[0] != '\0';
}

bool
sim_source_ends_block(const char *file, uint32_t line)
{
    char text[LINE_MAX_BYTES];
    bool known = sim_source_line(file, line, text, sizeof(text));
    for (const char *c = text; known && *c != '\0'; c++) {
        known = isalnum((unsigned char)*c) == 0;
    }
    return known;
}

/*
 * text.c -- tokens from a file, or stdin: too many or too long for a command line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/heap.h"
#include "sim/cli/subject/subject.h"

/* More than the longest token that is read (SIM_TOKEN_TAPE_MAX). */
#define TEXT_MAX ((size_t)16 << 20)
#define BLANKS " \t\r\n"

bool
sim_subject_is_text(const char *name)
{
    return strcmp(name, "-") == 0 || name[0] == '@';
}

/* The contents of `file`, from malloc, up to one byte more than TEXT_MAX. */
static char *
read_all(FILE *file)
{
    char *text = sim_heap_must(malloc(TEXT_MAX + 2));
    text[fread(text, 1, TEXT_MAX + 1, file)] = '\0';
    return text;
}

/* Moves the only word in `text` to its front. NULL, or what is wrong. */
static const char *
take_word(char *text)
{
    size_t before = strspn(text, BLANKS);
    size_t length = strcspn(text + before, BLANKS);
    const char *after = text + before + length;
    if (length == 0) {
        return "it has no token";
    }
    if (length > TEXT_MAX) {
        return "it is longer than any token";
    }
    if (after[strspn(after, BLANKS)] != '\0') {
        return "it has more than one token";
    }
    memmove(text, text + before, length);
    text[length] = '\0';
    return NULL;
}

/* All words, each with its '\0', and an empty one at the end. NULL, or what is wrong. */
static const char *
take_words(char *text)
{
    char *end = text;
    if (strlen(text) > TEXT_MAX) {
        return "it is longer than any list of tokens";
    }
    for (char *from = text; *(from += strspn(from, BLANKS)) != '\0';) {
        size_t length = strcspn(from, *from == '#' ? "\n" : BLANKS);
        char *next = from + length + (from[length] != '\0');
        if (*from != '#') {
            memmove(end, from, length);
            end += length;
            *end++ = '\0';
        }
        from = next;
    }
    *end = '\0';
    return end == text ? "it has no token" : NULL;
}

/* Reads `name`, and has `take` reduce the text to words. */
static int
read_text(const char *name, const char *(*take)(char *text), char **ret_text)
{
    bool from_stdin = strcmp(name, "-") == 0;
    const char *path = from_stdin ? "stdin" : name + 1;
    FILE *file = from_stdin ? stdin : *path != '\0' ? fopen(path, "r") : NULL;
    *ret_text = NULL;
    if (!from_stdin && *path == '\0') {
        return sim_cli_fail(SIM_EXIT_USAGE, "'@' without the name of a file: give @FILE");
    }
    if (file == NULL) {
        return sim_cli_fail(SIM_EXIT_USAGE, "%s cannot be read: %s", path, strerror(errno));
    }
    char *text = read_all(file);
    const char *wrong = ferror(file) != 0 ? "it cannot be read" : take(text);
    if (!from_stdin) {
        (void)fclose(file);
    }
    if (wrong != NULL) {
        free(text);
        return sim_cli_fail(SIM_EXIT_USAGE, "%s: %s", path, wrong);
    }
    *ret_text = text;
    return 0;
}

int
sim_subject_read_text(const char *name, char **ret_text)
{
    return read_text(name, take_word, ret_text);
}

int
sim_subject_read_list(const char *name, char **ret_list)
{
    return read_text(name, take_words, ret_list);
}

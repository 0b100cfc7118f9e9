/*
 * lambda.c -- reading __PRETTY_FUNCTION__ of gcc and clang.
 *
 *      gcc     ns::K::f<int>(int, int (*)(char))::<lambda(int)> [with auto:1 = int]
 *      clang   auto ns::K::f(int, int (*)(char))::(anonymous class)::operator()(int) const
 *
 * For a class with a call operator both have "bool ns::Ready::operator()(int)".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/code/lambda.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "sim/base/heap.h"

static bool
is_word(char c)
{
    return isalnum((unsigned char)c) != 0 || c == '_' || c == '$' || (c & 0x80) != 0;
}

/* The index of the bracket that opens what closes at text[end - 1]; 0: there is none. */
static size_t
before_bracket(const char *text, size_t end)
{
    char closes = text[end - 1];
    char opens = closes == ')' ? '(' : '<';
    int depth = 0;
    while (end > 0) {
        end--;
        depth += (text[end] == closes) - (text[end] == opens);
        if (depth == 0) {
            return end;
        }
    }
    return 0;
}

/* The last word of text[0 .. end), without parameters, qualifiers and template arguments after it:
 * the plain name of a function. *ret_length 0: there is none. */
static const char *
last_word(const char *text, size_t end, size_t *ret_length)
{
    static const char *const qualifiers[] = {" const", " volatile", " &", " noexcept"};
    for (size_t i = 0; i < sizeof(qualifiers) / sizeof(qualifiers[0]); i++) {
        size_t length = strlen(qualifiers[i]);
        if (end > length && memcmp(text + end - length, qualifiers[i], length) == 0) {
            end -= length;
        }
    }
    if (end > 0 && text[end - 1] == ')') {
        end = before_bracket(text, end);
    }
    if (end > 0 && text[end - 1] == '>') {
        end = before_bracket(text, end);
    }
    size_t start = end;
    while (start > 0 && is_word(text[start - 1])) {
        start--;
    }
    *ret_length = end - start;
    return text + start;
}

static char *
called_after(const char *text, size_t end, const char *what)
{
    size_t length = 0;
    const char *word = last_word(text, end, &length);
    return sim_heap_printf("%.*s%s%s", (int)length, word, length > 0 ? "::" : "", what);
}

char *
sim_lambda_name(const char *pretty)
{
    static const char *const lambdas[] = {"<lambda", "(anonymous class)", "{lambda"};
    for (size_t i = 0; i < sizeof(lambdas) / sizeof(lambdas[0]); i++) {
        /* Of nested lambdas the outermost: the function around it has a name. */
        const char *found = strstr(pretty, lambdas[i]);
        if (found != NULL) {
            size_t end = (size_t)(found - pretty);
            return called_after(pretty, end > 2 ? end - 2 : 0, "lambda");
        }
    }
    const char *own = strstr(pretty, "::" SIM_LAMBDA);
    return own != NULL ? called_after(pretty, (size_t)(own - pretty), "operator") : NULL;
}

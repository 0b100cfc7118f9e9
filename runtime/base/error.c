/*
 * error.c -- names and texts of the error list.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/error.h"

const char *
rt_err_name(rt_err err)
{
    switch (err) {
    case RT_OK:
        return "RT_OK";
#define RT_ERROR_NAME(name, value, text) \
    case RT_E_##name: \
        return "RT_E_" #name;
        RT_ERROR_LIST(RT_ERROR_NAME)
#undef RT_ERROR_NAME
    }
    return "RT_E_?";
}

const char *
rt_err_text(rt_err err)
{
    switch (err) {
    case RT_OK:
        return "all went well";
#define RT_ERROR_TEXT(name, value, text) \
    case RT_E_##name: \
        return text;
        RT_ERROR_LIST(RT_ERROR_TEXT)
#undef RT_ERROR_TEXT
    }
    return "not an error of this runtime";
}

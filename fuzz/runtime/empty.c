/*
 * empty.c -- a target that does nothing: the speed of the fuzzer itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_tape tape = fuzz_tape(data, size);
    while (fuzz_more(&tape)) {
        (void)fuzz_below(&tape, 4);
    }
    return 0;
}

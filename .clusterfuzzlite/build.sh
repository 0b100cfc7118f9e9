#!/bin/bash -eu
# build.sh -- builds all targets as OSS-Fuzz and ClusterFuzzLite ask it.
#
# They set CC, CXX, CFLAGS, CXXFLAGS, LIB_FUZZING_ENGINE, SRC and OUT. What comes to $OUT: a program
# a target, its seed corpus as a zip, its dictionary, and the shared libraries that the image which
# runs it may lack. `make fuzz-oss` does the same on this machine, without their images.
#
# SPDX-License-Identifier: Apache-2.0
cd "$SRC/rewake"
# Warnings are for the compilers that we know; theirs is newer.
make -s -j"$(nproc)" BUILD=oss CC="$CC" WARN= WARN.clang= \
    FUZZ_ENGINE="$LIB_FUZZING_ENGINE" \
    LINK="$CXX $CXXFLAGS -Wl,--export-dynamic -Wl,-rpath,'\$\$ORIGIN/lib'" fuzz-programs

mkdir -p "$OUT/lib"
for file in fuzz/runtime/*.c fuzz/sim/*.c; do
    name=$(basename "$file" .c)
    program=build/oss-$(basename "$CC")/fuzz/$name
    [ -f "$file" ] && [ "$name" != empty ] || continue
    cp "$program" "$OUT/$name"
    ldd "$program" | awk '/boost|sqlite3|xxhash|libdw|libelf|lzma|bz2/ { print $3 }' |
        xargs -r -I '{}' cp -Ln '{}' "$OUT/lib/"
    [ ! -d "fuzz/corpus/$name" ] ||
        (cd "fuzz/corpus/$name" && zip -q -r "$OUT/${name}_seed_corpus.zip" .)
    [ ! -f "fuzz/dict/$name.dict" ] || cp "fuzz/dict/$name.dict" "$OUT/"
    printf '[libfuzzer]\nmax_len = 4096\ntimeout = 10\n' >"$OUT/$name.options"
done

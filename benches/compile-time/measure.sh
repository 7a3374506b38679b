#!/usr/bin/env bash
# CPU seconds (user and system) that cargo and rustc take for each crate here, its dependencies built before: the least of fifteen.
#
#   benches/compile-time/measure.sh
#
# The goal: gemm20 takes at most 0.3 s more than empty, ops60 at most 0.7 s.
set -eu
cd "$(dirname "$0")"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/../../target/compile-time}" CARGO_INCREMENTAL=0

seconds() { # profile crate
    touch "$2/src/lib.rs"
    { TIMEFORMAT='%U %S'; time cargo "$1" --offline --quiet -p "$2"; } 2>&1 | awk '{ printf "%.2f", $1 + $2 }'
}

for profile in check build; do
    cargo $profile --offline --quiet -p empty -p gemm20 -p ops60
    for crate in empty gemm20 ops60; do
        least=99
        for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
            now=$(seconds $profile $crate)
            if awk "BEGIN { exit !($now < $least) }"; then least=$now; fi
        done
        if [ $crate = empty ]; then base=$least; fi
        echo "$profile $crate $least $(awk "BEGIN { printf \"%+.2f\", $least - $base }")"
    done
done

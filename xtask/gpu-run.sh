#!/usr/bin/env bash
# Runs every GPU check and bench of this folder and prints a table; fails if a check fails or there is no GPU.
#   run.sh [checks|benches]      both without an argument; logs go to logs/ beside this script (or $LOGS)
set -uo pipefail
cd "$(dirname "$0")"
what=${1:-all}
logs=${LOGS:-logs}
mkdir -p "$logs"
export GIRIH_DEVICE=cuda CRITERION_HOME="$logs/criterion" GIRIH_RECORD="$logs/records.jsonl"
table=()
failures=0

# check NAME COMMAND...: one row; a run that skipped itself for want of a GPU is a failure here.
check() {
  local name=$1 start=$EPOCHREALTIME result=ok
  shift
  local log="$logs/${name//[^A-Za-z0-9._-]/_}.log"
  if ! "$@" >"$log" 2>&1; then
    result=FAILED
  elif grep -qi 'skipped: no' "$log"; then
    result='NO GPU'
  fi
  [ "$result" = ok ] || { failures=$((failures + 1)); tail -n 5 "$log"; }
  table+=("$(awk -v n="$name" -v r="$result" -v a="$start" -v b="$EPOCHREALTIME" \
    'BEGIN { printf "%-48s %-8s %7.1f s", n, r, b - a }')")
}

if [ "$what" != benches ]; then
  for test in bin/test-*; do
    [ -x "$test" ] && check "${test#bin/}" "$test" --nocapture
  done
  for size in 512,512,512 4096,4096,4096 1,1,1 17,33,65 1000,1000,1000 4095,4097,127 0,5,7 5,7,0; do
    IFS=, read -r m n k <<<"$size"
    for layout in tn tt nn nt; do
      for kernel in simt:f32 sm80:bf16 sm80:f16 best:bf16 best:f16; do
        # The best is what girih takes by itself: sm90 where the sizes allow.
        named=(--kernel "${kernel%:*}")
        [ "${kernel%:*}" = best ] && named=()
        check "gemm ${kernel/:/ } $layout ${m}x${n}x${k}" bin/girih gemm --device cuda "${named[@]}" \
          --dtype "${kernel#*:}" --layout "$layout" --m "$m" --n "$n" --k "$k"
      done
    done
  done
fi
if [ "$what" != checks ]; then
  for bench in bin/bench-*; do
    [ -x "$bench" ] && check "${bench#bin/}" "$bench" --bench
  done
fi

printf '%s\n' "${table[@]}"
if [ "$what" != checks ]; then
  cat "$logs"/bench-*.log 2>/dev/null | grep -E 'time:|thrpt:|TFLOP|GB/s|%' || true
fi
echo "${#table[@]} runs, $failures failed"
[ "${#table[@]}" -gt 0 ] && [ "$failures" -eq 0 ]

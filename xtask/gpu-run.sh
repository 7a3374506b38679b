#!/usr/bin/env bash
# Runs GPU checks and benches of this folder and prints a table of all that ran; fails if one fails or there is no GPU.
#   run.sh [GROUP...] [--seconds N]
# Groups: tests (every test binary), gemm (the girih binary over sizes, layouts, kernels), tile (kernels over tiles beside torch and Triton,
# and the records of the tile language), attention (beside cuDNN and FlashAttention), checks (tests and gemm), benches, or the end of a binary's name, such as gpu_programs. All without one. With --seconds nothing starts after N seconds; the same command
# run again goes on with what has not run well yet. gpu_rows gets what is left of the N seconds as GIRIH_SECONDS, starts no row of its
# own after them, and goes on where it stopped. Logs, records and the table go to logs/ beside this script (or $LOGS).
# Exit code: 0 all well, 1 something failed or nothing ran, 2 usage, 3 all well so far and something left.
set -uo pipefail
cd "$(dirname "$0")"
groups=() seconds=
while [ $# -gt 0 ]; do
  case $1 in
    --seconds) seconds=${2:?a number of seconds} && shift ;;
    --seconds=*) seconds=${1#*=} ;;
    -*) echo "run.sh: $1 is not known: run.sh [tests|gemm|tile|attention|checks|benches|NAME]... [--seconds N]" >&2 && exit 2 ;;
    *) groups+=("$1") ;;
  esac
  shift
done
[ ${#groups[@]} -gt 0 ] || groups=(checks benches)
logs=${LOGS:-logs}
rows=$logs/rows.tsv
mkdir -p "$logs" && touch "$rows"
export GIRIH_DEVICE=cuda CRITERION_HOME="$logs/criterion" GIRIH_RECORD="$logs/records.jsonl"
[ -f commit ] && export GIRIH_COMMIT=${GIRIH_COMMIT:-$(<commit)}
ran=0 failures=0 left=0

# row NAME COMMAND...: one row of the table; a run that skipped itself for want of a GPU is a failure here.
row() {
  local name=$1 start=$EPOCHREALTIME result=ok
  shift
  if grep -q "^$name"$'\tok\t' "$rows"; then
    return
  elif [ -n "$seconds" ] && [ "$SECONDS" -ge "$seconds" ]; then
    left=$((left + 1))
    return
  fi
  [ -n "$seconds" ] && export GIRIH_SECONDS=$((seconds - SECONDS))
  local log="$logs/${name//[^A-Za-z0-9._-]/_}.log" code=0
  "$@" >"$log" 2>&1 || code=$?
  if [ "$code" -eq 3 ]; then
    result=left
  elif [ "$code" -ne 0 ]; then
    result=FAILED
  elif grep -qi 'skipped: no' "$log"; then
    result='NO GPU'
  fi
  ran=$((ran + 1))
  case $result in
    ok) ;;
    left) left=$((left + 1)) ;;
    *) failures=$((failures + 1)) && tail -n 5 "$log" ;;
  esac
  awk -v n="$name" -v r="$result" -v a="$start" -v b="$EPOCHREALTIME" \
    'BEGIN { printf "%s\t%s\t%.1f\n", n, r, b - a }' >>"$rows"
}

tests() {
  for test in bin/test-*"$1"; do
    [ -x "$test" ] && row "${test#bin/}" "$test" --nocapture
  done
}

benches() {
  for bench in bin/bench-*"$1"; do
    [ -x "$bench" ] && row "${bench#bin/}" "$bench" --bench
  done
}

gemm() {
  for size in 512,512,512 4096,4096,4096 1,1,1 17,33,65 1000,1000,1000 4095,4097,127 0,5,7 5,7,0; do
    IFS=, read -r m n k <<<"$size"
    for layout in tn tt nn nt; do
      for kernel in simt:f32 sm80:bf16 sm80:f16 best:bf16 best:f16; do
        # The best is what girih takes by itself: sm90 where the sizes allow.
        named=(--kernel "${kernel%:*}")
        [ "${kernel%:*}" = best ] && named=()
        row "gemm ${kernel/:/ } $layout ${m}x${n}x${k}" bin/girih gemm --device cuda "${named[@]}" \
          --dtype "${kernel#*:}" --layout "$layout" --m "$m" --n "$n" --k "$k"
      done
    done
  done
}

# Needs python3 with torch, triton and cuda-python for the first.
tile() {
  row 'tile rows' python3 tile/peers.py tile --seconds "${seconds:-300}" -o "$logs/tile-rows.jsonl"
  row 'tile records' bash -c 'bin/girih eval --tile --jsonl --on cuda <tile/tile.jsonl >"$1/tile-records.jsonl"' tile "$logs"
}

# Needs python3 with torch and cuda-python.
attention() {
  row 'attention rows' python3 attention/peers.py attention --seconds "${seconds:-500}" -o "$logs/attention-rows.jsonl"
}

for group in "${groups[@]}"; do
  case $group in
    tests) tests '' ;;
    gemm) gemm ;;
    tile) tile ;;
    attention) attention ;;
    checks)
      tests ''
      gemm
      ;;
    benches) benches '' ;;
    *)
      compgen -G "bin/test-*$group" >/dev/null || compgen -G "bin/bench-*$group" >/dev/null ||
        { echo "run.sh: no binary ends in $group; there are:" bin/* >&2 && exit 2; }
      tests "$group"
      benches "$group"
      ;;
  esac
done

awk -F '\t' '{ last[$1] = $0; if (!($1 in seen)) { order[++n] = $1; seen[$1] = 1 } }
  END { for (i = 1; i <= n; i++) { split(last[order[i]], f, "\t"); printf "%-48s %-8s %7s s\n", f[1], f[2], f[3] } }' "$rows"
cat "$logs"/bench-*.log 2>/dev/null | grep -E 'time:|thrpt:|TFLOP|GB/s|%|^geometric mean|^row ' || true
echo "$ran runs, $failures failed, $left left for the next call, $(cut -f 1 "$rows" | sort -u | wc -l) in the table"
[ -s "$rows" ] && [ "$failures" -eq 0 ] || exit 1
[ "$left" -eq 0 ] || exit 3

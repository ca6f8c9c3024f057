#!/bin/sh
# One night of fuzzing: ./nightly.sh FOLDER MINUTES [SUMMARY]
#
# Writes a campaign to FOLDER/DATE. FOLDER/known has the journal of the last night that finished: its
# findings run first, and only other failures give exit code 1. The first night has nothing to compare
# with and never fails: its findings are known from then on. A summary in Markdown is appended to the
# file SUMMARY. Where PyTorch programs are drawn (all, torch), samples of PyTorch's then run with the
# fixes off and on, as `relaxcheck torch regressions` does, one of each entry; a regression that the
# last night did not have is red as well, and FOLDER/DATE/torch-regressions.txt lists all.
# RELAXCHECK is the command to call, FAMILIES what it draws from (default: all), TVM the
# release or build to run, or several, as --tvm takes them, FIXES off, on or both (the default). TIRx
# alone takes TVM=tirx FAMILIES=algebra FIXES=off.
set -u

folder=$1 minutes=$2 summary=${3:-}
out=$folder/$(date -u +%Y-%m-%d-%H%M%S)
# An earlier night may have begun in the same second.
while [ -e "$out" ]; do
  sleep 1
  out=$folder/$(date -u +%Y-%m-%d-%H%M%S)
done
known=$folder/known

# One word for each name.
# shellcheck disable=SC2086
set -- fuzz ${FAMILIES:-all} --minutes "$minutes" --fixes "${FIXES:-both}" --quiet --out "$out"
if [ -n "${TVM:-}" ]; then set -- "$@" --tvm "$TVM"; fi
if [ -n "$summary" ]; then set -- "$@" --summary "$summary"; fi
if [ -f "$known/campaign.sqlite" ]; then
  first=false
  set -- "$@" --known "$known"
else
  first=true
fi

${RELAXCHECK:-.venv/bin/relaxcheck} "$@"
code=$?

# 2 and 130: the campaign did not finish, and may not have tried every known finding.
case $code in
  0 | 1 | 3)
    # Replace the whole folder: SQLite may have left files beside the database.
    rm -rf "$known.new" &&
      mkdir -p "$known.new" &&
      cp "$out/campaign.sqlite" "$known.new" &&
      if [ -d "$known/torch-regressions" ]; then
        cp -R "$known/torch-regressions" "$known.new"
      fi &&
      rm -rf "$known" &&
      mv "$known.new" "$known" || exit 2
    ;;
esac
if [ "$first" = true ] && [ "$code" -eq 1 ]; then
  echo "The first night: its findings are known from now on."
  code=0
fi

case " ${FAMILIES:-all} " in
  *" all "* | *" torch "*) ;;
  *) exit "$code" ;;
esac
case $code in
  0 | 1 | 3) ;;
  *) exit "$code" ;;
esac

list=$out/torch-regressions
set -- torch regressions --samples 1 --kept "$list.jsonl" --out "$list"
if [ -n "${TVM:-}" ]; then set -- "$@" --tvm "$TVM"; fi
compared=false
if [ -d "$known/torch-regressions" ]; then
  compared=true
  set -- "$@" --known "$known/torch-regressions"
fi
${RELAXCHECK:-.venv/bin/relaxcheck} "$@" >"$list.txt"
regressed=$?
case $regressed in
  0 | 1)
    rm -rf "$known/torch-regressions" &&
      cp -R "$list" "$known" || exit 2
    ;;
esac
if [ "$compared" = false ] && [ "$regressed" -eq 1 ]; then
  echo "The first night: regressions of the fixes are known from now on."
  regressed=0
fi
if [ "$regressed" -ne 0 ]; then
  grep ': passes without the fixes; \|a fault of relaxcheck' "$list.txt" | grep -v '^known: '
fi
# What tells more comes first: a fault, or a night that did not finish, before a failure.
if [ "$regressed" -gt "$code" ]; then code=$regressed; fi
exit "$code"

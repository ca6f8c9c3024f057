#!/bin/sh
# One night of fuzzing: ./nightly.sh FOLDER MINUTES [SUMMARY]
#
# Writes a campaign to FOLDER/DATE. FOLDER/known has the journal of the last night that finished: its
# findings run first, and only other failures give exit code 1. The first night has nothing to compare
# with and never fails: its findings are known from then on. A summary in Markdown is appended to the
# file SUMMARY. RELAXCHECK is the command to call, FAMILIES what it draws from (default: all), TVM the
# release or build to run, or several, as --tvm takes them.
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
set -- fuzz ${FAMILIES:-all} --minutes "$minutes" --fixes both --quiet --out "$out"
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
      rm -rf "$known" &&
      mv "$known.new" "$known" || exit 2
    ;;
esac
if [ "$first" = true ] && [ "$code" -eq 1 ]; then
  echo "The first night: its findings are known from now on."
  exit 0
fi
exit "$code"

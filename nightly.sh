#!/bin/sh
# One night of fuzzing: ./nightly.sh FOLDER MINUTES [SUMMARY]
#
# Writes a campaign into FOLDER/DATE. What the last night that came to its end found is in
# FOLDER/known: it is tried first, and only what is not among it gives exit code 1. The first night
# has nothing to compare with: what it finds is known from then on, and is no failure.
# SUMMARY is a file that a summary in Markdown is added to. RELAXCHECK is the command to call,
# FAMILIES what it draws from (all families that there are).
set -u

folder=$1 minutes=$2 summary=${3:-}
out=$folder/$(date -u +%Y-%m-%d-%H%M%S)
# One that began in the same second, and is over.
while [ -e "$out" ]; do
  sleep 1
  out=$folder/$(date -u +%Y-%m-%d-%H%M%S)
done
known=$folder/known

# A name a word.
# shellcheck disable=SC2086
set -- fuzz ${FAMILIES:-all} --minutes "$minutes" --fixes both --quiet --out "$out"
if [ -n "$summary" ]; then set -- "$@" --summary "$summary"; fi
if [ -f "$known/campaign.sqlite" ]; then
  first=false
  set -- "$@" --known "$known"
else
  first=true
fi

${RELAXCHECK:-.venv/bin/relaxcheck} "$@"
code=$?

# 2 and 130: the campaign did not come to its end, and may not have tried all that is known.
case $code in
  0 | 1 | 3)
    # The folder as a whole: SQLite may have left files of its own beside the database.
    rm -rf "$known.new" &&
      mkdir -p "$known.new" &&
      cp "$out/campaign.sqlite" "$known.new" &&
      rm -rf "$known" &&
      mv "$known.new" "$known" || exit 2
    ;;
esac
if [ "$first" = true ] && [ "$code" -eq 1 ]; then
  echo "The first night: what it found is known from now on."
  exit 0
fi
exit "$code"

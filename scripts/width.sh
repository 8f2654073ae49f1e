#!/usr/bin/env bash
# Checks that comments and documents have lines of at most 100 columns. It prints each line that is
# longer, and then fails. In a document, tables, lines with links and lines between ``` may be
# longer.
set -euo pipefail
cd "$(dirname "$0")/.."

too_long() {
  git ls-files -z '*.rs' | xargs -0 awk '
    /^[ \t]*\/\// && length($0) > 100 && !/https?:/ && !/^[ \t]*\/\/[\/!]? \|/ { print FILENAME ":" FNR ": " $0 }'
  git ls-files -z '*.md' | xargs -0 awk '
    FNR == 1 { fenced = 0 }
    /^[ \t]*```/ { fenced = !fenced }
    !fenced && !/^\|/ && !/\]\(/ && !/https?:/ && length($0) > 100 { print FILENAME ":" FNR ": " $0 }'
}

lines=$(too_long)
if [ -n "$lines" ]; then
  printf '%s\n' "$lines"
  echo "These lines are over 100 columns."
  exit 1
fi

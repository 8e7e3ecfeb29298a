#!/usr/bin/env bash
# completion.sh FOLDER: what bash and zsh offer for a few words.
set -euo pipefail
folder=$1

# shellcheck disable=SC1091
source "$folder/parley"
offers() {  # offers EXPECTED WORD...
  COMP_WORDS=("${@:2}")
  COMP_CWORD=$(($# - 2))
  _parley
  [ "${COMPREPLY[*]}" = "$1" ] || { echo "bash offers '${COMPREPLY[*]}' for '${*:2}', not '$1'" >&2; exit 1; }
}
offers "run refuse" parley owner r
offers "json" parley --log j
offers "--wait" parley --json owner run --w
offers "owner" parley ow

zsh -f -c '
  setopt err_exit
  _describe() { print -r -- "$1: ${(P)2}" }
  _files() {}
  words=(parley owner r); CURRENT=3
  source "$1/_parley"' zsh "$folder" > /tmp/parley-zsh.$$
grep -q "^command: .*run:Answer the learners" /tmp/parley-zsh.$$
rm /tmp/parley-zsh.$$

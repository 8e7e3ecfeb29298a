#!/usr/bin/env python3
"""Completion of bash and zsh from --help: commands, options, and the words that options take.

    completion.py PROGRAM OUT     writes OUT/parley (bash) and OUT/_parley (zsh)
"""

import pathlib
import sys

from help_text import Item, walk

BASH = """# bash completion of parley, made from its --help
_parley() {{
  local path="" word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" i words="" choices=""
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$path ${{COMP_WORDS[i]}}" in
      {paths}) path="$path ${{COMP_WORDS[i]}}" ;;
    esac
  done
  case "$path $before" in
{choices}
  esac
  if [ -n "$choices" ]; then
    mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$word")
    return
  fi
  case "$path" in
{words}
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  [ ${{#COMPREPLY[@]}} -gt 0 ] || mapfile -t COMPREPLY < <(compgen -f -- "$word")
}}
complete -o filenames -F _parley parley
"""

ZSH = """#compdef parley
# zsh completion of parley, made from its --help
_parley() {{
  local place="" i
  local -a choices commands options
  for ((i = 2; i < CURRENT; i++)); do
    case "$place ${{words[i]}}" in
      ({paths}) place="$place ${{words[i]}}" ;;
    esac
  done
  case "$place ${{words[CURRENT-1]}}" in
{choices}
  esac
  if (( $#choices )); then
    _describe value choices
    return
  fi
  case "$place" in
{words}
  esac
  _describe command commands
  _describe option options
  _files
}}
_parley "$@"
"""


def quoted(name, meaning):
    """name:meaning as zsh's _describe has it."""
    return "'" + f"{name}:{meaning}".replace("'", "'\\''") + "'"


class Command:
    def __init__(self, command, found):
        self.path = "".join(f" {word}" for word in command)
        self.options = [Item(head, meaning) for section, head, meaning in found if section == "Options"]
        self.subcommands = [(head.split()[0], meaning) for section, head, meaning in found if section == "Subcommands"]

    def bash_words(self):
        words = [name for name, _ in self.subcommands] + [each.name for each in self.options]
        return f"    \"{self.path}\") words=\"{' '.join(words)}\" ;;"

    def zsh_words(self):
        commands = " ".join(quoted(name, meaning) for name, meaning in self.subcommands)
        options = " ".join(quoted(each.name, each.meaning) for each in self.options)
        return f'    ("{self.path}")\n      commands=({commands})\n      options=({options}) ;;'

    def choices(self, form):
        return [form.format(path=self.path, option=each.name, words=" ".join(each.choices))
                for each in self.options if each.choices]


def main():
    program, out = sys.argv[1], pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    commands = [Command(command, found) for command, _, found in walk(program)]
    paths = "|".join(f'"{each.path}"' for each in commands if each.path)

    def lines(lists):
        return "\n".join(line for each in lists for line in each)
    bash = BASH.format(paths=paths, words="\n".join(each.bash_words() for each in commands), choices=lines(
        each.choices('    "{path} {option}") choices="{words}" ;;') for each in commands))
    zsh = ZSH.format(paths=paths, words="\n".join(each.zsh_words() for each in commands), choices=lines(
        each.choices('    ("{path} {option}") choices=({words}) ;;') for each in commands))
    (out / "parley").write_text(bash, encoding="utf-8")
    (out / "_parley").write_text(zsh, encoding="utf-8")


if __name__ == "__main__":
    main()

import type { Command, OptionDescription } from './command.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;

type Options = Readonly<Record<string, OptionDescription>>;

/** A script of the shell that completes commands, verbs and options; names of datasets are asked from the server. */
export function completionScript(
  shell: (typeof SHELLS)[number],
  commands: readonly Command[],
  common: Options,
): string {
  if (shell === 'fish') return fishScript(commands, common);
  const words = commands.map(({ name }) => name).join(' ');
  const cases = commands.map(({ name, actions = [], options }) => {
    const verbs = actions.map((action) => action.name).join(' ');
    return `    ${name}) verbs="${verbs}"; flags="${flagsOf(options)}" ;;`;
  });
  const body = `_engram() {
  local cur prev command verbs="" flags=""
  cur="\${COMP_WORDS[COMP_CWORD]}"
  prev="\${COMP_WORDS[COMP_CWORD-1]}"
  command="\${COMP_WORDS[1]}"
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${words} --help --version" -- "$cur"))
    return
  fi
  case "$prev" in
    -d|--dataset)
      local IFS=$'\\n'
      COMPREPLY=($(compgen -W "$(engram completion datasets 2>/dev/null)" -- "$cur"))
      return ;;
  esac
  case "$command" in
${cases.join('\n')}
  esac
  case "$cur" in
    -*) COMPREPLY=($(compgen -W "$flags ${flagsOf(common)}" -- "$cur")) ;;
    *) [ "$COMP_CWORD" -eq 2 ] && [ -n "$verbs" ] && COMPREPLY=($(compgen -W "$verbs" -- "$cur")) || COMPREPLY=($(compgen -f -- "$cur")) ;;
  esac
}
complete -o filenames -F _engram engram
`;
  return shell === 'bash' ? body : `autoload -U +X bashcompinit && bashcompinit\n${body}`;
}

function flagsOf(options: Options): string {
  return Object.keys(options)
    .map((name) => `--${name}`)
    .join(' ');
}

function fishScript(commands: readonly Command[], common: Options): string {
  const lines = ['complete -c engram -f -n "__fish_use_subcommand" -l version -d "print the version"'];
  for (const { name, summary, actions = [], options } of commands) {
    const isHere = `__fish_seen_subcommand_from ${name}`;
    lines.push(`complete -c engram -f -n "__fish_use_subcommand" -a ${name} -d ${quoted(summary)}`);
    const isAsked = `${isHere}; and not __fish_seen_subcommand_from ${actions.map((action) => action.name).join(' ')}`;
    for (const action of actions) {
      lines.push(`complete -c engram -f -n "${isAsked}" -a ${action.name} -d ${quoted(action.summary)}`);
    }
    lines.push(...Object.entries(options).map((entry) => `${fishOption(entry)} -n "${isHere}"`));
  }
  lines.push(...Object.entries(common).map(fishOption));
  lines.push('complete -c engram -s d -l dataset -x -a "(engram completion datasets 2>/dev/null)"');
  return `${lines.join('\n')}\n`;
}

function fishOption([name, { short, value, meaning }]: readonly [string, OptionDescription]): string {
  return `complete -c engram${short === undefined ? '' : ` -s ${short}`} -l ${name}${value === undefined ? '' : ' -r'} -d ${quoted(meaning)}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

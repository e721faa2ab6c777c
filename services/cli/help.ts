import type { Command, OptionDescription } from './command.ts';
import { commonOptions } from './options.ts';

export function generalHelp(commands: readonly Command[]): string {
  const lines = commands.map(({ name, summary }) => `  ${name.padEnd(11)} ${summary}`);
  return `Usage: engram <command> [options]   (from the repository: npm run engram -- <command>)

Commands:
${lines.join('\n')}

Options of every command:
${optionLines(commonOptions)}

Exit codes: 0 done, 1 refused or partly failed, 2 wrong command line, 3 no server answers.
`;
}

export function commandHelp(command: Command): string {
  const own = Object.keys(command.options).length === 0 ? '' : `\nOptions:\n${optionLines(command.options)}\n`;
  const details = command.details === undefined ? '' : `\n${command.details}\n`;
  return `Usage: engram ${command.name} ${command.usage}

${command.summary}
${details}${own}
Common options:
${optionLines(commonOptions)}
`;
}

function optionLines(options: Readonly<Record<string, OptionDescription>>): string {
  return Object.entries(options)
    .map(([name, { short, value, meaning }]) => {
      const flag = `${short === undefined ? '    ' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`;
      return `  ${flag.padEnd(26)} ${meaning}`;
    })
    .join('\n');
}

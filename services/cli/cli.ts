import { createApiClient } from './api-client.ts';
import { type Command, type OptionDescription, stringOption } from './command.ts';
import { addCommand } from './commands/add.ts';
import { auditCommand } from './commands/audit.ts';
import { cognifyCommand } from './commands/cognify.ts';
import { datasetsCommand } from './commands/datasets.ts';
import { forgetCommand } from './commands/forget.ts';
import { importCommand } from './commands/import.ts';
import { importCogneeCommand, importMem0Command } from './commands/import-cognee.ts';
import { jobsCommand } from './commands/jobs.ts';
import { recallCommand } from './commands/recall.ts';
import { receiptCommand } from './commands/receipt.ts';
import { reembedCommand } from './commands/reembed.ts';
import { restoreCommand } from './commands/restore.ts';
import { searchCommand } from './commands/search.ts';
import { snapshotCommand } from './commands/snapshot.ts';
import { snapshotsCommand } from './commands/snapshots.ts';
import { statusCommand } from './commands/status.ts';
import { visualizeCommand } from './commands/visualize.ts';
import { clientSettings, commonOptions, parseCommandLine } from './options.ts';
import { CliFailure, exitCodes, type Terminal } from './terminal.ts';

const COMMANDS: readonly Command[] = [
  addCommand,
  importCommand,
  importCogneeCommand,
  importMem0Command,
  cognifyCommand,
  statusCommand,
  searchCommand,
  recallCommand,
  datasetsCommand,
  forgetCommand,
  visualizeCommand,
  snapshotCommand,
  snapshotsCommand,
  restoreCommand,
  reembedCommand,
  jobsCommand,
  auditCommand,
  receiptCommand,
];

/** Runs one command line to its end and gives the exit code; never throws for what a user can cause. */
export async function runCli(args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    return await dispatch(args, terminal);
  } catch (error) {
    if (!(error instanceof CliFailure)) throw error;
    terminal.err.write(`engram: ${error.message}\n`);
    return error.exitCode;
  }
}

async function dispatch(args: readonly string[], terminal: Terminal): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || name === '--help' || name === '-h' || (name === 'help' && rest.length === 0)) {
    (name === undefined ? terminal.err : terminal.out).write(generalHelp(COMMANDS));
    return name === undefined ? exitCodes.usage : exitCodes.ok;
  }
  const command = COMMANDS.find((candidate) => candidate.name === (name === 'help' ? rest[0] : name));
  if (command === undefined)
    throw new CliFailure(
      `There is no command '${name === 'help' ? rest[0] : name}'. See: engram --help`,
      exitCodes.usage,
    );
  const { values, positionals } = parseCommandLine(command, name === 'help' ? ['--help'] : rest);
  if (values['help'] === true) {
    terminal.out.write(commandHelp(command));
    return exitCodes.ok;
  }
  const datasetGiven = stringOption(values, 'dataset');
  return command.run({
    arguments: positionals,
    options: values,
    api: createApiClient(clientSettings(values, terminal.environment)),
    terminal,
    datasetGiven,
    dataset: datasetGiven ?? 'main_dataset',
    asJson: values['json'] === true,
  });
}

function generalHelp(commands: readonly Command[]): string {
  const lines = commands.map(({ name, summary }) => `  ${name.padEnd(11)} ${summary}`);
  return `Usage: engram <command> [options]   (from the repository: npm run engram -- <command>)

Commands:
${lines.join('\n')}

Options of every command:
${optionLines(commonOptions)}

Exit codes: 0 done, 1 refused or partly failed, 2 wrong command line, 3 no server answers.
`;
}

function commandHelp(command: Command): string {
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

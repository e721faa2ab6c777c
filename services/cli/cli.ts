import { PassThrough } from 'node:stream';
import engram from '../../package.json' with { type: 'json' };
import { nearestOf } from '../common/kernel/nearest.ts';
import { createApiClient } from './api-client.ts';
import { type Action, type Command, type OptionDescription, stringOption } from './command.ts';
import {
  activityCommand,
  agentsCommand,
  configCommand,
  schemaCommand,
  sessionsCommand,
  skillsCommand,
  syncCommand,
} from './commands/activity.ts';
import { addCommand } from './commands/add.ts';
import { apiCommand } from './commands/api.ts';
import { askCommand } from './commands/ask.ts';
import { auditCommand } from './commands/audit.ts';
import { codeCommand } from './commands/code.ts';
import { cognifyCommand } from './commands/cognify.ts';
import { datasetsCommand } from './commands/datasets.ts';
import { demoCommand } from './commands/demo.ts';
import { doctorCommand } from './commands/doctor.ts';
import { forgetCommand } from './commands/forget.ts';
import { importCommand } from './commands/import.ts';
import { importCogneeCommand, importMem0Command, importZepCommand } from './commands/import-cognee.ts';
import { improveCommand, memifyCommand } from './commands/improve.ts';
import { integrationsCommand } from './commands/integrations.ts';
import { itemsCommand } from './commands/items.ts';
import { jobsCommand } from './commands/jobs.ts';
import { loginCommand, logoutCommand, profilesCommand } from './commands/login.ts';
import { mcpCommand } from './commands/mcp.ts';
import { ontologiesCommand } from './commands/ontologies.ts';
import {
  budgetsCommand,
  keysCommand,
  permissionsCommand,
  rolesCommand,
  tenantsCommand,
  usersCommand,
} from './commands/people.ts';
import { recallCommand } from './commands/recall.ts';
import { receiptCommand } from './commands/receipt.ts';
import { reembedCommand } from './commands/reembed.ts';
import { feedbackCommand, rememberCommand, updateCommand } from './commands/remember.ts';
import { searchCommand } from './commands/search.ts';
import { serveCommand, uiCommand, upgradeCommand } from './commands/serve.ts';
import { restoreCommand, snapshotCommand, snapshotsCommand } from './commands/snapshots.ts';
import { statusCommand } from './commands/status.ts';
import { visualizeCommand } from './commands/visualize.ts';
import { completionScript, SHELLS } from './completion.ts';
import { clientSettings, commonOptions, DEFAULT_SERVER, parseCommandLine } from './options.ts';
import { harmless, print } from './output.ts';
import { CliFailure, exitCodes, type Terminal, usageFailure } from './terminal.ts';
import { listDatasets } from './wire.ts';

/** Prints scripts of shells, and for them the names of the datasets. */
const completionCommand: Command = {
  name: 'completion',
  usage: '(bash | zsh | fish)',
  summary: 'Prints a script that completes commands in your shell.',
  details: 'bash: source <(engram completion bash)   zsh: the same   fish: engram completion fish | source',
  options: {},
  async run(call) {
    const [shell] = call.arguments;
    if (shell === 'datasets') {
      for (const { name } of await listDatasets(call.api)) print(call, harmless(name));
      return exitCodes.ok;
    }
    const known = SHELLS.find((candidate) => candidate === shell);
    if (known === undefined) throw usageFailure(`Name a shell: engram completion (${SHELLS.join(' | ')})`);
    call.terminal.out.write(completionScript(known, COMMANDS, commonOptions));
    return exitCodes.ok;
  },
};

const GROUPS: Readonly<Record<string, readonly Command[]>> = {
  'Start here': [demoCommand, serveCommand, uiCommand, mcpCommand, doctorCommand, statusCommand],
  'Remember and ask': [
    ...[addCommand, importCommand, rememberCommand, cognifyCommand, askCommand, recallCommand, searchCommand],
    ...[codeCommand, updateCommand, forgetCommand, visualizeCommand],
  ],
  Data: [
    ...[
      datasetsCommand,
      itemsCommand,
      ontologiesCommand,
      snapshotCommand,
      snapshotsCommand,
      restoreCommand,
      reembedCommand,
    ],
    ...[
      schemaCommand,
      importCogneeCommand,
      importMem0Command,
      importZepCommand,
      integrationsCommand,
      syncCommand,
      upgradeCommand,
    ],
  ],
  Learning: [improveCommand, memifyCommand, sessionsCommand, feedbackCommand, skillsCommand, agentsCommand],
  'People and operation': [
    ...[loginCommand, logoutCommand, profilesCommand, usersCommand, tenantsCommand, rolesCommand, permissionsCommand],
    ...[keysCommand, budgetsCommand, configCommand, activityCommand, jobsCommand, auditCommand, receiptCommand],
    ...[apiCommand, completionCommand],
  ],
};

const COMMANDS: readonly Command[] = Object.values(GROUPS).flat();

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
  if (name === '--version' || name === '-V' || (name === 'version' && rest.length === 0)) {
    terminal.out.write(`engram ${engram.version}\n`);
    return exitCodes.ok;
  }
  if (name === undefined || name === '--help' || name === '-h' || (name === 'help' && rest.length === 0)) {
    (name === undefined ? terminal.err : terminal.out).write(generalHelp());
    return name === undefined ? exitCodes.usage : exitCodes.ok;
  }
  const command = findCommand(name === 'help' ? (rest[0] ?? '') : name);
  if (command.takesAll === true && name !== 'help')
    return command.run(callOf(command, { values: {}, positionals: rest }, terminal));
  const parsed = parseCommandLine(command, name === 'help' ? ['--help'] : rest);
  if (parsed.values['help'] === true) {
    terminal.out.write(commandHelp(command));
    return exitCodes.ok;
  }
  return command.run(callOf(command, parsed, terminal));
}

function findCommand(name: string): Command {
  const command = COMMANDS.find((candidate) => candidate.name === name);
  if (command !== undefined) return command;
  const meant = nearestOf(
    name,
    COMMANDS.map((candidate) => candidate.name),
  );
  const hint = meant === null ? '' : ` Did you mean: engram ${meant}?`;
  throw usageFailure(`There is no command '${name}'.${hint} See: engram --help`);
}

function callOf(command: Command, { values, positionals }: ReturnType<typeof parseCommandLine>, terminal: Terminal) {
  const datasetGiven = stringOption(values, 'dataset');
  const isQuiet = values['quiet'] === true;
  return {
    arguments: positionals,
    options: values,
    api: createApiClient(
      // These start a server, and have no other one.
      command.takesAll === true
        ? DEFAULT_SERVER
        : clientSettings(values, terminal.environment, { isNewProfile: command === loginCommand }),
    ),
    terminal: isQuiet ? { ...terminal, err: new PassThrough().resume(), isInteractive: false } : terminal,
    datasetGiven,
    dataset: datasetGiven ?? 'main_dataset',
    asJson: values['json'] === true,
  };
}

function generalHelp(): string {
  const groups = Object.entries(GROUPS).map(
    ([title, commands]) =>
      `${title}:\n${commands.map(({ name, summary }) => `  ${name.padEnd(13)} ${summary}`).join('\n')}`,
  );
  return `Usage: engram <command> [options]   (from the repository: npm run engram -- <command>)

${groups.join('\n\n')}

Options of every command:
${optionLines(commonOptions)}

${EXIT_CODES}
`;
}

const EXIT_CODES = `Exit codes: 0 done, 1 refused or partly failed, 2 wrong command line, 3 no server answers, 130 ended by Ctrl-C.
Answers go to standard output, everything else to standard error.`;

function commandHelp(command: Command): string {
  const details = command.details === undefined ? '' : `\n${command.details}\n`;
  const verbs = command.actions === undefined ? '' : `\nVerbs:\n${command.actions.map(verbLines).join('\n')}\n`;
  const own =
    command.actions !== undefined || Object.keys(command.options).length === 0
      ? ''
      : `\nOptions:\n${optionLines(command.options)}\n`;
  const common = command.takesAll === true ? '' : `\nCommon options:\n${optionLines(commonOptions)}\n`;
  return `Usage: engram ${command.name} ${command.usage}

${command.summary}
${details}${verbs}${own}${common}`;
}

function verbLines({ name, parameters, summary, options = {} }: Action): string {
  const words = parameters === undefined ? name : `${name} ${parameters}`;
  const lines = optionLines(options)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => `    ${line}`);
  return [`  ${words.padEnd(26)} ${summary}`, ...lines].join('\n');
}

function optionLines(options: Readonly<Record<string, OptionDescription>>): string {
  return Object.entries(options)
    .map(([name, { short, value, meaning }]) => {
      const flag = `${short === undefined ? '    ' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`;
      return `  ${flag.padEnd(26)} ${meaning}`;
    })
    .join('\n');
}

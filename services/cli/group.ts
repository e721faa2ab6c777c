import { nearestOf } from '../common/kernel/nearest.ts';
import type { Action, Command, CommandCall, OptionDescription } from './command.ts';
import { confirmed } from './confirm.ts';
import { columns, note, print, printJson } from './output.ts';
import { exitCodes, usageFailure } from './terminal.ts';

/** A command whose first argument is one of `actions`; the first one is done without it when it needs no argument. */
export function group(name: string, summary: string, actions: readonly Action[], details?: string): Command {
  const first = actions[0];
  const isDefault = first !== undefined && !(first.parameters ?? '').includes('<');
  const options: Record<string, OptionDescription> = {};
  for (const action of actions) Object.assign(options, action.options);
  return {
    name,
    summary,
    options,
    actions,
    ...(details === undefined ? {} : { details }),
    usage: `${isDefault ? `[${first.name}]` : '<verb>'} …`,
    async run(call) {
      const [word, ...rest] = call.arguments;
      if (word === undefined && !isDefault) {
        throw usageFailure(`Say what: ${actions.map((action) => action.name).join(', ')}. See: engram ${name} --help`);
      }
      const action = word === undefined ? first : actions.find((candidate) => candidate.name === word);
      if (action === undefined) throw unknownVerb(name, word ?? '', actions);
      checkArguments(name, action, rest);
      checkOptions(name, action, { call, all: options });
      return runAction({ ...call, arguments: rest }, action);
    },
  };
}

async function runAction(call: CommandCall, action: Action): Promise<number> {
  if (action.asks !== undefined && !(await confirmed(call, action.asks(call)))) {
    note(call, 'nothing was changed');
    return exitCodes.failed;
  }
  const answer = await action.request(call);
  if (call.asJson) printJson(call, answer);
  else print(call, action.show?.(answer, call) ?? textOf(answer, action.fields));
  return exitCodes.ok;
}

function unknownVerb(name: string, word: string, actions: readonly Action[]) {
  const names = actions.map((action) => action.name);
  const meant = nearestOf(word, names);
  return usageFailure(
    `${name} knows ${names.join(', ')}, not '${word}'.${meant === null ? '' : ` Did you mean: engram ${name} ${meant}?`}`,
  );
}

function checkArguments(name: string, { name: verb, parameters = '' }: Action, given: readonly string[]): void {
  const wanted = parameters.split(' ').filter((word) => word !== '');
  const required = wanted.filter((word) => word.startsWith('<'));
  const usage = `engram ${name} ${verb}${parameters === '' ? '' : ` ${parameters}`}`;
  const missing = required[given.length];
  if (missing !== undefined) throw usageFailure(`Give ${missing.replace('...', '')}: ${usage}`);
  if (given.length > wanted.length && !parameters.endsWith('...')) {
    throw usageFailure(`'${given[wanted.length]}' is one word too many: ${usage}`);
  }
}

function checkOptions(
  name: string,
  action: Action,
  { call, all }: { readonly call: CommandCall; readonly all: Readonly<Record<string, OptionDescription>> },
): void {
  for (const option of Object.keys(all)) {
    if (call.options[option] !== undefined && action.options?.[option] === undefined) {
      throw usageFailure(`--${option} is no option of: engram ${name} ${action.name}`);
    }
  }
}

type Row = Readonly<Record<string, unknown>>;

/** Tables of lists, lines of records. */
export function textOf(answer: unknown, fields?: readonly string[]): string {
  if (answer === null || answer === undefined || answer === '') return 'done';
  if (typeof answer === 'string') return answer;
  if (Array.isArray(answer)) return answer.length === 0 ? 'none' : tableOf(answer, fields);
  if (typeof answer !== 'object') return String(answer);
  const { message, ...rest } = answer as Row;
  if (typeof message === 'string') {
    const more = Object.values(rest).filter((value) => typeof value === 'string');
    return [message, ...more].join('\n');
  }
  const record = answer as Row;
  const shown = fields ?? Object.keys(record);
  const lines = shown
    .filter((field) => record[field] !== undefined && record[field] !== null)
    .map((field) => [title(field).toLowerCase(), cellOf(record[field])]);
  return lines.length === 0 ? 'done' : columns(lines);
}

function tableOf(rows: readonly unknown[], fields?: readonly string[]): string {
  const records = rows.filter((row): row is Row => typeof row === 'object' && row !== null);
  if (records.length < rows.length) return rows.map(String).join('\n');
  const shown = fields ?? [...new Set(records.flatMap((row) => Object.keys(row).filter((key) => isFlat(row[key]))))];
  return columns([shown.map(title), ...records.map((row) => shown.map((field) => cellOf(row[field])))]);
}

function isFlat(value: unknown): boolean {
  return value !== null && typeof value !== 'object';
}

function title(field: string): string {
  return field
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toUpperCase();
}

const INSTANT = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d+/;

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return INSTANT.exec(value)?.[1] ?? value;
  if (Array.isArray(value) && value.every(isFlat)) return value.join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

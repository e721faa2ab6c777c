import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { distance } from 'fastest-levenshtein';
import { adviseOn, type Config, completeConfig } from './configuration.ts';
import { foreignNameOf } from './foreign-names.ts';
import type { Setting } from './settings/setting.ts';
import { SETTINGS, type SettingValues } from './settings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface LoadedConfig {
  readonly config: Config;
  /** Sentences to log once. */
  readonly warnings: readonly string[];
}

/** Lists every problem, one a line; secret values are never shown. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`;
    super(`The configuration has ${count}:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

/** A file with variables. */
interface Dotenv {
  readonly path: string;
  readonly text: string;
}

/** Variables of `environment` win over those of the file. Throws `ConfigurationError`. */
export function loadConfig(environment: Environment, dotenv: Dotenv | null = null): LoadedConfig {
  const problems: string[] = [];
  const merged = { ...(dotenv === null ? {} : readLines(dotenv, problems)), ...presentOnly(environment) };
  const values: Record<string, unknown> = {};
  for (const [key, row] of Object.entries<Setting>(SETTINGS)) values[key] = readSetting(row, merged, problems);
  const warnings = checkNames(merged, problems);
  if (problems.length > 0) throw new ConfigurationError(problems);
  const config = completeConfig(values as unknown as SettingValues, problems);
  if (problems.length > 0) throw new ConfigurationError(problems);
  return { config, warnings: [...warnings, ...adviseOn(config)] };
}

function readLines({ path, text }: Dotenv, problems: string[]): NodeJS.Dict<string> {
  // Not the line itself: it may hold a secret.
  for (const line of malformedLines(text)) {
    problems.push(
      `${path}, line ${line}: must be NAME=value or a comment (#); a quoted value must end with its quote.`,
    );
  }
  return parseEnv(withoutBlankValues(text));
}

/** The file of `COGNEE_ENV_FILE`, else the nearest `.env` from `directory` up to the project root, else null. */
export function readDotenv(environment: Environment, directory: string): Dotenv | null {
  const named = environment['COGNEE_ENV_FILE'];
  if (named !== undefined && named !== '') {
    const path = resolve(directory, named);
    try {
      return { path, text: readFileSync(path, 'utf8') };
    } catch (error) {
      const reason = (error as NodeJS.ErrnoException).code ?? 'unreadable';
      throw new ConfigurationError([`COGNEE_ENV_FILE: ${path} cannot be read (${reason}).`]);
    }
  }
  for (let place = resolve(directory); ; place = dirname(place)) {
    const path = join(place, '.env');
    if (existsSync(path)) return { path, text: readFileSync(path, 'utf8') };
    const isProjectRoot = ['.git', 'package.json', 'pyproject.toml'].some((name) => existsSync(join(place, name)));
    if (isProjectRoot || dirname(place) === place) return null;
  }
}

/** The configuration of this process. The one place that reads its environment. */
export function loadProcessConfig(): LoadedConfig {
  return loadConfig(process.env, readDotenv(process.env, process.cwd()));
}

function presentOnly(environment: Environment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

function readSetting(row: Setting, variables: Environment, problems: string[]): unknown {
  const name = row.names.find((candidate) => (variables[candidate] ?? '').trim() !== '');
  const text = name === undefined ? row.default : variables[name];
  if (text === undefined) return undefined;
  const result = row.type.safeParse(text);
  if (result.success) return result.data;
  const message = result.error.issues[0]?.message ?? 'is not valid';
  const shown = row.secret === true ? 'the value' : `"${text.length > 80 ? `${text.slice(0, 80)}…` : text}"`;
  problems.push(`${name ?? row.names[0]}: ${shown} ${message}.`);
  return undefined;
}

/** Variables that the command line, tests and benchmarks read. */
const OTHER_PROGRAMS = /^ENGRAM_(URL$|API_KEY$|PROFILE$|PASSWORD$|TEST_|BENCH_|SOAK_)/;

/** Warns of variables without effect that are meant as settings; adds to `problems` where one would leave a door open. */
function checkNames(variables: Environment, problems: string[]): string[] {
  const warnings: string[] = [];
  const foreign = new Map<string, string[]>();
  const rows = new Map(Object.values<Setting>(SETTINGS).flatMap((row) => row.names.map((name) => [name, row])));
  for (const [name, value] of Object.entries(variables)) {
    if (value === undefined || value.trim() === '' || rows.has(name) || OTHER_PROGRAMS.test(name)) continue;
    const note = foreignNameOf(name)?.note;
    if (note !== undefined) {
      foreign.set(note, [...(foreign.get(note) ?? []), name]);
      continue;
    }
    const meant = nearestName(name, [...rows.keys()]);
    if (meant !== null && rows.get(meant)?.protects === true) {
      problems.push(`${name}: there is no such setting. Did you mean ${meant}? Rename it or remove it.`);
    } else if (meant !== null || name.startsWith('ENGRAM_')) {
      warnings.push(`${name} is not a setting of this version.${meant === null ? '' : ` Did you mean ${meant}?`}`);
    }
  }
  for (const [note, names] of foreign) warnings.push(`Without effect: ${names.sort().join(', ')}; ${note}`);
  return warnings;
}

/** Returns the setting that a misspelt name means: a few letters differ, the end or a prefix is missing, or a prefix is too much. */
function nearestName(name: string, known: readonly string[]): string | null {
  const given = comparable(name);
  const near = known
    .map((candidate) => {
      const wanted = comparable(candidate);
      const isCut = given.length >= 10 && wanted.startsWith(given);
      return { candidate, edits: isCut ? 1 : distance(given, wanted) };
    })
    .sort((a, b) => a.edits - b.edits)[0];
  // Names of other programs are in the environment too.
  const limit = name.startsWith('ENGRAM_') ? name.length / 5 : given.length / 6;
  return near !== undefined && near.edits <= limit ? near.candidate : null;
}

function comparable(name: string): string {
  return name.toUpperCase().replace(/^(ENGRAM|COGNEE)_/, '');
}

const NAME = /(?:export[ \t]+)?[A-Za-z_][\w.-]*[ \t]*=[ \t]*/.source;
const COMMENT = /#[^\n]*/.source;
const QUOTED = /(?:"[^"]*"|'[^']*'|`[^`]*`)/.source;
/** An entry, whose quoted value may go over several lines; a comment; or nothing. */
const ENTRY = new RegExp(
  `[ \\t]*(?:${COMMENT}|${NAME}${QUOTED}[ \\t]*(?:${COMMENT})?|${NAME}(?!["'\`])[^\\n]*)?[ \\t]*\\r?(?:\\n|$)`,
  'y',
);

/** Numbers of the lines of a `.env` text that are neither `NAME=value` nor a comment, the first line being 1. */
export function malformedLines(text: string): readonly number[] {
  const malformed: number[] = [];
  let line = 1;
  let position = 0;
  while (position < text.length) {
    ENTRY.lastIndex = position;
    let length = ENTRY.exec(text)?.[0].length ?? 0;
    if (length === 0) {
      malformed.push(line);
      const end = text.indexOf('\n', position);
      length = (end < 0 ? text.length : end + 1) - position;
    }
    line += text.slice(position, position + length).split('\n').length - 1;
    position += length;
  }
  return malformed;
}

/** Text that `util.parseEnv` reads as written: it takes the next line for the value of `NAME= ` with a space at the end. */
export function withoutBlankValues(text: string): string {
  return text.replace(/^\uFEFF/, '').replaceAll(/=[ \t]+(?=\r?$)/gm, '=');
}

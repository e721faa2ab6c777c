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
  /** To be logged once, each a sentence. */
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

/** Variables of `environment` win over those of the `.env` text. Throws `ConfigurationError`. */
export function loadConfig(environment: Environment, dotenvText = ''): LoadedConfig {
  const merged = { ...parseEnv(dotenvText.replace(/^\uFEFF/, '')), ...presentOnly(environment) };
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [key, row] of Object.entries<Setting>(SETTINGS)) values[key] = readSetting(row, merged, problems);
  if (problems.length > 0) throw new ConfigurationError(problems);
  const config = completeConfig(values as unknown as SettingValues, problems);
  if (problems.length > 0) throw new ConfigurationError(problems);
  return { config, warnings: [...warnAbout(merged), ...adviseOn(config)] };
}

/** The text of `COGNEE_ENV_FILE`, else of the nearest `.env` from `directory` up to the project root, else "". */
export function readDotenv(environment: Environment, directory: string): string {
  const named = environment['COGNEE_ENV_FILE'];
  if (named !== undefined && named !== '') {
    const path = resolve(directory, named);
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      const reason = (error as NodeJS.ErrnoException).code ?? 'unreadable';
      throw new ConfigurationError([`COGNEE_ENV_FILE: ${path} cannot be read (${reason}).`]);
    }
  }
  for (let place = resolve(directory); ; place = dirname(place)) {
    const path = join(place, '.env');
    if (existsSync(path)) return readFileSync(path, 'utf8');
    const isProjectRoot = ['.git', 'package.json', 'pyproject.toml'].some((name) => existsSync(join(place, name)));
    if (isProjectRoot || dirname(place) === place) return '';
  }
}

/** The configuration of this process. The one place that reads its environment. */
export function loadProcessConfig(directory = process.cwd()): LoadedConfig {
  return loadConfig(process.env, readDotenv(process.env, directory));
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

function warnAbout(variables: Environment): string[] {
  const warnings: string[] = [];
  const later: string[] = [];
  const known = new Set(Object.values<Setting>(SETTINGS).flatMap((row) => row.names));
  for (const [name, value] of Object.entries(variables)) {
    if (value === undefined || value.trim() === '' || known.has(name)) continue;
    const foreign = foreignNameOf(name);
    if (foreign?.status === 'warned') warnings.push(`${name} has no effect: ${foreign.note}`);
    if (foreign?.status === 'later') later.push(name);
    if (name.startsWith('ENGRAM_') && !name.startsWith('ENGRAM_TEST_'))
      warnings.push(`${name} is not a setting of this version.${suggest(name, known)}`);
  }
  if (later.length > 0) warnings.push(`Set, but not used by this version yet: ${later.sort().join(', ')}.`);
  return warnings;
}

function suggest(name: string, known: ReadonlySet<string>): string {
  const near = [...known].map((candidate) => ({ candidate, edits: distance(name, candidate) }));
  const best = near.sort((a, b) => a.edits - b.edits)[0];
  return best !== undefined && best.edits <= 4 ? ` Did you mean ${best.candidate}?` : '';
}

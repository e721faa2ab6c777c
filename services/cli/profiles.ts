import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { CliFailure, exitCodes, type Terminal } from './terminal.ts';

export interface Profile {
  readonly url: string;
  readonly apiKey: string | null;
}

interface Profiles {
  /** The one that is used when none is named. */
  readonly current: string | null;
  readonly profiles: Readonly<Record<string, Profile>>;
}

type Environment = Terminal['environment'];

/** `~/.config/engram/profiles.json`, readable by its owner alone. */
export function profilesPath(environment: Environment): string {
  const folder = environment['XDG_CONFIG_HOME'] || join(environment['HOME'] || homedir(), '.config');
  return join(folder, 'engram', 'profiles.json');
}

export function readProfiles(environment: Environment): Profiles {
  const path = profilesPath(environment);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { current: null, profiles: {} };
    throw new CliFailure(`${path} cannot be read: ${(error as Error).message}`, exitCodes.failed, { cause: error });
  }
  try {
    const { current = null, profiles = {} } = JSON.parse(text) as Partial<Profiles>;
    return { current, profiles };
  } catch (error) {
    throw new CliFailure(`${path} is not valid JSON: repair or remove it.`, exitCodes.failed, { cause: error });
  }
}

export function writeProfiles(environment: Environment, profiles: Profiles): void {
  const path = profilesPath(environment);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 });
  chmodSync(draft, 0o600);
  renameSync(draft, path);
}

/** Null when none is named and none is current. Errors: `CliFailure` for a name that there is not. */
export function chosenProfile(environment: Environment, name: string | null): Profile | null {
  const { current, profiles } = readProfiles(environment);
  const chosen = name ?? current;
  if (chosen === null) return null;
  const profile = profiles[chosen];
  if (profile !== undefined) return profile;
  const known = Object.keys(profiles).join(', ');
  throw new CliFailure(
    `There is no profile '${chosen}'.${known === '' ? '' : ` There are: ${known}.`} Make it with: engram login --profile ${chosen}`,
    exitCodes.usage,
  );
}

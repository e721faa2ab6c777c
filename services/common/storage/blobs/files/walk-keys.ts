import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { compareCodePoints } from '../../documents/rules/ordering.ts';
import { isMissing } from './file-errors.ts';
import { decodeSegment, readEntry } from './path-encoding.ts';

/** Blobs below a directory with keys that begin with `prefix`, in code point order of the key. */
export async function* walkKeys(
  directory: string,
  prefix: string,
  parent = '',
): AsyncGenerator<{ readonly key: string; readonly path: string }> {
  const entries = await readEntries(directory, '');
  for (const { name, path, isFile } of entries.sort((a, b) => compareCodePoints(a.name, b.name))) {
    const key = parent + name;
    // The key of a directory ends in `/`: every key in it begins with that.
    if (isFile && key.startsWith(prefix)) yield { key, path };
    else if (!isFile && (key.startsWith(prefix) || prefix.startsWith(key))) yield* walkKeys(path, prefix, key);
  }
}

interface Entry {
  /** Name; of a directory with its `/`, so that sorting entries sorts the keys below them. */
  readonly name: string;
  readonly path: string;
  readonly isFile: boolean;
}

/** A continued name is read through: its parts are entries of the directory that its first part stands in. */
async function readEntries(directory: string, begun: string): Promise<Entry[]> {
  const found: Entry[] = [];
  for (const name of await namesIn(directory)) {
    const path = join(directory, name);
    const { kind, encoded } = readEntry(name);
    if (kind === 'continued') found.push(...(await readEntries(path, begun + encoded)));
    else if (kind === 'file') found.push({ name: decodeSegment(begun + encoded), path, isFile: true });
    else found.push({ name: `${decodeSegment(begun + encoded)}/`, path, isFile: false });
  }
  return found;
}

async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (isMissing(error)) return []; // removed while walking, or nothing was ever put
    throw error;
  }
}

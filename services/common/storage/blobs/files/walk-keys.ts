import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { compareCodePoints } from '../../documents/rules/ordering.ts';
import { isMissing } from './file-errors.ts';
import { decodeSegment, readEntry } from './path-encoding.ts';

interface FoundBlob {
  readonly key: string;
  readonly path: string;
}

/** Blobs below a directory with keys that begin with `prefix` and stand after `after`, in code point order of the key. */
export async function* walkKeys(
  directory: string,
  prefix: string,
  after: string | null,
  parent = '',
): AsyncGenerator<FoundBlob> {
  for (const entry of await sortedEntries(directory)) {
    const key = parent + entry.name;
    if (entry.isFile) {
      if (key.startsWith(prefix) && (after === null || compareCodePoints(key, after) > 0)) {
        yield { key, path: entry.path };
      }
    } else if (mayHold(key, prefix, after)) {
      yield* walkKeys(entry.path, prefix, after, key);
    }
  }
}

interface Entry {
  /** Name; of a directory with its `/`, so that sorting entries sorts the keys below them. */
  readonly name: string;
  readonly path: string;
  readonly isFile: boolean;
}

/** `below` ends in `/`: every key in the directory begins with it. */
function mayHold(below: string, prefix: string, after: string | null): boolean {
  if (!below.startsWith(prefix) && !prefix.startsWith(below)) return false;
  return after === null || after.startsWith(below) || compareCodePoints(below, after) > 0;
}

async function sortedEntries(directory: string): Promise<readonly Entry[]> {
  const entries = await readEntries(directory, '');
  return entries.sort((left, right) => compareCodePoints(left.name, right.name));
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

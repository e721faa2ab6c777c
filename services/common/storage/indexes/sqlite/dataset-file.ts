import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { DatasetScope } from '../../../kernel/scope.ts';

/** A file name may have 255 bytes on common file systems; SQLite adds `-wal`. */
const MAX_NAME_LENGTH = 180;

/** `<directory>/<tenant>/<dataset>.db`: any id becomes one plain segment, different ids different ones. */
export function datasetFile(directory: string, scope: DatasetScope): string {
  return join(directory, fileSegment(scope.tenant), `${fileSegment(scope.dataset)}.db`);
}

/** Every dataset file below the directory: for migrations and checks. */
export function listDatasetFiles(directory: string): readonly string[] {
  return entries(directory).flatMap((tenant) =>
    tenant.isDirectory()
      ? entries(join(directory, tenant.name))
          .filter((entry) => entry.isFile() && entry.name.endsWith('.db'))
          .map((entry) => join(directory, tenant.name, entry.name))
      : [],
  );
}

/**
 * Keeps lower-case letters, digits, `-` and `_`; every other UTF-16 unit becomes `~xxxx`, so that no separator, no dot and
 * no upper case (file systems may fold it) gets through. The empty name is `~`; long names end in their hash.
 */
export function fileSegment(name: string): string {
  const encoded = name === '' ? '~' : name.replace(/[^a-z0-9_-]/g, escapeUnit);
  if (encoded.length <= MAX_NAME_LENGTH) return encoded;
  const digest = createHash('sha256').update(encoded).digest('hex');
  return `${encoded.slice(0, MAX_NAME_LENGTH - digest.length - 2)}~~${digest}`;
}

function escapeUnit(unit: string): string {
  return `~${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function entries(directory: string) {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** What a data directory holds that belongs to no record; empty lists when nothing was left half-written. */
export interface LeftBehind {
  readonly spooled: readonly string[];
  /** Of uploads and blobs whose name is gone already, but whose bytes are still held. */
  readonly openNameless: readonly string[];
  readonly incoming: readonly string[];
  /** `<dataset>/<item>` with blobs and no record, or the other way round. */
  readonly orphans: readonly string[];
  readonly intents: number;
}

export const NOTHING: LeftBehind = { spooled: [], openNameless: [], incoming: [], orphans: [], intents: 0 };

/** Looks at the files themselves; `pid` is that of the process that works on them, if one does. */
export function leftBehind(dataDir: string, pid?: number): LeftBehind {
  const database = new DatabaseSync(join(dataDir, 'control.db'), { readOnly: true });
  try {
    const rows = database.prepare('SELECT dataset, id FROM c_data_items').all() as { dataset: string; id: string }[];
    const recorded = new Set(rows.map(({ dataset, id }) => `${dataset}/${id}`));
    const stored = new Set(storedItems(join(dataDir, 'blobs')));
    const { intents } = database.prepare('SELECT count(*) AS intents FROM c_blob_intents').get() as { intents: number };
    return {
      spooled: entries(join(dataDir, 'spool')),
      openNameless: pid === undefined ? [] : namelessFiles(pid, dataDir),
      incoming: entries(join(dataDir, 'blobs', '.incoming')),
      orphans: [...recorded]
        .filter((item) => !stored.has(item))
        .concat([...stored].filter((item) => !recorded.has(item))),
      intents,
    };
  } finally {
    database.close();
  }
}

/** Resident memory in bytes: now, and the most it ever was. Null where there is no `/proc`. */
export function residentBytes(pid: number): { readonly now: number; readonly peak: number } | null {
  const status = `/proc/${pid}/status`;
  if (!existsSync(status)) return null;
  const text = readFileSync(status, 'utf8');
  const read = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * 1024;
  return { now: read('VmRSS'), peak: read('VmHWM') };
}

function storedItems(blobs: string): string[] {
  return entries(blobs)
    .filter((tenant) => !tenant.startsWith('.'))
    .flatMap((tenant) => {
      const datasets = join(blobs, tenant, 'datasets');
      return entries(datasets).flatMap((dataset) =>
        entries(join(datasets, dataset, 'items')).map((item) => `${dataset}/${item}`),
      );
    });
}

function namelessFiles(pid: number, dataDir: string): string[] {
  return entries(`/proc/${pid}/fd`).flatMap((descriptor) => {
    try {
      const target = readlinkSync(`/proc/${pid}/fd/${descriptor}`);
      return target.startsWith(dataDir) && target.endsWith('(deleted)') ? [target] : [];
    } catch {
      return []; // closed meanwhile
    }
  });
}

function entries(directory: string): string[] {
  return existsSync(directory) ? readdirSync(directory) : [];
}

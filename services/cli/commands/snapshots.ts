import { createWriteStream, openAsBlob } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DatasetSnapshot, SnapshotRestore } from '../../client/index.ts';
import { ApiFailure } from '../api-client.ts';
import { type Command, type CommandCall, isSet, stringOption } from '../command.ts';
import { columns, count, note, print, printJson } from '../output.ts';
import { createProgress } from '../progress.ts';
import { CliFailure, exitCodes, usageFailure } from '../terminal.ts';
import { findDataset, findSnapshot, listDatasets, listSnapshots, snapshotPath } from '../wire.ts';

export const snapshotCommand: Command = {
  name: 'snapshot',
  usage: '[<dataset>] [--to FILE]',
  summary: 'Takes a snapshot of a dataset: everything in it as it is at one moment.',
  details: `The server keeps it until you delete it, and no longer than the dataset. With --to it is saved as a file of yours instead,
which any server of the same installation can restore. For users who may read and share the dataset: a snapshot also shows
what is forgotten later. Sessions and feedback are their users', and in no snapshot.`,
  options: {
    to: { type: 'string', value: 'FILE', meaning: 'save it there' },
    keep: { type: 'boolean', meaning: 'with --to: the server keeps it, too' },
    name: { type: 'string', value: 'NAME', meaning: 'default the time; one of the name is not taken twice' },
  },
  async run(call) {
    const [given, ...more] = call.arguments;
    if (more.length > 0) throw usageFailure('Give one dataset: engram snapshot <dataset>');
    const dataset = await findDataset(call.api, given ?? call.dataset);
    const file = stringOption(call.options, 'to');
    if (file === null && isSet(call.options, 'keep')) throw usageFailure('--keep goes with --to');
    const name = stringOption(call.options, 'name');
    const taken = await take(call, dataset.id, name);
    if (file !== null) await save(call, taken, resolve(file));
    if (call.asJson) printJson(call, file === null ? taken : { ...taken, file: resolve(file) });
    else if (file === null) print(call, taken.id);
    else print(call, `${resolve(file)}: ${count(taken.items, 'item')} of ${dataset.name}`);
    return exitCodes.ok;
  },
};

function take(call: CommandCall, dataset: string, name: string | null): Promise<DatasetSnapshot> {
  const path = `/api/v1/datasets/${dataset}/snapshots`;
  return follow<DatasetSnapshot>(call, {
    title: 'Snapshot',
    unit: 'items',
    whenInterrupted: (work) =>
      work === null ? 'No snapshot was taken.' : 'The server goes on, and keeps the snapshot. See: engram snapshots',
    start: () => call.api.json('POST', path, { body: { name } }),
    look: ({ id }) => call.api.json('GET', snapshotPath({ id, dataset_id: dataset })),
  });
}

/** Under the name only when it is whole. */
async function save(call: CommandCall, snapshot: DatasetSnapshot, file: string): Promise<void> {
  const part = `${file}.part`;
  try {
    const content = await call.api.stream('GET', `${snapshotPath(snapshot)}/file`);
    await pipeline(content, createWriteStream(part));
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    if (error instanceof Error && 'syscall' in error)
      throw usageFailure(`--to: '${file}' cannot be written (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`);
    throw error;
  }
  if (isSet(call.options, 'keep')) return;
  try {
    await call.api.json('DELETE', snapshotPath(snapshot));
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
    note(call, `engram: the server keeps ${snapshot.id} too: ${error.message}`);
  }
}

export const snapshotsCommand: Command = {
  name: 'snapshots',
  usage: '[list | delete <id>…]',
  summary: 'Lists the snapshots that the server keeps, of every dataset or one, or deletes some.',
  options: {},
  async run(call) {
    const [action = 'list', ...ids] = call.arguments;
    if (action === 'list') return list(call);
    if (action !== 'delete') throw usageFailure(`snapshots knows list and delete, not '${action}'`);
    if (ids.length === 0) throw usageFailure('Give the id of a snapshot: engram snapshots delete <id>');
    for (const id of ids) {
      await call.api.json('DELETE', snapshotPath(await findSnapshot(call.api, id)));
      if (!call.asJson) print(call, `${id} deleted`);
    }
    if (call.asJson) printJson(call, { deleted: ids });
    return exitCodes.ok;
  },
};

async function list(call: CommandCall): Promise<number> {
  const only = call.datasetGiven === null ? null : (await findDataset(call.api, call.datasetGiven)).id;
  const snapshots = (await listSnapshots(call.api)).filter(({ dataset_id }) => only === null || dataset_id === only);
  if (call.asJson) {
    printJson(call, snapshots);
    return exitCodes.ok;
  }
  if (snapshots.length === 0) {
    print(call, 'no snapshots yet');
    return exitCodes.ok;
  }
  const names = new Map((await listDatasets(call.api)).map(({ id, name }) => [id, name]));
  const rows = snapshots.map(({ id, dataset_id, at, items, size_bytes, status }) => [
    ...[id, names.get(dataset_id) ?? dataset_id, at.slice(0, 19), String(items), String(size_bytes), status],
  ]);
  print(call, columns([['SNAPSHOT', 'DATASET', 'AT', 'ITEMS', 'BYTES', 'STATUS'], ...rows]));
  return exitCodes.ok;
}

export const restoreCommand: Command = {
  name: 'restore',
  usage: '<file or snapshot id> --as NAME',
  summary: 'Makes a new dataset of yours from a snapshot.',
  details: `Nothing is extracted or embedded again, and the dataset is visible only when it is complete. A file must have been
written by a server of the same installation: the server checks the signature.`,
  options: { as: { type: 'string', value: 'NAME', meaning: 'of the new dataset' } },
  async run(call) {
    const [source, ...more] = call.arguments;
    const name = stringOption(call.options, 'as');
    if (source === undefined || more.length > 0 || name === null)
      throw usageFailure('Give one snapshot and a name: engram restore <file or snapshot id> --as NAME');
    const restored = await follow<SnapshotRestore>(call, {
      title: 'Restore',
      unit: 'parts',
      whenInterrupted: (work) =>
        work === null
          ? 'Nothing was restored.'
          : 'The server goes on. See the dataset when it is whole: engram datasets',
      start: async () => ((await isFile(source)) ? upload(call, source, name) : startRestore(call, source, name)),
      look: ({ id }) => call.api.json('GET', `/api/v1/datasets/restores/${id}`),
    });
    if (call.asJson) printJson(call, restored);
    else print(call, restored.dataset_id ?? '');
    return exitCodes.ok;
  },
};

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}

async function upload(call: CommandCall, file: string, name: string): Promise<SnapshotRestore> {
  const form = new FormData();
  form.append('name', name);
  form.append('snapshot', await openAsBlob(file), basename(file));
  return call.api.json('POST', '/api/v1/datasets/restores', { body: form });
}

async function startRestore(call: CommandCall, id: string, name: string): Promise<SnapshotRestore> {
  const snapshot = await findSnapshot(call.api, id);
  return call.api.json('POST', `${snapshotPath(snapshot)}/restore`, { body: { name } });
}

/** Work of the server that goes on by itself, however long this client looks on. */
interface Followed {
  readonly status: 'running' | 'complete' | 'failed';
  readonly done: number;
  readonly total: number;
  readonly failure: { readonly name: string; readonly message: string } | null;
}

interface Following<Work> {
  readonly title: string;
  readonly unit: string;
  readonly whenInterrupted: (work: Work | null) => string;
  start(): Promise<Work>;
  look(work: Work): Promise<Work>;
}

const LOOK_AGAIN_MS = 500;

/** Resolves when it is complete. `CliFailure` with what it failed of. */
async function follow<Work extends Followed>(call: CommandCall, following: Following<Work>): Promise<Work> {
  let work: Work | null = null;
  const progress = createProgress(call.terminal, following.title, {
    total: 1,
    unit: following.unit,
    whenInterrupted: () => following.whenInterrupted(work),
  });
  try {
    work = await following.start();
    while (work.status === 'running') {
      progress.setTotal(Math.max(1, work.total));
      progress.update(work.done, '');
      await sleep(LOOK_AGAIN_MS);
      work = await following.look(work);
    }
    if (work.status === 'complete') return work;
    const { name, message } = work.failure ?? { name: 'CogneeSystemError', message: 'It failed.' };
    throw new CliFailure(`${message} [${name}]`, exitCodes.failed);
  } finally {
    progress.stop();
  }
}

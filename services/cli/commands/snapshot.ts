import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ApiFailure } from '../api-client.ts';
import { type Command, type CommandCall, isSet, stringOption } from '../command.ts';
import { follow } from '../follow.ts';
import { count, note, print, printJson } from '../output.ts';
import { exitCodes, usageFailure } from '../terminal.ts';
import { findDataset, type SnapshotInfo, snapshotPath } from '../wire.ts';

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

function take(call: CommandCall, dataset: string, name: string | null): Promise<SnapshotInfo> {
  const path = `/api/v1/datasets/${dataset}/snapshots`;
  return follow<SnapshotInfo>(call, {
    title: 'Snapshot',
    unit: 'items',
    whenInterrupted: (work) =>
      work === null ? 'No snapshot was taken.' : 'The server goes on, and keeps the snapshot. See: engram snapshots',
    start: () => call.api.json('POST', path, { body: { name } }),
    look: ({ id }) => call.api.json('GET', snapshotPath({ id, dataset_id: dataset })),
  });
}

/** Under the name only when it is whole. */
async function save(call: CommandCall, snapshot: SnapshotInfo, file: string): Promise<void> {
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

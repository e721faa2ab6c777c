import { openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { type Command, type CommandCall, stringOption } from '../command.ts';
import { type Followed, follow } from '../follow.ts';
import { print, printJson } from '../output.ts';
import { exitCodes, usageFailure } from '../terminal.ts';
import { findSnapshot, snapshotPath } from '../wire.ts';

interface RestoreInfo extends Followed {
  readonly id: string;
  readonly name: string;
  readonly dataset_id: string | null;
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
    const restored = await follow<RestoreInfo>(call, {
      title: 'Restore',
      unit: 'parts',
      whenInterrupted: (work) =>
        work === null
          ? 'Nothing was restored.'
          : 'The server goes on. See the dataset when it is whole: engram datasets',
      start: async () => ((await isFile(source)) ? upload(call, source, name) : start(call, source, name)),
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

async function upload(call: CommandCall, file: string, name: string): Promise<RestoreInfo> {
  const form = new FormData();
  form.append('name', name);
  form.append('snapshot', await openAsBlob(file), basename(file));
  return call.api.json('POST', '/api/v1/datasets/restores', { body: form });
}

async function start(call: CommandCall, id: string, name: string): Promise<RestoreInfo> {
  const snapshot = await findSnapshot(call.api, id);
  return call.api.json('POST', `${snapshotPath(snapshot)}/restore`, { body: { name } });
}

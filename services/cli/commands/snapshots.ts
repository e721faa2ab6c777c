import type { Command, CommandCall } from '../command.ts';
import { columns, print, printJson } from '../output.ts';
import { exitCodes, usageFailure } from '../terminal.ts';
import { findDataset, findSnapshot, listDatasets, listSnapshots, snapshotPath } from '../wire.ts';

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

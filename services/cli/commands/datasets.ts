import type { Command, CommandCall } from '../command.ts';
import { columns, print, printJson } from '../output.ts';
import { exitCodes, usageFailure } from '../terminal.ts';
import { type DatasetRecord, findDataset, listDatasets } from '../wire.ts';

interface ItemRecord {
  readonly id: string;
  readonly name: string;
  readonly extension: string;
  readonly dataSize: number | null;
  readonly createdAt: string;
}

const PAGE = 1_000;

export const datasetsCommand: Command = {
  name: 'datasets',
  usage: '[list | create <name> | items]',
  summary: 'Lists datasets, creates one, or lists the items of one.',
  options: {},
  async run(call) {
    const [action = 'list', ...names] = call.arguments;
    if (action === 'list') return list(call);
    if (action === 'create') return create(call, names);
    if (action === 'items') return items(call);
    throw usageFailure(`datasets knows list, create and items, not '${action}'`);
  },
};

async function list(call: CommandCall): Promise<number> {
  const datasets = await listDatasets(call.api);
  if (call.asJson) printJson(call, datasets);
  else if (datasets.length === 0) print(call, 'no datasets yet');
  else
    print(
      call,
      columns([
        ['DATASET', 'ID', 'CREATED'],
        ...datasets.map(({ id, name, createdAt }) => [name, id, createdAt.slice(0, 19)]),
      ]),
    );
  return exitCodes.ok;
}

async function create(call: CommandCall, names: readonly string[]): Promise<number> {
  const [name, ...more] = names;
  if (name === undefined || more.length > 0) throw usageFailure('Give one name: engram datasets create <name>');
  const dataset = await call.api.json<DatasetRecord>('POST', '/api/v1/datasets', { body: { name } });
  if (call.asJson) printJson(call, dataset);
  else print(call, dataset.id);
  return exitCodes.ok;
}

async function items(call: CommandCall): Promise<number> {
  const dataset = await findDataset(call.api, call.dataset);
  const all: ItemRecord[] = [];
  for (;;) {
    const page = await call.api.json<readonly ItemRecord[]>('GET', `/api/v1/datasets/${dataset.id}/data`, {
      query: { limit: String(PAGE), offset: String(all.length) },
    });
    all.push(...page);
    if (page.length < PAGE) break;
  }
  if (call.asJson) printJson(call, all);
  else if (all.length === 0) print(call, 'no items yet');
  else
    print(
      call,
      columns([
        ['ITEM', 'ID', 'TYPE', 'BYTES'],
        ...all.map(({ id, name, extension, dataSize }) => [name, id, extension, String(dataSize ?? '')]),
      ]),
    );
  return exitCodes.ok;
}

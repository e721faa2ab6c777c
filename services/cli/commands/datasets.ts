import type { Command, CommandCall } from '../command.ts';
import { failureLine } from '../failed-items.ts';
import { columns, print, printJson } from '../output.ts';
import { sourceName } from '../sources.ts';
import { exitCodes, usageFailure } from '../terminal.ts';
import { type DatasetRecord, findDataset, listDatasets } from '../wire.ts';

interface ItemRecord {
  readonly id: string;
  readonly name: string;
  readonly displayName?: string;
  readonly externalMetadata: unknown;
  readonly dataSize: number | null;
  readonly createdAt: string;
  /** Error of an item that could not be built. */
  readonly failure?: { readonly message: string; readonly tries: number; readonly isSetAside: boolean };
}

const PAGE = 1_000;

export const datasetsCommand: Command = {
  name: 'datasets',
  usage: '[list | create <name> | items | retry [<item id>…]]',
  summary: 'Lists datasets, creates one, lists the items of one, or tries its failed items again.',
  options: {},
  async run(call) {
    const [action = 'list', ...names] = call.arguments;
    if (action === 'list') return list(call);
    if (action === 'create') return create(call, names);
    if (action === 'items') return items(call);
    if (action === 'retry') return retry(call, names);
    throw usageFailure(`datasets knows list, create, items and retry, not '${action}'`);
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
      query: { limit: String(PAGE), offset: String(all.length), excerpts: 'true' },
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
        ['ITEM', 'ID', 'BYTES', 'FAILED'],
        ...all.map(({ id, dataSize, failure, ...item }) => [
          ...[itemName(item), id, String(dataSize ?? '')],
          failure === undefined
            ? ''
            : failureLine({ ...failure, error_message: failure.message, is_set_aside: failure.isSetAside }),
        ]),
      ]),
    );
  return exitCodes.ok;
}

interface RetryAnswer {
  readonly data_ids: readonly string[];
  readonly pipeline_run_id: string | null;
}

/** Retries the items; without ids all that failed. */
async function retry(call: CommandCall, ids: readonly string[]): Promise<number> {
  const { id, name } = await findDataset(call.api, call.dataset);
  const body = ids.length === 0 ? {} : { data_ids: ids };
  const answer = await call.api.json<RetryAnswer>('POST', `/api/v1/datasets/${id}/data/retry`, { body });
  if (call.asJson) printJson(call, answer);
  else if (answer.pipeline_run_id === null) print(call, `no item of ${name} has failed`);
  else {
    const items = answer.data_ids.length === 1 ? '1 item' : `${answer.data_ids.length} items`;
    print(call, `run ${answer.pipeline_run_id} started for ${items} of ${name}`);
  }
  return exitCodes.ok;
}

function itemName({
  name,
  displayName,
  externalMetadata,
}: Pick<ItemRecord, 'name' | 'displayName' | 'externalMetadata'>): string {
  return sourceName({ text: displayName, document_name: name, external_metadata: externalMetadata }) ?? name;
}

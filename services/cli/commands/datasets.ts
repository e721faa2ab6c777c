import type { Answer, DataDTO, DatasetDTO } from '../../client/index.ts';
import type { Action, CommandCall } from '../command.ts';
import { failureLine } from '../failed-items.ts';
import { group } from '../group.ts';
import { columns, count } from '../output.ts';
import { sourceName } from '../sources.ts';
import { usageFailure } from '../terminal.ts';
import { findDataset, listDatasets } from '../wire.ts';

const PAGE = 1_000;

const datasets: readonly Action[] = [
  {
    name: 'list',
    summary: 'Lists the datasets that you can read.',
    request: ({ api }) => listDatasets(api),
    show: (answer) => {
      const all = answer as readonly DatasetDTO[];
      if (all.length === 0) return 'no datasets yet';
      const rows = all.map(({ id, name, createdAt }) => [name, id, createdAt.slice(0, 19)]);
      return columns([['DATASET', 'ID', 'CREATED'], ...rows]);
    },
  },
  {
    name: 'create',
    parameters: '<name>',
    summary: 'Creates an empty dataset.',
    request: (call) => call.api.json('POST', '/api/v1/datasets', { body: { name: call.arguments[0] } }),
    show: (answer) => (answer as DatasetDTO).id,
  },
  {
    name: 'items',
    summary: 'Lists the items of --dataset; engram items does more with them.',
    request: readItems,
    show: (answer) => itemsText(answer as readonly DataDTO[]),
  },
  {
    name: 'retry',
    parameters: '[id]...',
    summary: 'Builds failed items of --dataset once more; without ids all that failed.',
    request: retryItems,
    show: (answer, call) => {
      const { data_ids: ids, pipeline_run_id: run } = answer as RetryAnswer;
      return run === null
        ? `no item of ${call.dataset} has failed`
        : `run ${run} started for ${count(ids.length, 'item')} of ${call.dataset}`;
    },
  },
  {
    name: 'summary',
    summary: 'Counts nodes and edges of each graph.',
    fields: ['dataset', 'numNodes', 'numEdges', 'computedAt'],
    request: async ({ api }) => {
      const names = new Map((await listDatasets(api)).map(({ id, name }) => [id, name]));
      const counts = await api.json<readonly { readonly datasetId: string }[]>('GET', '/api/v1/datasets/graph-summary');
      return counts.map((of) => ({ dataset: names.get(of.datasetId), ...of }));
    },
  },
  {
    name: 'validate',
    summary: 'Looks for faults in the graph of --dataset.',
    request: async (call) => {
      const { name } = await findDataset(call.api, call.dataset);
      return call.api.json('GET', '/api/v1/validate', { query: { dataset: name } });
    },
  },
  {
    name: 'delete',
    summary: 'Deletes --dataset with everything in it.',
    asks: (call) => `Delete dataset ${given(call)}?`,
    request: async (call) => {
      const { id } = await findDataset(call.api, given(call));
      return call.api.json('POST', '/api/v1/forget', { body: { datasetId: id } });
    },
    show: (_answer, call) => `forgotten: dataset ${call.datasetGiven}`,
  },
];

function given({ datasetGiven }: CommandCall): string {
  if (datasetGiven === null) throw usageFailure('Name the dataset with --dataset.');
  return datasetGiven;
}

export const datasetsCommand = group(
  'datasets',
  'Datasets: list, create, items, retry, summary, validate, delete.',
  datasets,
);

export async function readItems(call: CommandCall): Promise<readonly DataDTO[]> {
  const dataset = await findDataset(call.api, call.dataset);
  const all: DataDTO[] = [];
  for (;;) {
    const page = await call.api.json<readonly DataDTO[]>('GET', `/api/v1/datasets/${dataset.id}/data`, {
      query: { limit: String(PAGE), offset: String(all.length), excerpts: 'true' },
    });
    all.push(...page);
    if (page.length < PAGE) return all;
  }
}

export function itemsText(all: readonly DataDTO[]): string {
  if (all.length === 0) return 'no items yet';
  const rows = all.map(({ id, dataSize, failure, ...item }) => [
    ...[itemName(item), id, String(dataSize ?? '')],
    failure === undefined
      ? ''
      : failureLine({ ...failure, error_message: failure.message, is_set_aside: failure.isSetAside }),
  ]);
  return columns([['ITEM', 'ID', 'BYTES', 'FAILED'], ...rows]);
}

type RetryAnswer = Answer<'/api/v1/datasets/{dataset_id}/data/retry', 'post'>;

export async function retryItems(call: CommandCall): Promise<RetryAnswer> {
  const { id } = await findDataset(call.api, call.dataset);
  const body = call.arguments.length === 0 ? {} : { data_ids: call.arguments };
  return call.api.json<RetryAnswer>('POST', `/api/v1/datasets/${id}/data/retry`, { body });
}

function itemName({
  name,
  displayName,
  externalMetadata,
}: Pick<DataDTO, 'name' | 'displayName' | 'externalMetadata'>): string {
  return sourceName({ text: displayName, document_name: name, external_metadata: externalMetadata }) ?? name;
}

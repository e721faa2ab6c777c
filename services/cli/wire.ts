import type { DatasetDTO, DatasetSnapshot } from '../client/index.ts';
import { nearestOf } from '../common/kernel/nearest.ts';
import type { ApiClient } from './api-client.ts';
import type { CommandCall } from './command.ts';
import { harmless } from './output.ts';
import { CliFailure, exitCodes } from './terminal.ts';

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

export function isId(text: string): boolean {
  return UUID.test(text);
}

/** How `/add` and forms name a dataset. */
export function datasetFields(dataset: string): Record<'datasetId' | 'datasetName', string> | Record<string, string> {
  return isId(dataset) ? { datasetId: dataset } : { datasetName: dataset };
}

/** How `/search` and `/recall` name the dataset of `--dataset`; all that can be read without it. */
export async function datasetsOf({
  api,
  datasetGiven,
}: CommandCall): Promise<{ readonly dataset_ids?: readonly string[] }> {
  return datasetGiven === null ? {} : { dataset_ids: [(await findDataset(api, datasetGiven)).id] };
}

export async function listDatasets(api: ApiClient): Promise<readonly DatasetDTO[]> {
  return api.json<readonly DatasetDTO[]>('GET', '/api/v1/datasets');
}

/** Errors: `CliFailure` naming the datasets that there are, the one that may be meant first. */
export async function findDataset(api: ApiClient, dataset: string): Promise<DatasetDTO> {
  const datasets = await listDatasets(api);
  const found = datasets.find(({ id, name }) => id === dataset.toLowerCase() || name === dataset);
  if (found !== undefined) return found;
  const names = datasets.map(({ name }) => name);
  const meant = nearestOf(dataset, names);
  const known = names.slice(0, 20).map(harmless).join(', ');
  const hint = meant === null ? '' : ` Did you mean ${harmless(meant)}?`;
  throw new CliFailure(
    `There is no dataset '${dataset}'.${hint}${known === '' ? ' There are none yet.' : ` There are: ${known}.`}`,
    exitCodes.failed,
  );
}

export function snapshotPath({ id, dataset_id }: Pick<DatasetSnapshot, 'id' | 'dataset_id'>): string {
  return `/api/v1/datasets/${dataset_id}/snapshots/${encodeURIComponent(id)}`;
}

/** Lists the snapshots of every dataset that can be read, newest first. */
export async function listSnapshots(api: ApiClient): Promise<readonly DatasetSnapshot[]> {
  return (await api.json<{ readonly snapshots: readonly DatasetSnapshot[] }>('GET', '/api/v1/datasets/snapshots'))
    .snapshots;
}

/** Errors: `CliFailure` when there is none of the id. */
export async function findSnapshot(api: ApiClient, id: string): Promise<DatasetSnapshot> {
  const found = (await listSnapshots(api)).find((snapshot) => snapshot.id === id);
  if (found !== undefined) return found;
  throw new CliFailure(`There is no file and no snapshot '${id}'. See: engram snapshots`, exitCodes.failed);
}

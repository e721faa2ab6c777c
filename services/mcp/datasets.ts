import { distance } from 'fastest-levenshtein';
import type { DataDTO, DatasetDTO } from '../client/index.ts';
import type { EngramApi } from './api.ts';
import { ToolError } from './tool.ts';

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/iu;

/** The dataset that is written to when a call names none: that of the API and the command line. */
export const DEFAULT_DATASET = 'main_dataset';

export function isUuid(text: string): boolean {
  return UUID.test(text);
}

export function listDatasets(api: EngramApi): Promise<readonly DatasetDTO[]> {
  return api.get('/api/v1/datasets');
}

/**
 * Finds readable datasets by names or ids; the API itself resolves only names of own datasets. Empty: all, which is null.
 * Throws `ToolError` with the names that are close.
 */
export async function findDatasets(api: EngramApi, wanted: readonly string[]): Promise<readonly DatasetDTO[] | null> {
  if (wanted.length === 0) return null;
  const known = await listDatasets(api);
  return wanted.map((each) => chosen(known, each));
}

export async function findDataset(api: EngramApi, wanted: string): Promise<DatasetDTO> {
  return chosen(await listDatasets(api), wanted);
}

function chosen(known: readonly DatasetDTO[], wanted: string): DatasetDTO {
  const found = known.filter(({ id, name }) => name === wanted || id === wanted.toLowerCase());
  const [first] = found;
  if (first === undefined)
    throw new ToolError(`There is no dataset "${wanted}" that you may read. ${advice(known, wanted)}`);
  if (found.length > 1) {
    const ids = found.map(({ id }) => id).join(', ');
    throw new ToolError(`Several datasets are named "${wanted}". Give the id of one of them: ${ids}.`);
  }
  return first;
}

function advice(known: readonly DatasetDTO[], wanted: string): string {
  if (known.length === 0) return 'There is none yet: store something with remember first.';
  const nearest = known
    .map(({ name }) => ({ name, far: distance(name.toLowerCase(), wanted.toLowerCase()) }))
    .toSorted((one, other) => one.far - other.far)
    .slice(0, 5)
    .map(({ name }) => `"${name}"`);
  return `Datasets: ${nearest.join(', ')}${known.length > nearest.length ? ` and ${known.length - nearest.length} more` : ''}.`;
}

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

export function itemsOf(api: EngramApi, datasetId: string, page: Page): Promise<readonly DataDTO[]> {
  return api.get(`/api/v1/datasets/${datasetId}/data`, { ...page, excerpts: true });
}

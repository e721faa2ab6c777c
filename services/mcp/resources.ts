import {
  ErrorCode,
  type ListResourcesResult,
  type ListResourceTemplatesResult,
  McpError,
  type ReadResourceResult,
  type Resource,
} from '@modelcontextprotocol/sdk/types.js';
import { ApiError } from '../client/errors.ts';
import type { DataDTO, DatasetDTO } from '../client/index.ts';
import type { EngramApi } from './api.ts';
import { isUuid, itemsOf, listDatasets } from './datasets.ts';

export const RESOURCE_TEMPLATES: ListResourceTemplatesResult['resourceTemplates'] = [
  {
    name: 'dataset',
    title: 'Items of a dataset',
    uriTemplate: 'engram://datasets/{dataset_id}',
    description: 'The newest items of a dataset, with their ids and addresses.',
    mimeType: 'application/json',
  },
  {
    name: 'item',
    title: 'Text of an item',
    uriTemplate: 'engram://datasets/{dataset_id}/items/{data_id}',
    description: 'The stored text of an item.',
    mimeType: 'text/plain',
  },
  {
    name: 'memory',
    title: 'Memory of a dataset',
    uriTemplate: 'engram://datasets/{dataset_id}/memory',
    description: 'What was built from a dataset, as Markdown: summaries, entities, relations.',
    mimeType: 'text/markdown',
  },
];

const PAGE = 100;
/** Items that the resource of a dataset names. */
const ITEMS_OF_DATASET = 1000;
/** Code of the protocol for resources that are not there. */
const RESOURCE_NOT_FOUND = -32002;

/** Where a page of the list begins: at an item of a dataset, or at the dataset itself (-1). */
interface Cursor {
  readonly dataset: string;
  readonly offset: number;
}

const ITSELF = -1;

/** Lists datasets, each followed by its items, a page at a time. */
export async function listResources(api: EngramApi, cursor: string | undefined): Promise<ListResourcesResult> {
  const datasets = await listDatasets(api);
  const start = cursor === undefined ? null : parseCursor(cursor);
  const first = start === null ? 0 : datasets.findIndex(({ id }) => id === start.dataset);
  if (first < 0) throw invalidCursor();
  const resources: Resource[] = [];
  for (const dataset of datasets.slice(first)) {
    let offset = dataset.id === start?.dataset ? start.offset : ITSELF;
    if (resources.length >= PAGE) return { resources, nextCursor: cursorText({ dataset: dataset.id, offset }) };
    if (offset === ITSELF) {
      resources.push(datasetResource(dataset));
      offset = 0;
    }
    const room = PAGE - resources.length;
    // One more tells whether there is another page.
    const items = await itemsOf(api, dataset.id, { limit: room + 1, offset });
    resources.push(...items.slice(0, room).map((item) => itemResource(dataset, item)));
    if (items.length > room)
      return { resources, nextCursor: cursorText({ dataset: dataset.id, offset: offset + room }) };
  }
  return { resources };
}

function datasetResource({ id, name, createdAt, updatedAt }: DatasetDTO): Resource {
  return {
    uri: `engram://datasets/${id}`,
    name,
    title: `Dataset ${name}`,
    description: `The items of dataset "${name}"`,
    mimeType: 'application/json',
    annotations: { lastModified: updatedAt ?? createdAt },
  };
}

function itemResource(dataset: DatasetDTO, item: DataDTO): Resource {
  const name = item.displayName ?? item.name;
  return {
    uri: `engram://datasets/${dataset.id}/items/${item.id}`,
    name,
    title: name,
    description: `Item of dataset "${dataset.name}"`,
    mimeType: 'text/plain',
    annotations: { lastModified: item.updatedAt ?? item.createdAt },
  };
}

const RESOURCE = /^engram:\/\/datasets\/([^/]+)(?:\/(memory)|\/items\/([^/]+))?$/u;

export async function readResource(api: EngramApi, uri: string): Promise<ReadResourceResult> {
  const match = RESOURCE.exec(uri);
  const [, dataset = '', memory, item] = match ?? [];
  if (!isUuid(dataset) || (item !== undefined && !isUuid(item))) throw notFound(uri);
  try {
    if (item !== undefined) {
      const text = await api.text(`/api/v1/datasets/${dataset}/data/${item}/raw`);
      return { contents: [{ uri, mimeType: 'text/plain', text }] };
    }
    if (memory !== undefined) {
      const text = await api.text(`/api/v1/activity/export/${dataset}`);
      return { contents: [{ uri, mimeType: 'text/markdown', text }] };
    }
    const items = await itemsOf(api, dataset, { limit: ITEMS_OF_DATASET, offset: 0 });
    const rows = items.map(({ id, name, displayName, createdAt }) => ({
      id,
      name: displayName ?? name,
      created_at: createdAt,
      uri: `engram://datasets/${dataset}/items/${id}`,
    }));
    return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(rows, null, 2) }] };
  } catch (error) {
    if (error instanceof ApiError && (error.status === 404 || error.status === 403)) throw notFound(uri);
    throw error;
  }
}

/** Values for a variable of a template that begin with what was typed. */
export async function completeResource(
  api: EngramApi,
  {
    variable,
    typed,
    known,
  }: { readonly variable: string; readonly typed: string; readonly known: Readonly<Record<string, string>> },
): Promise<readonly string[]> {
  if (variable === 'dataset_id') {
    const datasets = await listDatasets(api);
    return datasets.filter(({ id, name }) => id.startsWith(typed) || name.startsWith(typed)).map(({ id }) => id);
  }
  const dataset = known['dataset_id'] ?? '';
  if (variable !== 'data_id' || !isUuid(dataset)) return [];
  const items = await itemsOf(api, dataset, { limit: ITEMS_OF_DATASET, offset: 0 });
  return items.filter(({ id, name }) => id.startsWith(typed) || name.startsWith(typed)).map(({ id }) => id);
}

function cursorText(cursor: Cursor): string {
  return Buffer.from(JSON.stringify([cursor.dataset, cursor.offset])).toString('base64url');
}

function parseCursor(text: string): Cursor {
  try {
    const [dataset, offset] = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as [unknown, unknown];
    if (typeof dataset === 'string' && Number.isSafeInteger(offset) && Number(offset) >= ITSELF) {
      return { dataset, offset: Number(offset) };
    }
  } catch {
    // Answered below.
  }
  throw invalidCursor();
}

function invalidCursor(): McpError {
  return new McpError(
    ErrorCode.InvalidParams,
    'This cursor is not valid, or its dataset is gone: list from the beginning.',
  );
}

function notFound(uri: string): McpError {
  return new McpError(RESOURCE_NOT_FOUND, `There is no resource ${uri} that you may read.`, { uri });
}

import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Action, type CommandCall, stringOption } from '../command.ts';
import { group } from '../group.ts';
import { count } from '../output.ts';
import { findDataset } from '../wire.ts';
import { itemsText, readItems, retryItems } from './datasets.ts';

const items: readonly Action[] = [
  {
    name: 'list',
    summary: 'Lists the items of --dataset, with the errors of those that could not be built.',
    request: readItems,
    show: (answer) => itemsText(answer as Awaited<ReturnType<typeof readItems>>),
  },
  {
    name: 'download',
    parameters: '<id>',
    summary: 'Saves the original of an item.',
    options: { output: { type: 'string', short: 'o', value: 'FILE', meaning: 'default: standard output' } },
    request: download,
    show: (answer) => {
      const { file } = answer as { readonly file: string | null };
      return file ?? '';
    },
  },
  {
    name: 'forget',
    parameters: '<id>...',
    summary: 'Deletes items and what was learnt from them.',
    asks: (call) => `Forget ${count(call.arguments.length, 'item')} of ${call.dataset}?`,
    request: async (call) => {
      const { id: datasetId } = await findDataset(call.api, call.dataset);
      for (const dataId of call.arguments) {
        await call.api.json('POST', '/api/v1/forget', { body: { datasetId, dataId } });
      }
      return { forgotten: call.arguments };
    },
  },
  {
    name: 'retry',
    parameters: '[id]...',
    summary: 'Builds failed items once more; without ids all that failed.',
    request: retryItems,
    show: (answer) => {
      const { data_ids: ids, pipeline_run_id: run } = answer as Awaited<ReturnType<typeof retryItems>>;
      return run === null ? 'no item has failed' : `run ${run} started for ${count(ids.length, 'item')}`;
    },
  },
];

async function download(call: CommandCall): Promise<{ readonly file: string | null }> {
  const { id } = await findDataset(call.api, call.dataset);
  const path = `/api/v1/datasets/${id}/data/${encodeURIComponent(call.arguments[0] ?? '')}/raw`;
  const body = Readable.fromWeb((await call.api.stream('GET', path)) as import('node:stream/web').ReadableStream);
  const file = stringOption(call.options, 'output');
  await pipeline(body, file === null ? call.terminal.out : createWriteStream(file), { end: file !== null });
  return { file };
}

export const itemsCommand = group('items', 'Items of a dataset: list, download, forget, retry.', items);

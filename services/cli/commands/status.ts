import type { DatasetDTO, DatasetProcessingStatusDTO, PipelineRunStatusWithProgress } from '../../client/index.ts';
import type { Command, CommandCall } from '../command.ts';
import { readItemStatus } from '../failed-items.ts';
import { columns, print, printJson } from '../output.ts';
import { exitCodes } from '../terminal.ts';
import { findDataset, listDatasets } from '../wire.ts';

export const statusCommand: Command = {
  name: 'status',
  usage: '',
  summary: 'Shows whether the server is well and how far each dataset is.',
  options: {},
  async run(call) {
    const health = await call.api.json<{ readonly status?: string; readonly version?: string }>('GET', '/health');
    const datasets =
      call.datasetGiven === null ? await listDatasets(call.api) : [await findDataset(call.api, call.datasetGiven)];
    const states = await stateOf(call, datasets);
    if (call.asJson) {
      printJson(call, { health, datasets: states });
      return exitCodes.ok;
    }
    print(
      call,
      `${call.api.baseUrl}: ${health.status ?? 'unknown'}${health.version === undefined ? '' : `, API of cognee ${health.version}`}`,
    );
    if (states.length === 0) print(call, 'no datasets yet');
    else print(call, columns([['DATASET', 'ITEMS', 'READY', 'FAILED', 'STATE', 'STAGE'], ...states.map(rowOf)]));
    return exitCodes.ok;
  },
};

interface DatasetState {
  readonly id: string;
  readonly name: string;
  readonly items: DatasetProcessingStatusDTO;
  readonly run: PipelineRunStatusWithProgress | null;
}

async function stateOf(call: CommandCall, datasets: readonly DatasetDTO[]): Promise<DatasetState[]> {
  if (datasets.length === 0) return [];
  const runs = await call.api.json<Readonly<Record<string, PipelineRunStatusWithProgress>>>(
    'GET',
    '/api/v1/datasets/status/progress',
    {
      query: { dataset: datasets.map(({ id }) => id) },
    },
  );
  const states: DatasetState[] = [];
  for (const { id, name } of datasets) {
    const items = await readItemStatus(call, { id });
    states.push({ id, name, items, run: runs[id] ?? null });
  }
  return states;
}

function rowOf({ name, items, run }: DatasetState): string[] {
  const state = run === null ? 'not cognified' : (run.status.split('_').at(-1)?.toLowerCase() ?? run.status);
  return [
    name,
    String(items.total),
    String(items.completed),
    String(items.failed ?? 0),
    state,
    run === null ? '' : stageOf(run),
  ];
}

function stageOf({ progress, chunks, error }: PipelineRunStatusWithProgress): string {
  if (error !== undefined) return error;
  return [
    ...(progress === null
      ? []
      : [`${progress.current_stage ?? ''} ${progress.completed_items}/${progress.total_items}`.trim()]),
    ...(chunks === undefined ? [] : [`${chunks.completed}/${chunks.total} chunks`]),
  ].join(', ');
}

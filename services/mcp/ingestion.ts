import { setTimeout as sleep } from 'node:timers/promises';
import type { PipelineRunInfo, PipelineRunStatusWithProgress } from '../client/index.ts';
import type { EngramApi } from './api.ts';
import { isUuid, listDatasets } from './datasets.ts';
import { type ToolCall, ToolError } from './tool.ts';

/** A text, the address of a web page, or a file: what becomes one item. */
export interface NewItem {
  readonly name: string | null;
  readonly content: string | Uint8Array;
}

interface AddedItems {
  readonly dataset: { readonly id: string; readonly name: string };
  readonly items: readonly string[];
  /** Items that were not stored, with the reason. */
  readonly refused: readonly string[];
}

/** Where a build stands when the tool answers. */
export interface BuildState {
  readonly status: 'completed' | 'running' | 'failed';
  readonly error: string | null;
}

/** Name or id of a dataset as the form fields of the API. A name may be new: the API makes that dataset. */
async function targetFields(api: EngramApi, dataset: string): Promise<readonly (readonly [string, string])[]> {
  if (isUuid(dataset)) return [['datasetId', dataset]];
  const named = (await listDatasets(api)).filter(({ name }) => name === dataset);
  // The API finds own datasets by name, and makes one otherwise; a shared one is named by its id.
  return named.length === 1 && named[0] !== undefined ? [['datasetId', named[0].id]] : [['datasetName', dataset]];
}

export async function addItems(
  api: EngramApi,
  dataset: string,
  { items, nodeSet = [] }: { readonly items: readonly NewItem[]; readonly nodeSet?: readonly string[] },
): Promise<AddedItems> {
  const form = new FormData();
  for (const [name, value] of await targetFields(api, dataset)) form.append(name, value);
  for (const { name, content } of items) {
    if (typeof content === 'string' && isAddress(content)) form.append('data', content.trim());
    else
      form.append(
        'data',
        new Blob([typeof content === 'string' ? content : new Uint8Array(content)]),
        name ?? nameOf(content),
      );
  }
  for (const each of nodeSet) form.append('node_set', each);
  const answer = await api.post<PipelineRunInfo>('/api/v1/add', form);
  const refused = (answer.refused ?? []).map(({ name, message }) => (name === null ? message : `${name}: ${message}`));
  const added = (answer.data_ingestion_info ?? []).flatMap(({ data_id }) => data_id ?? []);
  if (added.length === 0) {
    throw new ToolError(
      `Nothing was stored: ${refused.join('; ') || (answer.error_message ?? 'there is no text in it')}`,
    );
  }
  return { dataset: { id: answer.dataset_id, name: answer.dataset_name }, items: added, refused };
}

function isAddress(text: string): boolean {
  return /^\s*https?:\/\/\S+\s*$/iu.test(text);
}

const WORDS_OF_NAME = 6;

/** The first words of a text, as the name under which sources cite it; without an extension, as it is no file. */
function nameOf(content: string | Uint8Array): string {
  const words = typeof content === 'string' ? (content.match(/[\p{L}\p{N}]+/gu) ?? []) : [];
  const name = words.slice(0, WORDS_OF_NAME).join(' ').slice(0, 60);
  return words.length > WORDS_OF_NAME ? `${name} …` : name || 'note';
}

interface BuildOptions {
  readonly customPrompt?: string | null;
  readonly graphModel?: object | null;
}

/** Starts the build of what was added to a dataset and does not wait for it. */
export async function startBuild(api: EngramApi, datasetId: string, options: BuildOptions = {}): Promise<void> {
  await api.post('/api/v1/cognify', {
    dataset_ids: [datasetId],
    run_in_background: true,
    ...(options.customPrompt == null ? {} : { custom_prompt: options.customPrompt }),
    ...(options.graphModel == null ? {} : { graph_model: options.graphModel }),
  });
}

/** Longest wait for a build: clients give up calls after a minute, and the build goes on without them. */
export const DEFAULT_WAIT_SECONDS = 50;
const FIRST_POLL_MS = 150;
const SLOWEST_POLL_MS = 2_000;

/** Waits for the build of a dataset, at most `waitSeconds`, and reports its progress. */
export async function awaitBuild(
  { api, signal, progress }: ToolCall,
  dataset: { readonly id: string; readonly name: string },
  waitSeconds: number,
): Promise<BuildState> {
  const until = performance.now() + waitSeconds * 1000;
  let reported = 0;
  for (let pauseMs = FIRST_POLL_MS; ; pauseMs = Math.min(SLOWEST_POLL_MS, pauseMs * 1.5)) {
    const state = (await buildStates(api, { dataset: [dataset.id] })).get(dataset.id);
    // Without a run there was nothing to build.
    if (state === undefined) return { status: 'completed', error: null };
    if (state.status !== 'running') return state;
    // Progress must rise with every notification, also while no item is done.
    reported = Math.max(reported + 0.001, state.share ?? 0);
    await progress({
      progress: Math.min(reported, 0.999),
      total: 1,
      message: `Building ${dataset.name}: ${state.stage}`,
    });
    const leftMs = until - performance.now();
    if (leftMs <= 0) return state;
    await sleep(Math.min(pauseMs, leftMs), undefined, { signal });
  }
}

interface RunningState extends BuildState {
  /** Part that is done, 0 to 1; null: not known yet. */
  readonly share: number | null;
  readonly stage: string;
}

/** State of the newest run of each dataset; none given: of all that can be read. Without a run a dataset is missing. */
export async function buildStates(
  api: EngramApi,
  wanted: { readonly dataset?: readonly string[]; readonly pipeline?: string },
): Promise<ReadonlyMap<string, RunningState>> {
  const rows = await api.get<Readonly<Record<string, PipelineRunStatusWithProgress>>>(
    '/api/v1/datasets/status/progress',
    wanted,
  );
  return new Map(Object.entries(rows).map(([id, row]) => [id, stateOf(row)]));
}

function stateOf({ status, error, progress, chunks }: PipelineRunStatusWithProgress): RunningState {
  if (status.endsWith('COMPLETED')) return { ...DONE, status: 'completed' };
  if (status.endsWith('ERRORED')) return { ...DONE, status: 'failed', error: error ?? 'The build failed.' };
  if (progress === null || progress.total_items === 0) return { ...DONE, status: 'running', stage: 'starting' };
  const share = (progress.completed_items + partOf(chunks)) / progress.total_items;
  const items = `${progress.completed_items} of ${progress.total_items} items`;
  const stage = [items, ...(progress.current_stage === null ? [] : [progress.current_stage])].join(', ');
  return { status: 'running', error: null, share, stage };
}

const DONE = { error: null, share: null, stage: '' };

function partOf(chunks: PipelineRunStatusWithProgress['chunks']): number {
  return chunks === undefined || chunks.total === 0 ? 0 : Math.min(0.99, chunks.completed / chunks.total);
}

/** Describes the result of a build, for the last line of an answer. */
export function buildText({ status, error }: BuildState, dataset: string): string {
  if (status === 'completed') return `Dataset "${dataset}" is built: ask and recall find it now.`;
  if (status === 'failed')
    return `The build of dataset "${dataset}" failed: ${error} What was added is kept; call cognify to try again.`;
  return `Dataset "${dataset}" is still being built in the background. cognify_status says when it is done.`;
}

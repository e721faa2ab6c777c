import { unusedModelOptions } from '../../common/domain/unused-options.ts';
import type { DatasetId, TenantId, UserId } from '../../common/kernel/brand.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { sha256 } from '../../common/kernel/hashes.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import { type DatasetScope, datasetScope } from '../../common/kernel/scope.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { AnswerOf, CognifyOptions, RequestOf } from '../../common/platform/messaging/messages.ts';
import { ownedByAnother, requireManaged } from '../../common/records/auth/require-managed.ts';
import type { DatasetConfiguration, RunDefaults } from '../../common/records/cognify/dataset-configurations.ts';
import type { CognifyDependencies } from '../dependencies.ts';

type Dependencies = Pick<
  CognifyDependencies,
  'audit' | 'clock' | 'configurations' | 'datasets' | 'ledger' | 'managedResources' | 'models'
>;

/** Known chunking strategies; the chunker cuts at paragraphs. */
const STRATEGIES = ['paragraph'];
/** Configurations whose history is kept. Items that were built under an older one count as drifted. */
const KEPT = 50;
const NOTHING: RunDefaults = { graphModel: null, prompt: null, chunking: null };

/** Sets the configuration of a managed dataset; rules and errors: `cognify.SetDatasetConfiguration` in proto/. */
export async function setDatasetConfiguration(
  deps: Dependencies,
  request: RequestOf<'cognify.SetDatasetConfiguration'>,
): Promise<AnswerOf<'cognify.SetDatasetConfiguration'>> {
  const { tenantId, datasetId, crUid } = request;
  const wanted = defaultsOf(request);
  const scope = datasetScope(tenantId, datasetId);
  const { keepExtractions } = await deps.models.current(tenantId);
  const asked = { graphModel: wanted.graphModel, customPrompt: wanted.prompt };
  const unused = unusedModelOptions(asked, keepExtractions);
  const hashes = hashesOf(wanted);
  const total = totalHash(wanted);
  return retryOnConflict(async () => {
    await requireManagedDataset(deps, { tenant: tenantId, dataset: datasetId, crUid });
    const before = await deps.configurations.get(scope);
    const { history = [] } = before ?? {};
    if ((history.at(-1)?.hash ?? totalHash(NOTHING)) === total) {
      return { ...hashes, drifted: await hasDrifted(deps, scope, before), unused };
    }
    const entry = { hash: total, since: deps.clock.now().toISOString() };
    const document = { ...wanted, history: [...history, entry].slice(-KEPT) };
    const details = { resource: crUid, ...hashes };
    await deps.audit.commit(
      scope,
      [deps.configurations.putWrite(document, before)],
      [{ tenant: tenantId, action: 'dataset.configured', actor: null, subject: datasetId, details }],
    );
    return { ...hashes, drifted: await hasDrifted(deps, scope, { ...document, version: 0 }), unused };
  });
}

/** Stores the graph model and the prompt of later runs; rules and errors: `cognify.StoreDatasetSchema` in proto/. */
export async function storeDatasetSchema(
  deps: Dependencies,
  { dataset, graphModel, prompt }: RequestOf<'cognify.StoreDatasetSchema'>,
  by: UserId,
): Promise<void> {
  const { tenant, id } = dataset;
  if (graphModel !== undefined && Object.keys(graphModel).length > 0) requireTitle(graphModel);
  if ((await deps.managedResources.of({ tenant, dataset: id })) !== null)
    throw ownedByAnother({ tenant, dataset: id }, 'is managed by a resource, which says its schema and prompt');
  const scope = scopeOf(dataset);
  await retryOnConflict(async () => {
    const before = await deps.configurations.get(scope);
    const { history = [], graphModel: oldModel, prompt: oldPrompt, chunking } = { ...NOTHING, ...before };
    const wanted = { graphModel: graphModel ?? oldModel, prompt: prompt ?? oldPrompt, chunking };
    const hash = totalHash(wanted);
    const document = { ...wanted, history: [...history, { hash, since: deps.clock.now().toISOString() }].slice(-KEPT) };
    const entry = { tenant, action: 'dataset.configured', actor: by, subject: id, details: hashesOf(wanted) };
    await deps.audit.commit(scope, [deps.configurations.putWrite(document, before)], [entry]);
  });
}

/** Completes the options of a run with the configuration of its dataset. */
export async function withDefaults(
  { configurations }: Pick<Dependencies, 'configurations'>,
  scope: DatasetScope,
  options: CognifyOptions,
): Promise<CognifyOptions> {
  const configured = await configurations.get(scope);
  if (configured === null) return options;
  const { graphModel, prompt, chunking } = configured;
  return {
    ...options,
    ...(options.graphModel == null && hasKeys(graphModel) ? { graphModel } : {}),
    ...(options.customPrompt === undefined && prompt ? { customPrompt: prompt } : {}),
    ...(options.chunkSize == null && chunking !== null ? { chunkSize: chunking.maxTokens } : {}),
  };
}

/** Whether it says something: an empty object is stored to go back to the server's graph model. */
function hasKeys(graphModel: JsonObject | null): boolean {
  return graphModel !== null && Object.keys(graphModel).length > 0;
}

function defaultsOf({ graphModel, prompt, chunking }: RequestOf<'cognify.SetDatasetConfiguration'>): RunDefaults {
  if (graphModel !== undefined) requireTitle(graphModel);
  if (chunking !== undefined && !STRATEGIES.includes(chunking.strategy)) {
    const text = `There is no chunking ${JSON.stringify(chunking.strategy.slice(0, 50))}; known is ${STRATEGIES.join(', ')}.`;
    throw engramError('InvalidRequestError', text);
  }
  if (chunking?.maxTokens === 0) {
    throw engramError('InvalidChunkSizeError', 'maxTokens must be a positive number of tokens, got 0');
  }
  return {
    graphModel: graphModel ?? null,
    prompt: prompt === undefined || prompt.trim() === '' ? null : prompt,
    chunking: chunking === undefined ? null : { strategy: chunking.strategy, maxTokens: chunking.maxTokens ?? null },
  };
}

function requireTitle({ title }: JsonObject): void {
  if (typeof title === 'string' && title.trim() !== '') return;
  throw engramError('InvalidGraphModelError', "graph_model must be a JSON schema with a 'title'.");
}

export async function requireManagedDataset(
  deps: Pick<Dependencies, 'datasets' | 'managedResources'>,
  { tenant, dataset, crUid }: { readonly tenant: TenantId; readonly dataset: DatasetId; readonly crUid: string },
): Promise<void> {
  if ((await deps.datasets.get({ tenant }, dataset)) === null) {
    throw engramError('DatasetNotFoundError', `Dataset ${dataset} not found.`);
  }
  await requireManaged(deps, { tenant, dataset }, crUid);
}

function hashesOf({
  graphModel,
  prompt,
  chunking,
}: RunDefaults): Omit<AnswerOf<'cognify.SetDatasetConfiguration'>, 'drifted' | 'unused'> {
  return {
    graphModelHash: graphModel === null ? null : hashOf(JSON.stringify(graphModel)),
    promptHash: prompt === null ? null : hashOf(prompt),
    chunkingHash: chunking === null ? null : hashOf(JSON.stringify([chunking.strategy, chunking.maxTokens])),
  };
}

function totalHash(defaults: RunDefaults): string {
  const { graphModelHash, promptHash, chunkingHash } = hashesOf(defaults);
  return hashOf(JSON.stringify([graphModelHash, promptHash, chunkingHash]));
}

/** Whether a committed item was built under another configuration. */
async function hasDrifted(
  { ledger }: Dependencies,
  scope: DatasetScope,
  configuration: DatasetConfiguration | null,
): Promise<boolean> {
  if (configuration === null) return false;
  const { history } = configuration;
  const present = history.at(-1)?.hash;
  // Before the first entry the server's defaults applied, unless older entries were dropped.
  const first = history.length < KEPT ? totalHash(NOTHING) : '';
  const hashAt = (at: string) => history.findLast(({ since }) => since <= at)?.hash ?? first;
  const entries = await ledger.allEntries(scope);
  return [...entries.values()].some(
    ({ generation, erased, committedAt }) =>
      generation > 0 && !erased && committedAt !== null && hashAt(committedAt) !== present,
  );
}

function hashOf(text: string): string {
  return `sha256:${sha256(text)}`;
}

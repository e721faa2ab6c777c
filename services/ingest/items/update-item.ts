import { billOf, payerOf } from '../../common/domain/budget.ts';
import type { DataItem } from '../../common/domain/data-item.ts';
import { RELATIONS } from '../../common/domain/index-rows.ts';
import { isTerminal, type RunState } from '../../common/domain/run.ts';
import type { DataItemId } from '../../common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { type EngramError, engramError, isEngramError } from '../../common/kernel/errors.ts';
import { asId } from '../../common/kernel/ids.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { slices } from '../../common/kernel/slices.ts';
import { awaitRun } from '../../common/platform/jobs/await-run.ts';
import { runErrorOf } from '../../common/platform/jobs/run-error.ts';
import { isPermitted } from '../../common/platform/messaging/is-permitted.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import { builtAmong, visible } from '../../common/records/cognify/ledger.ts';
import { type ChunkChanges, chunkChanges } from '../../common/text/chunking/chunk-changes.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { forgetMarks } from '../repetition/forget-marks.ts';
import { type Input, openInput } from './input-source.ts';
import { createLocalReader } from './local-files.ts';
import { removeFormerContent, replaceContent, updateTargetNotFound } from './replace-content.ts';
import { findItemDataset, targetDataset } from './target-dataset.ts';
import { trackedRun } from './tracked-run.ts';

interface UpdateRequest {
  readonly principal: Principal;
  readonly itemId: DataItemId;
  /** Null: the one dataset of the tenant that has the item. */
  readonly datasetId: string | null;
  readonly inputs: readonly Input[];
  /** Empty: those of the item stay. */
  readonly nodeSets: readonly string[];
  /** False: everything is rebuilt, unchanged parts too. */
  readonly chunkLevelDiff: boolean;
  readonly context: CallContext;
  readonly signal: AbortSignal;
}

interface Rebuild {
  /** Reasons of the wire (ingest.md §2). */
  readonly reason: 'disabled' | 'unsupported_metadata' | 'no_baseline';
  readonly detail: string;
}

export interface UpdateOutcome {
  readonly status: 'incremental' | 'unchanged' | 'full_rebuild' | 'failed';
  readonly itemId: DataItemId;
  readonly dataset: DatasetRef;
  /** Null after a rebuild, and when the run failed. */
  readonly chunks: ChunkChanges | null;
  readonly elapsedSeconds: number;
  /** Null when there was nothing to do. */
  readonly run: RunState | null;
  readonly rebuild: Rebuild | null;
  /** Why the item could not be built. */
  readonly error?: EngramError;
}

/**
 * Replaces the content of one item and builds the graph from it. Until the run has committed the new content, readers see
 * what was built from the old one; when the run fails they go on seeing it, and the next cognify builds the new content.
 * The item keeps its id, owner, label, metadata, graph model, prompt and, unless others are given, its node sets.
 */
export async function updateItem(dependencies: IngestDependencies, request: UpdateRequest): Promise<UpdateOutcome> {
  const { clock, ids, messenger, budgets } = dependencies;
  const startedMs = clock.monotonicMs();
  const elapsedSeconds = () => (clock.monotonicMs() - startedMs) / 1000;
  const { principal, context, signal, nodeSets } = request;
  const { dataset, item } = await findTarget(dependencies, request);
  const source = await openSource(dependencies, request);
  const scope = scopeOf(dataset);
  const before = await itemChunks(dependencies, scope, item.id);
  const rebuild = rebuildOf(request, item, before);
  const answer = { itemId: item.id, dataset, rebuild };
  const isSame = rebuild === null && source.sha256 === item.sha256;
  if (isSame && (await builtAmong(dependencies.ledger, scope, [item])).length > 0) {
    const chunks = chunkChanges(before ?? [], before ?? []);
    return { ...answer, status: 'unchanged', chunks, elapsedSeconds: elapsedSeconds(), run: null };
  }
  // Before the data is taken in: a request that is refused changes nothing.
  await budgets.check(billOf(payerOf(principal), { concurrentRuns: 1 }));
  const chunkSize = (await dependencies.ledger.entries(scope, [item.id])).get(item.id)?.chunkSize ?? null;
  const tracked = { id: ids.uuid(), pipeline: 'add_pipeline', principal, dataset, context };
  const { former } = await trackedRun(messenger, tracked, async () => {
    const replacement = { principal, dataset, item, source, signal, nodeSets: nodeSets.length > 0 ? nodeSets : null };
    return { result: await replaceContent(dependencies, replacement), items: [item.id] };
  });
  const options = { chunkSize, likeItem: item.id };
  const started = await messenger.call(
    'cognify.StartRun',
    { dataset, options, background: false },
    { ...context, principal },
  );
  const run = isTerminal(started.run.status) ? started.run : await awaitRun(messenger, started.run.id, context);
  // Runs that were there before this one may have read the former content until now.
  await removeFormerContent(dependencies, scope, former);
  const error = runErrorOf(run, [item.id]);
  if (error !== null) {
    return { ...answer, status: 'failed', chunks: null, elapsedSeconds: elapsedSeconds(), run, error };
  }
  // What was shown of the former content is not said by the item any more.
  await forgetMarks(dependencies, scope, [item.id]);
  const after = await itemChunks(dependencies, scope, item.id);
  if (after === null) throw updateTargetNotFound(item.id, dataset.id);
  const chunks = rebuild === null ? chunkChanges(before ?? [], after) : null;
  const status = rebuild === null ? 'incremental' : 'full_rebuild';
  return { ...answer, status, chunks, elapsedSeconds: elapsedSeconds(), run };
}

/** Whether there is such an item is told before who may change it (ingest.md §2), to those who may know. */
async function findTarget(dependencies: IngestDependencies, { principal, itemId, datasetId, context }: UpdateRequest) {
  const { items, messenger } = dependencies;
  const places = await items.locate({ tenant: principal.tenant }, itemId);
  const isNamed = ({ dataset }: { readonly dataset: string }) => datasetId === null || dataset === datasetId;
  const named = places.filter(isNamed);
  if (named.length === 0) {
    await requireNoSecret(dependencies, { principal, datasetId, context });
    throw updateTargetNotFound(itemId, datasetId);
  }
  // What goes by an update is deleted, so both are needed.
  const needed = async (permission: 'delete' | 'write'): Promise<DatasetRef> => {
    if (datasetId !== null) return targetDataset(messenger, principal, { id: datasetId }, { permission, context });
    return findItemDataset(dependencies, principal, itemId, { permission, context }).catch((error: unknown) => {
      if (!isEngramError(error) || error.wireName !== 'DataNotFoundError') throw error;
      throw updateTargetNotFound(itemId, null);
    });
  };
  const dataset = await needed('delete');
  await targetDataset(messenger, principal, { id: dataset.id }, { permission: 'write', context });
  const item = named.find((place) => place.dataset === dataset.id)?.item;
  const { withheld } = await dependencies.sourceAccess.asSeen(dataset);
  if (item === undefined || withheld?.has(item.id)) throw updateTargetNotFound(itemId, dataset.id);
  return { dataset, item };
}

/** Who may not read a dataset is refused for an unknown item as for one that is there, by the first permission that is missing. */
async function requireNoSecret(
  { datasets, messenger }: IngestDependencies,
  { principal, datasetId, context }: Pick<UpdateRequest, 'principal' | 'datasetId' | 'context'>,
): Promise<void> {
  if (datasetId === null || (await datasets.get({ tenant: principal.tenant }, asId(datasetId))) === null) return;
  if (await isPermitted(messenger, 'read', datasetId, { ...context, principal })) return;
  for (const permission of ['delete', 'write'] as const) {
    await targetDataset(messenger, principal, { id: datasetId }, { permission, context });
  }
}

async function openSource({ settings, fetcher }: IngestDependencies, { inputs, signal }: UpdateRequest) {
  const options = { fetcher, readLocal: createLocalReader(settings), maxBytes: settings.maxDocumentBytes };
  const [input] = inputs;
  const sources = input === undefined || inputs.length > 1 ? [] : (await openInput(input, options, signal)).sources;
  const [source] = sources;
  if (source === undefined || sources.length > 1) {
    const count = Math.max(inputs.length, sources.length);
    throw engramError('IngestionError', `An update replaces exactly one document; got ${count} of them.`);
  }
  return source;
}

function rebuildOf(
  { chunkLevelDiff, nodeSets }: UpdateRequest,
  { id }: DataItem,
  before: readonly string[] | null,
): Rebuild | null {
  if (!chunkLevelDiff) return { reason: 'disabled', detail: 'chunk_level_diff=false was requested' };
  if (nodeSets.length > 0) {
    return { reason: 'unsupported_metadata', detail: 'other node sets concern every passage of the document' };
  }
  if (before === null) return { reason: 'no_baseline', detail: `document ${id} was not cognified yet` };
  return null;
}

/** A document of the greatest allowed size, cut as finely as allowed, has fewer. */
const MOST_CHUNKS = 1_000_000;
const SLICE = 1000;

/** Ids of the passages that readers see of an item, in the order of the document; null when it is not built. */
async function itemChunks({ graph, ledger }: IngestDependencies, scope: DatasetScope, item: DataItemId) {
  const entry = (await ledger.entries(scope, [item])).get(item);
  if (entry === undefined || entry.erased || entry.generation === 0) return null;
  const committed = new Map([[item, entry.generation]]);
  const edges = await graph.neighbours(scope, [item], {
    relations: [RELATIONS.isPartOf],
    direction: 'in',
    limitPerNode: MOST_CHUNKS,
    withProperties: false,
  });
  const ids = visible(edges, committed).map(({ source }) => source);
  const places = new Map<string, number>();
  for (const slice of slices(ids, SLICE)) {
    const nodes = await graph.nodes(scope, slice);
    for (const { id, properties } of visible(nodes, committed)) places.set(id, Number(properties['chunkIndex']));
  }
  return [...places].sort(([, one], [, other]) => one - other).map(([id]) => id);
}

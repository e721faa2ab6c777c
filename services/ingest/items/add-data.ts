import { type Bill, dataBill } from '../../common/domain/budget.ts';
import { collidingHash, type DataItem, type ItemRevision, itemBlobs, md5Of } from '../../common/domain/data-item.ts';
import type { DataItemId } from '../../common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { type EngramError, engramError } from '../../common/kernel/errors.ts';
import { asId } from '../../common/kernel/ids.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { mapConcurrently } from '../../common/platform/async/map-concurrently.ts';
import { retry } from '../../common/platform/async/retry.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import { DuplicateKeyError, VersionConflictError } from '../../common/storage/ports/document-store.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { removeItems } from '../forgetting/remove-items.ts';
import { type AnnotatedSource, classifySources, recordRepetitions } from './classify-sources.ts';
import { requireDatasetKept } from './dataset-still-there.ts';
import { type Input, openInput, type Source } from './input-source.ts';
import { checkCounts, type ItemAnnotations } from './item-annotations.ts';
import { createLocalReader } from './local-files.ts';
import { inputName, nothingStored, orRefusal, type RefusedInput } from './refused-input.ts';
import { contentFacts, metadataFrom, type StoredContent, storeContent } from './store-content.ts';
import type { AddTarget } from './target-dataset.ts';

/** Each attempt after the first one settles the duplicates that it met. */
const MIN_ATTEMPTS = 20;

/** `create` is called before the first commit; absent: the dataset is there. */
export interface AddRequest extends Partial<AddTarget> {
  readonly principal: Principal;
  readonly dataset: DatasetRef;
  readonly inputs: readonly Input[];
  readonly annotations: ItemAnnotations;
  readonly context: CallContext;
  readonly signal: AbortSignal;
}

interface AddedItem {
  readonly item: DataItem;
  /** `already_completed`: the same bytes were there; nothing changed. */
  readonly status: 'completed' | 'already_completed';
}

export interface AddOutcome {
  /** One per source in the order of the inputs, without those that were refused. */
  readonly added: readonly AddedItem[];
  readonly refused: readonly RefusedInput[];
}

/**
 * Reads, parses and stores the inputs; when it resolves they survive `kill -9`. An input that cannot be read is refused
 * alone. Every other failure, or a budget that the rest would not fit into, fails the request and leaves no item and no
 * blob. Same bytes by the same owner give the existing item, also within one request. Errors: those of `nothingStored`
 * when every input is refused, the annotation errors.
 */
export async function addData(dependencies: IngestDependencies, request: AddRequest): Promise<AddOutcome> {
  checkCounts(request.annotations, request.inputs.length);
  await requireDatasetKept(dependencies, request.dataset);
  const opened = await openInputs(dependencies, request);
  const { sources } = opened;
  if (sources.length === 0 && opened.refused.length > 0) throw nothingStored(opened.refused);
  const classified = await classifySources(dependencies, request, sources);
  await recordRepetitions(dependencies, request.dataset, classified);
  const fresh = uniqueByContent(classified.flatMap((one) => (one.kind === 'fresh' ? [one.fresh] : [])));
  await dependencies.budgets.check(
    storageBill(
      request,
      fresh.map(({ source }) => source),
    ),
  );
  const stored = await storeItems(dependencies, request, fresh);
  const answered = new Set<string>();
  const added: AddedItem[] = [];
  const refused = [...opened.refused];
  for (const one of classified) {
    if (one.kind !== 'fresh') {
      added.push({ item: one.item, status: 'already_completed' });
      continue;
    }
    const { index, source } = one.fresh;
    const item = stored.items.get(source.sha256);
    const refusal = stored.refusals.get(source.sha256);
    if (item !== undefined) {
      added.push({ item, status: answered.has(source.sha256) ? 'already_completed' : 'completed' });
      answered.add(source.sha256);
    } else if (refusal !== undefined) refused.push({ index, name: one.given.fileName, error: refusal });
    else throw new Error('an input was neither known nor stored');
  }
  if (added.length === 0 && refused.length > 0) throw nothingStored(refused);
  return { added, refused: refused.toSorted((a, b) => a.index - b.index) };
}

async function openInputs(dependencies: IngestDependencies, request: AddRequest) {
  const { settings, fetcher } = dependencies;
  const maxBytes = settings.maxDocumentBytes;
  const options = { fetcher, readLocal: createLocalReader(settings), maxBytes, unpacksArchives: true };
  const opened = await mapConcurrently(request.inputs, settings.parseConcurrency, (input) =>
    orRefusal(() => openInput(input, options, request.signal)),
  );
  const refused = opened.flatMap((outcome, index): RefusedInput[] =>
    'refusal' in outcome
      ? [{ index, name: inputName(request.inputs[index]), error: outcome.refusal }]
      : outcome.value.unread.map((one) => ({ index, ...one })),
  );
  const sources = opened.flatMap((outcome, index) => {
    if ('refusal' in outcome) return [];
    const { labels, externalMetadata } = request.annotations;
    const own = externalMetadata[index] ?? null;
    return outcome.value.sources.map((source) => ({
      index,
      source,
      label: labels[index] ?? null,
      externalMetadata: outcome.value.isWhole ? own : withoutPlace(own),
    }));
  });
  return { sources, refused };
}

/** The place of an archive or folder is not that of the files in it. */
function withoutPlace(metadata: JsonObject | null): JsonObject | null {
  if (metadata === null) return null;
  const { source_path: _, ...rest } = metadata;
  return rest;
}

function uniqueByContent(sources: readonly AnnotatedSource[]): readonly AnnotatedSource[] {
  return [...new Map(sources.toReversed().map((entry) => [entry.source.sha256, entry])).values()].toReversed();
}

type PlacedSource = AnnotatedSource & ItemRevision;

interface StoredItems {
  /** Both by SHA-256 of the content. */
  readonly items: ReadonlyMap<string, DataItem>;
  readonly refusals: ReadonlyMap<string, EngramError>;
}

async function storeItems(
  dependencies: IngestDependencies,
  request: AddRequest,
  sources: readonly AnnotatedSource[],
): Promise<StoredItems> {
  if (sources.length === 0) {
    await request.create?.();
    return { items: new Map(), refusals: new Map() };
  }
  const { intents, ids, clock, settings } = dependencies;
  // What comes in one request was said at one moment: none of it is newer than the rest.
  const at = clock.now().toISOString();
  const scope = scopeOf(request.dataset);
  const planned = sources.map((plan) => ({ ...plan, ...placeOf(plan.source, ids) }));
  const prefixes = planned.flatMap((place) => itemBlobs.content(place));
  const intent = ids.ordered();
  const declared = intents.declare(scope, intent, prefixes, clock.now().toISOString());
  declared.catch(() => null); // reported to the caller that awaits it; there may be none yet
  try {
    const outcomes = await mapConcurrently(planned, settings.parseConcurrency, (plan) =>
      orRefusal(() => storeBlobs(dependencies, request, { ...plan, declared, at })),
    );
    const items = distinctHashes(outcomes.flatMap((outcome) => ('refusal' in outcome ? [] : [outcome.value])));
    const refusals = new Map(
      outcomes.flatMap((outcome, at) =>
        'refusal' in outcome ? [[planned[at]?.source.sha256 ?? '', outcome.refusal] as const] : [],
      ),
    );
    if (items.length === 0) {
      await declared;
      await removeAbandoned(dependencies, scope, { intent, prefixes });
      return { items: new Map(), refusals };
    }
    await request.create?.();
    const added = await commitItems(dependencies, request, { items, intent });
    await requireDataset(dependencies, request, items);
    return { items: added, refusals };
  } catch (error) {
    await declared;
    // When the store is away, the sweep removes the blobs later.
    await removeAbandoned(dependencies, scope, { intent, prefixes }).catch(() => null);
    throw error;
  }
}

/** Gives contents of one MD5, all but the first, a hash of their own. */
function distinctHashes(items: readonly DataItem[]): readonly DataItem[] {
  const taken = new Set<string>();
  return items.map((item) => {
    const isFirst = !taken.has(item.contentHash);
    taken.add(item.contentHash);
    return isFirst ? item : withCollidingHash(item);
  });
}

function withCollidingHash(item: DataItem): DataItem {
  return { ...item, contentHash: collidingHash({ md5: md5Of(item), sha256: item.sha256 ?? '' }) };
}

/**
 * An id that is given may be another attempt's too, perhaps of one that was killed: each has a place of its own, lest the
 * blobs of one be removed, or overwritten, as those of the other.
 */
function placeOf({ itemId }: Source, ids: IngestDependencies['ids']): ItemRevision {
  return itemId === undefined ? { id: asId<DataItemId>(ids.uuid()) } : { id: itemId, revision: ids.uuid() };
}

/** Who forgets the dataset has looked for items for the last time after it was gone. */
async function requireDataset(dependencies: IngestDependencies, { dataset }: AddRequest, items: readonly DataItem[]) {
  const { datasets, blobs } = dependencies;
  const scope = scopeOf(dataset);
  if ((await datasets.get(scope, dataset.id)) !== null) return;
  const ids = items.map(({ id }) => id);
  await removeItems(dependencies, dataset, ids, () => ({ writes: [], entry: null }));
  await blobs.remove(
    scope,
    items.flatMap((item) => itemBlobs.content(item)),
  );
  throw datasetDeleted();
}

function datasetDeleted(cause?: unknown): Error {
  return engramError('ConflictError', 'The dataset was deleted while data was added to it.', { cause });
}

/** Nothing is removed when the records are committed after all and only the answer was lost. */
async function removeAbandoned(
  { intents, blobs }: IngestDependencies,
  scope: DatasetScope,
  { intent, prefixes }: { readonly intent: string; readonly prefixes: readonly string[] },
): Promise<void> {
  if (!(await intents.abandon(scope, intent))) return;
  for (const prefix of prefixes) await blobs.removeAll(scope, prefix);
  await intents.settle(scope, intent);
}

async function storeBlobs(
  dependencies: IngestDependencies,
  request: AddRequest,
  plan: PlacedSource & { readonly declared: Promise<void>; readonly at: string },
): Promise<DataItem> {
  const content = { scope: scopeOf(request.dataset), item: plan, source: plan.source };
  const parsed = await storeContent(dependencies, { ...content, declared: plan.declared, signal: request.signal });
  return itemOf(plan, request, { parsed, at: plan.at });
}

function itemOf(
  { source, id, revision, label, externalMetadata }: PlacedSource,
  { principal, annotations }: AddRequest,
  facts: {
    readonly parsed: StoredContent;
    readonly at: string;
  },
): DataItem {
  return {
    id,
    ...(revision ? { revision } : {}),
    label,
    ownerId: principal.id,
    ...contentFacts(source, facts.parsed),
    nodeSets: [...new Set([...(source.nodeSets ?? []), ...annotations.nodeSets])],
    externalMetadata: metadataFrom(source, externalMetadata ?? {}),
    importanceWeight: 0.5,
    keyId: principal.key?.id ?? null,
    createdAt: facts.at,
    updatedAt: facts.at,
  };
}

function storageBill({ dataset, principal }: AddRequest, added: readonly { readonly sizeBytes: number }[]): Bill {
  const storageBytes = added.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  return dataBill(dataset, principal.key?.id, { items: added.length, storageBytes });
}

/** An item that another request stored in between is the answer for its content. */
async function commitItems(
  dependencies: IngestDependencies,
  request: AddRequest,
  { items, intent }: { readonly items: readonly DataItem[]; readonly intent: string },
): Promise<Map<string, DataItem>> {
  const { store, items: repository, intents, eventLog, blobs, budgets } = dependencies;
  const scope = scopeOf(request.dataset);
  const answer = new Map<string, DataItem>();
  let remaining = items;
  const commit = async (): Promise<void> => {
    const added = remaining.map(({ id, format, sizeBytes }) => ({
      type: 'item.added',
      subjectId: id,
      data: { format, sizeBytes },
    }));
    const writes = [
      ...repository.insertWrites(remaining),
      ...intents.settleWrites(intent),
      ...eventLog.appendWrites(scope, added),
    ];
    await budgets.charge(storageBill(request, remaining), (charged) => store.commit(scope, [...charged, ...writes]));
  };
  /** Leaves out what is stored by now, and tells other contents of the same MD5 apart. False: it was neither. */
  const resolveDuplicates = async (): Promise<boolean> => {
    const left: DataItem[] = [];
    let isResolved = false;
    for (const item of remaining) {
      const other =
        (await repository.findByContent(scope, request.principal.id, item.contentHash)) ??
        (await repository.get(scope, item.id));
      if (other === null) {
        left.push(item);
        continue;
      }
      isResolved = true;
      if (other.id === item.id || other.sha256 === item.sha256) {
        answer.set(item.sha256 ?? '', other);
        await blobs.remove(scope, itemBlobs.content(item));
      } else left.push(withCollidingHash(item));
    }
    remaining = left;
    return isResolved;
  };
  let canRetry = true;
  await retry(
    () =>
      commit().catch(async (error: unknown) => {
        if (error instanceof VersionConflictError) throw datasetDeleted(error);
        if (error instanceof DuplicateKeyError) canRetry = await resolveDuplicates();
        throw error;
      }),
    {
      isRetryable: (error) => error instanceof DuplicateKeyError && canRetry,
      attempts: Math.max(MIN_ATTEMPTS, items.length + 1),
    },
  );
  for (const item of remaining) answer.set(item.sha256 ?? '', item);
  return answer;
}

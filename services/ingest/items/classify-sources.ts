import { collidingHash, type DataItem } from '../../common/domain/data-item.ts';
import type { DataItemId } from '../../common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { slices } from '../../common/kernel/slices.ts';
import { VersionConflictError, type Write } from '../../common/storage/ports/document-store.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { deleteItemsDurably } from '../forgetting/durable-deletion.ts';
import { impersonateOwner } from '../forgetting/impersonate-owner.ts';
import { freshSources } from '../repetition/fresh-sources.ts';
import type { Source } from './input-source.ts';

export interface AnnotatedSource {
  /** Position of the input that it came from. */
  readonly index: number;
  readonly source: Source;
  readonly label: string | null;
  readonly externalMetadata: JsonObject | null;
}

/** Action for a source. */
type ClassifiedSource =
  /** The same bytes are stored. `isEcho`: its writer was shown all of it before. */
  | { readonly kind: 'known'; readonly source: Source; readonly item: DataItem; readonly isEcho: boolean }
  /** Nothing of it is new: it came out of this memory, or what is left of it is stored. */
  | { readonly kind: 'echo'; readonly item: DataItem }
  /** To be stored, without what came out of this memory. */
  | { readonly kind: 'fresh'; readonly given: Source; readonly fresh: AnnotatedSource };

interface SourcesRequest {
  readonly principal: Principal;
  readonly dataset: DatasetRef;
  readonly signal: AbortSignal;
}

/** In the order of the sources. */
export async function classifySources(
  dependencies: IngestDependencies,
  request: SourcesRequest,
  sources: readonly AnnotatedSource[],
): Promise<readonly ClassifiedSource[]> {
  const given = sources.map(({ source }) => source);
  const readings = await freshSources(dependencies, request, given);
  const trimmed = readings.flatMap((reading) => (reading.kind === 'new' ? [reading.source] : []));
  const known = await findKnown(dependencies, request, [...new Set([...given, ...trimmed])]);
  return sources.map((annotated, at): ClassifiedSource => {
    const { source } = annotated;
    const reading = readings[at];
    const same = known.get(source.sha256);
    if (same !== undefined) return { kind: 'known', source, item: same, isEcho: reading?.kind === 'echo' };
    if (reading?.kind === 'echo') return { kind: 'echo', item: reading.item };
    const left = reading?.source ?? source;
    const item = known.get(left.sha256);
    return item === undefined
      ? { kind: 'fresh', given: source, fresh: { ...annotated, source: left } }
      : { kind: 'echo', item };
  });
}

/** Said again word for word: wanted still, and support for what is there, unless it was only read out of it. */
export async function recordRepetitions(
  dependencies: IngestDependencies,
  dataset: DatasetRef,
  classified: readonly ClassifiedSource[],
): Promise<void> {
  const { items, repetitions, clock } = dependencies;
  const repeated = new Map(
    classified.flatMap((one) => (one.kind === 'known' ? [[one.source.sha256, one] as const] : [])),
  );
  const wanted = [...repeated.values()].filter(({ isEcho }) => !isEcho);
  const at = clock.now().toISOString();
  const scope = scopeOf(dataset);
  await recordAddedAgain(
    dependencies,
    scope,
    wanted.map(({ item }) => items.addedAgainWrite(item.id, at)),
  );
  for (const { item, source } of wanted) {
    if (source.itemId === undefined && !source.isCopy) await repetitions.note(scope, item.id, at);
  }
}

/** Renews the time of items with a limited one. Such an item must not be answered as kept while it is being forgotten. */
async function recordAddedAgain({ store }: IngestDependencies, scope: DatasetScope, writes: readonly Write[]) {
  try {
    for (const slice of slices(writes, 500)) await store.commit(scope, slice);
  } catch (error) {
    if (!(error instanceof VersionConflictError)) throw error;
    const text = `Item ${error.id} holds the same content and is being forgotten; add it again in a moment.`;
    throw engramError('ConflictError', text, { cause: error, retryable: true });
  }
}

async function findKnown(dependencies: IngestDependencies, request: SourcesRequest, sources: readonly Source[]) {
  const { dataset, principal } = request;
  const scope = scopeOf(dataset);
  const hashes = sources.flatMap((source) => [source.md5, collidingHash(source)]);
  const found = await dependencies.items.findByContents(scope, principal.id, hashes);
  const given = new Set(sources.map(({ itemId }) => itemId));
  const gone = await completeDeletions(
    dependencies,
    request,
    found.filter(({ id }) => !given.has(id)),
  );
  const known = new Map<string, DataItem>();
  for (const item of found.filter(({ id }) => !gone.has(id))) {
    if (item.sha256 !== undefined && sources.some(({ sha256 }) => sha256 === item.sha256)) known.set(item.sha256, item);
  }
  return known;
}

/**
 * Completes deletions of these items that are pending, perhaps because a process was killed: nothing is built of such an item
 * ever again, so it must not be answered as kept. The caller needs no permission to delete: the one who began it had it. Returns those that
 * are deleted.
 */
async function completeDeletions(
  dependencies: IngestDependencies,
  { dataset, signal }: SourcesRequest,
  items: readonly DataItem[],
): Promise<ReadonlySet<DataItemId>> {
  if (items.length === 0) return new Set();
  const entries = await dependencies.ledger.entries(
    scopeOf(dataset),
    items.map(({ id }) => id),
  );
  const gone = [...entries].filter(([, { erased }]) => erased).map(([id]) => id);
  const eraser = gone.length === 0 ? null : await impersonateOwner(dependencies, dataset, signal);
  if (eraser !== null) await deleteItemsDurably(dependencies, dataset, gone, eraser);
  return new Set(eraser === null ? [] : gone);
}

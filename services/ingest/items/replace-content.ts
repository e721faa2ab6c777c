import { type Bill, type Charge, homeOf, keyAccount } from '../../common/domain/budget.ts';
import { collidingHash, type DataItem, itemBlobs, md5Of } from '../../common/domain/data-item.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { retry } from '../../common/platform/async/retry.ts';
import { isWriteConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { blobIntentsCollection } from '../../common/records/ingest/blob-intents.ts';
import { dataItemsCollection } from '../../common/records/ingest/data-items.ts';
import { VersionConflictError } from '../../common/storage/ports/document-store.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { requireDatasetKept } from './dataset-still-there.ts';
import type { Source } from './input-source.ts';
import { contentFacts, metadataFrom, type StoredContent, storeContent } from './store-content.ts';

interface Replacement {
  readonly principal: Principal;
  readonly dataset: DatasetRef;
  readonly item: DataItem;
  readonly source: Source;
  /** Null: those of the item stay. */
  readonly nodeSets: readonly string[] | null;
  readonly signal: AbortSignal;
}

interface Replaced {
  readonly item: DataItem;
  /** The former content, which has no owner any more: see `removeFormerContent`. */
  readonly former: FormerContent;
}

interface FormerContent {
  readonly intent: string;
  readonly keys: readonly string[];
}

/**
 * Puts new content in the place of an item's: the new one is stored whole before one commit makes it the item's, charges
 * for it and gives back for the old one. Whatever fails before leaves the item as it was. Errors: those of
 * `storeContent` and of budgets; `ConflictError` when another item holds the same bytes, `UpdateTargetNotFoundError`.
 */
export async function replaceContent(dependencies: IngestDependencies, request: Replacement): Promise<Replaced> {
  const { intents, ids, clock, budgets } = dependencies;
  const scope = scopeOf(request.dataset);
  await requireDatasetKept(dependencies, request.dataset);
  const facts = { sizeBytes: request.source.sizeBytes, keyId: request.principal.key?.id ?? null };
  await budgets.check(differenceBill(request.dataset, request.item, facts));
  const content = { id: request.item.id, revision: ids.uuid() };
  const intent = ids.ordered();
  const declared = intents.declare(scope, intent, itemBlobs.content(content), clock.now().toISOString());
  declared.catch(() => null); // reported to the caller that awaits it
  try {
    const stored = { scope, item: content, source: request.source, declared, signal: request.signal };
    const parsed = await storeContent(dependencies, stored);
    return await commitContent(dependencies, request, { parsed, revision: content.revision, intent });
  } catch (error) {
    await declared;
    // When the store is away, the sweep removes the blobs later.
    await abandonContent(dependencies, scope, { intent, keys: itemBlobs.content(content) }).catch(() => null);
    throw error;
  }
}

/** Nothing is removed when the item was committed after all and only the answer was lost. */
async function abandonContent(dependencies: IngestDependencies, scope: DatasetScope, content: FormerContent) {
  if (await dependencies.intents.abandon(scope, content.intent))
    await removeFormerContent(dependencies, scope, content);
}

/** Once no run can read it any more; what is left by a process that was killed the sweep removes. */
export async function removeFormerContent(
  { blobs, intents }: IngestDependencies,
  scope: DatasetScope,
  { intent, keys }: FormerContent,
): Promise<void> {
  await blobs.remove(scope, keys);
  await intents.settle(scope, intent);
}

/** Reads the item again as long as others replace it in between: the last one wins, and every one is counted. */
async function commitContent(
  dependencies: IngestDependencies,
  request: Replacement,
  { parsed, revision, intent }: { readonly parsed: StoredContent; readonly revision: string; readonly intent: string },
): Promise<Replaced> {
  const { items, intents, eventLog, audit, budgets, clock, ids } = dependencies;
  const { dataset, principal, source } = request;
  const scope = scopeOf(dataset);
  let { contentHash } = contentFacts(source, parsed);
  let present = request.item;
  const replace = async (): Promise<Replaced> => {
    // Of the same MD5 and other bytes: what is built tells by this that it is of the former content.
    if (contentHash === md5Of(present) && present.sha256 !== source.sha256) contentHash = collidingHash(source);
    if (present.isExpiring) throw updateTargetNotFound(present.id, dataset.id);
    const at = clock.now().toISOString();
    const next: DataItem = {
      ...present,
      ...contentFacts(source, parsed),
      contentHash,
      revision,
      updatedAt: at,
      keyId: principal.key?.id ?? null,
      nodeSets: request.nodeSets ?? present.nodeSets,
      externalMetadata: metadataFrom(source, ownMetadata(present)),
    };
    const former = { intent: ids.ordered(), keys: itemBlobs.content(present) };
    const { format, sizeBytes } = next;
    const writes = [
      ...items.replaceWrites(present, next),
      ...intents.settleWrites(intent),
      ...intents.leaveWrites(former.intent, former.keys, at),
      ...eventLog.appendWrites(scope, [{ type: 'item.updated', subjectId: next.id, data: { format, sizeBytes } }]),
    ];
    const entry = { tenant: dataset.tenant, action: 'item.updated', actor: principal.id, subject: dataset.id };
    const details = { items: 1, ids: [next.id] };
    await budgets.charge(differenceBill(dataset, present, next), (charged) =>
      audit.commit(scope, [...charged, ...writes], [{ ...entry, details }]),
    );
    return { item: next, former };
  };
  /** Prepares another attempt, or throws why there can be none. */
  const prepareRetry = async (error: unknown): Promise<void> => {
    if (error instanceof VersionConflictError && error.collection === blobIntentsCollection.name) {
      throw engramError('ConflictError', 'The dataset was deleted while an item of it was updated.', { cause: error });
    }
    if (!isItemConflict(error)) return;
    if (error instanceof VersionConflictError) {
      const changed = await items.get(scope, present.id);
      if (changed === null) throw updateTargetNotFound(present.id, dataset.id);
      present = changed;
      return;
    }
    const other = await items.findByContent(scope, present.ownerId, contentHash);
    if (other === null || other.sha256 === source.sha256) {
      const text = `Item ${other?.id ?? ''} of the dataset holds the same content already.`;
      throw engramError('ConflictError', text, { cause: error });
    }
    contentHash = collidingHash(source);
  };
  return retry(
    () =>
      replace().catch(async (error: unknown) => {
        await prepareRetry(error);
        throw error;
      }),
    { isRetryable: isItemConflict },
  );
}

function isItemConflict(error: unknown): boolean {
  return isWriteConflict(error) && error.collection === dataItemsCollection.name;
}

export function updateTargetNotFound(item: string, dataset: string | null): Error {
  const place = dataset === null ? 'any dataset' : `dataset '${dataset}'`;
  return engramError(
    'UpdateTargetNotFoundError',
    `No document found to update: data_id '${item}' does not exist in ${place}. Use add to create new documents.`,
  );
}

/** Replaces the origin of the old content; what the caller stated stays. */
function ownMetadata({ externalMetadata }: DataItem): DataItem['externalMetadata'] {
  const { _cognee: _derived, ...own } = externalMetadata;
  return own;
}

type Counted = Pick<DataItem, 'sizeBytes' | 'keyId'>;

/** The content counts for the key it came by, so an item may pass from one key to another. */
function differenceBill(dataset: DatasetRef, present: Counted, next: Counted): Bill {
  const difference = next.sizeBytes - present.sizeBytes;
  const home: Charge = { account: homeOf(dataset), demand: { storageBytes: difference } };
  if ((present.keyId ?? null) === (next.keyId ?? null)) {
    const key = next.keyId ? [{ ...home, account: keyAccount(next.keyId) }] : [];
    return { tenant: dataset.tenant, charges: [home, ...key] };
  }
  const charges = [home];
  if (present.keyId) {
    charges.push({ account: keyAccount(present.keyId), demand: { items: -1, storageBytes: -present.sizeBytes } });
  }
  if (next.keyId) charges.push({ account: keyAccount(next.keyId), demand: { items: 1, storageBytes: next.sizeBytes } });
  return { tenant: dataset.tenant, charges };
}

import { scopeOf } from '../../common/kernel/dataset.ts';
import { engramError, isEngramError } from '../../common/kernel/errors.ts';
import { dataItemId } from '../../common/kernel/ids.ts';
import { slices } from '../../common/kernel/slices.ts';
import { mapConcurrently } from '../../common/platform/async/map-concurrently.ts';
import { LeaseLostError } from '../../common/ports/work-queue.ts';
import type { ImportChanges, ImportFailure } from '../../common/records/integrations/connections.ts';
import { type FeedName, type SourceItem, sourceItemId } from '../../common/records/integrations/source-items.ts';
import type { SourceDependencies } from '../dependencies.ts';
import { withDownload } from '../downloads.ts';
import {
  type Audience,
  type ChangePage,
  NOBODY_ELSE,
  type SourceAccess,
  SourceBusyError,
  type SourceDocument,
  SourceRevokedError,
} from '../providers/connector.ts';
import {
  commit,
  countFailure,
  failureOf,
  type ImportAttempt,
  type ImportTally,
  SLICE,
  toRename,
} from './import-attempt.ts';
import { createIdSet, forgetUnused, removeDocuments, removeUnseen } from './remove-documents.ts';

/** The connection was ended while its import was under way. */
export class DisconnectedError extends Error {
  override readonly name = 'DisconnectedError';
}

/** Documents that are fetched and stored at the same time. */
const CONCURRENT = 4;
/** Stored documents after which a run builds what has come so far. */
const BUILD_EVERY = 500;

/** Reads a feed from where it was left, and stores its changes page by page, each with the cursor behind it. */
export async function importFeed(dependencies: SourceDependencies, attempt: ImportAttempt, feed: FeedName) {
  const { connector, access, dataset, tally } = attempt;
  const scope = scopeOf(dataset);
  let { cursor, version } = await dependencies.sourceItems.cursor(scope, feed);
  const seen = createIdSet();
  let stored = 0;
  for await (const page of connector.changesSince(access, feed, cursor)) {
    access.signal.throwIfAborted();
    await attempt.requireStill();
    if (page.total !== undefined) tally.total = Math.max(tally.total ?? 0, page.total);
    for (const { key } of page.present) seen.add(sourceItemId({ ...feed, key }));
    for (const present of slices(page.present, SLICE)) {
      stored += await storeDocuments(dependencies, attempt, feed, present);
      if (stored >= BUILD_EVERY) {
        await startBuild(dependencies, attempt);
        stored = 0;
      }
    }
    const gone = page.gone.map((key) => sourceItemId({ ...feed, key }));
    const renamed = [...(await removeDocuments(dependencies, attempt, gone))];
    if (page.isWhole === true) renamed.push(...(await removeUnseen(dependencies, attempt, feed, { seen })));
    if (page.covers !== undefined) {
      renamed.push(...(await removeUnseen(dependencies, attempt, feed, { seen, keys: page.covers })));
    }
    await storeAgain(dependencies, attempt, renamed);
    tally.changes = counted(tally.changes, page.counted ?? {});
    await commit(dependencies, attempt, [dependencies.sourceItems.cursorWrite(feed, page.cursor, version)]);
    version = (version ?? 0) + 1;
    cursor = page.cursor;
  }
}

function counted(changes: ImportChanges, more: Readonly<Record<string, number>>): ImportChanges {
  const sums = Object.entries(more).map(([name, count]) => [name, (changes.counted[name] ?? 0) + count] as const);
  return { ...changes, counted: { ...changes.counted, ...Object.fromEntries(sums) } };
}

type Present = ChangePage['present'][number];

/** Fetches a document again that is stored; one that is not is left to its feed, which says whether it is wanted. */
export async function refreshDocument(
  dependencies: SourceDependencies,
  attempt: ImportAttempt,
  feed: FeedName,
  key: string,
): Promise<void> {
  const known = await dependencies.sourceItems.getMany(scopeOf(attempt.dataset), [sourceItemId({ ...feed, key })]);
  if (known.length > 0) await storeDocuments(dependencies, attempt, feed, [{ key, version: null }]);
}

/** Returns how many were stored anew. */
async function storeDocuments(
  dependencies: SourceDependencies,
  attempt: ImportAttempt,
  feed: FeedName,
  present: readonly Present[],
): Promise<number> {
  const { sourceItems, ids } = dependencies;
  const scope = scopeOf(attempt.dataset);
  const idOf = ({ key }: Present) => sourceItemId({ ...feed, key });
  const known = new Map((await sourceItems.getMany(scope, present.map(idOf))).map((item) => [item.id, item]));
  const { tally } = attempt;
  const changed = present.filter((one) => {
    const version = known.get(idOf(one))?.version ?? null;
    return one.version === null || version === null || version !== one.version;
  });
  const same = present.length - changed.length;
  tally.done += same;
  tally.counts = { ...tally.counts, scanned: tally.counts.scanned + same };
  tally.changes = { ...tally.changes, unchanged: tally.changes.unchanged + same };
  if (changed.length === 0) return 0;
  // The ids are noted before there are items of them: an item that is made before a crash is found again.
  const fresh = changed
    .filter((one) => !known.has(idOf(one)))
    .map((one): SourceItem => {
      const { connectionId, resource, feed: name } = feed;
      const place = { id: idOf(one), connectionId, resource, feed: name, key: one.key };
      return { ...place, itemId: dataItemId(ids.uuid()), version: null, fileName: null, skipped: null };
    });
  // Who sees a document is noted before its content is stored.
  const { permissions } = attempt;
  const keys = changed.map(({ key }) => key);
  const seenBy = await permissions?.of(feed, keys);
  const noted = await permissions?.writes(fresh, ({ key }) => seenBy?.get(key) ?? null);
  for (const item of fresh) known.set(item.id, item);
  if (fresh.length > 0) await commit(dependencies, attempt, [...fresh.map(sourceItems.insertWrite), ...(noted ?? [])]);
  const left = await separateShared(
    dependencies,
    attempt,
    changed.map((one) => ({ id: idOf(one), version: one.version })),
    known,
  );
  await closeChanged(dependencies, attempt, {
    documents: changed.flatMap((one) => known.get(idOf(one)) ?? []),
    seenBy,
  });
  const outcomes = await mapConcurrently(changed, CONCURRENT, async (one) => {
    const item = known.get(idOf(one));
    if (item === undefined) throw new Error('a document was noted before it is fetched');
    const outcome = await storeDocument(dependencies, attempt, item, one.version);
    tally.done += 1;
    return { item, ...outcome };
  });
  const gone = outcomes.filter(({ kind }) => kind === 'gone').map(({ item }) => item.id);
  await removeDocuments(dependencies, attempt, gone);
  const writes = outcomes.flatMap(({ item, set }) =>
    set === undefined ? [] : [sourceItems.changeWrite(item.id, set)],
  );
  const stored = outcomes.filter(({ kind }) => kind === 'stored');
  // Of a document that was stored before, and now has the same bytes as another one.
  const moved = stored.filter(({ item, set }) => item.fileName !== null && set?.itemId !== item.itemId);
  countOutcomes(tally, outcomes);
  const there = outcomes.filter(({ kind }) => kind !== 'gone');
  const placed = there.map(({ item, set }) => ({ ...item, itemId: set?.itemId ?? item.itemId }));
  const opened = await permissions?.writes(placed, ({ key }) => seenBy?.get(key) ?? null);
  await commit(dependencies, attempt, [...writes, ...(opened ?? [])], stored.length > 0 ? { buildDue: true } : {});
  const shared = moved.map(({ item }) => item.itemId);
  await storeAgain(dependencies, attempt, [...left, ...(await forgetUnused(dependencies, attempt, shared))]);
  return stored.length;
}

/** Stores documents under their own names that shared an item with one that had its name from another. */
async function storeAgain(dependencies: SourceDependencies, attempt: ImportAttempt, documents: readonly SourceItem[]) {
  const known = await dependencies.sourceItems.getMany(
    scopeOf(attempt.dataset),
    documents.map(({ id }) => id),
  );
  for (const { connectionId, resource, feed, key, version, renamedVersion = null } of known) {
    const present = [{ key, version: version ?? renamedVersion }];
    await storeDocuments(dependencies, attempt, { connectionId, resource, feed }, present);
  }
}

/** Documents that change together with who sees them are seen by nobody else until their new content is stored. */
async function closeChanged(
  dependencies: SourceDependencies,
  attempt: ImportAttempt,
  {
    documents,
    seenBy,
  }: { readonly documents: readonly SourceItem[]; readonly seenBy: ReadonlyMap<string, Audience | null> | undefined },
): Promise<void> {
  const { permissions } = attempt;
  if (permissions === null || seenBy === undefined) return;
  const moved = await permissions.changed(documents, ({ key }) => seenBy.get(key) ?? null);
  const writes = await permissions.writes(moved, () => NOBODY_ELSE);
  if (writes.length > 0) await commit(dependencies, attempt, writes);
}

/**
 * A document that changes leaves an item that others share: it gets an id of its own, noted before there is an item of it. Returns
 * the others.
 */
async function separateShared(
  dependencies: SourceDependencies,
  attempt: ImportAttempt,
  changed: readonly Pick<SourceItem, 'id' | 'version'>[],
  known: Map<string, SourceItem>,
): Promise<readonly SourceItem[]> {
  const { sourceItems, ids } = dependencies;
  const others: SourceItem[] = [];
  for (const { id, version } of changed) {
    const item = known.get(id);
    if (item === undefined || item.fileName === null) continue;
    // It is stored again for its name alone.
    if (item.version === null && (version === null || version === item.renamedVersion)) continue;
    const sharing = await sourceItems.ofItem(scopeOf(attempt.dataset), item.itemId, 2);
    const other = sharing.find((one) => one.id !== id);
    if (other === undefined) continue;
    const own = { itemId: dataItemId(ids.uuid()), fileName: null };
    // The item may have the name of the one that leaves it: another one is stored again, under its own.
    const renamed = sourceItems.changeWrite(other.id, toRename(other));
    const left = [sourceItems.changeWrite(item.id, own), dependencies.sourceAccess.moveWrite(item.id, own.itemId)];
    await commit(dependencies, attempt, [...left, renamed], { again: true });
    known.set(item.id, { ...item, ...own });
    others.push(other);
  }
  return others;
}

function countOutcomes(tally: ImportTally, outcomes: readonly (StoredOutcome & { readonly item: SourceItem })[]): void {
  const { counts, changes } = tally;
  const of = (kind: StoredOutcome['kind']) => outcomes.filter((one) => one.kind === kind);
  const stored = of('stored');
  const updated = stored.filter(({ item }) => item.fileName !== null).length;
  tally.changes = {
    ...changes,
    added: changes.added + stored.length - updated,
    updated: changes.updated + updated,
    unchanged: changes.unchanged + of('unchanged').length,
  };
  tally.counts = {
    ...counts,
    scanned: counts.scanned + outcomes.length,
    skipped: counts.skipped + of('skipped').length,
  };
  for (const { failure } of outcomes) if (failure !== undefined) countFailure(tally, failure);
}

interface StoredOutcome {
  readonly kind: 'stored' | 'unchanged' | 'skipped' | 'failed' | 'gone';
  /** Present when it failed. */
  readonly failure?: ImportFailure;
  readonly set?: Partial<SourceItem>;
}

async function storeDocument(
  dependencies: SourceDependencies,
  attempt: ImportAttempt,
  item: SourceItem,
  version: string | null,
): Promise<StoredOutcome> {
  const { connector, access, tally } = attempt;
  const { resource, feed, key } = item;
  let isFetched = false;
  try {
    const document = await connector.fetch(access, { resource, feed, key, version, stored: item.version });
    if (document === null) return { kind: 'gone' };
    if (document === 'unchanged') return { kind: 'unchanged' };
    isFetched = true;
    const { fileName } = document;
    const taken = await takeDocument(dependencies, attempt, item, document);
    const set = { itemId: taken.itemId, version: document.version, renamedVersion: null, fileName, skipped: null };
    return { kind: taken.changed ? 'stored' : 'unchanged', set };
  } catch (error) {
    if (isOfTheImport(error, access)) throw error;
    const message = error instanceof Error ? error.message : String(error);
    // It is not fetched again until it changes: it cannot be read, or is no text.
    const isUnsupported = isEngramError(error) && error.wireName === 'UnsupportedFileTypeError';
    if (isUnsupported) return { kind: 'skipped', set: { version, skipped: message } };
    tally.error ??= `${key}: ${message}`;
    dependencies.logger.warn('import.document.failed', { connectionId: item.connectionId, resource, key, error });
    return { kind: 'failed', failure: isFetched ? 'failed_ingestion' : failureOf(error), set: { skipped: message } };
  }
}

/** Whether the whole import is concerned, not the document alone. */
export function isOfTheImport(error: unknown, { signal }: Pick<SourceAccess, 'signal'>): boolean {
  if (signal.aborted || error instanceof SourceBusyError || error instanceof SourceRevokedError) return true;
  if (error instanceof LeaseLostError || error instanceof DisconnectedError) return true;
  return isEngramError(error) && OF_THE_IMPORT.has(error.wireName);
}

/** The permission or the budget of the user is at an end, or a part of this service is away. */
const OF_THE_IMPORT: ReadonlySet<string> = new Set([
  ...['PermissionDeniedError', 'LLMPaymentRequiredError', 'TooManyRequestsError'],
  ...['ServiceUnavailableError', 'DeadlineExceededError'],
]);

/** Stores the content beside the blobs of the dataset, and has ingest make or replace an item of it. */
async function takeDocument(
  dependencies: SourceDependencies,
  { dataset, context, access }: ImportAttempt,
  item: SourceItem,
  { fileName, mimeType, content, uri }: SourceDocument,
): Promise<{ readonly itemId: SourceItem['itemId']; readonly changed: boolean }> {
  const { messenger, settings, ids } = dependencies;
  if (content instanceof Uint8Array && content.byteLength > settings.maxDocumentBytes) {
    throw engramError('PayloadTooLargeError', `it is larger than ${settings.maxDocumentBytes} bytes`);
  }
  const { signal } = access;
  return withDownload(dependencies, { dataset, content, signal }, async ({ key, sizeBytes, md5, sha256 }) => {
    let itemId = item.itemId;
    for (;;) {
      const request = { dataset, blobKey: key, fileName, mimeType, sizeBytes, md5, sha256, itemId, sourceUri: uri };
      const taken = await messenger.call('ingest.TakeDownload', request, context);
      if (!taken.forgotten) return { itemId: dataItemId(taken.itemId), changed: taken.changed };
      itemId = dataItemId(ids.uuid());
    }
  });
}

/** Starts a run in the background over what was stored. */
export async function startBuild(dependencies: SourceDependencies, attempt: ImportAttempt): Promise<void> {
  const { dataset, context } = attempt;
  await dependencies.messenger.call('cognify.StartRun', { dataset, options: {}, background: true }, context);
  await commit(dependencies, attempt, [], { buildDue: false });
}

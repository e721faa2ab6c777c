import { isCanaryDataset } from '../../common/domain/canary.ts';
import { itemBlobs } from '../../common/domain/data-item.ts';
import type { QaEntry, Session } from '../../common/domain/session.ts';
import type { DataItemId } from '../../common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { isLimited, type Principal } from '../../common/kernel/principal.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { type CallContext, callerOf } from '../../common/platform/messaging/messenger.ts';
import type { AuditEntry } from '../../common/ports/audit-log.ts';
import { eraseCollections } from '../../common/records/base/erase-collections.ts';
import { visible } from '../../common/records/cognify/ledger.ts';
import { forgottenCollections } from '../collections.ts';
import type { IngestDependencies } from '../dependencies.ts';
import type { ForgettingCounts } from '../model.ts';
import { forgetMarks } from '../repetition/forget-marks.ts';
import { eraseSnapshots } from '../snapshots/remove-snapshots.ts';
import { removeAllItems, removeItems } from './remove-items.ts';

/**
 * Deletes items at every owner, which erases and counts what is left; anything left is an error, so a success means
 * that all is gone. They become invisible first (cognify's tombstones), and are erased then; repeating is harmless.
 */
export async function forgetItems(
  dependencies: IngestDependencies,
  dataset: DatasetRef,
  ids: readonly DataItemId[],
  context: CallContext,
  counts: ForgettingCounts = UNCOUNTED,
): Promise<void> {
  const { items, blobs, eventLog, messenger } = dependencies;
  const scope = scopeOf(dataset);
  // While the graph still has the items that answers were made from.
  await forgetAnswers(dependencies, dataset, ids);
  const built = await messenger.call('cognify.Erase', { dataset, items: ids, memoryOnly: false }, context);
  countKinds(counts, built.removed);
  const learned = await messenger.call('improve.Erase', { dataset, items: ids }, context);
  counts.removed('learned', learned.removed);
  const searched = await messenger.call('search.EraseAnswers', { dataset, items: ids }, context);
  counts.removed('searches', searched.removed);
  await removeItems(dependencies, dataset, ids, (present) => {
    const removed = present.map(({ id }) => id);
    counts.removed('items', removed.length);
    const events = ids.map((id) => ({ type: 'item.forgotten', subjectId: id, data: {} }));
    return {
      writes: eventLog.appendWrites(scope, events),
      entry: removed.length === 0 ? null : removal(dataset, 'item.removed', removed, context),
    };
  });
  await forgetMarks(dependencies, scope, ids);
  let left = built.residue + learned.residue + (await items.getMany(scope, ids)).length;
  for (const id of ids) {
    counts.removed('blobs', await blobs.removeAll(scope, itemBlobs.prefix(id)));
    left += (await blobs.list(scope, { prefix: itemBlobs.prefix(id), limit: 1 })).length;
  }
  counts.left(left);
  requireNothingLeft(left);
}

function countKinds(counts: ForgettingCounts, removed: Readonly<Record<string, unknown>>): void {
  for (const [kind, count] of Object.entries(removed)) counts.removed(kind, Number(count));
}

const UNCOUNTED: ForgettingCounts = { removed: () => {}, left: () => {} };

export async function forgetDataset(
  dependencies: IngestDependencies,
  dataset: DatasetRef,
  context: CallContext,
  counts: ForgettingCounts = UNCOUNTED,
): Promise<void> {
  const { store, items, intents, blobs, audit, messenger, sessionRemoval } = dependencies;
  const scope = scopeOf(dataset);
  await forgetSnapshots(dependencies, dataset, counts);
  const built = await messenger.call('cognify.Erase', { dataset, memoryOnly: false }, context);
  countKinds(counts, built.removed);
  const searched = await messenger.call('search.Erase', { dataset }, context);
  counts.removed('searches', searched.removed);
  const learned = await messenger.call('improve.Erase', { dataset }, context);
  counts.removed('learned', learned.removed);
  await intents.abandonAll(scope);
  const present = await items.count(scope);
  // Recorded before: many items are removed in parts.
  if (present > 0 && !isCanaryDataset(dataset)) await audit.record(removal(dataset, 'item.removed', present, context));
  await removeAllItems(dependencies, dataset);
  counts.removed('items', present);
  counts.removed('blobs', await blobs.removeAll(scope));
  const { left: owned, removed } = await eraseCollections(store, scope, forgottenCollections);
  counts.removed('records', removed);
  const builtSince = await eraseBuiltSince(dependencies, dataset, context);
  const left = owned + (await items.count(scope)) + (await blobs.list(scope, { limit: 1 })).length;
  const sessions = await sessionRemoval.ofDataset(scope, dataset.id);
  // Once more: an improve that began after the first time may have learned from what was left.
  const learnedSince = await messenger.call('improve.Erase', { dataset }, context);
  counts.removed('learned', learnedSince.removed);
  const residue =
    built.residue + builtSince + searched.residue + learned.residue + learnedSince.residue + left + sessions;
  counts.left(residue);
  requireNothingLeft(residue);
  await messenger.call('auth.RemoveDataset', { dataset }, context);
  await removeLate(dependencies, dataset);
}

/**
 * Erases what a run has built meanwhile of items that had never been built, and so had no tombstone. Returns the
 * residue.
 */
async function eraseBuiltSince({ ledger, messenger }: IngestDependencies, dataset: DatasetRef, context: CallContext) {
  const entries = await ledger.allEntries(scopeOf(dataset));
  if (![...entries.values()].some(({ erased }) => !erased)) return 0;
  return (await messenger.call('cognify.Erase', { dataset, memoryOnly: false }, context)).residue;
}

/** Removes the snapshots that users took, which show what is deleted. Those of a resource stay. */
async function forgetSnapshots(
  { snapshotIndex }: IngestDependencies,
  { tenant: tenantId, id: datasetId }: DatasetRef,
  counts: ForgettingCounts,
): Promise<void> {
  await eraseSnapshots(snapshotIndex, { tenantId, datasetId, keepSnapshots: true }, counts);
}

/**
 * Removes what was written during the deletion: nothing refers to the dataset any more. `addData` checks after its
 * commit that the dataset exists, so either this or that request removes late items.
 */
export async function removeLate(dependencies: IngestDependencies, dataset: DatasetRef): Promise<void> {
  const { store, intents, blobs, sessionRemoval } = dependencies;
  const scope = scopeOf(dataset);
  await forgetSnapshots(dependencies, dataset, UNCOUNTED);
  await intents.abandonAll(scope);
  await removeAllItems(dependencies, dataset);
  await blobs.removeAll(scope);
  await sessionRemoval.ofDataset(scope, dataset.id);
  await eraseCollections(store, scope, forgottenCollections);
}

/**
 * Removes the sessions of the principal in its tenant; those of others stay. Does nothing for a limited API key, which
 * reaches datasets and not its user; the sessions of its datasets are removed with them.
 */
export async function forgetOwnSessions({ sessionRemoval }: IngestDependencies, principal: Principal): Promise<void> {
  if (isLimited(principal)) return;
  const { id, tenant } = principal;
  requireNothingLeft(await sessionRemoval.ofUser({ tenant }, id));
}

/** Deletes what was built and keeps the items, which can be cognified again. Returns the number of reset items. */
export async function forgetMemory(
  { audit, messenger, sessionRemoval }: IngestDependencies,
  dataset: DatasetRef,
  ids: readonly DataItemId[] | null,
  context: CallContext,
  counts: ForgettingCounts = UNCOUNTED,
): Promise<number> {
  const selection = ids === null ? {} : { items: ids };
  const { removed, residue, itemsReset } = await messenger.call(
    'cognify.Erase',
    { dataset, ...selection, memoryOnly: true },
    context,
  );
  // Sessions about the dataset, and what was learned from them, are memory of it too.
  const sessions = ids === null ? await sessionRemoval.ofDataset(scopeOf(dataset), dataset.id) : 0;
  const learned = await messenger.call('improve.Erase', { dataset, ...selection }, context);
  countKinds(counts, removed);
  counts.removed('learned', learned.removed);
  counts.left(residue + sessions + learned.residue);
  requireNothingLeft(residue + sessions + learned.residue);
  await audit.record(removal(dataset, 'memory.removed', ids ?? itemsReset, context));
  return itemsReset;
}

/** Maximum number of ids in an audit record. */
const MAX_RECORDED_IDS = 50;

function removal(
  { id, tenant }: DatasetRef,
  action: string,
  removed: readonly DataItemId[] | number,
  context: CallContext,
): AuditEntry {
  const items = typeof removed === 'number' ? removed : removed.length;
  const ids = typeof removed === 'number' ? [] : removed.slice(0, MAX_RECORDED_IDS);
  const details = { items, ...(ids.length === 0 ? {} : { ids }) };
  return { tenant, action, actor: callerOf(context).id, subject: id, details };
}

function requireNothingLeft(residue: number): void {
  if (residue > 0)
    throw engramError('CogneeSystemError', `${residue} records are left after the deletion; repeat it`, {
      retryable: true,
    });
}

/** Answers may be megabytes: pages begin small, and grow while what was read was small. */
const FIRST_PAGE = 10;
const GROWTH = 4;
const GREATEST_PAGE = 500;
const CHARACTERS_OF_PAGE = 8_000_000;
const EVERYTHING = { from: null, before: null };

/**
 * Removes the text of answers that were made from these items alone, in all sessions of the dataset: a deleted text
 * must not survive in answers. Their counts stay. To be called while the graph still has the items; repeating is
 * harmless. Returns the number of answers.
 */
export async function forgetAnswers(
  dependencies: IngestDependencies,
  dataset: DatasetRef,
  items: readonly DataItemId[],
): Promise<number> {
  const isDoomed = await doomedNodes(dependencies, scopeOf(dataset), new Set(items));
  const scope = { tenant: dataset.tenant };
  const viewer = { users: [], datasets: [dataset.id] };
  let forgotten = 0;
  for await (const sessions of dependencies.visibleSessions.pages(scope, viewer, EVERYTHING)) {
    for (const session of sessions) {
      for await (const answers of pagesOf(dependencies, session, scope)) {
        const doomed = await isDoomed(answers);
        if (doomed.length > 0) forgotten += await dependencies.sessionEntries.forget(scope, session, doomed);
      }
    }
  }
  return forgotten;
}

async function* pagesOf(
  { sessionEntries }: IngestDependencies,
  session: Session,
  scope: Parameters<typeof sessionEntries.qasAfter>[0],
): AsyncGenerator<readonly QaEntry[]> {
  let length = FIRST_PAGE;
  for (let after = session.expired.qas; ; ) {
    const page = await sessionEntries.qasAfter(scope, session, after, length);
    if (page.length > 0) yield page;
    const last = page.at(-1);
    if (page.length < length || last === undefined) return;
    after = last.number;
    const mean = page.reduce((size, turn) => size + sizeOf(turn), 0) / page.length;
    const fitting = Math.floor(CHARACTERS_OF_PAGE / Math.max(1, mean));
    length = Math.max(1, Math.min(GREATEST_PAGE, GROWTH * length, fitting));
  }
}

function sizeOf({ question, context, answer }: QaEntry): number {
  return question.length + context.length + answer.length;
}

/** Returns the ids of the answers that used a node which comes from the items alone. */
async function doomedNodes(
  { graph, ledger }: IngestDependencies,
  scope: DatasetScope,
  items: ReadonlySet<string>,
): Promise<(answers: readonly QaEntry[]) => Promise<readonly string[]>> {
  const committed = await ledger.allCommitted(scope);
  return async (answers) => {
    const used = new Set(answers.flatMap(({ usedGraphElements }) => usedGraphElements?.nodeIds ?? []));
    if (used.size === 0) return [];
    const evidence = visible(await graph.nodes(scope, [...used]), committed);
    const byNode = Map.groupBy(evidence, ({ id }) => id);
    const doomed = new Set(
      [...byNode].filter(([, rows]) => rows.every(({ item }) => items.has(item))).map(([id]) => id),
    );
    return answers
      .filter(({ usedGraphElements }) => usedGraphElements?.nodeIds?.some((id) => doomed.has(id)))
      .map(({ id }) => id);
  };
}

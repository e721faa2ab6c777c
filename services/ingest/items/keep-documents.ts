import type { DataItemId, DatasetId } from '../../common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { dataItemId, uuid5 } from '../../common/kernel/ids.ts';
import type { AnswerOf, KeptDocument, RequestOf } from '../../common/platform/messaging/messages.ts';
import { type CallContext, callerOf } from '../../common/platform/messaging/messenger.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { addData } from './add-data.ts';
import { trackedRun } from './tracked-run.ts';

/** How clients tell what improve wrote from what they added. */
const MADE_BY_IMPROVE = { _cognee: { made_by: 'improve' } };

/**
 * Texts of improve as items of the dataset. A key that was ever kept is passed over, so that a repetition adds nothing and
 * what was forgotten does not come back. Errors: those of `addData`; what was kept before one stays.
 */
export async function keepDocuments(
  dependencies: IngestDependencies,
  { dataset, documents }: RequestOf<'ingest.KeepDocuments'>,
  context: CallContext,
): Promise<AnswerOf<'ingest.KeepDocuments'>> {
  const { items, ledger, messenger, ids } = dependencies;
  const scope = scopeOf(dataset);
  const itemIds = documents.map(({ key }) => keptItemId(dataset.id, key));
  const [present, entries] = await Promise.all([items.getMany(scope, itemIds), ledger.entries(scope, itemIds)]);
  const known = new Set(present.map(({ id }) => id));
  const isMissing = (id: DataItemId) => !known.has(id) && entries.get(id)?.erased !== true;
  if (!itemIds.some(isMissing)) return { itemIds, added: 0 };
  // What the sessions of a user taught may repeat what a source shows to that user alone.
  if (dataset.reader !== undefined) {
    const { sourceAccess, store } = dependencies;
    const seenBy = { account: callerOf(context).id, version: ids.uuid() };
    await store.commit(scope, await sourceAccess.ownWrites(scope, itemIds.filter(isMissing), seenBy));
  }
  const run = { id: ids.uuid(), pipeline: 'add_pipeline', principal: callerOf(context), dataset, context };
  return trackedRun(messenger, run, async () => {
    const kept: DataItemId[] = [];
    let added = 0;
    for (const [index, document] of documents.entries()) {
      const id = itemIds[index] as DataItemId;
      const outcome = isMissing(id) ? await keep(dependencies, { dataset, id, document }, context) : null;
      if (outcome?.status === 'completed') added += 1;
      kept.push(outcome?.item.id ?? id);
    }
    return { result: { itemIds: kept, added }, items: kept };
  });
}

async function keep(
  dependencies: IngestDependencies,
  { dataset, id, document }: { readonly dataset: DatasetRef; readonly id: DataItemId; readonly document: KeptDocument },
  context: CallContext,
) {
  const { name: fileName, text, nodeSets, externalMetadata } = document;
  const {
    added: [outcome],
  } = await addData(dependencies, {
    principal: callerOf(context),
    dataset,
    context,
    inputs: [{ kind: 'document', id, fileName, text }],
    annotations: { labels: [], nodeSets, externalMetadata: [{ ...externalMetadata, ...MADE_BY_IMPROVE }] },
    signal: context.signal ?? new AbortController().signal,
  });
  return outcome;
}

function keptItemId(dataset: DatasetId, key: string): DataItemId {
  return dataItemId(uuid5(dataset, `improve:${key}`));
}

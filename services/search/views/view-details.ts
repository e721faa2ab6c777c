import type { DataItem } from '../../common/domain/data-item.ts';
import type { UserId } from '../../common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { slices } from '../../common/kernel/slices.ts';
import type { CallContext, Messenger } from '../../common/platform/messaging/messenger.ts';
import type { Users } from '../../common/records/auth/users.ts';
import { findAll } from '../../common/records/base/find-all.ts';
import {
  type ContextNode,
  contextLeavesCollection,
  contextNodesCollection,
} from '../../common/records/improve/context-summaries.ts';
import { elementWeightsCollection } from '../../common/records/improve/element-weights.ts';
import type { DocumentStore } from '../../common/storage/ports/document-store.ts';
import type { GraphView } from './view-graph.ts';

/** Facts about the nodes of a view that are not in its graph. */
export interface ViewDetails {
  /** By id of the item. */
  readonly sources: ReadonlyMap<string, NodeSource>;
  /** Weights of the nodes and edges that were rated. */
  readonly weights: ReadonlyMap<string, number>;
  /** The tree of summaries that improve built; empty without one. */
  readonly buckets: ReadonlyMap<string, ContextNode>;
  /** Buckets of the passages' summaries. */
  readonly bucketOf: ReadonlyMap<string, string>;
}

interface NodeSource {
  /** Address of the account that added the item; null: deleted. */
  readonly user: string | null;
  readonly contentHash: string;
}

export interface DetailDependencies {
  readonly store: DocumentStore;
  readonly messenger: Messenger;
  readonly users: Pick<Users, 'getMany'>;
}

/** Items of one message. */
const ITEMS = 500;

/** Reads who added what the nodes of the view come from, how they were rated, and the tree of summaries. */
export async function readDetails(
  { store, messenger, users }: DetailDependencies,
  dataset: DatasetRef,
  { nodes }: Pick<GraphView, 'nodes'>,
  context: CallContext,
): Promise<ViewDetails> {
  const scope = scopeOf(dataset);
  const ids = [...new Set(nodes.flatMap(({ evidence }) => evidence.map(({ item }) => item)))];
  const items: DataItem[] = [];
  for (const slice of slices(ids, ITEMS)) {
    const request = { dataset, ids: slice, limit: ITEMS };
    items.push(...(await messenger.call('ingest.DatasetItems', request, context)).items);
  }
  const owners = [...new Set(items.map(({ ownerId }) => ownerId))];
  const [accounts, weights, buckets] = await Promise.all([
    users.getMany(owners),
    findAll(store, scope, elementWeightsCollection),
    // Summaries of areas are made of all items: of a dataset that is seen in part they are left out.
    scope.withheld === undefined ? findAll(store, scope, contextNodesCollection) : [],
  ]);
  const leaves = buckets.length === 0 ? [] : await findAll(store, scope, contextLeavesCollection);
  const emails = new Map<UserId, string>(accounts.map(({ id, email }) => [id, email]));
  return {
    sources: new Map(
      items.map(({ id, ownerId, contentHash }) => [id, { user: emails.get(ownerId) ?? null, contentHash }]),
    ),
    weights: new Map(weights.map(({ id, value }) => [id, value.weight])),
    buckets: new Map(buckets.map(({ id, value }) => [id, value])),
    bucketOf: new Map(leaves.map(({ id, value }) => [id, value.bucket])),
  };
}

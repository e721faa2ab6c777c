import { idFor } from '../../../common/kernel/ids.ts';
import type { DatasetScope } from '../../../common/kernel/scope.ts';
import type { ContextNode } from '../../../common/records/improve/context-summaries.ts';
import { type ContextDrafts, stateOf } from './drafts.ts';

/** Children of one node (cognify-improve.md §3.14). */
export const MAX_CHILDREN = 4;
/** Buckets with room that an entity leads to; the oldest give way. */
const MAX_BUCKETS_PER_ENTITY = 32;

/** An id that its first children give, and that stays when others join. */
export async function newNodeId(
  { nodes }: Pick<ContextDrafts, 'nodes'>,
  scope: DatasetScope,
  level: number,
  children: readonly string[],
): Promise<string> {
  const founders = children.toSorted().join(',');
  for (let attempt = 0; ; attempt++) {
    // A bucket whose founder left and came back has the id already.
    const id = idFor(
      'GlobalContextSummary',
      `${scope.dataset}:${level}:${founders}${attempt === 0 ? '' : `#${attempt}`}`,
    );
    await nodes.load([id]);
    if (nodes.get(id) === undefined) return id;
  }
}

export function newNode(level: number, children: readonly string[], more: Partial<ContextNode> = {}): ContextNode {
  return {
    level,
    isRoot: false,
    parent: null,
    children: children.toSorted(),
    isOpen: children.length < MAX_CHILDREN,
    isMisc: false,
    isStale: true,
    entities: [],
    text: '',
    vector: '',
    childMean: '',
    ...more,
  };
}

/** How much entities tell, by how few of the leaves they are in. */
export function informationOf(drafts: ContextDrafts): (entity: string) => number {
  const { leaves } = stateOf(drafts);
  return (entity) => {
    const count = drafts.entities.get(entity)?.count ?? 0;
    return count <= 0 ? 0 : Math.log(Math.max(1, leaves / count));
  };
}

/** Information of what both hold, as a share of what either holds; 0 when neither tells anything. */
export function similarity(
  left: ReadonlySet<string>,
  right: ReadonlySet<string>,
  information: (entity: string) => number,
): number {
  let shared = 0;
  let all = 0;
  for (const entity of left) {
    all += information(entity);
    if (right.has(entity)) shared += information(entity);
  }
  for (const entity of right) if (!left.has(entity)) all += information(entity);
  return all === 0 ? 0 : shared / all;
}

export function sumOf(entities: Iterable<string>, information: (entity: string) => number): number {
  let sum = 0;
  for (const entity of entities) sum += information(entity);
  return sum;
}

/** Keeps the entities' lists of buckets with room as the bucket is, after it was `before`. */
export async function listBucket(
  { entities, nodes }: ContextDrafts,
  id: string,
  before: ContextNode | undefined,
): Promise<void> {
  const after = nodes.get(id);
  const listed = after?.isOpen === true && !after.isMisc ? after.entities : [];
  await entities.load([...(before?.entities ?? []), ...listed]);
  const isListed = new Set(listed);
  for (const entity of before?.entities ?? []) {
    const known = entities.get(entity);
    if (isListed.has(entity) || known === undefined || !known.buckets.includes(id)) continue;
    entities.set(entity, { ...known, buckets: known.buckets.filter((bucket) => bucket !== id) });
  }
  for (const entity of listed) {
    const known = entities.get(entity) ?? { count: 0, buckets: [] };
    if (known.buckets.includes(id)) continue;
    entities.set(entity, { ...known, buckets: [...known.buckets, id].slice(-MAX_BUCKETS_PER_ENTITY) });
  }
}

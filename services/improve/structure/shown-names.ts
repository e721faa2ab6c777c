import { mergeNodes } from '../../common/domain/graph/merge.ts';
import { createShownGraph } from '../../common/domain/graph/shown.ts';
import { NODE_TYPES } from '../../common/domain/index-rows.ts';
import type { DataItemId } from '../../common/kernel/brand.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { type Ledger, visible } from '../../common/records/cognify/ledger.ts';
import type { DatasetReaders } from '../../common/storage/ports/dataset-indexes.ts';

export interface ShownName {
  readonly name: string;
  /** Of the entity, by the majority of the texts; null when none says. */
  readonly type: string | null;
}

/** Names of the entities among the ids that views of the graph show, as all texts together have them. */
export type ShownNames = (ids: readonly string[]) => Promise<ReadonlyMap<string, ShownName>>;

/** Entities that are remembered; then it begins anew. */
const MAX_KNOWN = 50_000;

/** For one run: an entity that many texts name is looked up once. */
export function createShownNames(
  { indexes, ledger }: { readonly indexes: Pick<DatasetReaders, 'graph'>; readonly ledger: Pick<Ledger, 'committed'> },
  scope: DatasetScope,
): ShownNames {
  const known = new Map<string, ShownName | null>();
  const committed = new Map<DataItemId, number>();
  const asked = new Set<DataItemId>();
  const look = async (ids: readonly string[]): Promise<void> => {
    const rows = await indexes.graph.nodes(scope, ids);
    const unknown = [...new Set(rows.map(({ item }) => item))].filter((item) => !asked.has(item));
    for (const [item, generation] of await ledger.committed(scope, unknown)) committed.set(item, generation);
    for (const item of unknown) asked.add(item);
    const shown = createShownGraph();
    for (const id of ids) known.set(id, null);
    for (const node of mergeNodes(visible(rows, committed))) {
      if (node.type !== NODE_TYPES.entity || !shown.shows(node)) continue;
      const type = node.properties['entityType'];
      known.set(node.id, { name: node.name, type: typeof type === 'string' ? type : null });
    }
  };
  return async (ids) => {
    if (known.size > MAX_KNOWN) known.clear();
    const distinct = [...new Set(ids)];
    const missing = distinct.filter((id) => !known.has(id));
    if (missing.length > 0) await look(missing);
    const found = new Map<string, ShownName>();
    for (const id of distinct) {
      const name = known.get(id);
      if (name) found.set(id, name);
    }
    return found;
  };
}

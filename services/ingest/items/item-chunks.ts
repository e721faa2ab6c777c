import { RELATIONS } from '../../common/domain/index-rows.ts';
import type { DataItemId } from '../../common/kernel/brand.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { slices } from '../../common/kernel/slices.ts';
import { visible } from '../../common/records/cognify/ledger.ts';
import type { IngestDependencies } from '../dependencies.ts';

/** A document of the greatest allowed size, cut as finely as allowed, has fewer. */
const MOST_CHUNKS = 1_000_000;
const SLICE = 1000;

/** Ids of the passages that readers see of an item, in the order of the document; null when it is not built. */
export async function itemChunks(
  { graph, ledger }: Pick<IngestDependencies, 'graph' | 'ledger'>,
  scope: DatasetScope,
  item: DataItemId,
): Promise<readonly string[] | null> {
  const entry = (await ledger.entries(scope, [item])).get(item);
  if (entry === undefined || entry.erased || entry.generation === 0) return null;
  const committed = new Map([[item, entry.generation]]);
  const edges = await graph.neighbours(scope, [item], {
    ...{ relations: [RELATIONS.isPartOf], direction: 'in', limitPerNode: MOST_CHUNKS, withProperties: false },
  });
  const ids = visible(edges, committed).map(({ source }) => source);
  const places = new Map<string, number>();
  for (const slice of slices(ids, SLICE)) {
    const nodes = await graph.nodes(scope, slice);
    for (const { id, properties } of visible(nodes, committed)) places.set(id, Number(properties['chunkIndex']));
  }
  return [...places].sort(([, one], [, other]) => one - other).map(([id]) => id);
}

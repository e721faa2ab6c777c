import { hash } from 'node:crypto';
import { RELATIONS, type SummaryPayload } from '../../../common/domain/index-rows.ts';
import type { DatasetScope } from '../../../common/kernel/scope.ts';
import type { DatasetReaders } from '../../../common/storage/ports/dataset-indexes.ts';
import type { Provenance } from '../../../common/storage/ports/index-entry.ts';
import type { TextRow } from '../../../common/storage/ports/text-index.ts';

/** A passage's summary, as the tree takes it. */
export interface FreshLeaf {
  readonly id: string;
  readonly item: string;
  /** Most mentioned first. */
  readonly entities: readonly string[];
  readonly print: string;
}

const PAGE = 100;
/** Of one passage; the rarely mentioned rest tells little about what it belongs to. */
const MAX_ENTITIES = 12;
const EDGES_PER_CHUNK = 64;

/** The summaries of one generation of an item, with the entities of their passages. */
export async function freshLeaves(
  { text, graph }: Pick<DatasetReaders, 'text' | 'graph'>,
  scope: DatasetScope,
  provenance: Provenance,
): Promise<readonly FreshLeaf[]> {
  const leaves: FreshLeaf[] = [];
  let after: number | undefined;
  for (;;) {
    const query = { kind: 'summary' as const, provenance, limit: PAGE, ...(after === undefined ? {} : { after }) };
    const rows: readonly TextRow[] = await text.list(scope, query);
    leaves.push(...(await withEntities(graph, scope, provenance, rows)));
    if (rows.length < PAGE) return leaves;
    after = rows.at(-1)?.ordinal;
  }
}

async function withEntities(
  graph: DatasetReaders['graph'],
  scope: DatasetScope,
  { item, generation }: Provenance,
  rows: readonly TextRow[],
): Promise<readonly FreshLeaf[]> {
  if (rows.length === 0) return [];
  const summaries = rows.map(({ id, payload }) => ({ id, ...(payload as SummaryPayload) }));
  const edges = await graph.neighbours(
    scope,
    summaries.map(({ chunkId }) => chunkId),
    { relations: [RELATIONS.contains], direction: 'out', limitPerNode: EDGES_PER_CHUNK, withProperties: false },
  );
  const own = edges.filter((edge) => edge.item === item && edge.generation === generation);
  return summaries
    .filter(({ text }) => text.trim() !== '')
    .map(({ id, chunkId, text }) => {
      const entities = own
        .filter(({ source }) => source === chunkId)
        .sort((left, right) => right.weight - left.weight || (left.target < right.target ? -1 : 1))
        .map(({ target }) => target);
      return { id, item, entities: [...new Set(entities)].slice(0, MAX_ENTITIES), print: hash('sha256', text) };
    });
}

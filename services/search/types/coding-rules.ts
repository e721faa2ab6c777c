import { RELATIONS } from '../../common/domain/index-rows.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { nodeSetId } from '../../common/kernel/ids.ts';
import { slices } from '../../common/kernel/slices.ts';
import type { TextRow } from '../../common/storage/ports/text-index.ts';
import { MAX_TOP_K, type SearchRequest, type TextsOutcome } from '../model.ts';
import { currentRows } from '../retrieval/superseded-statements.ts';
import { createVisibility } from '../retrieval/visibility.ts';
import type { TypeDependencies } from './target.ts';

const RULES_SET = 'coding_agent_rules';

/**
 * Returns the texts of the node sets that the request names, or of the rules of coding agents, in reading order. The query and
 * `top_k` do not matter (search-recall.md §3.15).
 */
export async function codingRules(
  deps: TypeDependencies,
  request: SearchRequest,
  dataset: DatasetRef,
): Promise<TextsOutcome> {
  const scope = scopeOf(dataset);
  const { indexes, ledger } = deps;
  const visibility = createVisibility(ledger, scope);
  const sets = [...new Set(request.nodeSets ?? [RULES_SET])].map(nodeSetId);
  const edges = await visibility.filter(
    await indexes.graph.neighbours(scope, sets, {
      relations: [RELATIONS.belongsToSet],
      direction: 'in',
      limitPerNode: MAX_TOP_K,
    }),
  );
  const rows: TextRow[] = [];
  for (const slice of slices([...new Set(edges.map(({ source }) => source))], 500)) {
    rows.push(...(await visibility.filter(await indexes.text.fetch(scope, 'chunk', slice))));
  }
  const found = rows
    .toSorted((a, b) => orderOf(a).localeCompare(orderOf(b)) || a.ordinal - b.ordinal)
    .map((row, at) => ({ row, distance: null, rank: at + 1 }));
  const current = await currentRows(deps, request, dataset, found);
  const texts = current.map(({ row }) => String(row.payload['text'] ?? '')).filter((text) => text !== '');
  const items = [...new Set(current.map(({ row }) => row.item))];
  return { kind: 'texts', type: 'CODING_RULES', texts, context: texts.join('\n'), items };
}

function orderOf({ payload, item }: TextRow): string {
  return `${payload['createdAt']} ${item}`;
}

import type { DatasetScope } from '../../common/kernel/scope.ts';
import type { ElementWeights } from '../../common/records/improve/element-weights.ts';
import type { ForgottenItems } from './forget-items.ts';
import { type ElementSources, presentElements } from './present-elements.ts';

/** Evidence of an element that is looked at first: mostly the first row tells. */
const FEW_ROWS = 4;

/**
 * Takes what ratings have made of elements that went with the items: an element goes when its last evidence goes. To be
 * done when the items are invisible. Costs a few reads per thousand rated elements.
 */
export async function forgetElements(
  sources: ElementSources & { readonly weights: Pick<ElementWeights, 'rated' | 'forget' | 'of'> },
  scope: DatasetScope,
): Promise<ForgottenItems> {
  const { weights } = sources;
  const gone: string[] = [];
  for await (const rated of weights.rated(scope)) {
    const unseen = await absentAmong(sources, scope, rated, FEW_ROWS);
    gone.push(...(await absentAmong(sources, scope, unseen)));
  }
  if (gone.length === 0) return { removed: 0, residue: 0 };
  const removed = await weights.forget(scope, gone);
  return { removed, residue: (await weights.of(scope, gone)).size };
}

async function absentAmong(
  sources: ElementSources,
  scope: DatasetScope,
  ids: readonly string[],
  rows?: number,
): Promise<readonly string[]> {
  if (ids.length === 0) return [];
  const present = await presentElements(sources, scope, { nodes: ids, edges: ids }, rows);
  return ids.filter((id) => !present.has(id));
}

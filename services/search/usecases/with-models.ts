import type { Principal } from '../../common/kernel/principal.ts';
import type { ConcurrencyLimit } from '../../common/platform/async/concurrency-limit.ts';
import type { SearchDependencies, SearchParts } from '../dependencies.ts';

/**
 * Searches that share one processor end no sooner for being interleaved: each turn of the event loop, which takes one new
 * connection, gets as long as all of them together need, and what they hold meanwhile survives the cheap garbage
 * collections. A model's answer is waited for, not computed: with one, only the retrievals take turns.
 */
export async function withModels(parts: SearchParts, { tenant }: Principal): Promise<SearchDependencies> {
  const { languageModel, missingModelKey } = await parts.models.current(tenant);
  const turn: ConcurrencyLimit = languageModel === null ? parts.turn : (work) => work();
  return { ...parts, languageModel, missingModelKey, turn };
}

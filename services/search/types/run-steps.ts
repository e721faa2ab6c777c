import type { SearchRequest } from '../model.ts';

/** Makes at most `limit` steps, each from the state that the one before returned; null ends them. */
export async function runSteps<State>(
  { context }: Pick<SearchRequest, 'context'>,
  limit: number,
  start: State,
  step: (state: State) => Promise<State | null>,
): Promise<State> {
  let state = start;
  for (let count = 0; count < limit; count += 1) {
    context.signal?.throwIfAborted();
    const next = await step(state);
    if (next === null) break;
    state = next;
  }
  return state;
}

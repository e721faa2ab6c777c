import { once } from '../async/once.ts';

/**
 * A function whose module is loaded with its first call. Loading modules is most of a start, and each request needs few of
 * them: routes and services name their use cases so. `load` imports the module and gives the function.
 */
export function onDemand<Parts extends readonly unknown[], Result>(
  load: () => Promise<(...parts: Parts) => Promise<Result>>,
): (...parts: Parts) => Promise<Result> {
  const loaded = once(load);
  return async (...parts) => (await loaded())(...parts);
}

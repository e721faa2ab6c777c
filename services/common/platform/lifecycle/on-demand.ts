/**
 * A function whose module is loaded with its first call. Loading modules is most of a start, and each request needs few of
 * them: routes and services name their use cases so. `load` imports the module and gives the function.
 */
export function onDemand<Parts extends readonly unknown[], Result>(
  load: () => Promise<(...parts: Parts) => Promise<Result>>,
): (...parts: Parts) => Promise<Result> {
  const loaded = madeOnce(load);
  return async (...parts) => (await loaded())(...parts);
}

/**
 * What is made with its first use, once: for what is made from parts that are loaded on demand. When it could not be made, the
 * next use tries again: a file that cannot be read at one moment can be at the next.
 */
export function madeOnce<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let making: Promise<Value> | undefined;
  return () => {
    making ??= make().catch((error: unknown) => {
      making = undefined;
      throw error;
    });
    return making;
  };
}

/**
 * A function that runs `make` with its first call and gives the same result to all later ones. When it fails, the next call
 * tries again: a file that cannot be read at one moment can be at the next.
 */
export function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}

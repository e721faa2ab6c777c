/** Waits for the work, but no longer than the limit. False when it is not over then; the work itself goes on. */
export async function endsWithin(limitMs: number, work: Promise<unknown>): Promise<boolean> {
  const { promise: isLate, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(resolve, Math.max(limitMs, 0), false);
  try {
    return await Promise.race([work.then(() => true), isLate]);
  } finally {
    clearTimeout(timer);
  }
}

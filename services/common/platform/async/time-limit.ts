/**
 * The outcome of `work`, or what `onTimeout` returns or throws when it takes longer than `limitMs`. The work goes on then;
 * a later rejection of it is ignored.
 */
export async function withTimeout<Value, Late>(
  work: Promise<Value>,
  limitMs: number,
  onTimeout: () => Late,
): Promise<Value | Late> {
  const late = Symbol('late');
  const { promise: timeout, resolve } = Promise.withResolvers<typeof late>();
  const timer = setTimeout(resolve, Math.max(limitMs, 0), late);
  work.catch(() => undefined);
  try {
    const outcome = await Promise.race([work, timeout]);
    return outcome === late ? onTimeout() : (outcome as Value);
  } finally {
    clearTimeout(timer);
  }
}

/** Whether `work` has ended within `limitMs`; it goes on when not. Rejects as the work does. */
export function settlesWithin(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  return withTimeout(
    work.then(() => true),
    limitMs,
    () => false,
  );
}

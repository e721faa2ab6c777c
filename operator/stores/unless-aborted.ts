/**
 * Rejects with the signal's reason when it aborts. For drivers that take no signal: what was sent still happens, and ends by
 * the driver's own time limit; all methods of an administrator may be repeated.
 */
export async function unlessAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  const running = work();
  try {
    return await Promise.race([running, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
    running.catch(() => undefined);
  }
}

/** The driver's errors as the port's, by `translate`. An abort rejects with the signal's reason. */
export async function translatingErrors<T>(
  signal: AbortSignal,
  translate: (error: unknown) => unknown,
  work: () => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  try {
    return await work();
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw translate(error);
  }
}

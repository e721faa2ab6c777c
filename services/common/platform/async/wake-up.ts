/** Lets one loop sleep until it is woken, or until a time is over. A wake-up that comes while it works is kept. */
export function createWakeUp() {
  let pending = false;
  let wake = (): void => {};
  return {
    notify() {
      pending = true;
      wake();
    },
    /** Resolves at once when there was news since the last wait. An aborted signal ends the wait, without an error. */
    async wait(timeoutMs: number, signal?: AbortSignal) {
      if (!pending && !signal?.aborted) {
        const { promise, resolve } = Promise.withResolvers<void>();
        const timer = setTimeout(resolve, timeoutMs);
        wake = resolve;
        signal?.addEventListener('abort', wake, { once: true });
        await promise;
        clearTimeout(timer);
        signal?.removeEventListener('abort', wake);
      }
      wake = () => {};
      pending = false;
    },
  };
}

/** Work done at start and then at intervals, once at a time. */
export type Repeating = ReturnType<typeof createRepeating>;

interface RepeatingOptions {
  readonly work: () => Promise<unknown>;
  readonly everyMs: number;
  /** Called with the error of the work; the next time tries again. */
  readonly onError: (error: unknown) => void;
}

export function createRepeating({ work, everyMs, onError }: RepeatingOptions) {
  let working: Promise<unknown> | null = null;
  let timer: NodeJS.Timeout | undefined;
  const once = (): void => {
    working ??= work()
      .catch(onError)
      .finally(() => {
        working = null;
      });
  };
  return {
    start() {
      once();
      timer = setInterval(once, everyMs).unref();
    },
    /** Waits for the current work. */
    async stop() {
      clearInterval(timer);
      await working;
    },
  };
}

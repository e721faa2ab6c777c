/** Work done at start and then at intervals, once at a time. */
export interface Repeating {
  start(): void;
  /** Waits for the current work. */
  stop(): Promise<void>;
}

export interface RepeatingOptions {
  readonly work: () => Promise<unknown>;
  readonly everyMs: number;
  /** Called with the error of the work; the next time tries again. */
  readonly onError: (error: unknown) => void;
}

export function createRepeating({ work, everyMs, onError }: RepeatingOptions): Repeating {
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
    async stop() {
      clearInterval(timer);
      await working;
    },
  };
}

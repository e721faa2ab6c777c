interface DyingProcess {
  /** The port as the process has it: every call counts, whichever port it is of. */
  dying<Port extends object>(port: Port): Port;
  readonly isDead: () => boolean;
}

/** A process that dies at its nth call of a port: before the call takes effect, or after, its answer lost. */
export function dyingProcess(dieAt: number, mode: 'before' | 'after'): DyingProcess {
  let calls = 0;
  return {
    dying: (port) =>
      new Proxy(port, {
        get(target, name, receiver) {
          const value: unknown = Reflect.get(target, name, receiver);
          if (typeof value !== 'function') return value;
          return async (...parameters: unknown[]) => {
            calls += 1;
            if (calls > dieAt || (calls === dieAt && mode === 'before')) throw new Error('killed');
            const result: unknown = await value.apply(target, parameters);
            if (calls >= dieAt) throw new Error('killed');
            return result;
          };
        },
      }),
    isDead: () => calls >= dieAt,
  };
}

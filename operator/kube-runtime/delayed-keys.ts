import type { RuntimeClock } from './runtime-clock.ts';

/** Keys that come later: each once, at the earliest of the times that were asked for. */
export interface DelayedKeys {
  add(key: string, delayMs: number): void;
  cancel(key: string): void;
  clear(): void;
}

/** `onDue` is called when a key's time has come; the key is no longer delayed by then. */
export function createDelayedKeys(clock: RuntimeClock, onDue: (key: string) => void): DelayedKeys {
  const timers = new Map<string, { readonly at: number; readonly cancel: () => void }>();
  const cancel = (key: string): void => {
    timers.get(key)?.cancel();
    timers.delete(key);
  };
  return {
    add(key, delayMs) {
      const at = clock.monotonicMs() + delayMs;
      const held = timers.get(key);
      if (held !== undefined && held.at <= at) return;
      held?.cancel();
      const fire = (): void => {
        timers.delete(key);
        onDue(key);
      };
      timers.set(key, { at, cancel: clock.after(delayMs, fire) });
    },
    cancel,
    clear() {
      for (const key of [...timers.keys()]) cancel(key);
    },
  };
}

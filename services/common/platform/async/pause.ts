import { setTimeout as sleep } from 'node:timers/promises';

/** Waits; rejects with the reason of the signal when that aborts. */
export async function pause(durationMs: number, signal?: AbortSignal): Promise<void> {
  try {
    await sleep(durationMs, undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}

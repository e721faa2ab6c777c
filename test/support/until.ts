import { setTimeout as sleep } from 'node:timers/promises';

/** Far longer than anything here takes on a machine that is slow or stalls: only what never happens takes so long. */
const LIMIT_MS = 15_000;

/** Waits until it is so, however slow the machine is. Throws `what` when it never is. */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  { everyMs = 5, limitMs = LIMIT_MS }: { readonly everyMs?: number; readonly limitMs?: number } = {},
): Promise<void> {
  const end = performance.now() + limitMs;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`not within ${limitMs / 1000} s: ${what}`);
    await sleep(everyMs);
  }
}

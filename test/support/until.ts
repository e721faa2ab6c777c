import { setTimeout as sleep } from 'node:timers/promises';

/** Below mocha's time limit, so that a test that waits in vain says what for. Nothing takes so long on a slow machine. */
const LIMIT_MS = 150_000;

interface UntilOptions {
  /** Default: from 5 ms on, slowly growing to 100. Longer after a slow answer: questions take time from what is awaited. */
  readonly everyMs?: number;
  readonly limitMs?: number;
}

type Truthy<Answer> = Exclude<Answer, false | null | undefined>;

/** Returns the first truthy answer of `ask`, which it calls again and again. Throws with `what` when time is up. */
export async function until<Answer>(
  what: string,
  ask: () => Answer | Promise<Answer>,
  { everyMs, limitMs = LIMIT_MS }: UntilOptions = {},
): Promise<Truthy<Answer>> {
  const end = performance.now() + limitMs;
  let pauseMs = everyMs ?? 5;
  for (;;) {
    const askedAt = performance.now();
    const answer = await ask();
    const answeredAt = performance.now();
    if (answer) return answer as Truthy<Answer>;
    if (answeredAt > end) throw new Error(`not within ${limitMs / 1000} s: ${what}`);
    await sleep(Math.max(pauseMs, Math.min(500, 2 * (answeredAt - askedAt))));
    if (everyMs === undefined) pauseMs = Math.min(100, pauseMs * 1.2);
  }
}

import type { Clock } from '../../common/ports/system.ts';

/** What was marked a while ago, so that a passage is cut into sentences once and not with every answer that shows it. */
export interface ShownBefore {
  has(passage: string): boolean;
  add(passages: readonly string[]): void;
}

/** Far less than marks live, and they are renewed in the second half of their life. */
const REMEMBERED_MS = 3_600_000;
const MAX_PASSAGES = 100_000;

export function createShownBefore(
  clock: Pick<Clock, 'monotonicMs'>,
  { rememberedMs = REMEMBERED_MS, maxPassages = MAX_PASSAGES } = {},
): ShownBefore {
  const until = new Map<string, number>();
  return {
    has: (passage) => (until.get(passage) ?? 0) > clock.monotonicMs(),
    add(passages) {
      const endsAt = clock.monotonicMs() + rememberedMs;
      for (const passage of passages) {
        until.delete(passage);
        if (until.size >= maxPassages) until.delete(until.keys().next().value ?? '');
        until.set(passage, endsAt);
      }
    },
  };
}

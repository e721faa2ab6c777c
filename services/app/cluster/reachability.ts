import type { Logger } from '../../common/ports/logger.ts';

/** Logs of each replica when it stops and when it begins to answer, not every request in between. */
export interface Reachability {
  failed(origin: string, service: string, error: unknown): void;
  answered(origin: string, service: string): void;
}

export function createReachability(logger: Pick<Logger, 'warn' | 'info'>): Reachability {
  const away = new Map<string, { readonly sinceMs: number; requests: number }>();
  return {
    failed(origin, service, error) {
      const known = away.get(origin);
      if (known !== undefined) {
        known.requests += 1;
        return;
      }
      away.set(origin, { sinceMs: performance.now(), requests: 1 });
      logger.warn('router.unreachable', { service, origin, error });
    },
    answered(origin, service) {
      const known = away.get(origin);
      if (known === undefined) return;
      away.delete(origin);
      const awayMs = Math.round(performance.now() - known.sinceMs);
      logger.info('router.reachable', { service, origin, awayMs, refusedRequests: known.requests });
    },
  };
}

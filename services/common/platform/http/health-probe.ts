import { withTimeout } from '../async/time-limit.ts';
import { redactText } from '../observability/redact.ts';

export type ComponentStatus = 'healthy' | 'degraded' | 'unhealthy';

export interface HealthCheck {
  /** Whether the service cannot answer without it; the failure of another one only degrades. */
  readonly critical: boolean;
  check(): Promise<{ readonly status: ComponentStatus; readonly provider: string; readonly details: string }>;
}

/** Checks by the name under which the component is printed: `relational_db`, `vector_db`, … */
export type HealthChecks = Readonly<Record<string, HealthCheck>>;

/** Result of one check. */
export interface Component {
  readonly critical: boolean;
  readonly status: ComponentStatus;
  readonly provider: string;
  readonly responseTimeMs: number;
  readonly details: string;
}

export interface ProbeTimes {
  /** Time limit of a check whose last result is recent: that one is answered instead. */
  readonly timeoutMs: number;
  /** Time limit of any other check; less than callers wait for. */
  readonly unknownMs: number;
  /** Age up to which a result counts as recent; after that a check that does not end is unhealthy. */
  readonly staleMs: number;
  readonly now: () => number;
}

/**
 * Runs a check, one at a time. On a busy machine a check may take its time without anything being wrong: then the result
 * before it is answered, with its age, for as long as that is young.
 */
export function createProbe(check: HealthCheck, times: ProbeTimes): () => Promise<Component> {
  const { timeoutMs, unknownMs, staleMs, now } = times;
  let last: { readonly component: Component; readonly atMs: number } | null = null;
  let running: { readonly ended: Promise<Component>; readonly sinceMs: number } | null = null;

  const begin = (): NonNullable<typeof running> => {
    const sinceMs = now();
    const ended = run(check, () => Math.round(now() - sinceMs)).then((component) => {
      last = { component, atMs: now() };
      if (running === begun) running = null;
      return component;
    });
    const begun = { ended, sinceMs };
    return begun;
  };
  return async () => {
    // A check that never ends is abandoned.
    if (running === null || now() - running.sinceMs > staleMs) running = begin();
    const { ended, sinceMs } = running;
    const isFresh = last !== null && now() - last.atMs <= staleMs;
    const component = await withTimeout(ended, isFresh ? timeoutMs : unknownMs, () => null);
    if (component !== null) return component;
    const responseTimeMs = Math.round(now() - sinceMs);
    const ageMs = last === null ? Number.POSITIVE_INFINITY : now() - last.atMs;
    if (last !== null && ageMs <= staleMs) {
      const details = `${last.component.details} (${Math.round(ageMs / 1000)} s ago, the check goes on)`;
      return { ...last.component, responseTimeMs, details };
    }
    return unhealthy(check, responseTimeMs, `No answer within ${responseTimeMs} ms`);
  };
}

async function run(check: HealthCheck, took: () => number): Promise<Component> {
  try {
    const result = await check.check();
    return { ...result, critical: check.critical, responseTimeMs: took() };
  } catch (error) {
    const details = error instanceof Error ? redactText(error.message).slice(0, 200) : 'The check failed';
    return unhealthy(check, took(), details);
  }
}

function unhealthy({ critical }: HealthCheck, responseTimeMs: number, details: string): Component {
  return { critical, status: 'unhealthy', provider: 'unknown', responseTimeMs, details };
}

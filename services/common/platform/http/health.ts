import {
  type Component,
  type ComponentStatus,
  createProbe,
  type HealthChecks,
  type ProbeTimes,
} from './health-probe.ts';
import type { Reply } from './route.ts';

export type Health = ReturnType<typeof createHealth>;

interface HealthOptions {
  readonly checks: HealthChecks;
  /** Other processes, where this one speaks for the whole: part of both answers, not of its readiness. */
  readonly others?: HealthChecks;
  readonly version: string;
  readonly times?: Partial<ProbeTimes>;
}

const CACHE_MS = 500;
/** Callers over the bus wait for 10 s, probes of the chart for 5. */
const TIMES: ProbeTimes = { timeoutMs: 800, unknownMs: 2_000, staleMs: 10_000, now: () => performance.now() };

/** Creates the answers of auth-integrations.md §1.5. Results are shared for a moment, so that polling costs the stores nothing. */
export function createHealth(options: HealthOptions) {
  const { version } = options;
  const times = { ...TIMES, ...options.times };
  const start = performance.now();
  const probesOf = (checks: HealthChecks) =>
    Object.entries(checks).map(([name, check]) => [name, cached(createProbe(check, times)), check.critical] as const);
  const own = probesOf(options.checks);
  const whole = [...own, ...probesOf(options.others ?? {})];

  async function components(probes: typeof own, criticalOnly: boolean): Promise<Map<string, Component>> {
    const wanted = probes.filter(([, , critical]) => critical || !criticalOnly);
    return new Map(await Promise.all(wanted.map(async ([name, read]) => [name, await read()] as const)));
  }

  return {
    /** Critical components only: fast, no call to a model. */
    async summary(): Promise<Reply> {
      const health = overall(await components(whole, true));
      return health === 'unhealthy'
        ? { status: 503, json: { status: 'not ready', health, version } }
        : { json: { status: 'ready', health, version } };
    },
    /** All components; 503 as soon as one is not healthy. */
    async detailed(): Promise<Reply> {
      const all = await components(whole, false);
      const status = overall(all);
      return {
        status: status === 'healthy' ? 200 : 503,
        json: {
          status,
          timestamp: new Date().toISOString().replace('Z', '+00:00'),
          version,
          uptime: Math.floor((performance.now() - start) / 1000),
          components: Object.fromEntries([...all].map(([name, component]) => [name, wireComponent(component)])),
        },
      };
    },
    /** Whether requests may be sent here; says nothing of other processes. */
    async readiness(isServing: boolean): Promise<Reply> {
      const isReady = isServing && overall(await components(own, true)) !== 'unhealthy';
      return { status: isReady ? 200 : 503, json: { status: isReady ? 'ready' : 'not ready' } };
    },
    /** State of this process, by its critical components. */
    state: async () => overall(await components(own, true)),
  };
}

function overall(components: ReadonlyMap<string, Component>): ComponentStatus {
  const all = [...components.values()];
  if (all.some(({ critical, status }) => critical && status === 'unhealthy')) return 'unhealthy';
  return all.every(({ status }) => status === 'healthy') ? 'healthy' : 'degraded';
}

function wireComponent({ status, provider, responseTimeMs, details }: Component) {
  return { status, provider, response_time_ms: responseTimeMs, details };
}

/** Makes one call at a time and shares its result until that is `CACHE_MS` old. */
function cached<T>(read: () => Promise<T>): () => Promise<T> {
  let last: { readonly at: number; readonly result: Promise<T> } | null = null;
  return () => {
    if (last === null || performance.now() - last.at > CACHE_MS) last = { at: performance.now(), result: read() };
    return last.result;
  };
}

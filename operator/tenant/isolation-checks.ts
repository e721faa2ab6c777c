import type { Registry } from 'prom-client';
import { Counter, Gauge } from 'prom-client';
import type { TenantId } from '../../services/common/kernel/brand.ts';
import { asId } from '../../services/common/kernel/ids.ts';
import type { MonotonicClock } from '../../services/common/ports/system.ts';
import type { Tenant } from '../api/tenant.ts';
import { isDedicated } from './effective-state.ts';

/**
 * Result of a check. `unproven`: there is nothing to compare yet. `alone`: there is no other tenant. `failed`: a service did
 * not answer.
 */
type IsolationResult = 'verified' | 'leaked' | 'unproven' | 'alone' | 'failed';

/** Plans the isolation checks: when each tenant is checked, and with which others. When it is lost, all are checked again. */
export type IsolationChecks = ReturnType<typeof createIsolationChecks>;

interface IsolationChecksOptions {
  readonly clock: MonotonicClock;
  readonly registry: Registry;
  /** Prefix of metrics. */
  readonly prefix: string;
  /** Minimum time between two checks of a tenant. */
  readonly intervalMs: number;
  /** All Tenants in the cache. */
  readonly tenants: () => readonly Tenant[];
}

/** Two per check: every pair is compared in turn, and the cost grows linearly with the number of tenants. */
const OTHERS_AT_ONCE = 2;
/** A canary can be found after a second or two. */
const FIRST_AGAIN_MS = 5_000;

interface Held {
  readonly dueAtMs: number;
  readonly isAlone: boolean;
  readonly fruitless: number;
}

export function createIsolationChecks(options: IsolationChecksOptions) {
  const { clock, intervalMs } = options;
  const metrics = createMetrics(options.registry, options.prefix);
  const held = new Map<string, Held>();
  const turns = new Map<TenantId, number>();
  const dueInMs = (key: string): number => {
    const known = held.get(key);
    if (known === undefined || (known.isAlone && options.tenants().filter(answers).length > 1)) return 0;
    return Math.max(0, known.dueAtMs - clock.monotonicMs());
  };
  return {
    /** Whether a check is due: after the interval, at once when another tenant's check found a leak, sooner after a check without result. */
    isDue: (key: string) => dueInMs(key) === 0,
    /** Milliseconds until a check is due. */
    dueInMs,
    /** Tenants to compare with: those with a known leak, and the next ones in turn. */
    others(tenantId: TenantId, known: readonly TenantId[]): readonly TenantId[] {
      const all = options.tenants().filter(answers).map(idOf).toSorted();
      const at = all.findIndex((id) => id > tenantId);
      // Begins behind the tenant, so that different tenants are compared with different ones.
      const ring = [...all.slice(at < 0 ? all.length : at), ...all.slice(0, at < 0 ? all.length : at)];
      const others = ring.filter((id) => id !== tenantId);
      const turn = turns.get(tenantId) ?? 0;
      turns.set(tenantId, turn + OTHERS_AT_ONCE);
      const next = Array.from(
        { length: Math.min(OTHERS_AT_ONCE, others.length) },
        (_, index) => others[(turn + index) % others.length] as TenantId,
      );
      return [...new Set([...known, ...next])];
    },
    /** Whether the tenant can be compared with. */
    isKnown: (tenantId: TenantId) => options.tenants().some((one) => isComparable(one) && idOf(one) === tenantId),
    /** Makes the check of the other tenant of a leak due at once. */
    suspect(tenantId: TenantId) {
      const tenant = options.tenants().find(({ status }) => status?.tenantId === tenantId);
      if (tenant !== undefined) held.delete(`${tenant.metadata.namespace}/${tenant.metadata.name}`);
    },
    ended(key: string, result: IsolationResult) {
      const isFruitless = result === 'unproven' || result === 'failed';
      const fruitless = isFruitless ? (held.get(key)?.fruitless ?? 0) + 1 : 0;
      const waitMs = isFruitless ? Math.min(intervalMs, FIRST_AGAIN_MS * 2 ** (fruitless - 1)) : intervalMs;
      held.set(key, { dueAtMs: clock.monotonicMs() + waitMs, isAlone: result === 'alone', fruitless });
      metrics.ended(key, result);
    },
    /** Number of checks in a row without a result. */
    fruitless: (key: string) => held.get(key)?.fruitless ?? 0,
    forget(key: string) {
      held.delete(key);
      metrics.forget(key);
    },
  };
}

/** Dedicated tenants share no store with others. */
function isComparable(tenant: Tenant): boolean {
  const { metadata, status } = tenant;
  return metadata.deletionTimestamp === undefined && status?.tenantId !== undefined && !isDedicated(tenant);
}

/** A disabled tenant finds nothing, so it proves nothing. */
function answers(tenant: Tenant): boolean {
  return isComparable(tenant) && tenant.spec.state !== 'Disabled';
}

function idOf({ status }: Tenant): TenantId {
  return asId<TenantId>(status?.tenantId ?? '');
}

function createMetrics(registry: Registry, prefix: string) {
  const registers = [registry];
  const checks = new Counter({
    name: `${prefix}isolation_checks_total`,
    help: 'Checks of the isolation of tenants, by result',
    labelNames: ['result'] as const,
    registers,
  });
  const checkedAt = new Gauge({
    name: `${prefix}isolation_checked_timestamp_seconds`,
    help: 'When the isolation of a tenant was verified or found broken last',
    labelNames: ['ns', 'name'] as const,
    registers,
  });
  const labelsOf = (key: string) => {
    const slash = key.indexOf('/');
    return { ns: key.slice(0, Math.max(slash, 0)), name: key.slice(slash + 1) };
  };
  return {
    ended(key: string, result: IsolationResult) {
      checks.inc({ result });
      if (result === 'verified' || result === 'leaked') checkedAt.setToCurrentTime(labelsOf(key));
    },
    forget: (key: string) => checkedAt.remove(labelsOf(key)),
  };
}

import {
  alertWindow,
  type BudgetAccount,
  type BudgetKind,
  type Counter,
  type Excess,
  standingText,
} from '../../domain/budget.ts';
import type { TenantId } from '../../kernel/brand.ts';
import { ignoreConflict } from '../../platform/async/retry-on-conflict.ts';
import type { BudgetMetrics } from '../../ports/budgets.ts';
import type { EventLog } from '../../ports/event-log.ts';
import type { Logger } from '../../ports/logger.ts';
import type { WallClock } from '../../ports/system.ts';
import { type DocumentStore, update } from '../../storage/ports/document-store.ts';
import type { Posting } from './budget-postings.ts';
import { type UsageDocument, usageCollection } from './usage.ts';

/** The counter that it is about. */
type Place = Pick<Posting, 'id' | 'account' | 'counter' | 'limits'>;

interface BudgetAlertsOptions {
  readonly store: DocumentStore;
  readonly clock: WallClock;
  readonly eventLog: Pick<EventLog, 'appendWrites'>;
  readonly logger: Logger;
  readonly metrics?: BudgetMetrics;
}

type Outcome = 'warned' | 'exceeded';
/** Alerts that this process knows to be sent: a caller that is refused again and again costs no read each time. */
const MAX_KNOWN = 10_000;
const MARKS = { warned: 'warnedOf', exceeded: 'exceededOf' } as const;

export type BudgetAlerts = ReturnType<typeof createBudgetAlerts>;

/** Alerts of limits that are exceeded: an event, a log line and a count. The event once per window, over all processes. */
export function createBudgetAlerts({ store, clock, eventLog, logger, metrics }: BudgetAlertsOptions) {
  const known = new Set<string>();
  const notify = async (tenant: TenantId, place: Place, outcome: Outcome, excess: Excess): Promise<void> => {
    metrics?.budgetPassed(excess.kind, outcome);
    const key = `${place.id} ${outcome} ${excess.kind} ${alertWindow(place.counter, clock.now())}`;
    if (known.has(key)) return;
    try {
      const isFirst = await mark(tenant, place, outcome, excess);
      if (known.size >= MAX_KNOWN) known.clear();
      known.add(key);
      if (isFirst) logger.warn(`budget.${outcome}`, { account: excess.account, text: standingText(excess) });
    } catch (error) {
      // A failed write must not turn a warning into a failure.
      logger.warn('budget.alert.failed', { error, account: excess.account });
    }
  };
  /** Records the alert; false when there was one in this window before. */
  const mark = async (tenant: TenantId, place: Place, outcome: Outcome, excess: Excess): Promise<boolean> => {
    const field = MARKS[outcome];
    const value = `${excess.kind} ${alertWindow(place.counter, clock.now())}`;
    const current = await store.get({ tenant }, usageCollection, place.id);
    const sent = current?.value[field] ?? '';
    if (current === null || sent.split('; ').includes(value)) return false;
    const window = value.slice(value.indexOf(' '));
    const kept = sent.split('; ').filter((each) => each.endsWith(window));
    const set = { [field]: [...kept, value].join('; ') } as Partial<UsageDocument>;
    const where = sent === '' ? { [field]: { exists: false } } : { [field]: sent };
    const { kind, account, limit, used } = excess;
    const type = outcome === 'warned' ? 'budget.warned' : 'budget.exceeded';
    const event = { type, subjectId: subjectOf(account), data: { account, kind, limit, used } } as const;
    return ignoreConflict(
      store.commit({ tenant }, [
        update(usageCollection, place.id, { where, set, required: true }),
        ...eventLog.appendWrites({ tenant }, [event]),
      ]),
    );
  };
  return {
    exceeded: (tenant: TenantId, place: Place, excess: Excess) => notify(tenant, place, 'exceeded', excess),
    /** Warns of the limits with action `Warn` that the counters have exceeded. */
    async warn(tenant: TenantId, places: readonly Place[]): Promise<void> {
      for (const place of places) {
        const current = await store.get({ tenant }, usageCollection, place.id);
        for (const excess of passed(place, current?.value ?? null)) await notify(tenant, place, 'warned', excess);
      }
    },
  };
}

function passed({ account, counter, limits }: Place, current: UsageDocument | null): readonly Excess[] {
  const kinds = [...limits].filter(([, { action }]) => action === 'Warn');
  return kinds.flatMap(([kind, { limit }]) => {
    const used = usedOf(current, kind, counter);
    return used > limit ? [{ kind, account, limit, used, amount: 0 }] : [];
  });
}

function usedOf(current: UsageDocument | null, kind: BudgetKind, counter: Counter): number {
  return current?.counter === counter ? (current[kind] ?? 0) : 0;
}

function subjectOf(account: BudgetAccount): string {
  return account.slice(account.indexOf('/') + 1);
}

import {
  type BudgetAccount,
  type BudgetKind,
  type Counter,
  type Excess,
  standingText,
  tellingWindow,
} from '../../domain/budget.ts';
import type { TenantId } from '../../kernel/brand.ts';
import type { BudgetMetrics } from '../../ports/budgets.ts';
import type { EventLog } from '../../ports/event-log.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Clock } from '../../ports/system.ts';
import { type DocumentStore, update, VersionConflictError } from '../../storage/ports/document-store.ts';
import type { Posting } from './budget-postings.ts';
import { type UsageDocument, usageCollection } from './usage.ts';

/** Which counter it is about. */
type Place = Pick<Posting, 'id' | 'account' | 'counter' | 'limits'>;

export interface BudgetNewsOptions {
  readonly store: DocumentStore;
  readonly clock: Pick<Clock, 'now'>;
  readonly eventLog: Pick<EventLog, 'appendWrites'>;
  readonly logger: Logger;
  readonly metrics?: BudgetMetrics;
}

type Outcome = 'warned' | 'exceeded';
/** What this process knows to be told: who is refused again and again costs no read each time. */
const MAX_KNOWN = 10_000;
const MARKS = { warned: 'warnedOf', exceeded: 'exceededOf' } as const;

export type BudgetNews = ReturnType<typeof createBudgetNews>;

/** Tells of limits that are passed: an event, a log line and a count. The event once per window, over all processes. */
export function createBudgetNews({ store, clock, eventLog, logger, metrics }: BudgetNewsOptions) {
  const known = new Set<string>();
  const tell = async (tenant: TenantId, place: Place, outcome: Outcome, excess: Excess): Promise<void> => {
    metrics?.budgetPassed(excess.kind, outcome);
    const key = `${place.id} ${outcome} ${excess.kind} ${tellingWindow(place.counter, clock.now())}`;
    if (known.has(key)) return;
    try {
      const isFirst = await mark(tenant, place, outcome, excess);
      if (known.size >= MAX_KNOWN) known.clear();
      known.add(key);
      if (isFirst) logger.warn(`budget.${outcome}`, { account: excess.account, text: standingText(excess) });
    } catch (error) {
      // Whatever is wrong with writing, it must not turn a warning into a failure.
      logger.warn('budget.untold', { error, account: excess.account });
    }
  };
  /** False when it was told in this window before. */
  const mark = async (tenant: TenantId, place: Place, outcome: Outcome, excess: Excess): Promise<boolean> => {
    const field = MARKS[outcome];
    const value = `${excess.kind} ${tellingWindow(place.counter, clock.now())}`;
    const current = await store.get({ tenant }, usageCollection, place.id);
    const told = current?.value[field] ?? '';
    if (current === null || told.split('; ').includes(value)) return false;
    const window = value.slice(value.indexOf(' '));
    const kept = told.split('; ').filter((each) => each.endsWith(window));
    const set = { [field]: [...kept, value].join('; ') } as Partial<UsageDocument>;
    const where = told === '' ? { [field]: { exists: false } } : { [field]: told };
    const { kind, account, limit, used } = excess;
    try {
      await store.commit({ tenant }, [
        update(usageCollection, place.id, { where, set, required: true }),
        ...eventLog.appendWrites({ tenant }, [
          {
            type: outcome === 'warned' ? 'budget.warned' : 'budget.exceeded',
            subjectId: subjectOf(account),
            data: { account, kind, limit, used },
          },
        ]),
      ]);
      return true;
    } catch (error) {
      if (error instanceof VersionConflictError) return false;
      throw error;
    }
  };
  return {
    exceeded: (tenant: TenantId, place: Place, excess: Excess) => tell(tenant, place, 'exceeded', excess),
    /** Looks which limits with `Warn` of the counters are passed. */
    async warnOf(tenant: TenantId, places: readonly Place[]): Promise<void> {
      for (const place of places) {
        const current = await store.get({ tenant }, usageCollection, place.id);
        for (const excess of passed(place, current?.value ?? null)) await tell(tenant, place, 'warned', excess);
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

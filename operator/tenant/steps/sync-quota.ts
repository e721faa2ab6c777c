import type { BudgetKind, BudgetLimits } from '../../../services/common/domain/budget.ts';
import type { TenantId } from '../../../services/common/kernel/brand.ts';
import { asId } from '../../../services/common/kernel/ids.ts';
import type { AnswerOf } from '../../../services/common/platform/messaging/messages.ts';
import type { TenantQuotas, TenantStatusUsage } from '../../api/tenant.ts';
import { bytesAsQuantity, quantityBytes } from '../../api/values.ts';
import { done, type StepOutcome } from '../../kube-runtime/steps.ts';
import { isNewGeneration, type TenantContext, type TenantDependencies, type TenantStep } from '../model.ts';
import { askService } from '../service-failure.ts';

type Usage = AnswerOf<'auth.Usage'>['usage'];

/** Kinds whose excess is shown; an exceeded rate is over before anybody reads it. */
const SHOWN: readonly BudgetKind[] = ['datasets', 'items', 'storageBytes', 'llmTokensPerDay', 'llmTokensPerMonth'];

/** Names of the fields of `spec.quotas` in messages. */
const FIELDS: Readonly<Record<BudgetKind, string>> = {
  llmTokensPerDay: 'llmTokensPerDay',
  llmTokensPerMonth: 'llmTokensPerMonth',
  storageBytes: 'storage',
  items: 'items',
  datasets: 'datasets',
  requestsPerMinute: 'requestsPerMinute',
  concurrentRuns: 'concurrentRuns',
};

/** Sets the budget of the tenant, and shows its usage. */
export function syncQuota(deps: TenantDependencies): TenantStep {
  return {
    name: 'sync-quota',
    async run(context) {
      const { object, status } = context;
      const tenant = asId<TenantId>(status.tenantId ?? '');
      const { quotas } = object.spec;
      const wasManaged = status.usage?.enforced !== undefined;
      let usage = await askUsage(deps, context, tenant);
      if (quotas !== undefined || wasManaged) {
        const limits = limitsOf(quotas);
        const drifted = quotas === undefined ? [] : notInForce(limits, usage);
        await askService(deps.services, 'auth.SetQuota', { request: { tenant, limits }, signal: context.signal });
        if (drifted.length > 0 || quotas === undefined) usage = await askUsage(deps, context, tenant);
        if (drifted.length > 0 && wasManaged && !isNewGeneration(context)) emitDriftEvent(context, drifted);
      }
      return outcomeOf(quotas, usage);
    },
  };
}

function outcomeOf(quotas: TenantQuotas | undefined, usage: Usage): StepOutcome<{ usage: TenantStatusUsage }> {
  const enforced = quotas === undefined ? undefined : notInForce(limitsOf(quotas), usage).length === 0;
  const status = { usage: usageStatus(usage, enforced) };
  const exceeded = usage.filter(({ kind, used, limit }) => SHOWN.includes(kind) && limit !== null && used > limit);
  if (exceeded.length === 0) return done({ status, removed: ['QuotaExceeded'] });
  const said = exceeded.map(({ kind, used, limit }) => `${FIELDS[kind]} ${used} of ${limit}`).toSorted();
  const [first] = exceeded.map(({ kind }) => FIELDS[kind]).toSorted();
  const message = `The usage exceeds the budget: ${said.join(', ')}; raise the limit in spec.quotas or remove data`;
  const reason = REASONS.get(first ?? '') ?? 'Exceeded';
  return done({ status, conditions: [{ type: 'QuotaExceeded', status: 'True', reason, message }] });
}

const REASONS: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    datasets: 'Datasets',
    items: 'Items',
    storage: 'Storage',
    llmTokensPerDay: 'Tokens',
    llmTokensPerMonth: 'Tokens',
  }),
);

async function askUsage(deps: TenantDependencies, { signal }: TenantContext, tenant: TenantId): Promise<Usage> {
  const { usage } = await askService(deps.services, 'auth.Usage', { request: { tenant }, signal });
  return usage;
}

function limitsOf(quotas: TenantQuotas | undefined): BudgetLimits {
  if (quotas === undefined) return {};
  const { action, storage, ...numbers } = quotas;
  const limits = { ...numbers, ...(storage === undefined ? {} : { storageBytes: quantityBytes(storage) }) };
  return Object.fromEntries(Object.entries(limits).map(([kind, limit]) => [kind, { limit, action }]));
}

/** Kinds whose limits the services do not report as declared, sorted. */
function notInForce(limits: BudgetLimits, usage: Usage): string[] {
  return Object.entries(limits)
    .filter(([kind, wanted]) => {
      const held = usage.find((one) => one.kind === kind);
      return held?.limit !== wanted.limit || held.warnsOnly !== (wanted.action === 'Warn');
    })
    .map(([kind]) => FIELDS[kind as BudgetKind])
    .toSorted();
}

function usageStatus(usage: Usage, enforced: boolean | undefined): TenantStatusUsage {
  const used = (kind: BudgetKind): number => usage.find((one) => one.kind === kind)?.used ?? 0;
  return {
    datasets: used('datasets'),
    items: used('items'),
    storage: bytesAsQuantity(used('storageBytes')),
    llmTokensToday: used('llmTokensPerDay'),
    llmTokensThisMonth: used('llmTokensPerMonth'),
    ...(enforced === undefined ? {} : { enforced }),
  };
}

function emitDriftEvent({ event }: TenantContext, drifted: readonly string[]): void {
  const message = `Limits were changed elsewhere and corrected: ${drifted.join(', ')}`;
  event({ type: 'Warning', reason: 'DriftCorrected', message });
}

const DAY_MS = 86_400_000;

/** Sets the retention of the tenant; the services decide where none is declared. */
export function syncRetention({ services }: TenantDependencies): TenantStep {
  return {
    name: 'sync-retention',
    async run({ object, status, signal }) {
      const { sessionsDays, eventsDays } = object.spec.retention ?? {};
      const request = {
        tenantId: asId<TenantId>(status.tenantId ?? ''),
        crUid: object.metadata.uid ?? '',
        ...(sessionsDays === undefined ? {} : { sessionsMs: sessionsDays * DAY_MS }),
        ...(eventsDays === undefined ? {} : { eventsMs: eventsDays * DAY_MS }),
      };
      await askService(services, 'ingest.SetRetention', { request, signal });
      return done();
    },
  };
}

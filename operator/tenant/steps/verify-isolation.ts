import type { TenantId } from '../../../services/common/kernel/brand.ts';
import { isEngramError } from '../../../services/common/kernel/errors.ts';
import { asId } from '../../../services/common/kernel/ids.ts';
import { nullIf } from '../../../services/common/platform/async/null-if.ts';
import type { AnswerOf, CanaryLeak } from '../../../services/common/platform/messaging/messages.ts';
import type { TenantStatus, TenantStatusLeak } from '../../api/tenant.ts';
import { callService } from '../../installation/services.ts';
import { type ConditionDraft, findCondition } from '../../kube-runtime/conditions.ts';
import { keyOf } from '../../kube-runtime/kube-object.ts';
import { done, type StepOutcome, stalled } from '../../kube-runtime/steps.ts';
import { isDedicated } from '../effective-state.ts';
import type { TenantContext, TenantDependencies, TenantStep } from '../model.ts';

type Outcome = StepOutcome<TenantStatus>;

const TYPE = 'IsolationVerified';
/** Checks in a row without result that are tolerated, because a service may just restart. */
const FRUITLESS_TO_DOUBT = 3;
const MOST_LEAKS = 20;
/** The next reconcile fences the tenant. */
const FENCE_AFTER_MS = 100;

/**
 * Lets the services search for the tenant's canary, in its own memory and from other tenants, when a check is due. A check
 * without result holds up no other step; a leak is Stalled.
 */
export function verifyIsolation(deps: TenantDependencies): TenantStep {
  return {
    name: 'verify-isolation',
    async run(context) {
      const { object, status } = context;
      if (isDedicated(object)) return done({ conditions: [notChecked(OF_ITS_OWN)] });
      const key = keyOf(object.metadata);
      if (!deps.isolation.isDue(key)) return asBefore(deps, context, key);
      const tenantId = asId<TenantId>(status.tenantId ?? '');
      const others = deps.isolation.others(tenantId, leakingWith(status));
      const answer = await ask(deps, context, { tenantId, others });
      if (answer === null) {
        deps.isolation.ended(key, 'failed');
        return doubt(deps, context, 'The canary could not be looked for: see the log of ingest and search');
      }
      if (answer.leaks.length > 0) return leaked(deps, context, { tenantId, answer });
      const open = leakingWith(status).filter((id) => !answer.comparedTenantIds.includes(id) && others.includes(id));
      if (answer.unproven === null && others.length === 0) {
        deps.isolation.ended(key, 'alone');
        return doubt(deps, context, ALONE);
      }
      const why = answer.unproven ?? (answer.comparedTenantIds.length === 0 ? NOBODY_YET : null);
      // A leak is over when both tenants were compared again, and not because one of them did not answer.
      if (why !== null || open.some((id) => isThere(deps, id))) {
        deps.isolation.ended(key, 'unproven');
        return doubt(deps, context, why ?? 'The tenant that it leaked with could not be compared again');
      }
      deps.isolation.ended(key, 'verified');
      return done({ status: { leaks: undefined } as Partial<TenantStatus>, conditions: [VERIFIED] });
    },
  };
}

const OF_ITS_OWN = 'The tenant has services and databases of its own: no other tenant is there to be compared with';

const ALONE = 'The tenant finds its canary, and there is no other tenant to compare with';
const NOBODY_YET = 'The tenant finds its canary, and those of other tenants do not exist yet';

const VERIFIED: ConditionDraft = {
  type: TYPE,
  status: 'True',
  reason: 'Verified',
  message: 'The tenant finds its canary, other tenants do not, and it does not find theirs',
};

function notChecked(message: string): ConditionDraft {
  return { type: TYPE, status: 'Unknown', reason: 'NotChecked', message };
}

/** Null when a service does not answer. */
async function ask(
  { services }: TenantDependencies,
  { object, signal }: TenantContext,
  { tenantId, others }: { readonly tenantId: TenantId; readonly others: readonly TenantId[] },
): Promise<AnswerOf<'ingest.CheckIsolation'> | null> {
  const crUid = object.metadata.uid ?? '';
  const request = { tenantId, crUid, otherTenantIds: others };
  return nullIf(isEngramError, callService(services, 'ingest.CheckIsolation', request, signal));
}

/** Outcome between two checks: the condition stays. */
function asBefore(deps: TenantDependencies, { status }: TenantContext, key: string): Outcome {
  const held = findCondition(status.conditions, TYPE);
  if (held === undefined) return done({ conditions: [notChecked('The canary was not looked for yet')] });
  if (held.status !== 'False')
    return done(deps.isolation.fruitless(key) > 0 ? { requeueAfterMs: deps.isolation.dueInMs(key) } : {});
  return stalled('CanaryLeaked', held.message, { continues: true });
}

/** Outcome of a check without result: a known leak stays, a verified tenant stays so for some checks. */
function doubt(deps: TenantDependencies, context: TenantContext, why: string): Outcome {
  const key = keyOf(context.object.metadata);
  const held = findCondition(context.status.conditions, TYPE);
  if (held?.status === 'False') return asBefore(deps, context, key);
  const fruitless = deps.isolation.fruitless(key);
  const wait = fruitless > 0 ? { requeueAfterMs: deps.isolation.dueInMs(key) } : {};
  const isKept = held?.status === 'True' && fruitless > 0 && fruitless < FRUITLESS_TO_DOUBT;
  return done(isKept ? wait : { ...wait, conditions: [notChecked(why)] });
}

function leaked(
  deps: TenantDependencies,
  { object, status }: TenantContext,
  { tenantId, answer }: { readonly tenantId: TenantId; readonly answer: AnswerOf<'ingest.CheckIsolation'> },
): Outcome {
  const leaks = byTenant(tenantId, answer.leaks);
  deps.isolation.ended(keyOf(object.metadata), 'leaked');
  const isNew = findCondition(status.conditions, TYPE)?.status !== 'False';
  if (isNew) for (const { otherTenantId } of leaks) deps.isolation.suspect(asId<TenantId>(otherTenantId));
  const fences = object.spec.isolationCheck?.onLeak === 'Fence';
  const [first] = leaks;
  const more = leaks.length > 1 ? ` and ${leaks.length - 1} more` : '';
  const advice = fences ? 'the tenant is fenced' : 'set state to Disabled';
  const message = `Memory leaks between this tenant and ${first?.otherTenantId}${more} (status.leaks): ${advice} until the services and their stores are repaired`;
  return stalled('CanaryLeaked', message, {
    status: { leaks },
    conditions: [{ type: TYPE, status: 'False', reason: 'CanaryLeaked', message }],
    continues: true,
    ...(isNew && fences ? { requeueAfterMs: FENCE_AFTER_MS } : {}),
  });
}

/** Groups the leaks by tenant and direction, sorted. */
function byTenant(own: TenantId, leaks: readonly CanaryLeak[]): readonly TenantStatusLeak[] {
  const grouped = Map.groupBy(leaks, ({ tenantId, seenByTenantId }) => `${tenantId} ${seenByTenantId}`);
  return [...grouped.values()]
    .map((some): TenantStatusLeak => {
      const [{ tenantId, seenByTenantId }] = some as [CanaryLeak];
      const isOurs = tenantId === own;
      const ways = [...new Set(some.map(({ way }) => way))].sort().join(', ');
      return { otherTenantId: isOurs ? seenByTenantId : tenantId, direction: isOurs ? 'Out' : 'In', ways };
    })
    .toSorted((one, other) => (keyOfLeak(one) < keyOfLeak(other) ? -1 : 1))
    .slice(0, MOST_LEAKS);
}

function keyOfLeak({ otherTenantId, direction }: TenantStatusLeak): string {
  return `${otherTenantId} ${direction}`;
}

function leakingWith({ leaks = [] }: TenantContext['status']): readonly TenantId[] {
  return [...new Set(leaks.map(({ otherTenantId }) => asId<TenantId>(otherTenantId)))];
}

/** Whether the other tenant still exists. */
function isThere({ isolation }: TenantDependencies, id: TenantId): boolean {
  return isolation.isKnown(id);
}

/** Ends the checks of a tenant that is being deleted. */
export function forgetIsolation({ isolation }: TenantDependencies): TenantStep {
  return {
    name: 'forget-isolation',
    async run({ object }) {
      isolation.forget(keyOf(object.metadata));
      return done();
    },
  };
}

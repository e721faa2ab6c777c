import { ROTATE_STORES_AT } from '../api/names.ts';
import type { TenantStatus } from '../api/tenant.ts';
import { durationMs } from '../api/values.ts';
import { type ConditionDraft, toSeconds } from '../kube-runtime/conditions.ts';
import { done, type StepOutcome } from '../kube-runtime/steps.ts';
import { isDedicated } from '../tenant/effective-state.ts';
import type { TenantContext, TenantStep } from '../tenant/model.ts';
import { findKeys, type InstallationKeys } from './keys.ts';
import type { DedicatedDependencies } from './model.ts';
import { haveAllPodsChanged } from './readiness.ts';
import { END_OF_ROTATION, rotationOf } from './store-logins.ts';

type Outcome = StepOutcome<Pick<TenantStatus, 'secrets' | 'lastHandledRotateStoresAt'>>;

const AGAIN_MS = 2000;

/**
 * Rotates the logins of a Dedicated tenant's services at its stores. First writes new logins beside the former ones to the
 * Secret; `install` makes both valid and rolls the pods. Removes the former ones when no pod has them any more. The Secret
 * holds the whole state, so a restart continues. Runs after `install`, which has applied the Secret.
 */
export function rotateStoreLogins(deps: DedicatedDependencies): TenantStep {
  return {
    name: 'rotate-store-logins',
    async run(context): Promise<Outcome> {
      const { object, now } = context;
      const keys = isDedicated(object) ? await findKeys(deps, context) : null;
      if (keys === null) return done();
      const { withLogins, without } = driversOf(deps);
      if (withLogins.length === 0) return done({ conditions: [NONE_TO_ROTATE] });
      const all = withLogins.join(', ');
      if (keys.logins.isRotating) {
        if (!(await haveAllPodsChanged(deps.client, object, context.signal))) return rotating(context, keys, all);
        await keys.write(() => END_OF_ROTATION);
        context.event({ type: 'Normal', reason: 'StoreLoginsRevoked', message: `The former logins at ${all} end` });
        return rotating(context, keys, all);
      }
      if (isDue(context, keys)) {
        await keys.write((secret) => rotationOf(secret, askedBy(context), now));
        context.event({ type: 'Normal', reason: 'StoreLoginsRotated', message: `New logins at ${all} are made` });
        return rotating(context, keys, all);
      }
      const others = without.length === 0 ? '' : `; none to rotate at ${without.join(', ')}`;
      const conditions = [logins('Issued', `The tenant has logins of its own at ${all}${others}`)];
      const status = statusOf(context, keys);
      const dueAt = dueTime(context, keys);
      const again = dueAt === undefined ? {} : { requeueAfterMs: Math.max(1000, dueAt - now.getTime()) };
      return done({ conditions, status: { ...status, lastHandledRotateStoresAt: askedBy(context) }, ...again });
    },
  };
}

function rotating(context: TenantContext, keys: InstallationKeys, all: string): Outcome {
  const message = `New and former logins at ${all} are valid until every pod has the new ones`;
  const conditions = [logins('Rotating', message)];
  return done({ conditions, status: statusOf(context, keys), requeueAfterMs: AGAIN_MS });
}

/** Sorted names of the stores with users of the tenant's own, and of those without. */
function driversOf({ dedicated }: DedicatedDependencies) {
  const { stores } = dedicated.options;
  const all = (stores.available ? stores.administrators : []).toSorted((one, other) =>
    one.driver < other.driver ? -1 : 1,
  );
  return {
    withLogins: all.filter(({ makesUsers }) => makesUsers).map(({ driver }) => driver),
    without: all.filter(({ makesUsers }) => !makesUsers).map(({ driver }) => driver),
  };
}

function isDue(context: TenantContext, keys: InstallationKeys): boolean {
  const asked = askedBy(context);
  if (asked !== '' && asked !== keys.logins.rotatedAt) return true;
  const dueAt = dueTime(context, keys);
  return dueAt !== undefined && dueAt <= context.now.getTime();
}

function dueTime({ object }: TenantContext, { logins: { issuedAt } }: InstallationKeys): number | undefined {
  const interval = object.spec.storeLogins?.rotation.interval;
  return interval === undefined ? undefined : issuedAt.getTime() + durationMs(interval);
}

function askedBy({ object }: TenantContext): string {
  return object.metadata.annotations?.[ROTATE_STORES_AT] ?? '';
}

function statusOf(context: TenantContext, keys: InstallationKeys): Pick<TenantStatus, 'secrets'> {
  const dueAt = dueTime(context, keys);
  const nextRotation = dueAt === undefined ? {} : { nextRotation: toSeconds(new Date(dueAt)) };
  const others = (context.status.secrets ?? []).filter(({ purpose }) => purpose !== 'InstallationKeys');
  return { secrets: [{ ...keys.status, ...nextRotation }, ...others] };
}

function logins(reason: string, message: string): ConditionDraft {
  return { type: 'StoreLoginsReady', status: 'True', reason, message };
}

const NONE_TO_ROTATE = logins('NoneToRotate', 'No store knows users of the tenant’s own, so there are none to rotate');

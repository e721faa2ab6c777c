import type { TenantId } from '../../../services/common/kernel/brand.ts';
import { isEngramError } from '../../../services/common/kernel/errors.ts';
import { asId } from '../../../services/common/kernel/ids.ts';
import { keyOf } from '../../kube-runtime/kube-object.ts';
import { done, StepFailure } from '../../kube-runtime/steps.ts';
import type { TenantDependencies, TenantStep } from '../dependencies.ts';
import { askServices } from '../service-failure.ts';
import { findKeys } from './keys.ts';
import { isDedicated } from './own-services.ts';

/** Its own auth may know the Tenant before this one as the manager: what is deleted with its namespace has no time to let go. */
export function releaseFormerHolder(deps: TenantDependencies): TenantStep {
  return {
    name: 'release-former-holder',
    async run(context) {
      const { object, status, signal } = context;
      const { tenantId } = object.spec;
      if (!isDedicated(object) || tenantId === undefined || status.tenantId !== undefined) return done();
      const crUid = (await findKeys(deps, context))?.formerHolder;
      if (crUid === undefined) return done();
      const request = { tenantId: asId<TenantId>(tenantId), crUid, resource: keyOf(object.metadata) };
      try {
        await askServices('auth', () => deps.services.releaseTenant(request, signal));
      } catch (error) {
        const cause = error instanceof StepFailure ? error.cause : undefined;
        // It had let go.
        if (!isEngramError(cause) || !['TenantNotFoundError', 'OwnedByAnother'].includes(cause.wireName)) throw error;
      }
      return done();
    },
  };
}

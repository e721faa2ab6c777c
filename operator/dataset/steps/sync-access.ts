import type { DeclaredGrant } from '../../../services/common/platform/messaging/messages.ts';
import type { DatasetAccessGrant } from '../../api/dataset.ts';
import { namesInMessage } from '../../kube-runtime/conditions.ts';
import { done, stalled } from '../../kube-runtime/steps.ts';
import { type DatasetParts, type DatasetStep, idsOf, stateOf, uidOf } from '../model.ts';
import { askAbout } from '../service-failure.ts';

/** Accounts and roles are created elsewhere, which triggers no reconcile. */
const UNKNOWN_AGAIN_MS = 60_000;

/** Adds the declared grants and removes those that are no longer declared; with `exclusive` removes all others, too. */
export function syncAccess(parts: DatasetParts): DatasetStep {
  const { memory } = parts;
  return {
    name: 'sync-access',
    async run(context) {
      const { object, event } = context;
      const { tenantId, datasetId } = idsOf(context);
      const [uid, state] = [uidOf(object), `${stateOf(object)} ${datasetId}`];
      if (memory.access.holds(uid, state)) return done();
      const { exclusive = false, grants = [] } = object.spec.access ?? {};
      const declared = grants.map((grant) => declaredGrant(grant, tenantId));
      const request = { tenantId, datasetId, crUid: uid, grants: declared, exclusive };
      const answer = await askAbout(parts, context, 'auth.SyncGrants', request);
      const wasSynced = context.status.observedGeneration === object.metadata.generation;
      if (wasSynced && answer.added + answer.removed > 0) {
        const message = `Grants differed from the declared ones: ${answer.added} added, ${answer.removed} removed`;
        event({ type: 'Normal', reason: 'AccessCorrected', message });
      }
      if (answer.unknownPrincipals.length > 0) {
        const names = namesInMessage(answer.unknownPrincipals);
        const message = `Unknown: ${names}; create them in the tenant, or remove them from spec.access.grants`;
        return stalled('PrincipalUnknown', message, {
          conditions: [{ type: 'AccessSynced', status: 'False', reason: 'PrincipalUnknown', message }],
          requeueAfterMs: UNKNOWN_AGAIN_MS,
          continues: true,
        });
      }
      memory.access.remember(uid, state);
      return done({
        conditions: [{ type: 'AccessSynced', status: 'True', reason: 'Synced', message: 'Grants are as declared' }],
      });
    },
  };
}

function declaredGrant({ principal, permissions }: DatasetAccessGrant, tenantId: string): DeclaredGrant {
  const { user, role } = principal;
  if (user !== undefined) return { holder: { userEmail: user }, permissions };
  if (role !== undefined) return { holder: { roleName: role }, permissions };
  return { holder: { tenantId }, permissions };
}

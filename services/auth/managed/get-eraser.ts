import type { DatasetId, TenantId } from '../../common/kernel/brand.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import type { StoredDataset } from '../../common/records/auth/datasets.ts';
import type { AuthDependencies } from '../dependencies.ts';

/** Without its token; see `getEraser` in common/platform/messaging/methods/auth-managed.ts: rules. */
export async function getEraser(
  { datasets }: Pick<AuthDependencies, 'datasets'>,
  { tenantId: tenant, datasetId }: { readonly tenantId: TenantId; readonly datasetId: DatasetId },
): Promise<Principal | null> {
  const dataset = await datasets.get({ tenant }, datasetId);
  return dataset === null ? null : eraserOf(dataset);
}

/** On the owner's word, whatever became of the account. */
export function eraserOf({ ownerId, tenant }: StoredDataset): Principal {
  return { id: ownerId, email: '', tenant, isSuperuser: false, parentId: null };
}

import type { DatasetId, UserId } from '../../services/common/kernel/brand.ts';
import type { DatasetRef } from '../../services/common/kernel/dataset.ts';
import { asId } from '../../services/common/kernel/ids.ts';
import type { Principal } from '../../services/common/kernel/principal.ts';
import { PERSONAL_TENANT } from '../../services/common/kernel/scope.ts';

/** A user, for tests that need no account. */
export const ADA: Principal = {
  id: asId<UserId>('00000000-0000-4000-8000-00000000000a'),
  email: 'ada@example.com',
  tenant: PERSONAL_TENANT,
  isSuperuser: false,
  parentId: null,
};

/** A dataset of hers. */
export const NOTES: DatasetRef = {
  id: asId<DatasetId>('00000000-0000-4000-8000-0000000000d1'),
  name: 'notes',
  ownerId: ADA.id,
  tenant: ADA.tenant,
  createdAt: '2026-01-02T03:04:05.678Z',
  updatedAt: null,
};

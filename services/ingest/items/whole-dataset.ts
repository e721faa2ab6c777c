import type { DatasetRef } from '../../common/kernel/dataset.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import type { CallContext, Messenger } from '../../common/platform/messaging/messenger.ts';
import { targetDataset } from './target-dataset.ts';

/**
 * The dataset, to whoever may see everything that it ever had: a snapshot shows what was forgotten since, and what was there
 * before somebody was let in. Those are who may read it and decide who else does.
 */
export async function wholeDataset(
  messenger: Messenger,
  principal: Principal,
  id: string,
  context: CallContext,
): Promise<DatasetRef> {
  await targetDataset(messenger, principal, { id }, { permission: 'read', context });
  return targetDataset(messenger, principal, { id }, { permission: 'share', context });
}

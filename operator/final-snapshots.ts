import type { ErasureProgress } from '../services/common/messaging/methods/ingest-managed.ts';
import { MESSAGE_LIMIT } from './runtime/conditions.ts';

const INSTEAD = ', or set deletionPolicy to Delete to do without';

/** Of an erasure that began with them, where nobody says any more that it shall. */
export const TAKE_THEM = 'set deletionPolicy back to Snapshot so that they are taken';

/** Whether an erasure waits for the snapshots that it begins with. */
export function lacksSnapshots(failure: NonNullable<ErasureProgress['failure']>): boolean {
  return failure.name === 'FinalSnapshotFailed';
}

/** What a person reads while it does, and can do. */
export function snapshotsFailed(why: string): { readonly reason: string; readonly message: string } {
  const message = `Nothing is erased without its snapshots: ${why.replace(/\.$/, '')}`;
  return { reason: 'SnapshotFailed', message: `${message.slice(0, MESSAGE_LIMIT - INSTEAD.length)}${INSTEAD}` };
}

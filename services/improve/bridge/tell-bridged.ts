import type { EntryCounts, SessionKey } from '../../common/domain/session.ts';
import { noteOnSession } from '../../common/platform/messaging/methods/ingest.ts';
import type { ImproveDependencies } from '../dependencies.ts';
import type { ImprovePass } from '../stage.ts';

/** Tells ingest which entries are in the memory of a dataset: from then on they may expire. The rest of them stays known. */
export async function tellBridged(
  { messenger }: Pick<ImproveDependencies, 'messenger'>,
  { context, signal }: Pick<ImprovePass, 'context' | 'signal'>,
  { session }: SessionKey,
  bridged: Partial<EntryCounts>,
): Promise<void> {
  const request = { session, notes: [], bridged: { qas: 0, traces: 0, ...bridged } };
  await messenger.call(noteOnSession, request, { ...context, signal });
}

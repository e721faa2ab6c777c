import { md5Of } from '../../common/domain/data-item.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { pagesOf } from '../../common/kernel/result-page.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import type { RemoteMemory } from '../../common/ports/remote-memory.ts';
import type { SyncCounts } from '../../common/records/integrations/sync-runs.ts';
import type { SyncDependencies } from '../dependencies.ts';
import { fetchFile } from './fetch-file.ts';
import { type LocalFile, sendFile } from './send-file.ts';

export interface DatasetSync {
  readonly runId: string;
  readonly dataset: DatasetRef;
  readonly remote: RemoteMemory;
  readonly context: CallContext;
  readonly signal: AbortSignal;
  /** A failure ends the run. */
  readonly isLastAttempt: boolean;
  /** Whoever asked for it may still do so: a great dataset takes hours. */
  requireStill(): Promise<void>;
  readonly counts: () => SyncCounts;
  /** Part of this dataset, 0 to 1. */
  advance(part: number, counts?: Partial<SyncCounts>): Promise<void>;
}

const PAGE = 1000;

/**
 * Brings the files of one dataset into step: what either side lacks is copied, and what was removed here since it was last on
 * both sides is removed there. Repeating it after a failure does what is left to do.
 */
export async function syncDataset(dependencies: SyncDependencies, sync: DatasetSync): Promise<void> {
  const { state } = dependencies;
  const { runId, dataset, remote, signal, requireStill, counts, advance } = sync;
  const scope = scopeOf(dataset);
  const local = await localFiles(dependencies, sync);
  const difference = await remote.diff(dataset, [...local.keys()], signal);
  // What it asks for beside what it was told of is none of its business.
  const outgoing = difference.missingOnRemote.flatMap((hash) => local.get(hash) ?? []);
  const others = difference.missingOnLocal.filter((hash) => !local.has(hash));
  const removedHere = await state.synced(scope, others);
  // Before it is there: whoever forgets it while this goes on, or fails, does not get it back from there.
  await state.noteSynced(scope, [...local.keys()]);
  const incoming = others.filter((hash) => !removedHere.has(hash));
  const total = outgoing.length + incoming.length;
  let done = 0;
  const step = (more: Partial<SyncCounts>) => {
    done += 1;
    return advance(done / total, more);
  };

  if (outgoing.length > 0) await state.noteDue(scope, { side: 'remote', runId });
  for (const item of outgoing) {
    signal.throwIfAborted();
    await requireStill();
    const isSent = await sendFile(dependencies, sync, item);
    await step(isSent ? { uploaded: counts().uploaded + 1 } : { passedOver: counts().passedOver + 1 });
  }

  if (incoming.length > 0) await state.noteDue(scope, { side: 'local', runId });
  const left: string[] = [];
  for (const hash of incoming) {
    signal.throwIfAborted();
    await requireStill();
    const isTaken = await fetchFile(dependencies, sync, hash);
    if (isTaken) await state.noteSynced(scope, [hash]);
    else left.push(hash);
    await step(isTaken ? { downloaded: counts().downloaded + 1 } : { passedOver: counts().passedOver + 1 });
  }

  await requireStill();
  // What was forgotten or added here meanwhile, perhaps by another sync, counts as it is now.
  const present = total === 0 ? local : await localFiles(dependencies, sync);
  // What could not be taken is not removed there: it may be the only copy.
  await remote.prune(dataset, [...present.keys(), ...left], signal);
}

/** By the hash of their bytes; of several owners' copies one will do. There may be a million: no more of each than is sent. */
async function localFiles(
  { messenger }: SyncDependencies,
  { dataset, context }: DatasetSync,
): Promise<ReadonlyMap<string, LocalFile>> {
  const files = new Map<string, LocalFile>();
  const read = (after: string | null) =>
    messenger.call('ingest.DatasetItems', { dataset, after: after ?? undefined, limit: PAGE }, context);
  for await (const items of pagesOf(read)) {
    for (const { id, revision = null, fileName, mimeType, extension, ...hashed } of items) {
      const contentHash = md5Of(hashed);
      files.set(contentHash, { id, revision, fileName, mimeType, extension, contentHash });
    }
  }
  return files;
}

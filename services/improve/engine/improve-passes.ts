import type { DatasetRef } from '../../common/kernel/dataset.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import { type ClaimedKeys, claimKeys } from '../../common/records/improve/improve-claims.ts';
import type { ImproveDependencies } from '../dependencies.ts';
import { createPassReads, type ImproveOptions, type ImprovePass } from '../model.ts';
import type { HeldClaim } from './held-claim.ts';
import type { ImproveResult } from './improve-result.ts';
import type { PassResult, StageRunner } from './run-stages.ts';

/** Dependencies of the service, with the stage runner. */
export interface ImproveParts extends ImproveDependencies {
  readonly runner: StageRunner;
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal;
}

export interface ImproveRequest {
  readonly dataset: DatasetRef;
  readonly principal: Principal;
  readonly context: CallContext;
  /** Without empty ones; may contain duplicates. */
  readonly sessionIds: readonly string[];
  readonly options: ImproveOptions;
}

export function keysOf({ dataset, principal, sessionIds }: Omit<ImproveRequest, 'context' | 'options'>): ClaimedKeys {
  const sessions = sessionIds.map((session) => ({ user: principal.id, session }));
  return claimKeys(principal.tenant, dataset.id, sessions);
}

interface Holding extends Pick<ImprovePass, 'idleRuns'> {
  readonly held: HeldClaim;
  /** Aborted when the process stops or another worker has the job. */
  readonly stop: AbortSignal;
}

/**
 * Runs the passes of one improve that holds its claim, and releases the claim at the end. Throws only the reason of an abort,
 * or that a store is unavailable.
 */
export async function runPasses(
  { runner, settings }: ImproveParts,
  request: ImproveRequest,
  { held, stop, idleRuns }: Holding,
): Promise<Pick<ImproveResult, 'stages' | 'rerunPasses' | 'failure'>> {
  const { dataset, principal, options, sessionIds } = request;
  const signal = AbortSignal.any([held.signal, stop]);
  const sessions = [...new Set(sessionIds)].map((session) => ({ user: principal.id, session }));
  const context: CallContext = { ...request.context, principal, signal };
  const { leaseToken } = held;
  const given = { dataset, sessions, options, principal, context, leaseToken, signal, idleRuns };
  const passes: PassResult[] = [];
  try {
    do {
      // Named tasks run in the first pass only.
      const passOptions = passes.length === 0 ? options : { ...options, custom: null };
      passes.push(await runner.run({ ...given, options: passOptions, reads: createPassReads() }));
    } while (await isRerunRequested(passes, { sessions, held, maxPasses: settings.maxPasses }));
  } finally {
    await held.release();
  }
  const [first, ...others] = passes.map(({ results }) => results);
  const failure = passes.at(-1)?.failure ?? null;
  return { stages: first ?? [], rerunPasses: others, failure };
}

/** Whether another pass was requested. Only improves of sessions are repeated, at most `maxPasses` times. */
async function isRerunRequested(
  passes: readonly PassResult[],
  {
    sessions,
    held,
    maxPasses,
  }: Pick<ImprovePass, 'sessions'> & { readonly held: HeldClaim; readonly maxPasses: number },
): Promise<boolean> {
  const last = passes.at(-1);
  const isOver = last === undefined || last.failure !== null || last.isExhausted;
  if (isOver || sessions.length === 0 || passes.length >= maxPasses) return false;
  return (await held.rerunOrRelease()) === 'rerun';
}

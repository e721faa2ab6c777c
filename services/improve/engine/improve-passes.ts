import type { DatasetRef } from '../../common/kernel/dataset.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import { type ClaimedKeys, claimKeys } from '../../common/records/improve/improve-claims.ts';
import type { ImproveDependencies } from '../dependencies.ts';
import type { ImproveOptions, ImprovePass } from '../model.ts';
import { createPassReads } from '../model.ts';
import type { HeldClaim } from './held-claim.ts';
import type { ImproveResult } from './improve-result.ts';
import type { PassResult, StageRunner } from './run-stages.ts';

/** What the service works with: dependencies, and the stages in their order. */
export interface ImproveParts extends ImproveDependencies {
  readonly runner: StageRunner;
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal;
}

export interface ImproveRequest {
  readonly dataset: DatasetRef;
  readonly principal: Principal;
  readonly context: CallContext;
  /** Not empty ones; some may be there twice. */
  readonly sessionIds: readonly string[];
  readonly options: ImproveOptions;
}

export function keysOf({ dataset, principal, sessionIds }: Omit<ImproveRequest, 'context' | 'options'>): ClaimedKeys {
  const sessions = sessionIds.map((session) => ({ user: principal.id, session }));
  return claimKeys(principal.tenant, dataset.id, sessions);
}

interface Holding extends Pick<ImprovePass, 'idleRuns'> {
  readonly held: HeldClaim;
  /** Aborted when the process stops, or the job is somebody else's. */
  readonly stop: AbortSignal;
}

/**
 * The passes of one improve that holds its dataset and sessions; they are released when it ends, however it does. Throws
 * only what `signal` was aborted with, or that a store is away.
 */
export async function runPasses(
  { runner, settings }: Pick<ImproveParts, 'runner' | 'settings'>,
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
      // Tasks by name are done once; what came meanwhile is only looked at by the others.
      const passOptions = passes.length === 0 ? options : { ...options, custom: null };
      passes.push(await runner.run({ ...given, options: passOptions, reads: createPassReads() }));
    } while (await isWantedAgain(passes, { sessions, held, maxPasses: settings.maxPasses }));
  } finally {
    await held.release();
  }
  const [first, ...others] = passes.map(({ results }) => results);
  const failure = passes.at(-1)?.failure ?? null;
  return { stages: first ?? [], rerunPasses: others, failure };
}

/** Only improves of sessions repeat themselves, and none for ever. */
async function isWantedAgain(
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

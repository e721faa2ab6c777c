import { STAGE_NAMES, type StageName } from '../../common/domain/improve-stages.ts';
import type { RunState } from '../../common/domain/run.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import { describeRunError } from '../../common/platform/jobs/run-recorder.ts';

export interface StageResult {
  readonly stage: StageName;
  readonly status: 'completed' | 'already_completed' | 'skipped' | 'errored';
  readonly reason: string | null;
  readonly error: string | null;
  readonly counts: Readonly<Record<string, number>>;
  readonly durationMs: number;
  readonly run: RunState | null;
}

export interface ImproveResult {
  readonly dataset: DatasetRef;
  /** Those of the request, without empty ones. */
  readonly sessionIds: readonly string[];
  /** Results of the first pass: nine, or none while it runs in the background. */
  readonly stages: readonly StageResult[];
  readonly rerunPasses: readonly (readonly StageResult[])[];
  readonly background: boolean;
  readonly finished: boolean;
  /** Error of a stage whose failure ends the improve; null when there is none. */
  readonly failure: unknown;
  readonly rerunRequested: boolean;
}

type ImproveStatus = 'completed' | 'errored' | 'skipped' | 'running';

export function statusOf({ stages, rerunPasses, finished, failure }: ImproveResult): ImproveStatus {
  if (!finished) return 'running';
  const all = [stages, ...rerunPasses].flat();
  if (failure !== null || all.some(({ status }) => status === 'errored')) return 'errored';
  return all.length > 0 && all.every(({ status }) => status === 'skipped') ? 'skipped' : 'completed';
}

/** Returns the error message of the first stage that failed; null when none did. */
export function firstError({ stages, rerunPasses }: ImproveResult): string | null {
  return [stages, ...rerunPasses].flat().find(({ status }) => status === 'errored')?.error ?? null;
}

export function skipped(stage: StageName, reason: string): StageResult {
  return { stage, status: 'skipped', reason, error: null, counts: {}, durationMs: 0, run: null };
}

type Described = Pick<ImproveResult, 'dataset' | 'sessionIds'>;

export function described({ dataset, sessionIds }: Described): Described {
  return { dataset, sessionIds };
}

/** Makes the result of an improve whose dataset or one of whose sessions is claimed by another. */
export function lockHeld(
  request: Described,
  { background, rerunRequested }: Pick<ImproveResult, 'background' | 'rerunRequested'>,
): ImproveResult {
  return {
    ...described(request),
    stages: STAGE_NAMES.map((stage) => skipped(stage, 'lock_held')),
    rerunPasses: [],
    background,
    finished: true,
    failure: null,
    rerunRequested,
  };
}

/** Describes an error for clients as `<class>: <message>`; an unknown error gets a fixed message. */
export function errorText(error: unknown): string {
  if (!isEngramError(error)) return 'CogneeSystemError: The stage failed; the log of the server tells more.';
  const { errorClass, message } = describeRunError(error);
  return `${errorClass}: ${message}`;
}

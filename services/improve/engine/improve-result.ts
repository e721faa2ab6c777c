import { STAGE_NAMES, type StageName } from '../../common/domain/improve-stages.ts';
import type { RunState } from '../../common/domain/run.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import { describeRunError } from '../../common/platform/jobs/run-recorder.ts';

/** What one stage of one pass came to. */
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
  /** As they were given, without empty ones. */
  readonly sessionIds: readonly string[];
  /** Of the first pass: nine, or none while it goes on in the background. */
  readonly stages: readonly StageResult[];
  readonly rerunPasses: readonly (readonly StageResult[])[];
  readonly background: boolean;
  readonly finished: boolean;
  /** What a stage without which improve cannot go on failed with. */
  readonly failure: unknown;
  readonly rerunRequested: boolean;
}

export type ImproveStatus = 'completed' | 'errored' | 'skipped' | 'running';

export function statusOf({ stages, rerunPasses, finished, failure }: ImproveResult): ImproveStatus {
  if (!finished) return 'running';
  const all = [stages, ...rerunPasses].flat();
  if (failure !== null || all.some(({ status }) => status === 'errored')) return 'errored';
  return all.length > 0 && all.every(({ status }) => status === 'skipped') ? 'skipped' : 'completed';
}

/** What the first stage that failed said; null when none did. */
export function firstError({ stages, rerunPasses }: Pick<ImproveResult, 'stages' | 'rerunPasses'>): string | null {
  return [stages, ...rerunPasses].flat().find(({ status }) => status === 'errored')?.error ?? null;
}

export function skipped(stage: StageName, reason: string): StageResult {
  return { stage, status: 'skipped', reason, error: null, counts: {}, durationMs: 0, run: null };
}

type Asked = Pick<ImproveResult, 'dataset' | 'sessionIds'>;

export function described({ dataset, sessionIds }: Asked): Asked {
  return { dataset, sessionIds };
}

/** Another improve has the dataset or one of the sessions. */
export function lockHeld(
  asked: Asked,
  { background, rerunRequested }: Pick<ImproveResult, 'background' | 'rerunRequested'>,
): ImproveResult {
  return {
    ...described(asked),
    stages: STAGE_NAMES.map((stage) => skipped(stage, 'lock_held')),
    ...{ rerunPasses: [], background, finished: true, failure: null, rerunRequested },
  };
}

/** A budget is spent, the provider's or one of ours: nothing that needs a model goes on. */
export function isBudgetError(error: unknown): boolean {
  return isEngramError(error) && error.wireName === 'LLMPaymentRequiredError';
}

/** `<class>: <text>`; of an error that is none of ours a client learns only that there was one. */
export function errorText(error: unknown): string {
  if (!isEngramError(error)) return 'CogneeSystemError: The stage failed; the log of the server tells more.';
  const { errorClass, message } = describeRunError(error);
  return `${errorClass}: ${message}`;
}

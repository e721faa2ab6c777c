import { FATAL_STAGE, STAGE_NAMES, type StageName } from '../../common/domain/improve-stages.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { NO_TRACER } from '../../common/ports/tracer.ts';
import type { ImproveDependencies } from '../dependencies.ts';
import {
  type GateAnswer,
  type ImprovePass,
  isBudgetError,
  PartlyDoneError,
  type Stage,
  type StageOutcome,
} from '../model.ts';
import { errorText, type StageResult, skipped } from './improve-result.ts';

export interface StageRunner {
  /**
   * Runs one pass; always returns nine results. Throws only the reason of `pass.signal`, after which nothing may be written.
   */
  run(pass: ImprovePass): Promise<PassResult>;
}

export interface PassResult {
  readonly results: readonly StageResult[];
  /** Error of the fatal stage; null when it did not fail. */
  readonly failure: unknown;
  /** A budget is used up: no further pass. */
  readonly isExhausted: boolean;
}

type Dependencies = Pick<ImproveDependencies, 'settings' | 'clock' | 'logger' | 'tracer'>;

export function createStageRunner(deps: Dependencies, stages: readonly Stage[]): StageRunner {
  const byName = new Map(stages.map((stage) => [stage.name, stage]));
  return {
    async run(pass) {
      const results: StageResult[] = [];
      let stopped: string | null = null;
      let failure: unknown = null;
      for (const name of STAGE_NAMES) {
        if (stopped !== null) {
          results.push(skipped(name, stopped));
          continue;
        }
        pass.signal.throwIfAborted();
        const { result, error, isUnchanged } = await runStage(deps, byName.get(name), name, pass);
        pass.signal.throwIfAborted();
        if (!isUnchanged) pass.reads.forget();
        results.push(result);
        if (result.status !== 'errored') continue;
        if (isBudgetError(error)) stopped = 'budget_exhausted';
        else if (name === FATAL_STAGE) stopped = 'aborted_by_fatal_stage';
        if (name === FATAL_STAGE) failure = error;
      }
      return { results, failure, isExhausted: stopped === 'budget_exhausted' };
    },
  };
}

interface StageEnd {
  readonly result: StageResult;
  readonly error: unknown;
  /** See `StageOutcome`. */
  readonly isUnchanged: boolean;
}

async function runStage(
  deps: Dependencies,
  stage: Stage | undefined,
  name: StageName,
  pass: ImprovePass,
): Promise<StageEnd> {
  const { clock, logger, tracer = NO_TRACER } = deps;
  const closed = await gateOf(deps, stage, name, pass);
  if (closed !== null || stage === undefined) {
    const { status, reason } = closed ?? UNSUPPORTED;
    return { result: { ...skipped(name, reason), status }, error: null, isUnchanged: true };
  }
  const startedMs = clock.monotonicMs();
  const durationMs = () => Math.round(clock.monotonicMs() - startedMs);
  try {
    const outcome = await tracer.step(`stage ${name}`, {}, () => stage.run(pass));
    const { isUnchanged = false } = outcome;
    return { result: resultOf(name, outcome, durationMs()), error: reportedError(name, outcome), isUnchanged };
  } catch (thrown) {
    const { error, counts } =
      thrown instanceof PartlyDoneError
        ? { error: thrown.cause, counts: thrown.counts }
        : { error: thrown, counts: {} };
    logger.error('improve.stage.failed', { stage: name, datasetId: pass.dataset.id, error });
    const failed = { reason: null, error: errorText(error), run: null, counts, durationMs: durationMs() };
    return { result: { stage: name, status: 'errored', ...failed }, error, isUnchanged: false };
  }
}

/** Result of a stage that the runner was not given. */
const UNSUPPORTED = { status: 'skipped', reason: 'backend_unsupported' } as const;

/** Decides whether a stage runs, in the order of the contract (cognify-improve.md §3.3). */
async function gateOf(
  { settings, logger }: Dependencies,
  stage: Stage | undefined,
  name: StageName,
  pass: ImprovePass,
): Promise<GateAnswer> {
  if (settings.disabledStages.includes(name)) return { status: 'skipped', reason: 'disabled_by_config' };
  if (NEED_SESSIONS.has(name) && pass.sessions.length === 0) return { status: 'skipped', reason: 'no_session_ids' };
  if (stage === undefined) return UNSUPPORTED;
  try {
    return await stage.gate(pass);
  } catch (error) {
    // The stage reports the error itself.
    logger.warn('improve.gate.failed', { stage: name, error });
    return null;
  }
}

/** All stages but the last two. */
const NEED_SESSIONS: ReadonlySet<StageName> = new Set(STAGE_NAMES.slice(0, 7));

function resultOf(stage: StageName, outcome: StageOutcome, durationMs: number): StageResult {
  const { status, reason = null, error = null, counts, run = null } = outcome;
  return { stage, status, reason, error, counts, durationMs, run: status === 'already_completed' ? null : run };
}

/** Returns the error of a stage that reported its failure instead of throwing it. */
function reportedError(stage: StageName, { status, error, run }: StageOutcome): unknown {
  if (status !== 'errored') return null;
  if (run?.errorClass === 'LLMPaymentRequiredError') {
    const text = `improve: fatal stage '${stage}' stopped on an exhausted LLM budget: ${error ?? run.errorMessage}`;
    return engramError('LLMPaymentRequiredError', text);
  }
  return engramError('CogneeSystemError', `improve: stage '${stage}' failed: ${error ?? 'no reason was given'}`);
}

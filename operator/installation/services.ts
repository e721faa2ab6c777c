import { randomUUID } from 'node:crypto';
import { SERVICE_NAMES, type ServiceName } from '../../services/common/domain/service-paths.ts';
import { type EngramError, isEngramError } from '../../services/common/kernel/errors.ts';
import type { AnswerOf, CallPath, RequestOf } from '../../services/common/platform/messaging/messages.ts';
import type { MessageCaller } from '../../services/common/platform/messaging/messenger.ts';
import type { MonotonicClock } from '../../services/common/ports/system.ts';
import { StepFailure, type StepOutcome, stalled } from '../kube-runtime/steps.ts';

/**
 * The services of one installation: the one that all Shared tenants use, or that of a Dedicated tenant. The operator calls
 * the methods with caller `operator` of `proto/README.md`. All of them are idempotent, except for the start of a run without
 * a due time. Calls throw the `EngramError` of the service; `ServiceUnavailableError` and `DeadlineExceededError` when it
 * does not answer.
 */
export interface Services extends MessageCaller {
  /** Services that do not answer or cannot reach their stores, sorted. May be some seconds old. */
  unhealthy(): Promise<readonly ServiceName[]>;
}

/** Thousands of tenants ask for the health of the same six services. */
const HEALTH_AGE_MS = 5000;

export function createServices(messenger: MessageCaller, clock: MonotonicClock): Services {
  let health: { readonly at: number; readonly unhealthy: Promise<readonly ServiceName[]> } | undefined;

  const isHealthy = async (name: ServiceName): Promise<boolean> => {
    try {
      const { status } = await messenger.call(`${name}.Health`, {}, { requestId: randomUUID() });
      return status !== 'unhealthy';
    } catch {
      // Whatever the reason: it does not answer as a healthy service does.
      return false;
    }
  };
  const askAll = async (): Promise<readonly ServiceName[]> => {
    const answers = await Promise.all(SERVICE_NAMES.map(isHealthy));
    return SERVICE_NAMES.filter((_, at) => answers[at] === false).toSorted();
  };
  return {
    call: (path, request, context) => messenger.call(path, request, context),
    unhealthy() {
      const now = clock.monotonicMs();
      if (health === undefined || now - health.at > HEALTH_AGE_MS) health = { at: now, unhealthy: askAll() };
      return health.unhealthy;
    },
  };
}

/** Calls a method and throws the service's error as it is; `createServiceCalls` turns it into the outcome of a step. */
export function callService<Path extends CallPath>(
  services: Services,
  path: Path,
  request: RequestOf<Path>,
  signal: AbortSignal,
): Promise<AnswerOf<Path>> {
  return services.call(path, request, { requestId: randomUUID(), signal });
}

type Outcome = StepOutcome<Record<string, unknown>>;

/** Outcome of a step whose call a service refused, by the wire name of the error. */
export type Refusals = Readonly<Record<string, (error: EngramError) => Outcome>>;

/** The cause of a refusal may be gone by then: a taken name, a used-up budget, another resource that manages the same. */
const REFUSED_AGAIN_MS = 15_000;

/**
 * Calls that throw a `StepFailure` in place of an error of a service: the outcome that `refusals` names for it, `unreachable`
 * when the service does not answer, `Refused` for any other client error. Errors of other origin are thrown on.
 */
export function createServiceCalls(refusals: Refusals, unreachable: (services: readonly string[]) => Outcome) {
  async function translateErrors<Answer>(service: string, call: () => Promise<Answer>, ownRefusals: Refusals = {}) {
    try {
      return await call();
    } catch (error) {
      if (!isEngramError(error)) throw error;
      const refusal = { ...refusals, ...ownRefusals }[error.wireName]?.(error);
      if (refusal !== undefined) throw new StepFailure({ requeueAfterMs: REFUSED_AGAIN_MS, ...refusal }, error);
      if (!error.retryable && error.status < 500) {
        throw new StepFailure(stalled('Refused', error.message, { requeueAfterMs: REFUSED_AGAIN_MS }), error);
      }
      throw new StepFailure(unreachable([service]), error);
    }
  }
  return {
    /** `service`: shown in the condition when it does not answer. */
    translateErrors,
    /** `ownRefusals`: those of this call, in place of the common ones. */
    askService<Path extends CallPath>(
      services: Services,
      path: Path,
      { request, signal, ownRefusals = {} }: ServiceCall<Path>,
    ): Promise<AnswerOf<Path>> {
      const [service = ''] = path.split('.');
      return translateErrors(service, () => callService(services, path, request, signal), ownRefusals);
    },
  };
}

interface ServiceCall<Path extends CallPath> {
  readonly request: RequestOf<Path>;
  readonly signal: AbortSignal;
  readonly ownRefusals?: Refusals;
}

/** Wire name of the service's error that a step failed with; undefined for any other error. */
export function refusalOf(error: unknown): string | undefined {
  const cause = error instanceof StepFailure ? error.cause : undefined;
  return isEngramError(cause) ? cause.wireName : undefined;
}

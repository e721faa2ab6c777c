import { type EngramError, isEngramError } from '../../services/common/kernel/errors.ts';
import type { ConditionDraft } from '../kube-runtime/conditions.ts';
import { retrying, StepFailure, type StepOutcome, stalled } from '../kube-runtime/steps.ts';
import type { DatasetContext, DatasetParts } from './dependencies.ts';
import { uidOf } from './resource.ts';

type Outcome = StepOutcome<Record<string, unknown>>;

/** What was refused may be free by then: a name, a budget, a resource that stood for the same dataset. */
const REFUSED_AGAIN_MS = 15_000;

const OWNED =
  'Another resource manages this dataset: delete that one with deletionPolicy Retain first, or choose another name';

/** What a person reads and does when a service refuses, by the name of its error. */
const REFUSALS: Readonly<Record<string, (error: EngramError) => Outcome>> = {
  OwnedByAnother: () => refused('OwnedByAnother', OWNED),
  DatasetNotFoundError: () =>
    refused(
      'DatasetNotFound',
      'The tenant has no dataset of this id: make this resource anew with the right datasetId, or without',
    ),
  TenantNotFoundError: () =>
    retrying('TenantNotReady', 'The tenant is not there yet or any more: see the conditions of its Tenant'),
  InvalidDatasetNameError: ({ message }) => refused('InvalidSpec', message),
  InvalidGraphModelError: ({ message }) => schemaRefused(`graphModel is refused: ${message}`),
  InvalidChunkSizeError: ({ message }) => schemaRefused(`chunking is refused: ${message}`),
  InvalidRequestError: ({ message }) => refused('InvalidSpec', message),
  PayloadTooLargeError: ({ message: said }) => {
    const message = `${said}: raise quotas.datasets of the Tenant, or delete a dataset`;
    return stalled('QuotaExceeded', message, {
      conditions: [
        { type: 'QuotaExceeded', status: 'True', reason: 'Datasets', message },
        condition('StoresProvisioned', 'QuotaExceeded', message),
      ],
    });
  },
  ConflictError: ({ message }) => retrying('Conflict', message),
};

/**
 * Asks a service and turns what it refuses into the outcome of a step. A service that is away is `StoreUnreachable`. Other
 * errors are thrown on.
 */
export async function askService<Answer>(service: string, call: () => Promise<Answer>): Promise<Answer> {
  try {
    return await call();
  } catch (error) {
    if (!isEngramError(error)) throw error;
    const refusal = REFUSALS[error.wireName]?.(error);
    if (refusal !== undefined) throw new StepFailure({ requeueAfterMs: REFUSED_AGAIN_MS, ...refusal }, error);
    if (!error.retryable && error.status < 500)
      throw new StepFailure(stalled('Refused', error.message, { requeueAfterMs: REFUSED_AGAIN_MS }), error);
    const message = `No answer from ${service}: see that its Deployment runs and reaches its stores`;
    const conditions = [condition('StoresProvisioned', 'StoreUnreachable', message)];
    throw new StepFailure(retrying('StoreUnreachable', message, { conditions }), error);
  }
}

/** The same about a dataset that was there: one that is gone is made anew with the next attempt. */
export async function askAbout<Answer>(
  { memory }: DatasetParts,
  { object }: DatasetContext,
  { service, call }: { readonly service: string; readonly call: () => Promise<Answer> },
): Promise<Answer> {
  try {
    return await askService(service, call);
  } catch (error) {
    if (refusalOf(error) !== 'DatasetNotFoundError') throw error;
    memory.identity.forget(uidOf(object));
    const message = 'The dataset was removed behind the resource: it is made anew, without its data';
    throw new StepFailure(retrying('DatasetMissing', message), error);
  }
}

/** The name of the service's error that a step failed with. */
export function refusalOf(error: unknown): string | undefined {
  const cause = error instanceof StepFailure ? error.cause : undefined;
  return isEngramError(cause) ? cause.wireName : undefined;
}

function refused(reason: string, message: string): Outcome {
  return stalled(reason, message, { conditions: [condition('StoresProvisioned', reason, message)] });
}

function schemaRefused(message: string): Outcome {
  return stalled('InvalidSpec', message, { conditions: [condition('SchemaCurrent', 'InvalidSpec', message)] });
}

function condition(type: string, reason: string, message: string): ConditionDraft {
  return { type, status: 'False', reason, message };
}

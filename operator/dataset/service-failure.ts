import type { AnswerOf, CallPath, RequestOf } from '../../services/common/platform/messaging/messages.ts';
import { createServiceCalls, type Refusals, refusalOf } from '../installation/services.ts';
import type { ConditionDraft } from '../kube-runtime/conditions.ts';
import { retrying, StepFailure, type StepOutcome, stalled } from '../kube-runtime/steps.ts';
import { type DatasetContext, type DatasetParts, uidOf } from './model.ts';

type Outcome = StepOutcome<Record<string, unknown>>;

const OWNED =
  'Another resource manages this dataset: delete that one with deletionPolicy Retain first, or choose another name';

/** Conditions for the errors of services: what is wrong and what to do about it. */
const REFUSALS: Refusals = {
  OwnedByAnother: () => refused('OwnedByAnother', OWNED),
  DatasetNotFoundError: () =>
    refused(
      'DatasetNotFound',
      'The tenant has no dataset with this id: create this resource again with the right datasetId, or without one',
    ),
  TenantNotFoundError: () =>
    retrying('TenantNotReady', 'The tenant does not exist yet or any more: see the conditions of its Tenant'),
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

/** Outcome while services do not answer or cannot reach their stores. */
function unreachable(services: readonly string[]): Outcome {
  const message = `No answer from ${services.join(', ')}: check that the Deployments run and reach their stores`;
  const conditions = [condition('StoresProvisioned', 'StoreUnreachable', message)];
  return retrying('StoreUnreachable', message, { conditions });
}

export const { askService, translateErrors } = createServiceCalls(REFUSALS, unreachable);

/** Asks about a dataset that exists; one that was removed meanwhile is created again with the next attempt. */
export async function askAbout<Path extends CallPath>(
  { memory, services }: DatasetParts,
  { object, signal }: DatasetContext,
  path: Path,
  request: RequestOf<Path>,
): Promise<AnswerOf<Path>> {
  try {
    return await askService(services, path, { request, signal });
  } catch (error) {
    if (refusalOf(error) !== 'DatasetNotFoundError') throw error;
    memory.identity.forget(uidOf(object));
    const message = 'The dataset was removed behind the resource: it is created again, without its data';
    throw new StepFailure(retrying('DatasetMissing', message), error);
  }
}

function refused(reason: string, message: string): Outcome {
  return stalled(reason, message, { conditions: [condition('StoresProvisioned', reason, message)] });
}

function schemaRefused(message: string): Outcome {
  return stalled('InvalidSpec', message, { conditions: [condition('SchemaCurrent', 'InvalidSpec', message)] });
}

export function condition(type: string, reason: string, message: string): ConditionDraft {
  return { type, status: 'False', reason, message };
}

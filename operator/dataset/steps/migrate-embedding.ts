import type { DatasetEmbedding, EmbeddingState } from '../../../services/common/platform/messaging/messages.ts';
import type { DatasetStatus } from '../../api/dataset.ts';
import type { ConditionDraft } from '../../kube-runtime/conditions.ts';
import { done, type StepOutcome } from '../../kube-runtime/steps.ts';
import {
  type DatasetContext,
  type DatasetParts,
  type DatasetStep,
  idsOf,
  stateOf,
  tenantName,
  uidOf,
} from '../model.ts';
import { askAbout } from '../service-failure.ts';

/** The services continue for some seconds after each call, which returns at once. */
const GO_ON_MS = 2_000;
/** The services retry a failure after some time of their own. */
const FAILED_AGAIN_MS = 15_000;
/** Minimum time between two writes of the progress. */
const PROGRESS_MS = 60_000;

type Migration = NonNullable<EmbeddingState['migration']>;

/**
 * Sets the embedding model of the dataset, and drives the migration while its vectors are of another model. No other step
 * waits for it: the present vectors stay in use until then.
 */
export function migrateEmbedding(parts: DatasetParts): DatasetStep {
  const { memory, dedicated } = parts;
  return {
    name: 'migrate-embedding',
    async run(context) {
      const { object, status } = context;
      const ids = idsOf(context);
      // A dataset without a model of its own uses that of the tenant.
      const ofTenant = dedicated?.tenantOf(tenantName(object))?.status?.embedding;
      const [uid, state] = [uidOf(object), `${stateOf(object)} ${ids.datasetId} ${JSON.stringify(ofTenant ?? null)}`];
      // A dataset without data has no vectors.
      const isSettled = status.embedding !== undefined || (status.stats?.chunks ?? 0) === 0;
      if (isSettled && memory.embedding.holds(uid, state)) return done();
      const { embedding } = object.spec;
      const request = { ...ids, crUid: uid, ...(embedding === undefined ? {} : { embedding }) };
      const answer = await askAbout(parts, context, 'cognify.MigrateEmbedding', request);
      const { migration, failure } = answer;
      if (migration === null && failure === null) {
        memory.embedding.remember(uid, state);
        memory.progress.forget(uid);
        if (status.migration !== undefined) emitMigratedEvent(context, answer.embedding);
        return done({
          removed: ['Migrating'],
          status: { embedding: answer.embedding ?? undefined, migration: undefined },
        });
      }
      return {
        ...done<DatasetStatus>({ requeueAfterMs: failure === null ? GO_ON_MS : FAILED_AGAIN_MS }),
        conditions: [failure === null ? underWay(migration) : held(failure)],
        status: { embedding: answer.embedding ?? undefined, migration: progressOf(parts, context, migration) },
      } satisfies StepOutcome<DatasetStatus>;
    },
  };
}

/** Returns the progress that is in the status, unless it is a minute old or of another migration. */
function progressOf(
  { memory }: DatasetParts,
  { object, status }: DatasetContext,
  migration: Migration | null,
): DatasetStatus['migration'] {
  if (migration === null) return undefined;
  const [uid, state] = [uidOf(object), `${migration.startedAt} ${migration.phase}`];
  if (status.migration !== undefined && memory.progress.holds(uid, state)) return status.migration;
  memory.progress.remember(uid, state, PROGRESS_MS);
  const { from, to, done: items, total, startedAt } = migration;
  return { kind: 'Reembed', from: { ...from }, to: { ...to }, done: items, total, startedAt };
}

function underWay(migration: Migration | null): ConditionDraft {
  const message =
    migration?.phase === 'settling'
      ? 'The new vectors are searched, the former ones are about to be removed'
      : 'Vectors are computed again by the declared embedding model; the former ones are searched until then';
  const reason = migration?.phase === 'settling' ? 'Settling' : 'Reembedding';
  return { type: 'Migrating', status: 'True', reason, message };
}

/** Reason of the condition, by the name of the error. */
const REASONS: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    LLMAPIKeyNotSetError: 'ProviderRejected',
    LLMPaymentRequiredError: 'BudgetExhausted',
    LLMQuotaExceededError: 'BudgetExhausted',
    TooManyRequestsError: 'BudgetExhausted',
    EmbeddingDimensionMismatchError: 'DimensionsDiffer',
    EmbeddingException: 'EmbeddingUnusable',
    CogneeValidationError: 'EmbeddingUnusable',
    SSRFProtectionError: 'EmbeddingUnusable',
  }),
);

const ADVICE: Readonly<Record<string, string>> = {
  ProviderRejected: 'correct the key of the tenant’s embedding',
  BudgetExhausted: 'see the account of the provider',
  DimensionsDiffer: 'correct embedding.dimensions',
  EmbeddingUnusable: 'set embedding of the Tenant, or correct or leave out that of the Dataset',
  ProviderUnreachable: 'it is tried again',
};

function held({ name, message }: NonNullable<EmbeddingState['failure']>): ConditionDraft {
  const reason = REASONS.get(name) ?? 'ProviderUnreachable';
  const said = message.replace(/\.$/, '');
  return {
    type: 'Migrating',
    status: 'True',
    reason,
    message: `The vectors stay as they are, ${ADVICE[reason]}: ${said}`,
  };
}

function emitMigratedEvent({ event }: DatasetContext, embedding: DatasetEmbedding | null): void {
  const message = `Vectors of ${embedding?.model ?? 'no model'} are searched now`;
  event({ type: 'Normal', reason: 'EmbeddingMigrated', message });
}

import type { DatasetId, TenantId } from '../../../kernel/brand.ts';
import type { DatasetRef } from '../../../kernel/dataset.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { defineMethod } from '../method.ts';

/** What the operator asks of cognify for its `Tenant` and `Dataset` resources. */
const codecs = () => import('../codecs/cognify-managed.ts');

export interface DatasetChunking {
  /** `paragraph`. */
  readonly strategy: string;
  /** Absent: as the embedding model allows. */
  readonly maxTokens?: number;
}

export interface SetDatasetConfigurationRequest {
  readonly tenantId: TenantId;
  readonly datasetId: DatasetId;
  /** `metadata.uid` of the resource that manages the dataset. */
  readonly crUid: string;
  /** A JSON schema. Absent, as the others: the server's default. */
  readonly graphModel?: JsonObject;
  readonly prompt?: string;
  readonly chunking?: DatasetChunking;
}

/** `sha256:<lower-case hex>` of what is set; null where nothing is. */
export interface DatasetConfigurationHashes {
  readonly graphModelHash: string | null;
  readonly promptHash: string | null;
  readonly chunkingHash: string | null;
  /** Something was built by another configuration than this one. */
  readonly drifted: boolean;
  /** What of it has no effect as the server is configured; null when all of it has. */
  readonly unused: string | null;
}

/**
 * What runs of a dataset use where their request says nothing, in place of what was set before. Errors:
 * `DatasetNotFoundError`, `OwnedByAnother`, `InvalidGraphModelError`, `InvalidChunkSizeError`, `InvalidRequestError` (a
 * strategy that there is not).
 */
export const setDatasetConfiguration = defineMethod<SetDatasetConfigurationRequest, DatasetConfigurationHashes>(
  'cognify.SetDatasetConfiguration',
  () => codecs().then(({ SetDatasetConfiguration }) => SetDatasetConfiguration),
);

/** Another embedding model than the tenant's, on the tenant's account. */
export interface DatasetEmbedding {
  /** As in the name of a space, without its provider. */
  readonly model: string;
  readonly dimensions: number;
}

export interface MigrateEmbeddingRequest {
  readonly tenantId: TenantId;
  readonly datasetId: DatasetId;
  /** Of the resource that manages the dataset. */
  readonly crUid: string;
  /** Absent: as the tenant's. */
  readonly embedding?: DatasetEmbedding;
}

export interface EmbeddingState {
  /** What the vectors that are searched were made with: provider and model. Null while there are none. */
  readonly embedding: DatasetEmbedding | null;
  readonly migration: {
    readonly from: DatasetEmbedding;
    readonly to: DatasetEmbedding;
    /** Items. */
    readonly done: number;
    readonly total: number;
    readonly startedAt: string;
    /** `settling`: the new vectors are searched, the former ones are about to go. */
    readonly phase: 'copying' | 'settling';
  } | null;
  /** Why it does not go on; the vectors there are stay in use, and a later call tries again. */
  readonly failure: { readonly name: string; readonly message: string } | null;
}

/**
 * Sets which embedding model a dataset is to have, and tells how far its vectors are brought to it from the stored texts.
 * That goes on for a few seconds after each call: to be called again for as long as there is a migration. Idempotent. Errors: `DatasetNotFoundError`,
 * `OwnedByAnother`, `ConflictError` (it is being erased).
 */
export const migrateEmbedding = defineMethod<MigrateEmbeddingRequest, EmbeddingState>('cognify.MigrateEmbedding', () =>
  codecs().then(({ MigrateEmbedding }) => MigrateEmbedding),
);

export interface BuiltStatistics {
  readonly chunks: number;
  readonly nodes: number;
  readonly edges: number;
  /** Items that wait to be built since the newest run failed at them. */
  readonly failed: number;
  /** Since when the oldest of the others waits; null: none does. */
  readonly pendingSince: string | null;
  /** When the newest run ended, if it succeeded, else when an item became visible last; null: never. */
  readonly lastCognifiedAt: string | null;
  /** Null: nobody writes now. */
  readonly writer: { readonly holder: string; readonly fencingToken: number } | null;
  readonly activeRun: { readonly id: string; readonly pipeline: string; readonly startedAt: string } | null;
}

/** For ingest, which answers the operator: what was built of a dataset, and who is at it. */
export const builtStatistics = defineMethod<{ readonly dataset: DatasetRef }, BuiltStatistics>(
  'cognify.BuiltStatistics',
  () => codecs().then(({ BuiltStatistics: codec }) => codec),
);

export interface ProbeModelRequest {
  readonly kind: 'language' | 'embedding';
  /** As of `LLM_PROVIDER` and `EMBEDDING_PROVIDER`. */
  readonly provider: string;
  readonly model: string;
  /** Absent or empty: the provider's own. */
  readonly endpoint?: string;
  /** Is kept nowhere and stands in no answer. */
  readonly apiKey?: string;
  /** Of an embedding model, where they are demanded. */
  readonly dimensions?: number;
}

export interface ProbeModelResponse {
  /**
   * `rejected`: the provider does not take the credential. `invalid`: provider, model, endpoint or dimensions are wrong.
   * `unreachable`: says nothing about the credential.
   */
  readonly outcome: 'accepted' | 'rejected' | 'invalid' | 'unreachable';
  /** A sentence without any secret; empty when accepted. */
  readonly detail: string;
}

/** Whether a provider takes a credential and has the model. Keeps nothing. */
export const probeModel = defineMethod<ProbeModelRequest, ProbeModelResponse>('cognify.ProbeModel', () =>
  codecs().then(({ ProbeModel }) => ProbeModel),
);

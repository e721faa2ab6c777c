import type { TenantId } from '../kernel/brand.ts';
import { isSameSpace, type VectorSpace } from '../storage/ports/vector-index.ts';
import type { Embedder } from './models.ts';

/** A model that one dataset asks for, on the account of its tenant. */
export type EmbeddingChoice = {
  readonly model: string;
  readonly dimensions: number;
};

/** The embedding models of tenants, as they are configured at one moment: the server's, and those on tenants' own accounts. */
export interface EmbedderSource {
  /**
   * The embedder for new vectors: the choice, else the tenant's own model, else the server's. `EmbeddingException`
   * says what to do where there is none such, or its key cannot be opened.
   */
  wanted(tenant: TenantId, choice: EmbeddingChoice | null): Promise<Embedder>;
  /** Embedder of existing vectors; null: their model is no longer configured. */
  of(tenant: TenantId, space: VectorSpace): Promise<Embedder | null>;
}

/** One model for everybody. */
export function onlyEmbedder(embedder: Embedder): EmbedderSource {
  return {
    wanted: async () => embedder,
    of: async (_, space) => (isSameSpace(embedder.space, space) ? embedder : null),
  };
}

import type { TenantId } from '../kernel/brand.ts';
import type { Extractor } from './extractor.ts';
import type { LanguageModel } from './models.ts';

/** The models as they are set at one moment. */
export interface ActiveModels {
  /** Null: none is configured, or it lacks its key. Rules do its work. */
  readonly languageModel: LanguageModel | null;
  /** A model is configured and lacks its key: what work that needs it ends with (`LLMAPIKeyNotSetError`). */
  readonly missingModelKey: string | null;
  readonly extractor: Extractor;
}

/**
 * Settings change while the service runs. Whatever begins – a run, a search – asks once and goes on with what it was given.
 * Settings that cannot be read leave the former in force.
 */
export interface ModelSource {
  /**
   * Tenant that the model is for: a tenant may have a model on an account of its own. Absent for the server's model.
   */
  current(tenant?: TenantId): Promise<ActiveModels>;
}

import { type StoredTenantModel, type TenantModels, tenantKeyPlace } from '../auth/repositories/tenant-models.ts';
import type { TenantId } from '../common/kernel/brand.ts';
import { recentlyUsed } from '../common/kernel/recently-used.ts';
import { PERSONAL_TENANT } from '../common/kernel/scope.ts';
import { lacksKey, type ModelSettings } from '../common/platform/config/model-choice.ts';
import type { Logger } from '../common/platform/observability/logger.ts';
import type { SecretBox } from '../common/ports/secret-box.ts';
import type { MonotonicClock } from '../common/ports/system.ts';
import { createFollowedModels, type FollowedModels } from './followed-models.ts';

/** A model that was chosen, by the environment or over it. */
export interface ChosenModel {
  readonly settings: ModelSettings | null;
  /** Why the model cannot be asked. */
  readonly fault: string | null;
}

interface TenantModelSourceOptions<Active> {
  readonly models: TenantModels;
  readonly secretBox: SecretBox;
  readonly open: (chosen: ChosenModel) => Promise<Active>;
  readonly rereadMs: number;
  readonly clock: MonotonicClock;
  readonly logger: Logger;
}

/** Models on accounts of tenants. */
interface TenantModelSource<Active> {
  /** Null: the tenant has none of its own, or the call names no tenant. */
  current(tenant: TenantId | undefined): Promise<Active | null>;
  /** Some tenant's may be another now. */
  outdated(): void;
}

/** Tenants whose models are held open; the one that was asked for longest ago makes room. */
const MOST_TENANTS = 1000;

export function createTenantModelSource<Active>(options: TenantModelSourceOptions<Active>): TenantModelSource<Active> {
  const { models, rereadMs, clock, logger } = options;
  const followed = new Map<TenantId, FollowedModels<Active | null>>();

  function follow(tenant: TenantId): FollowedModels<Active | null> {
    return createFollowedModels<Active | null, StoredTenantModel>({
      read: () => models.get(tenant),
      open: async (stored) => (stored === null ? null : options.open(await chosenOf(options, tenant, stored))),
      rereadMs,
      clock,
      logger,
    });
  }

  return {
    async current(tenant) {
      if (tenant === undefined || tenant === PERSONAL_TENANT) return null;
      return recentlyUsed(followed, MOST_TENANTS, tenant, () => follow(tenant)).current();
    },
    outdated() {
      for (const each of followed.values()) each.outdated();
    },
  };
}

async function chosenOf<Active>(
  { secretBox, logger }: TenantModelSourceOptions<Active>,
  tenant: TenantId,
  { provider, model, endpoint, sealedKey }: StoredTenantModel,
): Promise<ChosenModel> {
  const without: ModelSettings = { provider, model, endpoint: endpoint ?? undefined, apiKey: undefined };
  try {
    const apiKey = sealedKey === null ? undefined : await secretBox.open(sealedKey, tenantKeyPlace(tenant));
    const settings = { ...without, apiKey };
    if (!lacksKey(settings)) return { settings, fault: null };
    return { settings, fault: `LLM API key is not set: the tenant has ${provider} of its own, and no key for it.` };
  } catch (error) {
    // Never the key of the server instead: another account would be billed.
    logger.error('models.key.unopened', { tenant, error });
    const fault =
      'The LLM API key of the tenant cannot be opened. Set it again, or the ENGRAM_ROOT_KEYS that sealed it.';
    return { settings: without, fault };
  }
}

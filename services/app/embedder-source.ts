import {
  type EmbeddingAccount,
  embedderKeyPlace,
  type StoredTenantEmbedders,
  type TenantEmbedderAccounts,
} from '../auth/repositories/tenant-models.ts';
import type { TenantId } from '../common/kernel/brand.ts';
import { engramError } from '../common/kernel/errors.ts';
import { recentlyUsed } from '../common/kernel/recently-used.ts';
import { PERSONAL_TENANT } from '../common/kernel/scope.ts';
import { createHashingEmbedder } from '../common/models/hashing/hashing-embedder.ts';
import { lacksKey, type ModelSettings } from '../common/platform/config/model-choice.ts';
import type { Logger } from '../common/platform/observability/logger.ts';
import type { EmbedderSource, EmbeddingChoice } from '../common/ports/embedders.ts';
import type { Embedder } from '../common/ports/models.ts';
import type { SecretBox } from '../common/ports/secret-box.ts';
import type { MonotonicClock } from '../common/ports/system.ts';
import { isSameSpace, type VectorSpace } from '../common/storage/ports/vector-index.ts';
import { createFollowedModels, type FollowedModels } from './followed-models.ts';

interface EmbedderSourceOptions {
  /** The server's own. */
  readonly embedder: Embedder;
  readonly accounts: Pick<TenantEmbedderAccounts, 'get'>;
  readonly secretBox: Pick<SecretBox, 'open'>;
  /** Opens a model on the account of a tenant. */
  readonly open: (settings: ModelSettings & { readonly model: string }, dimensions: number) => Promise<Embedder>;
  readonly rereadMs: number;
  readonly clock: MonotonicClock;
  readonly logger: Logger;
}

/** Tenants whose models are held open; the one that was asked for longest ago makes room. */
const MOST_TENANTS = 1000;
const BUILTIN = 'builtin';
const HASHING = 'hashing-v1';

/** The accounts of a tenant as they were read, with the embedders that were opened on them. */
interface Accounts {
  readonly stored: StoredTenantEmbedders | null;
  readonly opened: Map<string, Promise<Embedder>>;
}

/** The server's embedding model, the built-in one, and those on accounts of tenants. */
export function createEmbedderSource(
  options: EmbedderSourceOptions,
): EmbedderSource & { /** Some tenant's may be another now. */ outdated(): void } {
  const { embedder: ofServer, accounts, clock, logger, rereadMs } = options;
  const followed = new Map<TenantId, FollowedModels<Accounts>>();
  const hashing = new Map<number, Embedder>();
  const builtin = (dimensions: number): Embedder => {
    const known = hashing.get(dimensions) ?? createHashingEmbedder({ dimensions });
    hashing.set(dimensions, known);
    return known;
  };
  const accountsOf = async (tenant: TenantId): Promise<Accounts> => {
    if (tenant === PERSONAL_TENANT) return { stored: null, opened: new Map() };
    const follow = () =>
      createFollowedModels<Accounts, StoredTenantEmbedders>({
        read: () => accounts.get(tenant),
        open: async (stored) => ({ stored, opened: new Map() }),
        rereadMs,
        clock,
        logger,
      });
    return recentlyUsed(followed, MOST_TENANTS, tenant, follow).current();
  };
  const openOn = (
    tenant: TenantId,
    { opened }: Accounts,
    account: EmbeddingAccount,
    { model, dimensions }: EmbeddingChoice,
  ): Promise<Embedder> => {
    const key = JSON.stringify([account.provider, account.endpoint, account.keySha256, model, dimensions]);
    const known = opened.get(key);
    if (known !== undefined) return known;
    const opening = settingsOf(options, tenant, account, model).then((settings) => options.open(settings, dimensions));
    opened.set(key, opening);
    // The next caller tries again.
    opening.catch(() => opened.delete(key));
    return opening;
  };
  return {
    async wanted(tenant, choice) {
      const held = await accountsOf(tenant);
      const current = held.stored?.current ?? null;
      if (choice !== null && choice.model === `${BUILTIN}/${HASHING}`) return builtin(choice.dimensions);
      if (current !== null) {
        if (current.provider === BUILTIN) return hashingFor(builtin, choice ?? current);
        return openOn(tenant, held, current, choice ?? current);
      }
      if (choice === null || isOfServer(ofServer.space, choice)) return ofServer;
      throw engramError(
        'EmbeddingException',
        `The tenant has no embedding account that could give ${choice.model} with ${choice.dimensions} dimensions, and the server has ${ofServer.space.model} with ${ofServer.space.dimensions}: set the tenant's embedding, or leave that of the dataset out.`,
      );
    },
    async of(tenant, space) {
      const held = await accountsOf(tenant);
      if (space.model === `${BUILTIN}/${HASHING}`) return builtin(space.dimensions);
      const { current = null, former = [] } = held.stored ?? {};
      const all = current === null ? former : [current, ...former];
      const account = all.find(({ provider }) => space.model.startsWith(`${provider}/`));
      if (account === undefined) return isSameSpace(ofServer.space, space) ? ofServer : null;
      const model = space.model.slice(account.provider.length + 1);
      return openOn(tenant, held, account, { model, dimensions: space.dimensions });
    },
    outdated() {
      for (const each of followed.values()) each.outdated();
    },
  };
}

function hashingFor(builtin: (dimensions: number) => Embedder, { model, dimensions }: EmbeddingChoice): Embedder {
  if (model === HASHING) return builtin(dimensions);
  throw engramError('EmbeddingException', `The server has no built-in embedding model ${model}; it has ${HASHING}.`);
}

/** Returns whether a vector space is of the server's model, named with or without its provider. */
function isOfServer(space: VectorSpace, { model, dimensions }: EmbeddingChoice): boolean {
  const isNamed = space.model === model || space.model.slice(space.model.indexOf('/') + 1) === model;
  return isNamed && space.dimensions === dimensions;
}

async function settingsOf(
  { secretBox, logger }: EmbedderSourceOptions,
  tenant: TenantId,
  { provider, endpoint, sealedKey }: EmbeddingAccount,
  model: string,
): Promise<ModelSettings & { readonly model: string }> {
  let apiKey: string | undefined;
  try {
    apiKey = sealedKey === null ? undefined : await secretBox.open(sealedKey, embedderKeyPlace(tenant));
  } catch (error) {
    // Never the key of the server instead: another account would be billed.
    logger.error('models.key.unopened', { tenant, error });
    throw engramError(
      'EmbeddingException',
      'The embedding API key of the tenant cannot be opened. Set it again, or the ENGRAM_ROOT_KEYS that sealed it.',
    );
  }
  const settings = { provider, model, endpoint: endpoint ?? undefined, apiKey };
  if (!lacksKey(settings)) return settings;
  throw engramError(
    'EmbeddingException',
    `Embedding API key is not set: the tenant has ${provider} of its own, and no key for it.`,
  );
}

import type { TenantId, UserId } from '../../kernel/brand.ts';
import { sha256OfJson } from '../../kernel/hashes.ts';
import { createTtlCache, type TtlCacheOptions } from '../../kernel/ttl-cache.ts';
import { type AccessChange, type AnswerOf, EVERY_TENANT, type RequestOf } from './messages.ts';
import type { CallContext, Messenger } from './messenger.ts';

type Query = RequestOf<'auth.ResolveDatasets'>;
type Answer = AnswerOf<'auth.ResolveDatasets'>;

interface Entry {
  readonly answer: Answer;
  readonly tenant: TenantId;
  readonly user: UserId;
}

/**
 * Remembers for a second which datasets a principal may read, where auth is another process, so that a warm request asks auth
 * only who sends it, which auth answers from its own memory. Only what auth granted is kept, and only for reading: a write
 * that went by an old answer would be acknowledged into a dataset that is gone. The principal, and its tenant, is
 * not kept: a request that changes it is followed at once by others that go by it. What changes is dropped by the news of it.
 */
export function rememberAccess(messenger: Messenger, options: TtlCacheOptions) {
  const entries = createTtlCache<string, Entry>(options);
  const ask = async (request: Query, context: CallContext): Promise<Answer> => {
    const { principal } = context;
    const isKept = context.proof !== undefined && isNamedReading(request);
    if (principal === undefined || !isKept) return messenger.call('auth.ResolveDatasets', request, context);
    const { id: user, tenant, key: apiKey } = principal;
    const key = sha256OfJson({ request, user, tenant, apiKey }, 'base64');
    const load = async () => ({
      answer: await messenger.call('auth.ResolveDatasets', request, context),
      tenant,
      user,
    });
    return (await entries.of(key, load)).answer;
  };
  const forget = ({ tenant, userId, datasetId }: AccessChange): void =>
    entries.drop((_, entry) => {
      const isOfDataset = datasetId !== null && entry.answer.datasets.some(({ id }) => id === datasetId);
      const isOfUser = userId !== null && entry.user === userId;
      const isOfTenant = userId === null && datasetId === null && entry.tenant === tenant;
      return isOfDataset || isOfUser || isOfTenant;
    });
  const call: Messenger['call'] = async (path, request, context) => {
    if (path !== 'auth.ResolveDatasets') return messenger.call(path, request, context);
    return (await ask(request as Query, context)) as never;
  };
  return {
    /** The messenger, which answers from memory what auth said a moment ago. */
    messenger: { ...messenger, call },
    /** Hears what changes. */
    listen: () => messenger.subscribe('access', EVERY_TENANT, forget),
  };
}

/** "Everything I may read" is not kept: what was granted a moment ago would be missing. */
function isNamedReading({ permission, ids = [], names = [] }: Query): boolean {
  return permission === 'read' && ids.length + names.length > 0;
}

import { hash } from 'node:crypto';
import type { DatasetId, TenantId, UserId } from '../domain/brand.ts';
import type { Subscription } from '../ports/bus.ts';
import type { Clock } from '../ports/system.ts';
import type { CallContext, Messenger } from './messenger.ts';
import type { Method } from './method.ts';
import {
  type AccessChange,
  accessChanges,
  EVERY_TENANT,
  type ResolveDatasetsRequest,
  type ResolveDatasetsResponse,
  resolveDatasets,
} from './methods/auth.ts';

export interface RememberedAccess {
  /** The messenger, which answers from memory what auth said a moment ago. */
  readonly messenger: Messenger;
  /** Hears what changes. */
  listen(): Promise<Subscription>;
}

export interface RememberedAccessOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** How long an answer stands should the news of a change be lost. */
  readonly ttlMs?: number;
  readonly maxEntries?: number;
}

interface Entry {
  readonly answer: unknown;
  readonly untilMs: number;
  readonly tenant: TenantId;
  readonly user: UserId;
  readonly datasets: readonly DatasetId[];
}

/**
 * Where auth is another process: remembers for a second which datasets somebody may read, so that a warm request asks auth
 * only who sends it, which auth answers from its own memory. Only what auth granted is kept, and only for reading: a write
 * that went by an old answer would be acknowledged into a dataset that is gone. Who somebody is, and in which tenant, is
 * not kept: a request that changes it is followed at once by others that go by it. What changes is dropped by the news of it.
 */
export function rememberAccess(
  messenger: Messenger,
  { clock, ttlMs = 1000, maxEntries = 10_000 }: RememberedAccessOptions,
): RememberedAccess {
  const entries = new Map<string, Entry>();
  let era = 0;
  const remembered = async <Answer>(
    key: string,
    ask: () => Promise<Answer>,
    subjectOf: (answer: Answer) => Omit<Entry, 'answer' | 'untilMs'>,
  ): Promise<Answer> => {
    const now = clock.monotonicMs();
    const known = entries.get(key);
    if (known !== undefined && now < known.untilMs) return known.answer as Answer;
    const askedIn = era;
    const answer = await ask();
    // News that came while auth was asked may be about this answer.
    if (askedIn !== era) return answer;
    entries.delete(key);
    if (entries.size >= maxEntries) entries.delete(entries.keys().next().value ?? '');
    entries.set(key, { ...subjectOf(answer), answer, untilMs: now + ttlMs });
    return answer;
  };
  const askWhat = (request: ResolveDatasetsRequest, context: CallContext): Promise<ResolveDatasetsResponse> => {
    const { principal } = context;
    const ask = () => messenger.call(resolveDatasets, request, context);
    if (principal === undefined || context.proof === undefined || !isNamedReading(request)) return ask();
    const { id: user, tenant, key } = principal;
    return remembered(digest({ request, user, tenant, key }), ask, ({ datasets }) => ({
      ...{ tenant, user, datasets: datasets.map(({ id }) => id) },
    }));
  };
  const forget = ({ tenant, userId, datasetId }: AccessChange): void => {
    era += 1;
    for (const [key, entry] of entries) {
      const isOfDataset = datasetId !== null && entry.datasets.includes(datasetId);
      const isOfUser = userId !== null && entry.user === userId;
      const isOfTenant = userId === null && datasetId === null && entry.tenant === tenant;
      if (isOfDataset || isOfUser || isOfTenant) entries.delete(key);
    }
  };
  const call = <Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    context: CallContext,
  ): Promise<Response> => {
    if (method.path !== resolveDatasets.path) return messenger.call(method, request, context);
    return askWhat(request as ResolveDatasetsRequest, context) as Promise<Response>;
  };
  return {
    messenger: { ...messenger, call },
    listen: () => messenger.subscribe(accessChanges, EVERY_TENANT, forget),
  };
}

/** "Everything I may read" is not kept: what was granted a moment ago would be missing. */
function isNamedReading({ permission, ids = [], names = [] }: ResolveDatasetsRequest): boolean {
  return permission === 'read' && ids.length + names.length > 0;
}

function digest(asked: unknown): string {
  return hash('sha256', JSON.stringify(asked), 'base64');
}

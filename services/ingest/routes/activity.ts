import { z } from 'zod';
import { shownAgentAddress } from '../../common/domain/agent-address.ts';
import type { UserId } from '../../common/kernel/brand.ts';
import { isTenantKey, type Principal } from '../../common/kernel/principal.ts';
import { textAnswer } from '../../common/platform/http/answer-schemas.ts';
import { beginStream } from '../../common/platform/http/begin-stream.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { ofAccount, onDatasets, own } from '../../common/platform/http/route-permission.ts';
import { uuid } from '../../common/platform/http/schema.ts';
import { NO_TRACES } from '../../common/ports/tracer.ts';
import type { User } from '../../common/records/auth/users.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { datasetWith } from '../items/target-dataset.ts';
import { contentDisposition } from '../presenters/data-item.ts';
import { presentTrace, traceSchema } from '../presenters/trace.ts';
import { accounts, activeAccounts as activeAccountsAnswer } from './answers.schema.ts';

const { routes, get } = routesOf<IngestDependencies>({ tag: 'activity' });

/** Who did what, and all that is remembered as a text (ingest.md §8.3). */
export const activityRoutes = routes(
  get('/api/v1/activity/agents', 'listActiveAgents', {
    permission: ofAccount('account and agents'),
    summary: 'The caller and its agents, with what they did last',
    responses: { 200: { description: 'A bare array', schema: activeAccountsAnswer } },
    async handle({ principal }, dependencies) {
      const active = await activeAccounts(dependencies, principal);
      const shown = { now: dependencies.clock.now(), defaultEmail: dependencies.settings.defaultUserEmail };
      return json(active.map((account) => presentActiveAccount(account, shown)));
    },
  }),
  get('/api/v1/activity/users', 'listAccounts', {
    permission: ofAccount('account and agents'),
    summary: 'The caller and its agents as accounts',
    responses: { 200: { description: 'A bare array', schema: accounts } },
    handle: async ({ principal }, dependencies) =>
      json((await ownAccounts(dependencies, principal)).map(presentAccount)),
  }),
  get('/api/v1/activity/spans', 'listSpans', {
    permission: own('requests and runs, and those of agents'),
    summary: 'Where the time of recent requests and runs went; empty unless COGNEE_TRACING_ENABLED is on',
    responses: { 200: { description: 'A bare array of traces, oldest first', schema: z.array(traceSchema) } },
    presentError: (reply) =>
      (reply.status ?? 200) < 500 ? reply : { status: 500, json: { error: 'Unable to retrieve activity traces.' } },
    handle: async ({ principal }, dependencies) =>
      json((await visibleTraces(dependencies, principal)).map(presentTrace)),
  }),
  get('/api/v1/activity/export/:datasetId', 'exportDataset', {
    permission: onDatasets('read'),
    summary: 'The memory of a dataset as Markdown',
    params: z.object({ datasetId: uuid() }),
    responses: {
      200: {
        description: 'Summaries, entities, relationships, documents and other nodes, streamed',
        schema: textAnswer,
        mediaType: 'text/markdown',
      },
      403: { description: 'The dataset is unknown or not readable' },
    },
    async handle({ principal, params, context, signal }, dependencies) {
      const dataset = await datasetWith(dependencies, { principal, context }, params.datasetId, 'read');
      const { tenant, id: subject } = dataset;
      const details = { what: 'memory' };
      await dependencies.audit.record({ tenant, action: 'export.made', actor: principal.id, subject, details });
      const { memoryMarkdown } = await import('../items/export-memory.ts');
      return {
        stream: await beginStream(memoryMarkdown(dependencies, dataset, signal)),
        headers: {
          'content-type': 'text/markdown; charset=utf-8',
          'content-disposition': contentDisposition(`${dataset.name}-memory-export.md`),
        },
      };
    },
  }),
);

type Row = Readonly<Record<string, unknown>>;

/** So long after its last activity an account counts as live. */
const LIVE_MS = 30 * 60 * 1000;

/** Presents an account as ingest.md §8.3 describes. */
function presentActiveAccount(
  { user, keyCount, lastActive }: ActiveAccount,
  { now, defaultEmail }: { readonly now: Date; readonly defaultEmail: string },
): Row {
  const isDefault = user.email === defaultEmail;
  const [localPart = ''] = shownAgentAddress(user.email).split('@');
  const isAgent = user.parentId !== null;
  return {
    id: user.id,
    email: shownAgentAddress(user.email),
    agent_type: isDefault ? 'Human User' : isAgent ? localPart.replaceAll(/[-_]/g, ' ') : localPart,
    agent_short_id: user.parentId ?? '',
    is_agent: isAgent,
    is_default: isDefault,
    status: statusOf(lastActive, now),
    api_key_count: keyCount,
    created_at: user.createdAt,
    last_active: lastActive,
  };
}

function presentAccount({ id, email, isSuperuser, createdAt }: User): Row {
  return { id, email: shownAgentAddress(email), is_superuser: isSuperuser, created_at: createdAt };
}

function statusOf(lastActive: string | null, now: Date): string {
  if (lastActive === null) return 'NEVER_CONNECTED';
  return now.getTime() - Date.parse(lastActive) < LIVE_MS ? 'LIVE' : 'INACTIVE';
}

/** Traces of the caller and its agents in their tenant; superusers see everybody's. Oldest first. */
async function visibleTraces({ traces = NO_TRACES, users }: IngestDependencies, principal: Principal) {
  const { id, tenant, isSuperuser } = principal;
  if (isSuperuser && !isTenantKey(principal)) return traces.list(() => true);
  const accounts = new Set([id, ...(await users.childAgents(id))]);
  return traces.list((owner) => owner !== null && owner.tenant === tenant && accounts.has(owner.user));
}

interface ActiveAccount {
  readonly user: User;
  readonly keyCount: number;
  /** The newest run or search, or use of a session, a connection or a key; null: there was none. */
  readonly lastActive: string | null;
}

/** The caller and its agents, each with what it did last: other accounts are not shown. */
async function activeAccounts(dependencies: IngestDependencies, principal: Principal) {
  const accounts = await ownAccounts(dependencies, principal);
  const found: ActiveAccount[] = [];
  for (const user of accounts) found.push(await withActivity(dependencies, principal, user));
  return found;
}

async function ownAccounts({ users }: IngestDependencies, { id }: Principal): Promise<readonly User[]> {
  const found = await users.getMany([id, ...(await users.childAgents(id))]);
  return found.filter(({ isActive }) => isActive);
}

async function withActivity(
  { apiKeys, connections, visibleSessions, runRecords, searchHistory }: IngestDependencies,
  { tenant }: Principal,
  user: User,
): Promise<ActiveAccount> {
  const [keys, sessions, connected, runs, asked] = await Promise.all([
    apiKeys.ofUser(user.id),
    visibleSessions.page({ tenant }, { users: [user.id], datasets: [] }, NEWEST),
    connections.page([user.id] satisfies UserId[], { states: ['active', 'inactive'], limit: 1, offset: 0 }),
    runRecords.newest({ tenant }, { users: [user.id], limit: 1, offset: 0 }),
    searchHistory.lastAsked({ tenant }, user.id),
  ]);
  const times = [
    ...keys.map(({ lastUsedAt }) => lastUsedAt),
    ...sessions.sessions.map(({ lastActivityAt }) => lastActivityAt),
    ...connected.connections.map(({ lastActiveAt }) => lastActiveAt),
    ...runs.map(({ record }) => record.createdAt),
    asked,
  ].filter((time) => time !== null);
  return { user, keyCount: keys.length, lastActive: times.toSorted().at(-1) ?? null };
}

const NEWEST = { from: null, before: null, order: 'lastActivityAt', descending: true, limit: 1, offset: 0 } as const;

import { z } from 'zod';
import type { AgentConnection } from '../../common/domain/agent-connection.ts';
import type { Session } from '../../common/domain/session.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { own } from '../../common/platform/http/route-permission.ts';
import { lenientBoolean, lenientInteger } from '../../common/platform/http/schema.ts';
import { presentQa, presentTrace } from '../../common/presenters/session-rows.ts';
import type { SessionOrder } from '../../common/records/sessions/visible-sessions.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { agentTypeOf } from '../sessions/agent-type.ts';
import {
  connectionsOf,
  type ListedSession,
  listSessions,
  readSession,
  type SessionDetail,
  type SessionList,
  type SessionListQuery,
  type SessionRange,
} from '../sessions/list-sessions.ts';
import {
  type AgentCost,
  costByModel,
  costByUserAgent,
  type ModelCost,
  type SessionStatistics,
  sessionStatistics,
} from '../sessions/session-statistics.ts';
import {
  agentCosts,
  modelCosts,
  sessionDetail,
  sessionPage,
  sessionStatistics as sessionStatisticsAnswer,
  sessionWithAgentPage,
} from './answers.schema.ts';

const range = z.literal(['24h', '7d', '30d', 'all']).default('30d');
const rangeQuery = z.object({ range });
const listQuery = z.object({
  range,
  status: z.string().optional(),
  limit: lenientInteger({ min: 1, max: 500 }).default(50),
  offset: lenientInteger({ min: 0, max: 100_000 }).default(0),
  order_by: z.string().default('last_activity_at'),
  descending: lenientBoolean().default(true),
  labels: lenientBoolean().default(false).describe('Ours: add the first question of each'),
});
type ListQuery = z.output<typeof listQuery>;

/** None ends and no cost is known: by these all are equal, and the last activity orders them. */
const ORDERS: ReadonlyMap<string, SessionOrder> = new Map(
  Object.entries<SessionOrder>({
    started_at: 'startedAt',
    tokens_in: 'tokensIn',
    tokens_out: 'tokensOut',
  }),
);
const UNKNOWN_RANGE = { 400: { description: 'An unknown range' } };

const { routes, get } = routesOf<IngestDependencies>({
  tag: 'sessions',
  permission: own('sessions, those of own agents, and those on datasets with read'),
});

/** Sessions as their owners, their owners' parents and readers of their datasets see them (ingest.md §8.1). */
export const sessionRoutes = routes(
  get('/api/v1/sessions', 'listSessions', {
    summary: 'Sessions, by page',
    query: listQuery,
    responses: { 200: { description: 'A page of them', schema: sessionPage }, ...UNKNOWN_RANGE },
    async handle({ principal, query, context }, dependencies) {
      const list = await listSessions(dependencies, principal, listQueryOf(query), context);
      return json(
        page(
          list,
          query,
          list.sessions.map((listed) => presentListed(listed, query)),
        ),
      );
    },
  }),
  get('/api/v1/sessions/with-agent-info', 'listSessionsWithAgents', {
    summary: 'Sessions, by page, with the agents that worked in them',
    query: listQuery,
    responses: { 200: { description: 'A page of them', schema: sessionWithAgentPage }, ...UNKNOWN_RANGE },
    async handle({ principal, query, context }, dependencies) {
      const list = await listSessions(dependencies, principal, listQueryOf(query), context);
      const connectionOf = await connectionsOf(
        dependencies,
        list.sessions.map(({ session }) => session),
      );
      const rows = list.sessions.map((listed) => presentWithAgent(listed, connectionOf(listed.session), query));
      return json(page(list, query, rows));
    },
  }),
  get('/api/v1/sessions/stats', 'getSessionStatistics', {
    summary: 'What the sessions of a time came to',
    query: rangeQuery,
    responses: { 200: { description: 'Counts, tokens, spending and times', schema: sessionStatisticsAnswer } },
    async handle({ principal, query, context }, dependencies) {
      const statistics = await sessionStatistics(dependencies, principal, query.range, context);
      return json(presentStatistics(query.range, statistics));
    },
  }),
  get('/api/v1/sessions/cost-by-model', 'getCostByModel', {
    summary: 'Tokens and spending of sessions by model',
    query: rangeQuery,
    responses: { 200: { description: 'Dearest first', schema: modelCosts } },
    handle: async ({ principal, query, context }, dependencies) =>
      json((await costByModel(dependencies, principal, query.range, context)).map(presentModelCost)),
  }),
  get('/api/v1/sessions/cost-by-user-agent', 'getCostByUserAgent', {
    summary: 'Tokens and spending of sessions by user and type of agent',
    query: rangeQuery,
    responses: { 200: { description: 'Dearest first', schema: agentCosts } },
    handle: async ({ principal, query, context }, dependencies) =>
      json((await costByUserAgent(dependencies, principal, query.range, context)).map(presentAgentCost)),
  }),
  get('/api/v1/sessions/:sessionId', 'getSession', {
    summary: 'A session with its last questions and steps',
    params: z.object({ sessionId: z.string() }),
    responses: {
      200: { description: 'With its last questions and steps', schema: sessionDetail },
      404: { description: 'No such session in sight' },
    },
    async handle({ principal, params, context }, dependencies) {
      const detail = await readSession(dependencies, principal, params.sessionId, context);
      if (detail === null) throw new HttpError(404, { detail: 'session not found' });
      return json(presentDetail(detail));
    },
  }),
);

function listQueryOf({ status, order_by, ...query }: ListQuery): SessionListQuery {
  return { ...query, status: status ?? null, order: ORDERS.get(order_by) ?? 'lastActivityAt' };
}

function page({ total }: SessionList, { limit, offset }: ListQuery, sessions: readonly unknown[]) {
  return { sessions, total, limit, offset, has_more: offset + sessions.length < total };
}

type Row = Readonly<Record<string, unknown>>;

function presentListed({ session, status }: ListedSession, { labels }: { readonly labels: boolean }): Row {
  return { ...presentRow(session), effective_status: status, ...(labels ? { label: session.label } : {}) };
}

function presentWithAgent(
  listed: ListedSession,
  connection: AgentConnection | null,
  shown: { readonly labels: boolean },
): Row {
  return {
    ...presentListed(listed, shown),
    agent_type: agentTypeOf(listed.session, connection),
    agent_source: connection?.source ?? null,
    agent_session_name: connection?.sessionName ?? null,
    origin_function: connection?.originFunction ?? null,
  };
}

function presentDetail({ session, label, qas, traces }: SessionDetail): Row {
  const { qaCount, traceCount, expired } = session;
  return {
    ...presentRow(session),
    label,
    msg_count: qaCount - expired.qas,
    tool_calls: traceCount - expired.traces,
    qas: qas.map(presentQa),
    traces: traces.map(presentTrace),
  };
}

export function presentStatistics(range: SessionRange, statistics: SessionStatistics): Row {
  const { sessions, tokensIn, tokensOut, activeSeconds, abandoned, running } = statistics;
  return {
    range,
    sessions,
    total_spend_usd: costOf(tokensIn + tokensOut),
    avg_spend_per_session_usd: costOf(tokensIn + tokensOut),
    tokens_in: tokensIn,
    tokens_out: tokensOut,
    tokens_total: tokensIn + tokensOut,
    agent_time_s: activeSeconds,
    avg_session_s: sessions === 0 ? 0 : activeSeconds / sessions,
    // Nothing ends a session as completed or failed: there is nothing decided to count.
    success_rate: 1,
    completed: 0,
    failed: 0,
    abandoned,
    running,
  };
}

export function presentModelCost({ model, sessions, tokensIn, tokensOut }: ModelCost): Row {
  return {
    model,
    session_count: sessions,
    cost_usd: costOf(tokensIn + tokensOut),
    tokens_in: tokensIn,
    tokens_out: tokensOut,
  };
}

function presentAgentCost({ user, email, agentType, sessions, tokensIn, tokensOut }: AgentCost): Row {
  return {
    user_id: user,
    user_email: email,
    agent_type: agentType,
    session_count: sessions,
    tokens_in: tokensIn,
    tokens_out: tokensOut,
    tokens_total: tokensIn + tokensOut,
    cost_usd: costOf(tokensIn + tokensOut),
  };
}

/** Prices are not known: what took tokens has an unknown cost. */
function costOf(tokens: number): 0 | null {
  return tokens === 0 ? 0 : null;
}

function presentRow(session: Session): Row {
  const { usage } = session;
  return {
    session_id: session.session,
    user_id: session.user,
    dataset_id: session.dataset,
    agent_id: session.agent,
    status: 'running',
    started_at: session.startedAt,
    last_activity_at: session.lastActivityAt,
    ended_at: null,
    tokens_in: usage.tokensIn,
    tokens_out: usage.tokensOut,
    cost_usd: costOf(usage.tokensIn + usage.tokensOut),
    embedding_tokens: usage.embeddingTokens,
    embedding_cost_usd: costOf(usage.embeddingTokens),
    error_count: session.errorCount,
    last_model: session.lastModel,
  };
}

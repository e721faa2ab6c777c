import { z } from 'zod';
import { CONNECTION_SOURCES, MEMORY_MODES } from '../../common/domain/agent-connection.ts';
import type { UserId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import type { Json } from '../../common/kernel/json.ts';
import { qaRow, traceRow } from '../../common/platform/http/answer-schemas.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { NO_PERMISSION, ofAccount, onDatasets } from '../../common/platform/http/route-permission.ts';
import { lenientBoolean, lenientInteger, uuid } from '../../common/platform/http/schema.ts';
import {
  type AgentConnectionDependencies,
  findConnection,
  listConnections,
  registerConnection,
  unregisterConnection,
} from '../agents/agent-connections.ts';
import { presentConnection, presentConnectionDetail, presentConnectionList } from '../presenters/agent-connection.ts';

/** Longer than any name that clients send; the contract has no limit, but names are stored permanently. */
const MAX_TEXT_LENGTH = 1000;
const MAX_DATASETS = 1000;

const text = z.string().max(MAX_TEXT_LENGTH);
const texts = z.array(text).max(MAX_DATASETS).default([]);

const registerConnectionBody = z
  .object({
    agent_session_name: text,
    type: text.default('api'),
    memory_mode: z.literal(MEMORY_MODES).default('unknown'),
    session_id: text.nullish(),
    dataset_ids: texts,
    dataset_names: texts,
    source: z.literal(CONNECTION_SOURCES).default('api'),
    origin_function: text.nullish(),
    metadata: z
      .record(
        z.string(),
        z.unknown().transform((value) => value as Json),
      )
      .default({}),
  })
  .meta({ id: 'RegisterAgentRequest' });

const unregisterConnectionBody = z.object({ agent_session_name: text }).meta({ id: 'UnregisterAgentRequest' });

const connectionsQuery = z.object({
  /** The id of a user, not of a connection. */
  agent_id: uuid().optional(),
  /** Accepted without effect, as in the reference implementation. */
  range: z.literal(['24h', '7d', '30d', 'all']).default('30d'),
  status: z.literal(['active', 'inactive', 'unknown']).optional(),
  include_sources: lenientBoolean().default(true),
  active_only: lenientBoolean().default(true),
  limit: lenientInteger({ min: 1, max: 500 }).default(50),
  offset: lenientInteger({ min: 0, max: 1_000_000 }).default(0),
});

const connectionQuery = z.object({ agent_session_name: text.optional() });

const connectionParams = z.object({ agentId: uuid() });

const connectionRecord = z
  .object({
    id: z.string(),
    agent_session_name: z.string(),
    type: z.string(),
    memory_mode: z.string(),
    session_id: z.string().nullable(),
    user_id: z.string(),
    tenant_id: z.string().nullable(),
    datasets: z.array(
      z.object({ id: z.string().nullable(), name: z.string().nullable(), role: z.string(), type: z.string() }),
    ),
    last_active_at: z.string(),
    status: z.string(),
    source: z.string(),
    origin_function: z.string().nullable(),
    metadata: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'AgentConnection' });

const memorySource = z
  .object({
    id: z.string(),
    name: z.string(),
    type: z.string(),
    owner_id: z.string(),
    tenant_id: z.string().nullable(),
    status: z.string(),
    connected_agent_ids: z.array(z.string()),
    metadata: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'MemorySource' });

const connectionList = z
  .object({
    agents: z.array(connectionRecord),
    memory_sources: z.array(memorySource),
    total: z.int(),
    limit: z.int(),
    offset: z.int(),
    has_more: z.boolean(),
  })
  .meta({ id: 'AgentConnectionList' });

const connectionDetail = z
  .object({
    agent: connectionRecord,
    memory_sources: z.array(memorySource),
    recent_sessions: z.array(z.object({ session_id: z.string(), user_id: z.string() })),
    recent_traces: z.array(traceRow),
    recent_qas: z.array(qaRow),
  })
  .meta({ id: 'AgentConnectionDetail' });

const unregisterAnswer = z.object({ activeAgents: z.int() }).meta({ id: 'AgentModeDTO' });

const NOT_FOUND = { 404: { description: 'No such connection that the caller may see' } };

const { routes, get, post } = routesOf<AgentConnectionDependencies>({ tag: 'agent connections' });

/**
 * Sessions of programs. A program with a limited API key registers and reads its own, which reveals nothing of the account;
 * lists of all agents need the whole account.
 */
export const agentConnectionRoutes = routes(
  post('/api/v1/agents/register', 'registerAgentConnection', {
    summary: 'Register a session of the caller',
    permission: onDatasets('read', 'on the datasets listed'),
    body: { kind: 'json', schema: registerConnectionBody },
    responses: {
      201: { description: 'The connection', schema: connectionRecord },
      403: { description: 'A dataset is not readable by the caller' },
    },
    async handle({ principal, body }, deps) {
      const connection = await registerConnection(deps, principal, {
        sessionName: body.agent_session_name,
        type: body.type,
        memoryMode: body.memory_mode,
        sessionId: body.session_id ?? null,
        datasetIds: body.dataset_ids,
        datasetNames: body.dataset_names,
        source: body.source,
        originFunction: body.origin_function ?? null,
        metadata: body.metadata,
      });
      return json(presentConnection(connection), 201);
    },
  }),
  post('/api/v1/agents/unregister', 'endAgentConnection', {
    idempotent: true,
    summary: 'End a session of the caller',
    permission: NO_PERMISSION,
    body: { kind: 'json', schema: unregisterConnectionBody },
    responses: { 200: { description: 'Active connections that the caller has left', schema: unregisterAnswer } },
    handle: async ({ principal, body }, deps) =>
      json({ activeAgents: await unregisterConnection(deps, principal, body.agent_session_name) }),
  }),
  get('/api/v1/agents/connections', 'listAgentConnections', {
    summary: 'Connections of the caller and of its agents, newest first',
    permission: ofAccount('connections and those of own agents'),
    query: connectionsQuery,
    responses: { 200: { description: 'A page of them', schema: connectionList } },
    async handle({ principal, query }, deps) {
      const { limit, offset, agent_id: agentId } = query;
      const found = await listConnections(deps, principal, {
        userId: agentId === undefined ? undefined : asId<UserId>(agentId),
        state: query.status,
        activeOnly: query.active_only,
        includeSources: query.include_sources,
        limit,
        offset,
      });
      return json(presentConnectionList(found, { limit, offset }));
    },
  }),
  get('/api/v1/agents/connections/me', 'getOwnAgentConnection', {
    summary: 'The active connection that the caller registered last, or the one of a name',
    permission: NO_PERMISSION,
    query: connectionQuery,
    responses: { 200: { description: 'The connection', schema: connectionDetail }, ...NOT_FOUND },
    async handle({ principal, query }, deps) {
      const wanted = { userId: principal.id, sessionName: query.agent_session_name };
      return json(presentConnectionDetail(await findConnection(deps, principal, wanted)));
    },
  }),
  get('/api/v1/agents/connections/:agentId', 'getAgentConnection', {
    summary: 'The same for an own agent, by the id of its account',
    permission: ofAccount('connections and those of own agents'),
    params: connectionParams,
    query: connectionQuery,
    responses: { 200: { description: 'The connection', schema: connectionDetail }, ...NOT_FOUND },
    async handle({ principal, params, query }, deps) {
      const wanted = { userId: asId<UserId>(params.agentId), sessionName: query.agent_session_name };
      return json(presentConnectionDetail(await findConnection(deps, principal, wanted)));
    },
  }),
);

import type { UserId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { NO_PERMISSION, ofAccount, onDatasets } from '../../common/platform/http/route-permission.ts';
import {
  type AgentConnectionDependencies,
  findConnection,
  listConnections,
  registerConnection,
  unregisterConnection,
} from '../agents/agent-connections.ts';
import { presentConnection, presentConnectionDetail, presentConnectionList } from '../presenters/agent-connection.ts';
import {
  connectionDetail,
  connectionList,
  connectionParams,
  connectionQuery,
  connectionRecord,
  connectionsQuery,
  registerConnectionBody,
  unregisterAnswer,
  unregisterConnectionBody,
} from './agent-connection.schema.ts';

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

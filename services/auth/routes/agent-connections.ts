import type { UserId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import { defineRoute, json, type Route } from '../../common/platform/http/route.ts';
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

/**
 * Sessions of programs. A program with a limited API key registers and reads its own, which reveals nothing of the account;
 * lists of all agents need the whole account.
 */
export function agentConnectionRoutes(deps: AgentConnectionDependencies): readonly Route[] {
  return [register(deps), unregister(deps), list(deps), readOwn(deps), read(deps)];
}

const tag = 'agent connections';
const NOT_FOUND = { 404: { description: 'No such connection that the caller may see' } };

function register(deps: AgentConnectionDependencies): Route {
  return defineRoute({
    method: 'POST',
    path: '/api/v1/agents/register',
    tag,
    operationId: 'registerAgentConnection',
    summary: 'Register a session of the caller',
    auth: 'user',
    permission: onDatasets('read', 'on the datasets listed'),
    body: { kind: 'json', schema: registerConnectionBody },
    responses: {
      201: { description: 'The connection', schema: connectionRecord },
      403: { description: 'A dataset is not readable by the caller' },
    },
    async handle({ principal, body }) {
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
  });
}

function unregister(deps: AgentConnectionDependencies): Route {
  return defineRoute({
    method: 'POST',
    path: '/api/v1/agents/unregister',
    tag,
    operationId: 'endAgentConnection',
    idempotent: true,
    summary: 'End a session of the caller',
    auth: 'user',
    permission: NO_PERMISSION,
    body: { kind: 'json', schema: unregisterConnectionBody },
    responses: { 200: { description: 'Active connections that the caller has left', schema: unregisterAnswer } },
    async handle({ principal, body }) {
      return json({ activeAgents: await unregisterConnection(deps, principal, body.agent_session_name) });
    },
  });
}

function list(deps: AgentConnectionDependencies): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/v1/agents/connections',
    tag,
    operationId: 'listAgentConnections',
    summary: 'Connections of the caller and of its agents, newest first',
    auth: 'user',
    permission: ofAccount('connections and those of own agents'),
    query: connectionsQuery,
    responses: { 200: { description: 'A page of them', schema: connectionList } },
    async handle({ principal, query }) {
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
  });
}

function readOwn(deps: AgentConnectionDependencies): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/v1/agents/connections/me',
    tag,
    operationId: 'getOwnAgentConnection',
    summary: 'The active connection that the caller registered last, or the one of a name',
    auth: 'user',
    permission: NO_PERMISSION,
    query: connectionQuery,
    responses: { 200: { description: 'The connection', schema: connectionDetail }, ...NOT_FOUND },
    async handle({ principal, query }) {
      const wanted = { userId: principal.id, sessionName: query.agent_session_name };
      return json(presentConnectionDetail(await findConnection(deps, principal, wanted)));
    },
  });
}

function read(deps: AgentConnectionDependencies): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/v1/agents/connections/:agentId',
    tag,
    operationId: 'getAgentConnection',
    summary: 'The same for an own agent, by the id of its account',
    auth: 'user',
    permission: ofAccount('connections and those of own agents'),
    params: connectionParams,
    query: connectionQuery,
    responses: { 200: { description: 'The connection', schema: connectionDetail }, ...NOT_FOUND },
    async handle({ principal, params, query }) {
      const wanted = { userId: asId<UserId>(params.agentId), sessionName: query.agent_session_name };
      return json(presentConnectionDetail(await findConnection(deps, principal, wanted)));
    },
  });
}

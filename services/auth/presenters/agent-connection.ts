import { type AgentConnection, memorySourceType } from '../../common/domain/agent-connection.ts';
import { wireTenant } from '../../common/kernel/scope.ts';
import { presentQa, presentTrace } from '../../common/presenters/session-rows.ts';
import type { ConnectionDetail, ConnectionList, MemorySource } from '../agents/agent-connections.ts';

/** A connection in snake_case, as in proto/http/auth-integrations.md §4.2. */
export function presentConnection(connection: AgentConnection) {
  return {
    id: connection.id,
    agent_session_name: connection.sessionName,
    type: connection.type,
    memory_mode: connection.memoryMode,
    session_id: connection.sessionId,
    user_id: connection.userId,
    tenant_id: wireTenant(connection.tenant),
    datasets: connection.datasets.map(({ id, name }) => ({
      id,
      name,
      role: 'read_write',
      type: memorySourceType(name),
    })),
    last_active_at: connection.lastActiveAt,
    status: connection.state,
    source: connection.source,
    origin_function: connection.originFunction,
    metadata: connection.metadata,
  };
}

export function presentConnectionList(
  { connections, sources, total }: ConnectionList,
  { limit, offset }: { readonly limit: number; readonly offset: number },
) {
  return {
    agents: connections.map(presentConnection),
    memory_sources: sources.map(presentSource),
    total,
    limit,
    offset,
    has_more: offset + connections.length < total,
  };
}

export function presentConnectionDetail({ connection, sources, recent }: ConnectionDetail) {
  const { sessionId, userId } = connection;
  return {
    agent: presentConnection(connection),
    memory_sources: sources.map(presentSource),
    recent_sessions: sessionId === null ? [] : [{ session_id: sessionId, user_id: userId }],
    recent_traces: (recent?.traces ?? []).map(presentTrace),
    recent_qas: (recent?.qas ?? []).map(presentQa),
  };
}

function presentSource({ dataset, connectionIds }: MemorySource) {
  return {
    id: dataset.id,
    name: dataset.name,
    type: memorySourceType(dataset.name),
    owner_id: dataset.ownerId,
    tenant_id: wireTenant(dataset.tenant),
    status: 'active',
    connected_agent_ids: connectionIds,
    metadata: {},
  };
}

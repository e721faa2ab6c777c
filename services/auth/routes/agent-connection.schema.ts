import { z } from 'zod';
import { CONNECTION_SOURCES, MEMORY_MODES } from '../../common/domain/agent-connection.ts';
import type { Json } from '../../common/kernel/json.ts';
import { qaRow, traceRow } from '../../common/platform/http/answer-schemas.ts';
import { lenientBoolean, lenientInteger, uuid } from '../../common/platform/http/schema.ts';

/** Longer than any name that clients send; the contract has no limit, but names are stored permanently. */
const MAX_TEXT_LENGTH = 1000;
const MAX_DATASETS = 1000;

const text = z.string().max(MAX_TEXT_LENGTH);
const texts = z.array(text).max(MAX_DATASETS).default([]);

export const registerConnectionBody = z
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

export const unregisterConnectionBody = z.object({ agent_session_name: text }).meta({ id: 'UnregisterAgentRequest' });

export const connectionsQuery = z.object({
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

export const connectionQuery = z.object({ agent_session_name: text.optional() });

export const connectionParams = z.object({ agentId: uuid() });

export const connectionRecord = z
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

export const connectionList = z
  .object({
    agents: z.array(connectionRecord),
    memory_sources: z.array(memorySource),
    total: z.int(),
    limit: z.int(),
    offset: z.int(),
    has_more: z.boolean(),
  })
  .meta({ id: 'AgentConnectionList' });

export const connectionDetail = z
  .object({
    agent: connectionRecord,
    memory_sources: z.array(memorySource),
    recent_sessions: z.array(z.object({ session_id: z.string(), user_id: z.string() })),
    recent_traces: z.array(traceRow),
    recent_qas: z.array(qaRow),
  })
  .meta({ id: 'AgentConnectionDetail' });

export const unregisterAnswer = z.object({ activeAgents: z.int() }).meta({ id: 'AgentModeDTO' });

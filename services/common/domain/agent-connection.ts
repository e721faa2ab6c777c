import { blake2s } from '../kernel/blake2s.ts';
import type { DatasetId, TenantId, UserId } from '../kernel/brand.ts';
import type { JsonObject } from '../kernel/json.ts';

export const MEMORY_MODES = ['session', 'cognee', 'hybrid', 'none', 'unknown'] as const;
export const CONNECTION_SOURCES = ['agent_memory', 'session_trace', 'serve', 'api_key', 'mcp', 'api'] as const;
/** States of a connection; the wire also filters by `unknown`, which no connection has. */
export const CONNECTION_STATES = ['active', 'inactive'] as const;
export type ConnectionState = (typeof CONNECTION_STATES)[number];

/** A program that has announced itself: an agent's session with this memory. */
export interface AgentConnection {
  /** Id on the wire; unique per user. */
  readonly id: string;
  readonly sessionName: string;
  readonly userId: UserId;
  /** The tenant the user worked in when it registered. */
  readonly tenant: TenantId;
  /** `claude_code`, `mcp`, `api` …: free text. */
  readonly type: string;
  readonly memoryMode: (typeof MEMORY_MODES)[number];
  readonly sessionId: string | null;
  readonly datasets: readonly ConnectedDataset[];
  readonly lastActiveAt: string;
  readonly state: ConnectionState;
  readonly source: (typeof CONNECTION_SOURCES)[number];
  readonly originFunction: string | null;
  readonly metadata: JsonObject;
}

/** Name that the program gave; it means a dataset of its own user. */
type ConnectedDataset = { readonly id: DatasetId; readonly name: null } | { readonly id: null; readonly name: string };

const MAX_BASE_LENGTH = 48;

/** The wire's id: readable end of the name, then 8 bytes of BLAKE2s over name and user (auth-integrations.md §4.2). */
export function connectionId(sessionName: string, user: UserId): string {
  const base = sessionName
    .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(-MAX_BASE_LENGTH);
  return `${base === '' ? 'agent' : base}-${blake2s(Buffer.from(`${sessionName}|${user}`, 'utf8'), 8)}`;
}

/** Type of a dataset on the wire, derived from its name. Null: only its id is known. */
export function memorySourceType(name: string | null): string {
  const lower = name?.toLowerCase() ?? '';
  if (lower.includes('brain')) return 'company_brain';
  if (lower.includes('wiki')) return 'knowledge_wiki';
  return lower.includes('project') ? 'project_dataset' : 'dataset';
}

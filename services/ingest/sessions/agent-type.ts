import type { AgentConnection } from '../../common/domain/agent-connection.ts';
import type { Session } from '../../common/domain/session.ts';

/** Sources of connections that say as much as a type. */
const TYPE_OF_SOURCE: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({ mcp: 'mcp', api: 'api', serve: 'api', api_key: 'api' }),
);

/** Kind of agent that worked in a session: as it announced itself, else guessed from names (auth-integrations.md §4.2). */
export function agentTypeOf({ session }: Pick<Session, 'session'>, connection: AgentConnection | null): string {
  if (connection !== null && connection.type !== '') return connection.type;
  const origin = connection?.originFunction ?? '';
  const text = `${origin} ${session}`.toLowerCase();
  if (text.includes('claude') || session.startsWith('cc_')) return 'claude_code';
  for (const name of ['codex', 'slack', 'mcp', 'opencode']) if (text.includes(name)) return name;
  return TYPE_OF_SOURCE.get(connection?.source ?? '') ?? (origin === '' ? 'unknown' : 'sdk');
}

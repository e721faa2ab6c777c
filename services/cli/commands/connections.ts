import type { IntegrationConnection } from '../../client/index.ts';
import type { CommandCall } from '../command.ts';
import { harmless } from '../output.ts';
import { usageFailure } from '../terminal.ts';

export const INTEGRATIONS = '/api/v1/integrations';

export const first = (call: CommandCall) => call.arguments[0] ?? '';

/** A listed connection: the contract lets these fields be absent where a provider is not connected. */
export type Connection = IntegrationConnection & Required<Pick<IntegrationConnection, Known>>;
type Known = 'connectionId' | 'provider' | 'providerAccountId' | 'accountLabel' | 'datasetName' | 'storedItems';

export async function connectionsOf({ api }: CommandCall): Promise<readonly Connection[]> {
  return (await api.json<{ connections: readonly Connection[] }>('GET', `${INTEGRATIONS}/connections`)).connections;
}

/** The connection of an id, its beginning, a label, or the only one of a provider that a person has connected. */
export async function connectionOf(call: CommandCall, { alsoEnded = false } = {}): Promise<Connection> {
  const word = first(call);
  const active = (await connectionsOf(call)).filter(({ connected }) => connected || alsoEnded);
  const named = active.filter(
    ({ connectionId, provider, accountLabel, partOf }) =>
      (partOf === undefined && (provider === word || accountLabel === word)) || connectionId.startsWith(word),
  );
  const own = named.filter(({ connected, declaredAs }) => connected && declaredAs === undefined);
  const found = own.length === 1 ? own : named;
  const [connection] = found;
  if (connection === undefined) {
    const known = active.map(({ provider, accountLabel }) => `${provider} ${harmless(accountLabel)}`).join(', ');
    throw usageFailure(`Nothing is connected as '${word}'. Connected: ${known === '' ? 'nothing yet' : known}.`);
  }
  if (found.length === 1) return connection;
  throw usageFailure(`'${word}' fits ${found.length} connections: give the id of one (engram integrations list).`);
}

export function pathOf({ provider }: Connection, rest: string): string {
  return `${INTEGRATIONS}/${provider}/${rest}`;
}

export const queryOf = ({ connectionId }: Connection) => ({ connection_id: connectionId });

export const isTeam = ({ provider, partOf, declaredAs }: Connection): boolean =>
  provider === 'slack' && partOf === undefined && declaredAs === undefined;

export function stateOf(connection: Connection): string {
  const { connected, provider, selected, syncStatus, progress, waitingUntil } = connection;
  if (!connected) return 'ended';
  if (isTeam(connection) || provider === 'slack_member') return 'connected';
  if (selected?.length === 0 && syncStatus === null) return 'nothing chosen yet';
  if (waitingUntil !== undefined) return `waits until ${waitingUntil.slice(11, 19)}`;
  if (progress === undefined) return syncStatus ?? 'not synced yet';
  return `syncing ${progress.done}${progress.total === null ? '' : ` of ${progress.total}`}`;
}

import { text as readText } from 'node:stream/consumers';
import { ApiFailure } from '../api-client.ts';
import { type Action, type CommandCall, isSet, stringOption } from '../command.ts';
import { askPassword } from '../confirm.ts';
import { group, textOf } from '../group.ts';
import { harmless } from '../output.ts';
import { usageFailure } from '../terminal.ts';

const INTEGRATIONS = '/api/v1/integrations';

interface Agents {
  readonly agents: readonly { readonly status: string }[];
}

interface Connection {
  readonly connectionId: string;
  readonly provider: string;
  readonly connected: boolean;
  readonly accountLabel: string;
  readonly datasetName: string;
  readonly storedItems: number;
  readonly selected: readonly string[] | null;
  readonly syncStatus: string | null;
  readonly progress?: { readonly done: number; readonly total: number | null };
  readonly waitingUntil?: string;
  readonly error?: string;
}

interface Resources {
  readonly resources: readonly { readonly id: string; readonly name: string; readonly selected: boolean }[];
}

const first = (call: CommandCall) => call.arguments[0] ?? '';

async function connectionsOf({ api }: CommandCall): Promise<readonly Connection[]> {
  return (await api.json<{ connections: readonly Connection[] }>('GET', `${INTEGRATIONS}/connections`)).connections;
}

/** The connection of an id, its beginning, a label, or the only one of a provider. */
async function connectionOf(call: CommandCall): Promise<Connection> {
  const word = first(call);
  const active = (await connectionsOf(call)).filter(({ connected }) => connected);
  const found = active.filter(
    ({ connectionId, provider, accountLabel }) =>
      provider === word || accountLabel === word || connectionId.startsWith(word),
  );
  const [connection] = found;
  if (connection === undefined) {
    const known = active.map(({ provider, accountLabel }) => `${provider} ${harmless(accountLabel)}`).join(', ');
    throw usageFailure(`Nothing is connected as '${word}'. Connected: ${known === '' ? 'nothing yet' : known}.`);
  }
  if (found.length === 1) return connection;
  throw usageFailure(`'${word}' fits ${found.length} connections: give the id of one (engram integrations list).`);
}

function pathOf({ provider }: Connection, rest: string): string {
  return `${INTEGRATIONS}/${provider}/${rest}`;
}

const queryOf = ({ connectionId }: Connection) => ({ connection_id: connectionId });

function stateOf({ connected, selected, syncStatus, progress, waitingUntil }: Connection): string {
  if (!connected) return 'ended';
  if (selected?.length === 0 && syncStatus === null) return 'nothing chosen yet';
  if (waitingUntil !== undefined) return `waits until ${waitingUntil.slice(11, 19)}`;
  if (progress === undefined) return syncStatus ?? 'not synced yet';
  return `syncing ${progress.done}${progress.total === null ? '' : ` of ${progress.total}`}`;
}

const integrations: readonly Action[] = [
  {
    name: 'list',
    summary: 'Lists the sources that are connected, and how their imports go.',
    fields: ['id', 'provider', 'account', 'dataset', 'items', 'state', 'error'],
    request: async (call) =>
      (await connectionsOf(call)).map((one) => ({
        ...{ id: one.connectionId.slice(0, 8), provider: one.provider, account: one.accountLabel },
        ...{ dataset: one.datasetName, items: one.storedItems, state: stateOf(one), error: one.error ?? '' },
      })),
    show: (answer, call) => {
      const rows = answer as readonly object[];
      return rows.length === 0 && !call.asJson
        ? 'nothing is connected yet: engram integrations connect folder <path>, connect web <url>, connect s3 <s3://bucket>, connect github, connect linear, connect notion'
        : textOf(rows, ['id', 'provider', 'account', 'dataset', 'items', 'state', 'error']);
    },
  },
  {
    name: 'connect',
    parameters: '<provider> [address]',
    summary:
      'Connects what has an address (a folder of the server, a web site or feed, a bucket of S3, WebDAV, a mailbox), or an account: prints the address to open. A password is asked for, or taken from ENGRAM_SOURCE_PASSWORD. An address of - is read from standard input, such as a secret of Notion.',
    options: {
      into: { type: 'string', value: 'DATASET', meaning: 'dataset for what is brought in (with an address)' },
      user: { type: 'string', value: 'NAME', meaning: 'user name at the source (webdav, imap); asks for the password' },
    },
    request: async (call) => {
      const [provider = '', given] = call.arguments;
      const address = given === '-' ? (await readText(call.terminal.input)).trim() : given;
      const path = `${INTEGRATIONS}/${encodeURIComponent(provider)}`;
      if (address === undefined) {
        // Says what the server lacks. The browser that ends an install has to be the one that began it, so it is begun there.
        await call.api.json('POST', `${path}/authorize`);
        return `${call.api.baseUrl}/integrations?connect=${encodeURIComponent(provider)}`;
      }
      const datasetName = stringOption(call.options, 'into');
      const userName = stringOption(call.options, 'user');
      const body = {
        address,
        ...(datasetName === null ? {} : { datasetName }),
        ...(userName === null ? {} : { userName, password: await askPassword(call, 'ENGRAM_SOURCE_PASSWORD') }),
      };
      return call.api.json('POST', `${path}/connect`, { body });
    },
    show: (answer) => {
      if (typeof answer === 'string') return answer;
      const { accountLabel, datasetName } = answer as Connection;
      return `${harmless(accountLabel)} is being brought into ${harmless(datasetName)}: engram integrations list`;
    },
  },
  {
    name: 'resources',
    parameters: '<connection>',
    summary: 'Lists what can be chosen of a connection, and what is.',
    fields: ['id', 'name', 'selected'],
    request: async (call) => {
      const connection = await connectionOf(call);
      const found = await call.api.json<Resources>('GET', pathOf(connection, 'resources'), {
        query: queryOf(connection),
      });
      return found.resources.map(({ id, name, selected }) => ({ id, name, selected }));
    },
  },
  {
    name: 'choose',
    parameters: '<connection> [id]...',
    summary: 'Chooses what is brought in, by id or name, and syncs; what is not chosen is removed.',
    options: { all: { type: 'boolean', meaning: 'everything' } },
    request: async (call) => {
      const connection = await connectionOf(call);
      const query = queryOf(connection);
      const words = call.arguments.slice(1);
      if (words.length === 0 && !isSet(call.options, 'all')) throw usageFailure('Give ids, or --all for everything.');
      const { resources } = await call.api.json<Resources>('GET', pathOf(connection, 'resources'), { query });
      const resourceIds = words.map((word) => {
        const found = resources.find(({ id, name }) => id === word || name === word);
        if (found === undefined)
          throw usageFailure(`There is no '${word}': engram integrations resources ${first(call)}`);
        return found.id;
      });
      const body = { resourceIds: isSet(call.options, 'all') ? null : resourceIds };
      const chosen = await call.api.json('PUT', pathOf(connection, 'resources'), { query, body });
      await call.api.json('POST', pathOf(connection, 'sync'), { query });
      return chosen;
    },
  },
  {
    name: 'sync',
    parameters: '<connection>',
    summary: 'Brings memory into step with a source now.',
    request: async (call) => {
      const connection = await connectionOf(call);
      return call.api.json('POST', pathOf(connection, 'sync'), { query: queryOf(connection) });
    },
    show: (answer) =>
      (answer as { accepted: boolean }).accepted ? 'started: engram integrations list' : 'it is syncing already',
  },
  {
    name: 'disconnect',
    parameters: '<connection>',
    summary: 'Disconnects a source; what was brought in stays.',
    options: { 'delete-data': { type: 'boolean', meaning: 'erase what was brought in as well' } },
    asks: (call) =>
      isSet(call.options, 'delete-data')
        ? `Disconnect ${first(call)} and erase what was brought in?`
        : `Disconnect ${first(call)}?`,
    request: async (call) => {
      const connection = await connectionOf(call);
      const query = { ...queryOf(connection), delete_data: String(isSet(call.options, 'delete-data')) };
      return call.api.json('DELETE', pathOf(connection, 'connection'), { query });
    },
    show: () => 'disconnected',
  },
  {
    name: 'overview',
    summary: 'Lists what this memory is connected to, and how programs are connected to it.',
    fields: ['name', 'state', 'how'],
    request: async ({ api }) => {
      const [mcp, { has_remote: hasRemote, runs }, { providers }, { agents }] = await Promise.all([
        api.text('GET', '/mcp').catch((error: unknown) => error),
        api.json<{ has_remote: boolean; runs: readonly { status: string }[] }>('GET', '/api/v1/sync/runs'),
        api.json<{ providers: readonly { name: string; login_url: string }[] }>('GET', '/api/v1/auth/oidc'),
        api.json<Agents>('GET', '/api/v1/agents/connections'),
      ]);
      // It takes POST alone, and says so where it is.
      const isServed = mcp instanceof ApiFailure && mcp.status === 405;
      const active = agents.filter(({ status }) => status === 'active').length;
      const add = `claude mcp add --transport http engram ${api.baseUrl}/mcp, or engram mcp --print`;
      const configure = 'set COGNEE_SERVICE_URL and COGNEE_API_KEY for the server';
      return [
        { name: 'mcp', state: isServed ? 'ready' : 'not served', how: add },
        {
          ...{
            name: 'remote memory',
            state: hasRemote ? `sync ${runs[0]?.status ?? 'never started'}` : 'not configured',
          },
          how: hasRemote ? 'engram sync start' : configure,
        },
        { name: 'agents', state: `${active} connected`, how: 'engram agents connections' },
        ...providers.map(({ name, login_url: how }) => ({ name: `sign-in ${name}`, state: 'ready', how })),
      ];
    },
  },
];

export const integrationsCommand = group(
  'integrations',
  'Sources that memory follows, and what else is connected.',
  integrations,
);

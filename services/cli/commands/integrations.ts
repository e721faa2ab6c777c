import { text as readText } from 'node:stream/consumers';
import type { AgentConnectionList, IntegrationResources } from '../../client/index.ts';
import { ApiFailure } from '../api-client.ts';
import { type Action, type CommandCall, isSet, stringList, stringOption } from '../command.ts';
import { askPassword } from '../confirm.ts';
import { group, textOf } from '../group.ts';
import { harmless } from '../output.ts';
import { usageFailure } from '../terminal.ts';
import {
  type Connection,
  connectionOf,
  connectionsOf,
  first,
  INTEGRATIONS,
  pathOf,
  queryOf,
  stateOf,
} from './connections.ts';
import { slackActions } from './slack-history.ts';

/** What `--kind` chooses, by id or name; undefined: nothing was said. */
function kindsOf(call: CommandCall, kinds: IntegrationResources['kinds'] & object): readonly string[] | undefined {
  const words = stringList(call.options, 'kind');
  if (words.length === 0) return undefined;
  const known = kinds.map(({ id }) => id);
  if (words.includes('all')) return known;
  return words.map((word) => {
    const kind = kinds.find(({ id, name }) => id === word || name.toLowerCase() === word.toLowerCase());
    if (kind !== undefined) return kind.id;
    const has = known.length === 0 ? 'has one kind of documents alone' : `has ${known.join(', ')}`;
    throw usageFailure(`There is no kind '${word}': ${first(call)} ${has}.`);
  });
}

const LISTED = ['id', 'provider', 'account', 'dataset', 'items', 'state', 'error'];

const integrations: readonly Action[] = [
  {
    name: 'list',
    summary: 'Lists the sources that are connected, how their imports go, and why items stay closed to others.',
    fields: LISTED,
    request: async (call) =>
      (await connectionsOf(call)).map((one) => ({
        id: one.connectionId.slice(0, 8),
        provider: one.provider,
        account: one.accountLabel,
        dataset: one.datasetName,
        items: one.storedItems,
        state: stateOf(one),
        error: one.error ?? '',
        note: one.accessNote ?? '',
      })),
    show(answer) {
      const rows = answer as readonly { readonly id: string; readonly note: string }[];
      if (rows.length === 0) {
        return 'nothing is connected yet: engram integrations connect folder <path>, connect web <url>, connect s3 <s3://bucket>, connect github, connect linear, connect notion';
      }
      const notes = rows.filter(({ note }) => note !== '').map(({ id, note }) => `${id}: ${harmless(note)}`);
      return [textOf(rows, LISTED), ...notes].join('\n');
    },
  },
  {
    name: 'show',
    parameters: '<connection>',
    summary: 'Shows a connection: what is brought in, how the last import went, and who sees less of it here.',
    async request(call) {
      const one = await connectionOf(call, { alsoEnded: true });
      const parts = (await connectionsOf(call)).filter(({ partOf }) => partOf === one.connectionId);
      const notes = new Set([one, ...parts].flatMap(({ accessNote = [] }) => accessNote));
      const { scanned, skipped, failed } = one.syncCounts ?? {};
      return {
        id: one.connectionId,
        provider: one.provider,
        account: one.accountLabel,
        dataset: one.datasetName,
        items: [one, ...parts].reduce((sum, { storedItems }) => sum + storedItems, 0),
        state: stateOf(one),
        error: one.error,
        note: notes.size === 0 ? undefined : [...notes].join(' '),
        ...(one.selectable ? { chosen: one.selected ?? 'everything' } : {}),
        leftOut: one.leftOut,
        looked_at: scanned,
        other_kinds_of_files: skipped,
        failed,
        connected_at: one.connectedAt,
        last_synced_at: one.lastSyncedAt,
        next_sync_at: one.nextSyncAt,
        declared_as: one.declaredAs,
      };
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
    summary: 'Lists what can be chosen of a connection, and what is: its parts, and kinds of documents.',
    request: async (call) => {
      const connection = await connectionOf(call);
      const query = queryOf(connection);
      const { resources, kinds = [] } = await call.api.json<IntegrationResources>(
        'GET',
        pathOf(connection, 'resources'),
        {
          query,
        },
      );
      const parts = resources.map(({ id, name, selected }) => ({ id, name, selected }));
      if (kinds.length === 0) return parts;
      return [...parts.map((part) => ({ ...part, what: 'part' })), ...kinds.map((kind) => ({ ...kind, what: 'kind' }))];
    },
  },
  {
    name: 'choose',
    parameters: '<connection> [id]...',
    summary: 'Chooses what is brought in, by id or name, and syncs; what is not chosen is removed.',
    options: {
      all: { type: 'boolean', meaning: 'everything' },
      kind: {
        type: 'string',
        multiple: true,
        value: 'KIND',
        meaning: 'kind of documents to bring in, such as wiki, can be repeated; all: every kind',
      },
    },
    request: async (call) => {
      const connection = await connectionOf(call);
      const query = queryOf(connection);
      const words = call.arguments.slice(1);
      const isAll = isSet(call.options, 'all');
      if (words.length > 0 && isAll) throw usageFailure('Give ids, or --all for everything, not both.');
      const found = await call.api.json<IntegrationResources>('GET', pathOf(connection, 'resources'), { query });
      const { resources } = found;
      const kinds = kindsOf(call, found.kinds ?? []);
      const isKept = words.length === 0 && !isAll;
      if (isKept && kinds === undefined)
        throw usageFailure('Give ids, or --all for everything, or --kind for kinds of documents.');
      const resourceIds = words.map((word) => {
        const found = resources.find(({ id, name }) => id === word || name === word);
        if (found === undefined)
          throw usageFailure(`There is no '${word}': engram integrations resources ${first(call)}`);
        return found.id;
      });
      const chosenIds = isKept ? connection.selected : isAll ? null : resourceIds;
      const body = { resourceIds: chosenIds, ...(kinds === undefined ? {} : { kinds }) };
      const chosen = await call.api.json('PUT', pathOf(connection, 'resources'), { query, body });
      await call.api.json('POST', pathOf(connection, 'sync'), { query });
      return chosen;
    },
    show(_answer, call) {
      const parts = isSet(call.options, 'all') ? ['everything'] : call.arguments.slice(1);
      const chosen = [...parts, ...stringList(call.options, 'kind').map((kind) => `kind ${kind}`)];
      return `being brought in: ${chosen.join(', ')}. See engram integrations show ${first(call)}`;
    },
  },
  ...slackActions,
  {
    name: 'sync',
    parameters: '<connection>',
    summary: 'Brings memory into step with a source now.',
    request: async (call) => {
      const connection = await connectionOf(call);
      return call.api.json('POST', pathOf(connection, 'sync'), { query: queryOf(connection) });
    },
    show: (answer) =>
      (answer as { accepted: boolean }).accepted
        ? 'started: engram integrations list'
        : 'not started: it is syncing already, or it is of Slack and no channel is followed',
  },
  {
    name: 'disconnect',
    parameters: '<connection>',
    summary: 'Disconnects a source, or takes one that has ended off the list; what was brought in stays.',
    options: { 'delete-data': { type: 'boolean', meaning: 'erase what was brought in as well' } },
    asks: (call) =>
      isSet(call.options, 'delete-data')
        ? `Disconnect ${first(call)} and erase what was brought in?`
        : `Disconnect ${first(call)}?`,
    request: async (call) => {
      const connection = await connectionOf(call, { alsoEnded: true });
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
        api.json<AgentConnectionList>('GET', '/api/v1/agents/connections'),
      ]);
      // It takes POST alone, and says so where it is.
      const isServed = mcp instanceof ApiFailure && mcp.status === 405;
      const active = agents.filter(({ status }) => status === 'active').length;
      const add = `claude mcp add --transport http engram ${api.baseUrl}/mcp, or engram mcp --print`;
      const configure = 'set COGNEE_SERVICE_URL and COGNEE_API_KEY for the server';
      return [
        { name: 'mcp', state: isServed ? 'ready' : 'not served', how: add },
        {
          name: 'remote memory',
          state: hasRemote ? `sync ${runs[0]?.status ?? 'never started'}` : 'not configured',
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

import { z } from 'zod';
import { engramError } from '../../common/kernel/errors.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { NO_PERMISSION, own } from '../../common/platform/http/route-permission.ts';
import { lenientBoolean, optional, uuid } from '../../common/platform/http/schema.ts';
import type { SourceConnection } from '../../common/records/integrations/connections.ts';
import {
  AlreadyConnectedError,
  accessOf,
  connectingOf,
  connectionAmong,
  isListed,
  newestOf,
  requireConnection,
  storeConnection,
  withParts,
} from '../connections/connect.ts';
import { disconnect } from '../connections/disconnect.ts';
import { beginInstall, finishInstall, oauthOf } from '../connections/oauth-install.ts';
import type { SourceDependencies } from '../dependencies.ts';
import { isOfTheImport } from '../imports/import-feed.ts';
import { startImport } from '../imports/start-import.ts';
import { presentConnection, presentProvider, presentResources } from '../presenters/connection.ts';
import type { Connector } from '../providers/connector.ts';
import { configuredConnector, connectableConnector, PROVIDERS, requireProvider } from '../providers/providers.ts';
import { startStanding } from '../slack/history.ts';
import { receiveDelivery } from '../webhooks/receive-delivery.ts';
import {
  connectionAnswer,
  connectionsAnswer,
  selectionAnswer,
  selectionBody,
  statusAnswer,
} from './integrations.schema.ts';

const permission = own('connections');
const params = z.object({ provider: z.string() });
/** One of several connections of a provider; default: the newest. */
const query = z.object({ connectionId: optional(uuid()) });
const UNKNOWN = { 404: { description: 'No such provider, or it is not connected' } };
const UNCONFIGURED = {
  404: { description: 'No such provider' },
  503: { description: 'This server has no settings for the provider; the detail says which it needs' },
};

const { routes, get, post, put, remove } = routesOf<SourceDependencies>({ tag: 'integrations' });

/** Connections to sources: connect, choose, follow, disconnect. */
export const integrationRoutes = routes(
  get('/api/v1/integrations/status', 'getIntegrationStatus', {
    summary: 'All providers with the state of the newest connection of the caller',
    permission,
    responses: { 200: { description: 'In the order of their names', schema: statusAnswer } },
    async handle({ principal, context }, dependencies) {
      const all = await dependencies.connections.ofUser(principal.id, principal.tenant);
      const integrations = PROVIDERS.map((provider) => {
        const active = newestOf(all.filter((one) => one.provider === provider && !one.parentId));
        return presentProvider(provider, active && withParts(active, all), dependencies.connectors.get(provider));
      });
      // What auth cannot say blanks its own part.
      const { plugins } = await dependencies.messenger
        .call('auth.PluginStates', {}, context)
        .catch((error: unknown) => {
          dependencies.logger.warn('integrations.plugins.unknown', { error });
          return { plugins: [] };
        });
      return json({ integrations, plugins });
    },
  }),
  get('/api/v1/integrations/connections', 'listConnections', {
    summary: 'All connections of the caller, newest first, with the progress of their imports',
    permission,
    responses: { 200: { description: 'The connections', schema: connectionsAnswer } },
    async handle({ principal }, dependencies) {
      const all = await dependencies.connections.ofUser(principal.id, principal.tenant);
      return json({
        connections: await Promise.all(all.filter(isListed).map((one) => presentConnection(dependencies, one))),
      });
    },
  }),
  post('/api/v1/integrations/:provider/authorize', 'authorizeIntegration', {
    summary: 'Begin to connect an account of a provider: the address that the browser goes to',
    permission,
    params,
    responses: {
      200: {
        description: 'The address, with a cookie that the callback needs',
        schema: z.object({ authorizeUrl: z.string() }),
      },
      400: { description: 'The provider is connected with an address' },
      ...UNCONFIGURED,
    },
    async handle({ params: { provider }, principal, headers }, dependencies) {
      const connector = connectableConnector(dependencies, provider);
      const isSecure = headers['x-forwarded-proto'] === 'https' || dependencies.isSecure;
      const { authorizeUrl, cookie } = await beginInstall(dependencies, connector, principal, isSecure);
      return { json: { authorizeUrl }, headers: { 'set-cookie': cookie, 'cache-control': 'no-store' } };
    },
  }),
  get('/api/v1/integrations/:provider/callback', null, {
    summary: 'Finish to connect an account, and send the browser back',
    auth: 'none',
    permission: NO_PERMISSION,
    params,
    query: z.record(z.string(), z.string()),
    responses: { 307: { description: 'To the page of integrations, with the outcome' }, ...UNCONFIGURED },
    async handle({ params: { provider }, query: returned, headers, signal }, dependencies) {
      const connector = connectableConnector(dependencies, provider);
      const request = { query: returned, cookies: headers['cookie'], signal };
      const { outcome, cookie } = await finishInstall(dependencies, connector, request);
      const location = `${oauthOf(connector).frontendUrl}/integrations?${provider}=${outcome}`;
      const cookies = cookie === undefined ? {} : { 'set-cookie': cookie };
      return { status: 307, headers: { location, 'cache-control': 'no-store', ...cookies } };
    },
  }),
  post('/api/v1/integrations/:provider/connect', 'connectIntegration', {
    summary:
      'Connect what has an address (a folder, a site, a bucket, a cloud drive, a mailbox) or a secret, and start to bring it in',
    permission,
    params,
    body: {
      kind: 'json',
      schema: z
        .object({
          address: z.string().trim().min(1).max(4096),
          userName: optional(z.string().trim().min(1).max(320)),
          password: optional(z.string().min(1).max(1024)).describe('Kept sealed, and read by the connector alone'),
          datasetName: optional(z.string().trim().min(1)),
        })
        .meta({ id: 'ConnectRequest' }),
    },
    responses: {
      200: { description: 'The connection', schema: connectionAnswer },
      400: { description: 'No such address or secret, or the provider is connected over OAuth' },
      403: { description: 'This server may not read the address' },
      ...UNCONFIGURED,
    },
    async handle({ params: { provider }, principal, body }, dependencies) {
      const connector = connectableConnector(dependencies, provider);
      if (connector.connect === undefined) {
        throw new HttpError(400, {
          detail: `${provider} is connected over OAuth: POST /integrations/${provider}/authorize.`,
        });
      }
      const { address, userName, password, datasetName } = body;
      const login = userName === undefined || password === undefined ? undefined : { userName, password };
      const account = await connector.connect(address, login);
      const chosen = { ...account, ...(datasetName === undefined ? {} : { datasetName }) };
      const connection = await storeConnection(dependencies, connector, connectingOf(principal), chosen).catch(refused);
      return json(await presentConnection(dependencies, connection));
    },
  }),
  get('/api/v1/integrations/:provider/connection', 'getConnection', {
    summary: 'The connection to a provider, and how its last import went',
    permission,
    params,
    query,
    responses: {
      200: { description: 'The connection; `connected` false: there is none', schema: connectionAnswer },
      404: { description: 'No such provider' },
    },
    async handle({ params: { provider }, principal, query: { connectionId } }, dependencies) {
      requireProvider(provider);
      const all = await dependencies.connections.ofUser(principal.id, principal.tenant);
      const connection = connectionAmong(all, provider, connectionId);
      if (connection !== null) return json(await presentConnection(dependencies, withParts(connection, all)));
      const ended = all.find((one) => one.provider === provider && !one.parentId);
      return json({ connected: false, ...(ended?.revokedReason ? { error: ended.revokedReason } : {}) });
    },
  }),
  remove('/api/v1/integrations/:provider/connection', 'disconnectIntegration', {
    summary:
      'Disconnect, or take an ended one off the list; what was brought in stays, unless `delete_data` says otherwise',
    permission,
    params,
    query: query.extend({ deleteData: lenientBoolean().default(false) }),
    responses: {
      200: {
        description: 'False: nothing was connected. Data are erased in the background',
        schema: z.object({ disconnected: z.boolean() }),
      },
      404: { description: 'No such provider' },
      409: { description: 'A Dataset resource declares it' },
    },
    async handle({ params: { provider }, principal, query: { connectionId, deleteData }, signal }, dependencies) {
      requireProvider(provider);
      const all = await dependencies.connections.ofUser(principal.id, principal.tenant);
      const ended = all.find(
        (one) => one.id === connectionId && one.provider === provider && one.revokedReason !== null,
      );
      const connection = connectionAmong(all, provider, connectionId) ?? ended ?? null;
      if (connection === null) return json({ disconnected: false });
      refuseDeclared(connection);
      await disconnect(dependencies, connection, { deleteData, signal });
      return json({ disconnected: true });
    },
  }),
  ...['resources', 'folders', 'labels'].flatMap((name) => [
    get(`/api/v1/integrations/:provider/${name}`, `listIntegration${capitalised(name)}`, {
      summary: 'What can be chosen, and what is',
      permission,
      params,
      query,
      responses: {
        200: { description: '`selected` null: everything', schema: selectionAnswer },
        ...UNKNOWN,
        502: { description: 'The provider does not list them' },
      },
      async handle({ params: { provider }, principal, query: { connectionId }, signal }, dependencies) {
        const { connection, connector } = await selectable(dependencies, { principal, provider, connectionId });
        const resources = await connector
          .list(accessOf(dependencies, connector, connection, signal))
          .catch((error: unknown) => {
            if (signal.aborted || !isListable(error)) throw error;
            dependencies.logger.warn('source.list.failed', { provider, error });
            throw new HttpError(502, { detail: `Could not list ${provider} resources` }, { cause: error });
          });
        return json(presentResources(resources, connection, connector.capabilities));
      },
    }),
    put(`/api/v1/integrations/:provider/${name}`, `chooseIntegration${capitalised(name)}`, {
      summary: 'Choose what is brought in; the next sync removes what is not chosen any more',
      permission,
      params,
      query,
      body: { kind: 'json', schema: selectionBody },
      responses: {
        200: { description: 'The selection', schema: z.object({ selected: z.array(z.string()).nullable() }) },
        ...UNKNOWN,
        409: { description: 'A Dataset resource declares it' },
        422: { description: 'An empty id, a kind that there is not, or null where everything cannot be chosen' },
      },
      async handle({ params: { provider }, principal, query: { connectionId }, body }, dependencies) {
        const { connection, connector } = await selectable(dependencies, { principal, provider, connectionId });
        refuseDeclared(connection);
        const { resourceIds = null, kinds } = body;
        if (resourceIds?.some((id) => id.trim() === ''))
          throw new HttpError(422, { detail: 'A resource id is empty.' });
        if (resourceIds === null && connector.capabilities.selection === 'required') {
          throw new HttpError(422, { detail: `${provider} needs a list of resources.` });
        }
        const selected = resourceIds === null ? null : [...new Set(resourceIds)];
        const left = kinds === undefined ? {} : { leftOut: leftOutBy(kinds, connector) };
        const { store, connections: records } = dependencies;
        const change = records.changeWrite(connection.id, { selection: selected, ...left }, { status: 'active' });
        await store.commit({ tenant: connection.tenant }, [change]);
        return json({ selected });
      },
    }),
  ]),
  post('/api/v1/integrations/:provider/sync', 'syncIntegration', {
    summary: 'Bring memory into step with the source now, in the background',
    permission,
    params,
    query,
    responses: {
      200: {
        description: 'False: an import is under way, and another one follows it; of Slack: no standing import is on',
        schema: z.object({ accepted: z.boolean() }),
      },
      ...UNKNOWN,
      503: UNCONFIGURED[503],
    },
    async handle({ params: { provider }, principal, query: { connectionId } }, dependencies) {
      requireProvider(provider);
      const connection = await requireConnection(dependencies, principal, provider, connectionId);
      const { selection } = configuredConnector(dependencies, provider).capabilities;
      const accepted =
        selection === 'per import' && !connection.declared
          ? await startStanding(dependencies, connection)
          : await startImport(dependencies, connection, { again: true });
      return json({ accepted });
    },
  }),
  post('/api/v1/integrations/:provider/events', null, {
    summary: 'Receive a webhook of a provider',
    auth: 'none',
    permission: NO_PERMISSION,
    params,
    body: { kind: 'bytes', schema: z.instanceof(Uint8Array) },
    responses: {
      200: { description: 'It is noted' },
      401: { description: 'The signature is wrong' },
      404: { description: 'No such provider, or it sends no webhooks' },
    },
    handle: async ({ params: { provider }, headers, body }, dependencies) =>
      json(await receiveDelivery(dependencies, provider, { headers, body })),
  }),
);

function refused(error: unknown): never {
  throw error instanceof AlreadyConnectedError ? engramError('ConflictError', 'Another user has connected it.') : error;
}

/** What a resource declares would be set back with its next look. */
function refuseDeclared({ declared }: SourceConnection): void {
  if (!declared) return;
  const place = `source ${declared.source} in spec.sources`;
  throw engramError(
    'ConflictError',
    `A Dataset resource of Kubernetes declares this connection: change ${place} there.`,
  );
}

/** Kinds of documents that a choice of kinds leaves out; 422 for one that the provider has not. */
function leftOutBy(chosen: readonly string[] | null, { provider, capabilities }: Connector): readonly string[] {
  const known = Object.keys(capabilities.kinds ?? {});
  const unknown = chosen?.find((kind) => !known.includes(kind));
  if (unknown !== undefined) {
    const has = known.length === 0 ? 'no kinds to choose from' : known.join(', ');
    throw new HttpError(422, { detail: `${provider} has ${has}, and no '${unknown}'.` });
  }
  return chosen === null ? [] : known.filter((kind) => !chosen.includes(kind));
}

/** Any failure of the provider; ours have a status. */
function isListable(error: unknown): boolean {
  return !(error instanceof HttpError) && !isOfTheImport(error, { signal: new AbortController().signal });
}

async function selectable(
  dependencies: SourceDependencies,
  {
    principal,
    provider,
    connectionId,
  }: { readonly principal: Principal; readonly provider: string; readonly connectionId: string | undefined },
) {
  requireProvider(provider);
  if (dependencies.connectors.get(provider)?.capabilities.selection.match(/none|per import/)) {
    throw new HttpError(404, { detail: `${provider} has no selectable resources` });
  }
  const connection = await requireConnection(dependencies, principal, provider, connectionId);
  const connector: Connector = configuredConnector(dependencies, provider);
  return { connection, connector };
}

function capitalised(name: string): string {
  return `${name[0]?.toUpperCase()}${name.slice(1)}`;
}

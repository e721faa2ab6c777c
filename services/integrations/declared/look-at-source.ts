import { isDeepStrictEqual } from 'node:util';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import type { DeclaredSource } from '../../common/platform/messaging/messages.ts';
import type { DeclaredConnection, SourceConnection } from '../../common/records/integrations/connections.ts';
import { isOfAccount } from '../connections/connect.ts';
import type { SourceDependencies } from '../dependencies.ts';
import { revocation } from '../imports/import-worker.ts';
import { type ConnectedAccount, type Connector, type SecretSteps, SourceRevokedError } from '../providers/connector.ts';
import { notConfigured, PROVIDERS } from '../providers/providers.ts';

/** A provider that does not answer for so long counts as unreachable. */
const CONNECT_MS = 20_000;

/** A source that cannot be as declared; it is answered, and the others go on. */
export class SourceFailure extends Error {
  override readonly name = 'SourceFailure';
  readonly reason: string;
  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}

export interface Looking {
  readonly dataset: DatasetRef;
  readonly crUid: string;
  readonly source: DeclaredSource;
  /** The connection that the entry has. */
  readonly existing: SourceConnection | null;
  readonly signal: AbortSignal;
}

export interface Found {
  readonly connector: Connector;
  readonly declaration: DeclaredConnection;
  /** Null: it is connected as declared. */
  readonly account: ConnectedAccount | null;
}

/** Finds out, without a change of anything, what the source is connected with. Null: it stays as it is. */
export async function lookAt(deps: SourceDependencies, looking: Looking): Promise<Found | null> {
  const { dataset, crUid, source, existing, signal } = looking;
  if (source.hold) return null;
  const connector = connectorOf(deps, source);
  const authorizing = source.account === undefined ? null : await accountOf(deps, looking, source.account);
  const declaration: DeclaredConnection = {
    resource: crUid,
    source: source.name,
    address: source.address ?? null,
    credentialsVersion: source.credentials?.version ?? null,
    authorizedBy: authorizing?.id ?? null,
    everyMs: source.everyMs ?? null,
    cron: source.cron ?? null,
    since: source.since ?? null,
    deleteOnRemoval: source.deleteOnRemoval ?? false,
  };
  if (existing !== null && isConnectedAs(existing, { dataset, connector, declaration, authorizing })) {
    return { connector, declaration, account: null };
  }
  if (authorizing !== null) {
    const { accountId, accountLabel: label, authType, scopes, metadata } = authorizing;
    const account = { accountId, label, authType: authType as ConnectedAccount['authType'], scopes, metadata };
    return { connector, declaration, account };
  }
  return { connector, declaration, account: await connect(connector, source, signal) };
}

function connectorOf({ connectors }: SourceDependencies, { connector: provider, selection, since }: DeclaredSource) {
  const connector = connectors.get(provider);
  if (connector === undefined) {
    if (PROVIDERS.includes(provider)) throw new SourceFailure('ConnectorNotConfigured', notConfigured(provider));
    const known = [...connectors.keys()].toSorted().join(', ');
    throw new SourceFailure(
      'ConnectorUnknown',
      `There is no connector ${provider}; this server has ${known || 'none'}.`,
    );
  }
  const { capabilities } = connector;
  const isRequired = ['required', 'per import'].includes(capabilities.selection);
  if (isRequired && selection === undefined) {
    throw new SourceFailure('SelectionMissing', `${provider} brings in nothing without a selection: give one.`);
  }
  if (capabilities.selection === 'none' && selection !== undefined) {
    throw new SourceFailure('SelectionUnsupported', `${provider} has nothing to select: leave selection out.`);
  }
  if (since !== undefined && capabilities.takesSince === undefined) {
    throw new SourceFailure('SinceUnsupported', `${provider} is brought in from the beginning: leave since out.`);
  }
  if (since !== undefined && Number.isNaN(Date.parse(since))) {
    throw new SourceFailure('SinceInvalid', `since is no time: ${since}.`);
  }
  return connector;
}

/** The connection of the dataset's owner that a source names; without one, what was connected by it ends. */
async function accountOf(
  { connections, store, clock }: SourceDependencies,
  { dataset, source: { connector }, existing }: Looking,
  account: string,
): Promise<SourceConnection> {
  const own = await connections.ofUser(dataset.ownerId, dataset.tenant);
  const found = own.find(
    (one) =>
      one.provider === connector &&
      one.status === 'active' &&
      isOfAccount(one) &&
      [one.accountId, one.accountLabel].includes(account),
  );
  if (found !== undefined) return found;
  const message = `The owner of the tenant has not connected the ${connector} account ${account}: do it in the console.`;
  if (existing?.status === 'active' && existing.declared?.authorizedBy !== null) {
    const ended = connections.changeWrite(existing.id, revocation(message, clock.now()), { status: 'active' });
    await store.commit({ tenant: existing.tenant }, [ended]);
  }
  throw new SourceFailure('AccountMissing', message);
}

function isConnectedAs(
  { status, provider, tenant, userId, dataset, declared, metadata }: SourceConnection,
  wanted: Pick<Found, 'connector' | 'declaration'> & {
    readonly dataset: DatasetRef;
    readonly authorizing: SourceConnection | null;
  },
): boolean {
  const { address, credentialsVersion, authorizedBy } = wanted.declaration;
  return (
    status === 'active' &&
    provider === wanted.connector.provider &&
    isDeepStrictEqual([tenant, userId, dataset], [wanted.dataset.tenant, wanted.dataset.ownerId, wanted.dataset.id]) &&
    declared?.address === address &&
    declared.credentialsVersion === credentialsVersion &&
    declared.authorizedBy === authorizedBy &&
    // Such as the channels that the owner has limited the app to.
    isDeepStrictEqual({ ...metadata, ...wanted.authorizing?.metadata }, metadata)
  );
}

/** Asks the provider with what is declared. */
async function connect(connector: Connector, { address, credentials }: DeclaredSource, signal: AbortSignal) {
  const { provider } = connector;
  const bySecret = secretStepsOf(connector);
  const limited = AbortSignal.any([signal, AbortSignal.timeout(CONNECT_MS)]);
  try {
    if (credentials === undefined) {
      const byAddress = addressStepOf(connector);
      if (address === undefined || byAddress === undefined) throw withoutCredentials(connector);
      return await byAddress(address);
    }
    if (bySecret === undefined) {
      throw new SourceFailure(
        'CredentialsUnsupported',
        `${provider} takes no credentials: leave credentialsSecretRef out.`,
      );
    }
    const values = new Map(credentials.values.map(({ key, value }) => [key, value.trim()]));
    const missing = bySecret.keys.filter((key) => !values.get(key));
    if (missing.length > 0) {
      throw new SourceFailure('CredentialsIncomplete', `The Secret has no ${missing.join(', ')}: add what is missing.`);
    }
    const secret = (key: string): string => values.get(key) ?? '';
    return await bySecret.connect({ address: address ?? null, secret, signal: limited });
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof SourceFailure ? error : failureOf(error);
  }
}

/** What a connector calls something else than an address is a secret, and has no place in a resource. */
function addressStepOf({ connect, capabilities }: Connector): Connector['connect'] {
  return capabilities.address === undefined ? connect : undefined;
}

/** The steps of a connector that has some, or of one that takes a login: with the keys of a Secret of type basic-auth. */
function secretStepsOf({ bySecret, capabilities, connect }: Connector): SecretSteps | undefined {
  if (bySecret !== undefined || capabilities.takesLogin === undefined) return bySecret;
  return {
    keys: ['username', 'password'],
    async connect({ address, secret }) {
      if (address === null || connect === undefined)
        throw new SourceFailure('AddressMissing', 'It needs an address, too.');
      return connect(address, { userName: secret('username'), password: secret('password') });
    },
  };
}

function withoutCredentials(connector: Connector): SourceFailure {
  const { provider, oauth } = connector;
  const bySecret = secretStepsOf(connector);
  const ways = [
    ...(addressStepOf(connector) === undefined ? [] : ['an address']),
    ...(bySecret === undefined ? [] : [`credentialsSecretRef, a Secret with ${bySecret.keys.join(' and ')}`]),
    ...(oauth === undefined ? [] : ['account, one that the owner of the tenant has connected']),
  ];
  return new SourceFailure('CredentialsMissing', `${provider} needs ${ways.join(', or ')}.`);
}

function failureOf(error: unknown): SourceFailure {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof SourceRevokedError) return new SourceFailure('CredentialsRefused', message);
  const isRefused = isEngramError(error) && !error.retryable && error.status < 500;
  return new SourceFailure(isRefused ? 'SourceRefused' : 'SourceUnreachable', message);
}

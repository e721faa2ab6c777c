import type { Readable } from 'node:stream';
import type { Json, JsonObject } from '../../common/kernel/json.ts';
import type { NewJob } from '../../common/ports/work-queue.ts';
import type { ConnectionChange, SourceConnection } from '../../common/records/integrations/connections.ts';
import type { KeyRange } from '../../common/records/integrations/source-items.ts';

/**
 * A source of documents: a provider with accounts, a folder, a web site. It only reads, and keeps nothing between calls: what is
 * to be remembered is a cursor or a version, which the import stores together with the items.
 *
 * - Errors: `SourceBusyError` when the source asks to wait, `SourceRevokedError` when it gives no access any more. Any other error
 *   is that of one resource or document: the others go on, and the connection is `degraded`.
 * - Proved by `test/conformance/connector.ts`.
 */
export interface Connector {
  readonly provider: string;
  readonly capabilities: ConnectorCapabilities;
  /** Name of the dataset that the items of a connection go to. */
  datasetName(connection: Pick<SourceConnection, 'accountId' | 'accountLabel' | 'metadata'>): string;
  /** The parts that can be chosen, at least those that are chosen and exist. */
  list(access: SourceAccess): Promise<readonly SourceResource[]>;
  /**
   * The changes of a feed of a resource, oldest first, in pages; `cursor` is that of the last page that was stored, null at first.
   * A page whose `isWhole` is true ends a listing of everything: what no page of this call named is gone.
   */
  changesSince(
    access: SourceAccess,
    feed: { readonly resource: string; readonly feed: string },
    cursor: Json,
  ): AsyncIterable<ChangePage>;
  /** Null: it is gone. `unchanged`: it has the version that is stored. */
  fetch(access: SourceAccess, change: PresentDocument): Promise<SourceDocument | 'unchanged' | null>;
  /**
   * Who sees documents of a feed at the source, in the order of their keys, at most 500. Asked before a document is stored, and for
   * every document with each import. Absent: the source has no permissions of its own, and the grants of the dataset hold.
   */
  readonly permissionsOf?: (
    access: SourceAccess,
    feed: { readonly resource: string; readonly feed: string },
    keys: readonly string[],
  ) => Promise<readonly (Audience | null)[]>;
  /** Absent: the provider sends no webhooks, or no secret is configured. */
  readonly verifyWebhook?: (delivery: RawDelivery) => Promise<WebhookSignals>;
  /** Absent: it is connected with an address that the person gives, or with a Secret alone. */
  readonly oauth?: OAuthSteps;
  /** Absent: it is connected over OAuth, or with a Secret alone. Errors: `InvalidRequestError`, `PermissionDeniedError`. */
  readonly connect?: (address: string, login?: SourceLogin) => Promise<ConnectedAccount>;
  /** Connects with the values of a Secret that a Dataset resource names. Absent: it takes none. */
  readonly bySecret?: SecretSteps;
  /** Changes of a connection with the end of an import, and when the next one is due. Absent: after `everyMs`. */
  readonly afterImport?: (
    connection: SourceConnection,
    outcome: { readonly isOk: boolean; readonly now: Date },
  ) => ConnectionChange;
  /** Whether an import would bring in nothing: where it is due, only who sees what is asked. Absent: none would. */
  readonly isIdle?: (connection: SourceConnection) => boolean;
  /** Says something in a conversation that a `QUESTION_JOB` names: that it was read, the answer, or why there is none. */
  readonly reply?: (
    access: SourceAccess,
    conversation: string,
    said: { readonly kind: 'thought' | 'response' | 'error'; readonly text: string },
  ) => Promise<void>;
  /** Reports changes of the connection as they happen, until it is closed. Absent: they are found by the periodic import. */
  readonly watch?: (connection: SourceConnection, changed: () => void) => { close(): Promise<void> };
}

/** A person's login at a source, stored as the tokens of the connection. */
export interface SourceLogin {
  readonly userName: string;
  readonly password: string;
}

/** Facts about a connector. */
interface ConnectorCapabilities {
  readonly title: string;
  /** Parts of a resource that are read one after another, each with a cursor. */
  readonly feeds: readonly string[];
  /** Feeds that a person may leave out, with their names; absent: all of them are read. */
  readonly kinds?: Readonly<Record<string, string>>;
  /**
   * `none`: everything is read. `optional`: everything is read until something is chosen. `nothing at first`: nothing is read until
   * something, or everything, is chosen. `required`: nothing is read until it is chosen, and there is no choice of everything.
   * `per import`: imports are asked for one by one, over routes of the provider; what one does not name stays. A Dataset resource
   * chooses as with `required`.
   */
  readonly selection: 'none' | 'optional' | 'nothing at first' | 'required' | 'per import';
  /** What people give in place of an address to connect it: a secret; default: an address. */
  readonly address?: string;
  /** `connect` takes a user name and a password. */
  readonly takesLogin?: true;
  /** A Dataset resource may say from when on documents are brought in. */
  readonly takesSince?: true;
  /** `exclusive`: an account is connected by one user of the server at a time. */
  readonly accounts: 'exclusive' | 'of each user';
  /** Time between imports that nothing asks for. */
  readonly everyMs: number;
  /** Time after an import that did not bring everything; default `everyMs`. */
  readonly retryMs?: number;
}

/** The connection that a connector reads for; its `lastSyncedAt` is the same for all attempts of an import. */
export interface SourceAccess {
  readonly connection: SourceConnection;
  readonly signal: AbortSignal;
  /** An access token of the connection, valid for some minutes; to be asked for before each request. Another one than `rejected`. */
  token(rejected?: string): Promise<string>;
}

export interface SourceResource {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly attributes: JsonObject;
  /** Everything is brought in without it: another one has what it has. */
  readonly isPart?: true;
}

/**
 * Who sees a document at its source, beside the user who connected it; null in its place: everybody who may read the dataset.
 * Readers are known by their addresses, so only those that the source has verified count.
 */
export interface Audience {
  readonly addresses: readonly string[];
  /** Groups of the source with the addresses of all of their members, those of inner groups included. */
  readonly groups: readonly { readonly id: string; readonly members: readonly string[] }[];
  /** Everybody with an address of the domain. */
  readonly domains: readonly string[];
  /** Where it is smaller than at the source. */
  readonly gaps?: readonly AudienceGap[];
}

/** Somebody who sees a document at its source and not here, for the person who connected it. */
export interface AudienceGap {
  /** A whole sentence; the names of groups that have it in common go where `{groups}` stands. */
  readonly reason: string;
  readonly group?: string;
}

/** The user who connected the source is in every audience. */
export const NOBODY_ELSE: Audience = { addresses: [], groups: [], domains: [] };

export interface PresentDocument {
  readonly resource: string;
  readonly feed: string;
  /** Names the document in its feed for as long as it exists; a new name or place is no new key where the source can tell. */
  readonly key: string;
  /** Null: it has to be fetched to know. */
  readonly version: string | null;
  /** The version that is stored; null: none. */
  readonly stored: string | null;
}

export interface ChangePage {
  readonly present: readonly Pick<PresentDocument, 'key' | 'version'>[];
  readonly gone: readonly string[];
  readonly cursor: Json;
  readonly isWhole?: true;
  /** The page names everything with a key between these two: what else is stored of them is gone. */
  readonly covers?: KeyRange;
  /** Further numbers for the person, such as the messages of the documents. */
  readonly counted?: Readonly<Record<string, number>>;
  /** Documents that the whole feed has, where it is known. */
  readonly total?: number;
}

export interface SourceDocument {
  readonly fileName: string;
  /** Null: the content decides. */
  readonly mimeType: string | null;
  readonly content: Uint8Array | Readable;
  readonly version: string;
  /** Where a person finds it. */
  readonly uri: string | null;
}

export interface RawDelivery {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
}

/** Meaning of a delivery whose signature is right. */
interface WebhookSignals {
  /** Id that the provider gave the delivery: one that is known is not worked on again. */
  readonly id: string;
  readonly signals: readonly WebhookSignal[];
  /** Answer that the provider expects; absent: `{"ok":true}`. */
  readonly answer?: JsonObject;
}

export type WebhookSignal =
  | { readonly kind: 'changed'; readonly accountId: string }
  /** Who sees what has changed, and nothing else. */
  | { readonly kind: 'access'; readonly accountId: string }
  /** A document: `gone` removes it; `stale` fetches it again, though its version stays the same. */
  | {
      readonly kind: 'gone' | 'stale';
      readonly accountId: string;
      readonly resource: string;
      readonly feed: string;
      readonly key: string;
    }
  | { readonly kind: 'revoked'; readonly accountId: string; readonly reason: string }
  /** A job that the delivery asks for; its payload gets the id of the connection. */
  | { readonly kind: 'task'; readonly accountId: string; readonly job: Pick<NewJob, 'kind' | 'payload'> };

/** Job of a question that somebody asked at the provider: its payload is `conversation` and `question`. */
export const QUESTION_JOB = 'source_question';

/** A signature that is wrong or too old; `message` is the answer's detail. */
export class WebhookRefusedError extends Error {
  override readonly name = 'WebhookRefusedError';
}

/** The steps of connecting an account over OAuth. */
export interface OAuthSteps {
  /** Signs the state of an install. */
  readonly stateSecret: string;
  /** Where the browser returns to after the callback. */
  readonly frontendUrl: string;
  authorizeUrl(request: { readonly state: string; readonly codeChallenge: string }): string;
  exchange(callback: {
    readonly query: Readonly<Record<string, string>>;
    readonly codeVerifier: string;
    readonly signal: AbortSignal;
  }): Promise<ConnectedAccount>;
  /** Exchanges a refresh token. `InvalidGrantError` of `credentials/token-endpoint.ts` when it is not accepted any more. */
  readonly refresh?: (refreshToken: string, signal: AbortSignal) => Promise<Tokens>;
  /** Gives the access back at the provider. */
  readonly revoke?: (access: SourceAccess) => Promise<void>;
}

/** Connecting with credentials that a Dataset resource brings. */
export interface SecretSteps {
  /** Keys that the Secret must have. */
  readonly keys: readonly string[];
  /**
   * Asks the provider with them. The values become the connection's tokens. Errors: `InvalidRequestError`,
   * `PermissionDeniedError` for the address, `SourceRevokedError` when they are refused.
   */
  connect(given: {
    readonly address: string | null;
    /** Value of one of the keys. */
    readonly secret: (key: string) => string;
    readonly signal: AbortSignal;
  }): Promise<ConnectedAccount>;
}

/** Secrets of a connection: stored sealed, never in logs, answers or snapshots. */
export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string | null;
  readonly expiresAt: string | null;
}

export interface ConnectedAccount {
  readonly accountId: string;
  readonly label: string;
  readonly authType: 'oauth2' | 'api_key' | 'github_app' | 'password' | 'none';
  readonly scopes: readonly string[];
  /** No secrets. */
  readonly metadata: JsonObject;
  /** Absent: the connector needs none. */
  readonly tokens?: Tokens;
}

/** The source asks to come back later: in a second at the earliest, and in an hour whatever it asks. */
export class SourceBusyError extends Error {
  override readonly name = 'SourceBusyError';
  readonly retryAfterMs: number;
  constructor(askedMs: number, options?: ErrorOptions) {
    const retryAfterMs = Math.min(Math.max(askedMs, 1000), 3_600_000);
    super(`The source asks to wait for ${Math.ceil(retryAfterMs / 1000)} s.`, options);
    this.retryAfterMs = retryAfterMs;
  }
}

/** Time that `Retry-After` asks to wait, as seconds or as a date (RFC 9110, section 10.2.3); `elseMs` where it says neither. */
export function waitMsOf(retryAfter: string | number | null | undefined, elseMs: number): number {
  const asked = Number(retryAfter ?? Number.NaN);
  const askedMs = Number.isFinite(asked) ? asked * 1000 : Date.parse(String(retryAfter)) - Date.now();
  return Number.isNaN(askedMs) ? elseMs : askedMs;
}

/** The source gives no access any more; `message` says why, for the person who connected it. */
export class SourceRevokedError extends Error {
  override readonly name = 'SourceRevokedError';
}

/** Reads a value of a resource once for each import. */
export function oncePerImport<Value>(
  read: (access: SourceAccess, resource: string) => Promise<Value>,
): (access: SourceAccess, resource: string) => Promise<Value> {
  const values = new WeakMap<SourceAccess, Map<string, Promise<Value>>>();
  return (access, resource) => {
    const ofAccess = values.get(access) ?? new Map<string, Promise<Value>>();
    values.set(access, ofAccess);
    const value = ofAccess.get(resource) ?? read(access, resource);
    ofAccess.set(resource, value);
    return value;
  };
}

/** `permissionsOf` of a source whose documents are seen as their resource is, which each import asks for once. */
export function permissionsByResource(
  audienceOf: (access: SourceAccess, resource: string) => Promise<Audience | null>,
): NonNullable<Connector['permissionsOf']> {
  const audiences = oncePerImport(audienceOf);
  return async (access, { resource }, keys) => {
    const seenBy = await audiences(access, resource);
    return keys.map(() => seenBy);
  };
}

/** A page of a listing of GraphQL. */
export interface GraphqlPage<Node> {
  readonly nodes: readonly Node[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

/** Reads a listing of GraphQL to its end. */
export async function* graphqlPages<Page extends GraphqlPage<unknown>>(
  read: (after: string | null) => Promise<Page>,
): AsyncGenerator<Page, void, undefined> {
  for (let after: string | null = null; ; ) {
    const page: Page = await read(after);
    yield page;
    if (!page.pageInfo.hasNextPage) return;
    after = page.pageInfo.endCursor;
  }
}

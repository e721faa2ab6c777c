import type { LinearError } from '@linear/sdk';
import type { Json } from '../../common/kernel/json.ts';
import { nullIf } from '../../common/platform/async/null-if.ts';
import { requestTokens } from '../credentials/token-endpoint.ts';
import {
  type Audience,
  type ChangePage,
  type Connector,
  type GraphqlPage,
  graphqlPages,
  type OAuthSteps,
  type PresentDocument,
  permissionsByResource,
  type SourceAccess,
  SourceBusyError,
  type SourceDocument,
  type SourceResource,
  SourceRevokedError,
  waitMsOf,
} from './connector.ts';
import { slug } from './folder.ts';
import { REVOKED, readDelivery } from './linear-deliveries.ts';
import {
  ACCOUNT,
  type Account,
  type Entry,
  type EntryPage,
  ISSUE_VERSIONS,
  MEMBERS,
  type PageQuery,
  QUERIES,
  REPLY,
  type Remark,
  TEAMS,
  type Team,
  type TeamMembers,
} from './linear-queries.ts';

interface LinearOptions {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly webhookSecret: string;
  readonly redirectUri: string;
  readonly frontendUrl: string;
  /** Where people sign in. */
  readonly webUrl: string;
  readonly apiUrl: string;
  /** Time between two imports of a team in which everything is compared. */
  readonly compareEveryMs?: number;
  /** See `ConnectorCapabilities.retryMs`. */
  readonly retryMs?: number;
}

const SCOPE = 'read,write,app:assignable,app:mentionable';
/** Documents of a page, with their first comments: less than half of the 10,000 points that one query may cost. */
const PER_PAGE = 50;
const IDS_PER_PAGE = 250;
const DAY_MS = 86_400_000;
/** What was changed at the end of an import may be listed a moment later. */
const OVERLAP_MS = 60_000;
/** Wait where Linear says no time. */
const UNKNOWN_MS = 60_000;

/** The teams of a workspace of Linear: their issues and projects, with what was said in them. */
export function createLinearConnector(options: LinearOptions): Connector {
  const query = createQuery(options);
  const ask: Ask = async (access, text, variables = {}) => {
    access.signal.throwIfAborted();
    return query(await access.token(), text, variables, access.signal);
  };
  const entries = createEntries(ask, options.compareEveryMs);
  return {
    provider: 'linear',
    capabilities: {
      title: 'Linear',
      feeds: ['issues', 'projects'],
      kinds: { issues: 'Issues', projects: 'Projects' },
      selection: 'optional',
      accounts: 'exclusive',
      everyMs: 900_000,
      ...(options.retryMs === undefined ? {} : { retryMs: options.retryMs }),
    },
    datasetName: ({ accountLabel, metadata }) =>
      `linear_${slug(String(metadata['organization_url_key'] ?? accountLabel))}`,
    async list(access) {
      const teams: SourceResource[] = [];
      const read = async (after: string | null) =>
        (await ask<{ readonly teams: GraphqlPage<Team> }>(access, TEAMS, { after })).teams;
      for await (const { nodes } of graphqlPages(read)) {
        for (const { id, name, key, description, private: isPrivate } of nodes) {
          teams.push({ id, name, description: description ?? null, attributes: { key, private: isPrivate } });
        }
      }
      return teams;
    },
    changesSince(access, { resource, feed }, cursor) {
      return feed === 'issues'
        ? entries.issuesSince(access, resource, issueCursor(cursor))
        : entries.projectsOf(access, resource);
    },
    async fetch(access, change) {
      const entry = await entries.entryOf(access, change);
      const isElsewhere = entry?.team !== undefined && entry.team.id !== change.resource;
      if (entry === null || entry.trashed === true || isElsewhere) return null;
      return documentOf(change.feed, entry, await allRemarks(ask, access, change.feed, entry));
    },
    permissionsOf: permissionsByResource((access, team) => audienceOf(ask, access, team)),
    verifyWebhook: async (delivery) => readDelivery(options.webhookSecret, delivery),
    async reply(access, agentSessionId, { kind: type, text: body }) {
      // A thought goes with what is said next.
      const input = { agentSessionId, content: { type, body }, ephemeral: type === 'thought' };
      await ask(access, REPLY, { input });
    },
    oauth: oauthSteps(options, query),
  };
}

/** Asks with our own queries: the models of the SDK take a request for each relation of each issue. */
function createQuery({ apiUrl }: LinearOptions) {
  return async <T>(token: string, text: string, variables: object, signal: AbortSignal): Promise<T> => {
    const { LinearGraphQLClient } = await import('@linear/sdk');
    const client = new LinearGraphQLClient(`${apiUrl}/graphql`, {
      headers: { authorization: `Bearer ${token}` },
      signal,
    });
    try {
      return (await client.rawRequest(text, variables as Record<string, unknown>)).data as T;
    } catch (error) {
      throw signal.aborted ? error : translated(error);
    }
  };
}

type Ask = <T>(access: SourceAccess, text: string, variables?: object) => Promise<T>;

/** Issues and projects: what changed, and each with everything that was said. */
function createEntries(ask: Ask, compareEveryMs = DAY_MS) {
  /** The documents of the page that was listed last, of each import: a fetch need not ask for them one by one. */
  const listed = new WeakMap<SourceAccess, Map<string, Entry>>();
  const page = async (access: SourceAccess, feed: string, asked: PageQuery): Promise<EntryPage> => {
    const found = await ask<{ readonly entries: EntryPage }>(access, QUERIES[feed as Feed].page, asked);
    listed.set(access, new Map(found.entries.nodes.map((entry) => [entry.id, entry])));
    return found.entries;
  };

  /** Issues by the time of their last change, of the last of their comments, or of being archived: newest first. */
  async function* issuesSince(access: SourceAccess, team: string, stored: IssueCursor): AsyncGenerator<ChangePage> {
    let { since, newest, after } = stored;
    const isFirst = since === null && after === null;
    for (;;) {
      const filter: object = { team: { id: { eq: team } }, ...changedSince(since) };
      const asked: Omit<PageQuery, 'after'> = { filter, first: PER_PAGE };
      const entries: EntryPage = await page(access, 'issues', { ...asked, after }).catch((error: unknown) => {
        // The issue that the page ended with is not there any more.
        if (after === null || after !== stored.after || !isInvalidInput(error)) throw error;
        after = null;
        return page(access, 'issues', { ...asked, after });
      });
      const { nodes, pageInfo } = entries;
      // Later pages show a later state: what changed meanwhile on a page before them is found the next time.
      if (after === null) newest = nodes.map(changedAt).toSorted().at(-1) ?? since;
      const found = presentAndGone(nodes);
      after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
      if (after !== null) {
        yield { ...found, cursor: { ...stored, since, newest, after } };
        continue;
      }
      const next = newest === null ? null : new Date(Date.parse(newest) - OVERLAP_MS).toISOString();
      const comparedMs = isFirst ? Date.now() : stored.comparedMs;
      const cursor = { since: next, newest: null, after: null, comparedMs };
      yield { ...found, cursor, ...(isFirst ? { isWhole: true as const } : {}) };
      if (Date.now() - comparedMs >= compareEveryMs) yield* allIssues(access, team, cursor);
      return;
    }
  }

  /** Everything of a team, by id and version: issues that moved or were erased are missing. */
  async function* allIssues(access: SourceAccess, team: string, cursor: IssueCursor): AsyncGenerator<ChangePage> {
    const read = async (after: string | null) => {
      const asked: PageQuery = { filter: { team: { id: { eq: team } } }, first: IDS_PER_PAGE, after };
      return (await ask<{ readonly entries: EntryPage }>(access, ISSUE_VERSIONS, asked)).entries;
    };
    for await (const { nodes, pageInfo } of graphqlPages(read)) {
      const found = presentAndGone(nodes);
      if (pageInfo.hasNextPage) yield { ...found, cursor: { ...cursor } };
      else yield { ...found, cursor: { ...cursor, comparedMs: Date.now() }, isWhole: true };
    }
  }

  /** All projects each time: they are few. */
  async function* projectsOf(access: SourceAccess, team: string): AsyncGenerator<ChangePage> {
    const filter = { accessibleTeams: { some: { id: { eq: team } } } };
    const read = (after: string | null) => page(access, 'projects', { filter, first: PER_PAGE, after });
    for await (const { nodes, pageInfo } of graphqlPages(read)) {
      yield { ...presentAndGone(nodes), cursor: null, ...(pageInfo.hasNextPage ? {} : { isWhole: true }) };
    }
  }

  const entryOf = async (access: SourceAccess, { feed, key, version }: PresentDocument): Promise<Entry | null> => {
    const known = listed.get(access)?.get(key);
    if (known !== undefined && versionOf(known) === version) return known;
    const asking = ask<{ readonly entry: Entry | null }>(access, QUERIES[feed as Feed].one, { id: key });
    return (await nullIf(isInvalidInput, asking))?.entry ?? null;
  };
  return { issuesSince, projectsOf, entryOf };
}

async function allRemarks(ask: Ask, access: SourceAccess, feed: string, entry: Entry): Promise<readonly Remark[]> {
  const remarks = [...entry.remarks.nodes];
  for (let { hasNextPage, endCursor: after } = entry.remarks.pageInfo; hasNextPage; ) {
    const asked = { id: entry.id, after };
    const { entry: more } = await ask<{ readonly entry: Entry }>(access, QUERIES[feed as Feed].remarks, asked);
    remarks.push(...more.remarks.nodes);
    ({ hasNextPage, endCursor: after } = more.remarks.pageInfo);
  }
  return remarks.toSorted((one, other) => (one.createdAt < other.createdAt ? -1 : 1));
}

/** The members of a private team; others are open to the workspace. */
async function audienceOf(ask: Ask, access: SourceAccess, id: string): Promise<Audience | null> {
  const addresses: string[] = [];
  const read = async (after: string | null) => {
    const { team } = await ask<{ readonly team: TeamMembers }>(access, MEMBERS, { id, after });
    return { isPrivate: team.private, ...team.members };
  };
  for await (const { isPrivate, nodes } of graphqlPages(read)) {
    if (!isPrivate) return null;
    addresses.push(...nodes.filter(({ active }) => active).map(({ email }) => email));
  }
  return { addresses, groups: [], domains: [] };
}

/** Connects a workspace. */
function oauthSteps(options: LinearOptions, query: ReturnType<typeof createQuery>): OAuthSteps {
  const { clientId, clientSecret, redirectUri, apiUrl } = options;
  const endpoint = { url: `${apiUrl}/oauth/token`, clientId, clientSecret };
  const tokens = (grant: Readonly<Record<string, string>>, signal: AbortSignal) =>
    requestTokens(endpoint, grant, signal);
  return {
    stateSecret: options.webhookSecret,
    frontendUrl: options.frontendUrl,
    authorizeUrl({ state, codeChallenge }) {
      const asked = { client_id: clientId, redirect_uri: redirectUri, response_type: 'code', state, actor: 'app' };
      const proof = { code_challenge: codeChallenge, code_challenge_method: 'S256' };
      return `${options.webUrl}/oauth/authorize?${new URLSearchParams({ ...asked, scope: SCOPE, ...proof })}`;
    },
    async exchange({ query: { code = '' }, codeVerifier, signal }) {
      const grant = { grant_type: 'authorization_code', code, redirect_uri: redirectUri };
      const given = await tokens({ ...grant, code_verifier: codeVerifier }, signal);
      const { viewer, organization } = await query<Account>(given.accessToken, ACCOUNT, {}, signal);
      const metadata = {
        app_user_id: viewer.id,
        app_user_name: viewer.name,
        organization_name: organization.name,
        organization_url_key: organization.urlKey,
        scope: given.scopes.join(','),
      };
      const account = { accountId: organization.id, label: organization.name, authType: 'oauth2' as const };
      return { ...account, scopes: given.scopes, metadata, tokens: given };
    },
    refresh: (refreshToken, signal) => tokens({ grant_type: 'refresh_token', refresh_token: refreshToken }, signal),
    async revoke(access) {
      const body = new URLSearchParams({ token: await access.token() });
      const response = await fetch(`${apiUrl}/oauth/revoke`, { method: 'POST', body, signal: access.signal });
      if (!response.ok) throw new Error(`Linear answered the revocation with status ${response.status}.`);
    },
  };
}

type Feed = 'issues' | 'projects';

/** Beginning of the changes that are listed; within a listing, its first page's newest change and the page before. */
type IssueCursor = {
  readonly since: string | null;
  readonly newest: string | null;
  readonly after: string | null;
  /** Time of the last comparison of everything. */
  readonly comparedMs: number;
};

function issueCursor(stored: Json): IssueCursor {
  return (stored as IssueCursor | null) ?? { since: null, newest: null, after: null, comparedMs: 0 };
}

function changedSince(since: string | null): object {
  if (since === null) return {};
  const at = { gte: since };
  return { or: [{ updatedAt: at }, { archivedAt: at }, { comments: { some: { updatedAt: at } } }] };
}

/** Time of the last change of an entry that its listing shows. */
function changedAt({ updatedAt, archivedAt, latest }: Entry): string {
  return [updatedAt, archivedAt ?? '', ...latest.nodes.map((one) => one.updatedAt)].toSorted().at(-1) ?? '';
}

function versionOf({ updatedAt, archivedAt, latest }: Entry): string {
  return [updatedAt, archivedAt, latest.nodes[0]?.updatedAt].filter(Boolean).join(' ');
}

function presentAndGone(entries: readonly Entry[]): Pick<ChangePage, 'present' | 'gone'> {
  const present = entries.filter(({ trashed }) => trashed !== true);
  return {
    present: present.map((entry) => ({ key: entry.id, version: versionOf(entry) })),
    gone: entries.filter(({ trashed }) => trashed === true).map(({ id }) => id),
  };
}

/** Limits are answered with 400 and the code `RATELIMITED`, or with 429. */
function translated(error: unknown): unknown {
  const { status, errors, raw } = error as LinearError;
  const codes = raw?.response?.errors?.map(({ extensions }) => (extensions as { code?: string } | undefined)?.code);
  if (errors?.[0]?.type === 'Ratelimited' || status === 429 || codes?.includes('RATELIMITED')) {
    return new SourceBusyError(waitMsAfter(raw?.response?.headers), { cause: error });
  }
  return status === 401 ? new SourceRevokedError(REVOKED, { cause: error }) : error;
}

/** Time until the budget that is spent is full again: of requests, of one query, or of points for what queries cost. */
function waitMsAfter(headers: Pick<Headers, 'get'> | undefined): number {
  const limitOf = (budget: string, name: string) => {
    const value = headers?.get(`x-ratelimit-${budget}-${name}`);
    return value ? Number(value) : Number.NaN;
  };
  // A query may cost more than what is left of the points.
  const spent = ['requests', 'endpoint-requests'].find((budget) => limitOf(budget, 'remaining') === 0) ?? 'complexity';
  const resets = [spent, 'complexity', 'requests'].map((budget) => limitOf(budget, 'reset'));
  const resetAt = resets.find((time) => Number.isFinite(time)) ?? Date.now() + UNKNOWN_MS;
  return waitMsOf(headers?.get('retry-after'), resetAt - Date.now());
}

function isInvalidInput(error: unknown): boolean {
  return (error as LinearError).errors?.[0]?.type === 'InvalidInput';
}

function documentOf(feed: string, entry: Entry, remarks: readonly Remark[]): SourceDocument {
  const { title, identifier, url } = entry;
  const name = title.replaceAll(/[\\/]/g, ' ');
  return {
    fileName: `${name} (${identifier ?? 'project'}).md`,
    mimeType: 'text/markdown',
    content: Buffer.from(entryText(feed, entry, remarks)),
    version: versionOf(entry),
    uri: url,
  };
}

/** An issue or a project as one document, with everything that was said. */
function entryText(feed: string, entry: Entry, remarks: readonly Remark[]): string {
  const { title, identifier, status, person, labels, description, content } = entry;
  const day = (at: string) => at.slice(0, 10);
  const fact = (label: string, value: string | null | undefined) => (value ? [`${label}: ${value}.`] : []);
  const event = (label: string, at: string | null) => (at === null ? [] : [`${label} on ${day(at)}.`]);
  const facts = [
    feed === 'issues' ? `Issue ${identifier} of team ${entry.team?.name}, ${status.name}.` : `Project, ${status.name}.`,
    `Opened by ${entry.creator?.name ?? 'a former user'} on ${day(entry.createdAt)}.`,
    ...event('Completed', entry.completedAt),
    ...event('Canceled', entry.canceledAt),
    ...event('Archived', entry.archivedAt),
    ...fact(feed === 'issues' ? 'Assigned to' : 'Led by', person?.name),
    ...fact('Labels', labels.nodes.map(({ name }) => name).join(', ')),
    ...fact('Priority', entry.priorityLabel === 'No priority' ? null : entry.priorityLabel),
    ...fact('Estimate', entry.estimate == null ? null : String(entry.estimate)),
    ...fact('Start', entry.startDate),
    ...fact('Due', entry.dueDate),
    ...fact('Project', entry.project?.name),
    ...fact('Milestone', entry.projectMilestone?.name),
    ...fact('Cycle', entry.cycle && (entry.cycle.name ?? String(entry.cycle.number))),
    ...fact('Part of', entry.parent && `${entry.parent.identifier} ${entry.parent.title}`),
  ];
  const said = remarks.map(({ user, botActor, externalUser, createdAt, body, health }) => {
    const author = (user ?? botActor ?? externalUser)?.name ?? 'A former user';
    return `## ${author} on ${day(createdAt)}${health === undefined ? '' : ` (${spaced(health)})`}\n\n${body}`;
  });
  return [`# ${title}`, facts.join(' '), description ?? '', content ?? '', ...said]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** `onTrack` as people read it. */
function spaced(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

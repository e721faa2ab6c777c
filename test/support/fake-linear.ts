import { createHash, createHmac, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { complexityOf, GraphqlFault, parseGraphql, type Resolver, selectGraphql, type Value } from './fake-graphql.ts';
import { closed, startServer } from './listening.ts';

interface FakeComment {
  readonly id: string;
  body: string;
  user: string;
  createdAt: string;
  updatedAt: string;
}

interface FakeLinearIssue {
  readonly id: string;
  team: string;
  identifier: string;
  title: string;
  description: string;
  state: string;
  assignee: string | null;
  labels: string[];
  updatedAt: string;
  archivedAt: string | null;
  trashed: boolean | null;
  comments: FakeComment[];
}

interface FakeProject {
  readonly id: string;
  name: string;
  content: string;
  teams: string[];
  updatedAt: string;
  updates: FakeComment[];
}

interface FakeMember {
  readonly id: string;
  readonly email: string;
  readonly active: boolean;
}

/** Points that one query may cost. */
const MAX_COMPLEXITY = 10_000;
const ORGANIZATION = { id: 'org-1', name: 'Acme Corp', urlKey: 'acme-corp' };

/** Linear of this machine: OAuth with tokens that expire and rotate, GraphQL with pages, limits and errors, signed webhooks. */
export async function startFakeLinear() {
  const webhookSecret = randomUUID();
  const teams: { id: string; key: string; name: string; private: boolean; members: FakeMember[] }[] = [];
  const issues: FakeLinearIssue[] = [];
  const projects: FakeProject[] = [];
  const codes = new Map<string, { challenge: string; redirectUri: string }>();
  const access = new Map<string, number>();
  const refresh = new Set<string>();
  const activities: { session: string; type: string; body: string }[] = [];
  const queries: string[] = [];
  const costs: number[] = [];
  const state = {
    /** The app was removed from the workspace. */
    isGone: false,
    /** Queries that are answered before the limit is reached; null: no limit. */
    remaining: null as number | null,
    /** The budget that is spent then; with `complexity`, points that a query costs are left. */
    budget: 'requests' as 'requests' | 'complexity' | 'endpoint-requests',
    /** Limits without the `type` of the error, or without a time, as some answers have it. */
    isTerse: false,
    tokenLifeSeconds: 86_400,
  };

  const comment = ({ id, body, user, createdAt, updatedAt }: FakeComment): Value => ({
    id,
    body,
    createdAt,
    updatedAt,
    user: { name: user },
    botActor: null,
    externalUser: null,
  });
  const issueValue = (issue: FakeLinearIssue): Value => {
    const { team, comments, state: name, assignee, labels, ...facts } = issue;
    return {
      ...facts,
      url: `https://linear.test/acme/issue/${issue.identifier}`,
      createdAt: '2026-01-01T00:00:00.000Z',
      completedAt: null,
      canceledAt: null,
      priorityLabel: 'High',
      estimate: 3,
      dueDate: '2026-03-01',
      creator: { name: 'Ada' },
      state: { name },
      assignee: assignee === null ? null : { name: assignee },
      project: null,
      projectMilestone: null,
      cycle: null,
      parent: null,
      team: teams.filter(({ id }) => id === team).map(({ id, name }) => ({ id, name }))[0] ?? null,
      labels: connection(() => labels.map((label) => ({ id: label, name: label }))),
      comments: connection(() => comments.map(comment)),
    };
  };
  const projectValue = (project: FakeProject): Value => {
    const { teams: _, updates, ...facts } = project;
    return {
      ...facts,
      url: `https://linear.test/acme/project/${project.id}`,
      createdAt: '2026-01-01T00:00:00.000Z',
      completedAt: null,
      canceledAt: null,
      archivedAt: null,
      trashed: null,
      priorityLabel: 'No priority',
      description: '',
      targetDate: '2026-06-30',
      startDate: null,
      status: { name: 'In Progress' },
      creator: { name: 'Ada' },
      lead: { name: 'Grace' },
      labels: connection(() => []),
      projectUpdates: connection(() =>
        updates.map((update) => ({ ...(comment(update) as object), health: 'onTrack' })),
      ),
    };
  };
  const found = <T extends { id: string }>(
    all: readonly T[],
    args: Record<string, unknown>,
    value: (one: T) => Value,
  ) => {
    const one = all.find(({ id }) => id === args['id']);
    if (one === undefined)
      throw new GraphqlFault('Entity not found: it could not be found.', 'InvalidInput', 'INPUT_ERROR');
    return value(one);
  };
  const root: Record<string, Resolver> = {
    viewer: () => ({ id: 'app-1', name: 'Engram' }),
    organization: () => ORGANIZATION,
    teams: connection(() => teams.map(({ members: _, ...team }) => ({ ...team, description: null }))),
    team: (args) => {
      return found(teams, args, ({ members, ...team }) => ({
        ...team,
        members: connection(() => members.map((one) => ({ ...one }))),
      }));
    },
    issue: (args) => found(issues, args, issueValue),
    project: (args) => found(projects, args, projectValue),
    issues: connection((args) => {
      const { team, or } = (args['filter'] ?? {}) as { team?: { id: { eq: string } }; or?: Record<string, unknown>[] };
      const isChanged = (one: FakeLinearIssue, since: string) =>
        one.updatedAt >= since ||
        (one.archivedAt ?? '') >= since ||
        one.comments.some(({ updatedAt }) => updatedAt >= since);
      const since = (or?.[0]?.['updatedAt'] as { gte: string } | undefined)?.gte ?? '';
      return issues
        .filter((one) => (team === undefined || one.team === team.id.eq) && isChanged(one, since))
        .filter((one) => args['includeArchived'] === true || one.archivedAt === null)
        .map(issueValue);
    }),
    projects: connection((args) => {
      const { accessibleTeams } = args['filter'] as { accessibleTeams: { some: { id: { eq: string } } } };
      return projects.filter((one) => one.teams.includes(accessibleTeams.some.id.eq)).map(projectValue);
    }),
    agentActivityCreate: (args) => {
      const { agentSessionId, content } = args['input'] as {
        agentSessionId: string;
        content: { type: string; body: string };
      };
      activities.push({ session: agentSessionId, type: content.type, body: content.body });
      return { success: true };
    },
  };

  const token = (form: URLSearchParams): readonly [number, unknown] => {
    const isClient = form.get('client_id') === 'client' && form.get('client_secret') === 'secret';
    if (!isClient) return [401, { error: 'invalid_client' }];
    if (form.get('grant_type') === 'refresh_token') {
      // Rotated: each is accepted once.
      if (state.isGone || !refresh.delete(form.get('refresh_token') ?? '')) return [400, { error: 'invalid_grant' }];
    } else {
      const code = codes.get(form.get('code') ?? '');
      codes.delete(form.get('code') ?? '');
      const proof = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url');
      if (code?.challenge !== proof || code.redirectUri !== form.get('redirect_uri'))
        return [400, { error: 'invalid_grant' }];
    }
    const [given, next] = [`lin_oauth_${randomUUID()}`, `lin_refresh_${randomUUID()}`];
    access.set(given, Date.now() + state.tokenLifeSeconds * 1000);
    refresh.add(next);
    const scope = 'read write app:assignable app:mentionable';
    return [
      200,
      { access_token: given, refresh_token: next, token_type: 'Bearer', expires_in: state.tokenLifeSeconds, scope },
    ];
  };

  const graphql = (request: IncomingMessage, body: string): readonly [number, unknown, object?] => {
    const bearer = request.headers.authorization?.replace(/^Bearer ?/, '') ?? '';
    if (state.isGone || (access.get(bearer) ?? 0) < Date.now()) {
      return [
        401,
        faultOf('Authentication required, not authenticated', 'AuthenticationError', 'AUTHENTICATION_ERROR'),
      ];
    }
    const { query, variables } = JSON.parse(body) as { query: string; variables: Record<string, unknown> };
    const selection = parseGraphql(query, variables);
    const complexity = complexityOf(selection);
    if (complexity > MAX_COMPLEXITY) return [400, faultOf('Query too complex', 'InvalidInput', 'INPUT_ERROR')];
    if (state.remaining !== null && state.remaining-- <= 0) {
      const error = faultOf('Rate limit exceeded.', state.isTerse ? 'Other' : 'Ratelimited', 'RATELIMITED');
      return [400, error, state.isTerse ? {} : limitsOf(state.budget)];
    }
    queries.push(query);
    costs.push(complexity);
    try {
      return [200, { data: selectGraphql(root, selection) }, { 'x-complexity': String(complexity) }];
    } catch (error) {
      if (!(error instanceof GraphqlFault)) throw error;
      return [200, { data: null, ...faultOf(error.message, error.type, error.code) }];
    }
  };

  const { server, url } = await startServer(async (request, response) => {
    const sent = await buffer(request);
    const body = sent.toString();
    const path = request.url ?? '';
    if (path === '/oauth/revoke') access.delete(new URLSearchParams(body).get('token') ?? '');
    const [status, answer, headers = {}] =
      path === '/oauth/token'
        ? token(new URLSearchParams(body))
        : path === '/oauth/revoke'
          ? [200, {}]
          : graphql(request, body);
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
    response.end(JSON.stringify(answer));
  });
  return {
    url,
    teams,
    issues,
    projects,
    activities,
    queries,
    /** Points of the queries. */
    costs,
    state,
    webhookSecret,
    tokens: access,
    /** Variables of a server that uses it. */
    variables: {
      LINEAR_CLIENT_ID: 'client',
      LINEAR_CLIENT_SECRET: 'secret',
      LINEAR_WEBHOOK_SECRET: webhookSecret,
      LINEAR_REDIRECT_URI: 'http://engram.test/callback',
      LINEAR_FRONTEND_BASE_URL: 'http://console.test',
      ENGRAM_LINEAR_URL: url,
    },
    team(key: string) {
      const team = { id: `team-${key}`, key, name: `Team ${key}`, private: key === 'SEC', members: [] as FakeMember[] };
      teams.push(team);
      return team;
    },
    issue(team: string, title: string, more: Partial<FakeLinearIssue> = {}): FakeLinearIssue {
      const number = issues.length + 1;
      const issue = {
        id: `issue-${number}`,
        team,
        identifier: `ENG-${number}`,
        title,
        description: `${title} happens on Mondays.`,
        state: 'In Progress',
        assignee: 'Charles',
        labels: ['bug'],
        archivedAt: null,
        trashed: null,
        comments: [],
        updatedAt: new Date(Date.UTC(2026, 0, 5) + number * 1000).toISOString(),
        ...more,
      };
      issues.push(issue);
      return issue;
    },
    /** The person allows the app: the query that Linear sends the browser back with. */
    install(authorizeUrl: string): URLSearchParams {
      const asked = new URL(authorizeUrl).searchParams;
      const code = randomUUID();
      codes.set(code, { challenge: asked.get('code_challenge') ?? '', redirectUri: asked.get('redirect_uri') ?? '' });
      return new URLSearchParams({ code, state: asked.get('state') ?? '' });
    },
    /** Sends a webhook as Linear signs it. */
    async deliver(
      baseUrl: string,
      payload: object,
      { id = String(randomUUID()), timestamp = Date.now() } = {},
    ): Promise<Response> {
      const body = JSON.stringify({ organizationId: ORGANIZATION.id, ...payload, webhookTimestamp: timestamp });
      const signature = createHmac('sha256', webhookSecret).update(body).digest('hex');
      const headers = { 'content-type': 'application/json; charset=utf-8', 'linear-delivery': id };
      return fetch(`${baseUrl}/api/v1/integrations/linear/events`, {
        method: 'POST',
        body,
        headers: { ...headers, 'linear-signature': signature },
      });
    },
    [Symbol.asyncDispose]: () => closed(server),
  };
}

/** Headers of a limit: the spent budget is full again in a second or, of the others, in an hour. */
function limitsOf(spent: string): Record<string, string> {
  const left: Record<string, number> = { requests: 900, 'endpoint-requests': 50, complexity: 180_000 };
  const headers: Record<string, string> = {};
  for (const [budget, most] of Object.entries(left)) {
    const remaining = budget === spent ? (budget === 'complexity' ? 12 : 0) : most;
    headers[`x-ratelimit-${budget}-remaining`] = String(remaining);
    headers[`x-ratelimit-${budget}-reset`] = String(Date.now() + (budget === spent ? 1000 : 3_600_000));
  }
  return headers;
}

function faultOf(message: string, type: string, code: string) {
  const wire: Readonly<Record<string, string>> = {
    Ratelimited: 'ratelimited',
    InvalidInput: 'invalid input',
    AuthenticationError: 'authentication error',
  };
  return { errors: [{ message, extensions: { type: wire[type] ?? type, code, userError: true } }] };
}

/** Pages with cursors that name a node, newest change first with `orderBy: updatedAt`. */
function connection(all: (args: Record<string, unknown>) => readonly Value[]): Resolver {
  return (args) => {
    const rows = all(args) as readonly { id: string; updatedAt?: string; createdAt?: string }[];
    const by = args['orderBy'] === 'updatedAt' ? 'updatedAt' : 'createdAt';
    const sorted = rows.toSorted((one, other) => ((one[by] ?? '') > (other[by] ?? '') ? -1 : 1));
    const after = args['after'];
    const index = sorted.findIndex(({ id }) => id === after);
    if (typeof after === 'string' && index < 0)
      throw new GraphqlFault('Entity not found: cursor', 'InvalidInput', 'INPUT_ERROR');
    const first = Number(args['first'] ?? 50);
    const nodes = sorted.slice(index + 1, index + 1 + first);
    const pageInfo = { hasNextPage: index + 1 + first < sorted.length, endCursor: nodes.at(-1)?.id ?? null };
    return { nodes: nodes as unknown as Value, pageInfo };
  };
}

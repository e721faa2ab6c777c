import { shownAgentAddress } from '../../common/domain/agent-address.ts';
import type { Session } from '../../common/domain/session.ts';
import type { UserId } from '../../common/kernel/brand.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { agentTypeOf } from './agent-type.ts';
import { activityOf, connectionsOf, listed, type SessionRange, sessionViewer } from './list-sessions.ts';

export interface SessionStatistics {
  readonly sessions: number;
  readonly tokensIn: number;
  readonly tokensOut: number;
  /** From the first to the last activity, all sessions together. */
  readonly activeSeconds: number;
  readonly abandoned: number;
  readonly running: number;
}

/** Statistics of the visible sessions, read page by page. */
export async function sessionStatistics(
  dependencies: IngestDependencies,
  principal: Principal,
  range: SessionRange,
  context: CallContext,
): Promise<SessionStatistics> {
  const now = dependencies.clock.now();
  const total = { sessions: 0, tokensIn: 0, tokensOut: 0, activeSeconds: 0, abandoned: 0, running: 0 };
  for await (const page of sessionsInSight(dependencies, principal, range, context)) {
    for (const session of page) {
      const { usage, startedAt, lastActivityAt } = session;
      total.sessions += 1;
      total.tokensIn += usage.tokensIn;
      total.tokensOut += usage.tokensOut;
      total.activeSeconds += Math.max(0, Date.parse(lastActivityAt) - Date.parse(startedAt)) / 1000;
      total[listed(dependencies, session, now).status] += 1;
    }
  }
  return total;
}

interface SpentTokens {
  readonly sessions: number;
  readonly tokensIn: number;
  readonly tokensOut: number;
}

export interface ModelCost extends SpentTokens {
  readonly model: string;
}

/**
 * One row per model. A session counts for the model that it used last, or for its embedder when it used no other. Sessions
 * that used none are left out. Most tokens first.
 */
export async function costByModel(
  dependencies: IngestDependencies,
  principal: Principal,
  range: SessionRange,
  context: CallContext,
): Promise<readonly ModelCost[]> {
  const spent = new Map<string, SpentTokens>();
  for await (const page of sessionsInSight(dependencies, principal, range, context)) {
    for (const session of page) {
      const { lastModel, lastEmbeddingModel, usage } = session;
      const model = lastModel ?? lastEmbeddingModel;
      if (!model) continue;
      const tokensIn = lastModel === null ? usage.embeddingTokens : usage.tokensIn;
      spent.set(model, added(spent.get(model), { tokensIn, tokensOut: usage.tokensOut }));
    }
  }
  return [...spent].map(([model, cost]) => ({ model, ...cost })).toSorted(mostTokensFirst);
}

export interface AgentCost extends SpentTokens {
  readonly user: UserId;
  /** Null: the account is gone. */
  readonly email: string | null;
  readonly agentType: string;
}

/**
 * By the user and the type of the agent that worked in the session; of everybody in the tenant for those who manage its
 * users. Most tokens first.
 */
export async function costByUserAgent(
  dependencies: IngestDependencies,
  principal: Principal,
  range: SessionRange,
  context: CallContext,
): Promise<readonly AgentCost[]> {
  const spent = new Map<string, SpentTokens & { readonly user: UserId; readonly agentType: string }>();
  for await (const page of sessionsOfPeople(dependencies, principal, range, context)) {
    const connectionOf = await connectionsOf(dependencies, page);
    for (const session of page) {
      const agentType = agentTypeOf(session, connectionOf(session));
      const key = `${session.user}/${agentType}`;
      spent.set(key, { user: session.user, agentType, ...added(spent.get(key), session.usage) });
    }
  }
  const people = await dependencies.users.getMany([...new Set([...spent.values()].map(({ user }) => user))]);
  const addresses = new Map(people.map(({ id, email }) => [id, shownAgentAddress(email)]));
  return [...spent.values()]
    .map((cost) => ({ ...cost, email: addresses.get(cost.user) ?? null }))
    .toSorted(mostTokensFirst);
}

async function* sessionsInSight(
  dependencies: IngestDependencies,
  principal: Principal,
  range: SessionRange,
  context: CallContext,
): AsyncGenerator<readonly Session[]> {
  const activity = activityOf(dependencies, { range, status: null });
  if (activity === null) return;
  const viewer = await sessionViewer(dependencies, principal, context);
  yield* dependencies.visibleSessions.pages({ tenant: principal.tenant }, viewer, activity);
}

/** Sessions in sight; for who manages the users of the tenant, those of all of them. */
async function* sessionsOfPeople(
  dependencies: IngestDependencies,
  principal: Principal,
  range: SessionRange,
  context: CallContext,
): AsyncGenerator<readonly Session[]> {
  const { messenger, visibleSessions } = dependencies;
  const activity = activityOf(dependencies, { range, status: null });
  if (activity === null) return;
  const { capabilities } = await messenger.call('auth.HeldCapabilities', {}, { ...context, principal });
  if (capabilities.includes('manage_users')) {
    yield* visibleSessions.allPages({ tenant: principal.tenant }, activity);
  } else {
    yield* sessionsInSight(dependencies, principal, range, context);
  }
}

function added(before: SpentTokens | undefined, usage: Omit<SpentTokens, 'sessions'>): SpentTokens {
  return {
    sessions: (before?.sessions ?? 0) + 1,
    tokensIn: (before?.tokensIn ?? 0) + usage.tokensIn,
    tokensOut: (before?.tokensOut ?? 0) + usage.tokensOut,
  };
}

function mostTokensFirst(one: SpentTokens, other: SpentTokens): number {
  return other.tokensIn + other.tokensOut - one.tokensIn - one.tokensOut || other.sessions - one.sessions;
}

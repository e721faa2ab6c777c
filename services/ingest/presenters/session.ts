import type { AgentConnection } from '../../common/domain/agent-connection.ts';
import type { Session } from '../../common/domain/session.ts';
import { presentQa, presentTrace } from '../../common/presenters/session-rows.ts';
import { agentTypeOf } from '../sessions/agent-type.ts';
import type { ListedSession, SessionDetail, SessionRange } from '../sessions/list-sessions.ts';
import type { AgentCost, ModelCost, SessionStatistics } from '../sessions/session-statistics.ts';

type Row = Readonly<Record<string, unknown>>;

export function presentListed({ session, status }: ListedSession, { labels }: { readonly labels: boolean }): Row {
  return { ...presentRow(session), effective_status: status, ...(labels ? { label: session.label } : {}) };
}

export function presentWithAgent(
  listed: ListedSession,
  connection: AgentConnection | null,
  shown: { readonly labels: boolean },
): Row {
  return {
    ...presentListed(listed, shown),
    agent_type: agentTypeOf(listed.session, connection),
    agent_source: connection?.source ?? null,
    agent_session_name: connection?.sessionName ?? null,
    origin_function: connection?.originFunction ?? null,
  };
}

export function presentDetail({ session, label, qas, traces }: SessionDetail): Row {
  const { qaCount, traceCount, expired } = session;
  return {
    ...presentRow(session),
    label,
    msg_count: qaCount - expired.qas,
    tool_calls: traceCount - expired.traces,
    qas: qas.map(presentQa),
    traces: traces.map(presentTrace),
  };
}

export function presentStatistics(range: SessionRange, statistics: SessionStatistics): Row {
  const { sessions, tokensIn, tokensOut, activeSeconds, abandoned, running } = statistics;
  return {
    range,
    sessions,
    total_spend_usd: costOf(tokensIn + tokensOut),
    avg_spend_per_session_usd: costOf(tokensIn + tokensOut),
    tokens_in: tokensIn,
    tokens_out: tokensOut,
    tokens_total: tokensIn + tokensOut,
    agent_time_s: activeSeconds,
    avg_session_s: sessions === 0 ? 0 : activeSeconds / sessions,
    // Nothing ends a session as completed or failed: there is nothing decided to count.
    success_rate: 1,
    completed: 0,
    failed: 0,
    abandoned,
    running,
  };
}

export function presentModelCost({ model, sessions, tokensIn, tokensOut }: ModelCost): Row {
  return {
    model,
    session_count: sessions,
    cost_usd: costOf(tokensIn + tokensOut),
    tokens_in: tokensIn,
    tokens_out: tokensOut,
  };
}

export function presentAgentCost({ user, email, agentType, sessions, tokensIn, tokensOut }: AgentCost): Row {
  return {
    user_id: user,
    user_email: email,
    agent_type: agentType,
    session_count: sessions,
    tokens_in: tokensIn,
    tokens_out: tokensOut,
    tokens_total: tokensIn + tokensOut,
    cost_usd: costOf(tokensIn + tokensOut),
  };
}

/** Prices are not known: what took tokens has an unknown cost. */
function costOf(tokens: number): 0 | null {
  return tokens === 0 ? 0 : null;
}

function presentRow(session: Session): Row {
  const { usage } = session;
  return {
    session_id: session.session,
    user_id: session.user,
    dataset_id: session.dataset,
    agent_id: session.agent,
    status: 'running',
    started_at: session.startedAt,
    last_activity_at: session.lastActivityAt,
    ended_at: null,
    tokens_in: usage.tokensIn,
    tokens_out: usage.tokensOut,
    cost_usd: costOf(usage.tokensIn + usage.tokensOut),
    embedding_tokens: usage.embeddingTokens,
    embedding_cost_usd: costOf(usage.embeddingTokens),
    error_count: session.errorCount,
    last_model: session.lastModel,
  };
}

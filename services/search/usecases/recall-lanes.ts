/** Scopes that the wire accepts, in the order its error text names them. */
export const RECALL_SCOPES = [
  'all',
  'auto',
  'code',
  'graph',
  'graph_context',
  'session',
  'session_context',
  'session_first',
  'tools',
  'trace',
] as const;

export type RecallLane = 'graph' | 'session' | 'trace' | 'session_context' | 'code' | 'tools';

/** A scope that is none; the route answers the contract's fixed text. */
export class RecallScopeError extends Error {
  override readonly name = 'RecallScopeError';
}

export interface LaneConditions {
  readonly hasSession: boolean;
  readonly hasDatasets: boolean;
  readonly hasType: boolean;
}

/** The lanes to run, in order, each once (search-recall.md §6.2). Null means auto; an empty list means none. */
export function resolveLanes(scope: readonly string[] | null, conditions: LaneConditions): readonly RecallLane[] {
  if (scope === null) return autoLanes(conditions);
  for (const name of scope) {
    if (!(RECALL_SCOPES as readonly string[]).includes(name)) throw new RecallScopeError(`unknown scope ${name}`);
  }
  if (scope.length === 1 && scope[0] === 'auto') return autoLanes(conditions);
  const names = scope.includes('all')
    ? ['graph', 'session', 'trace', 'session_context', ...scope.filter((name) => name === 'tools')]
    : scope;
  const lanes = names.flatMap((name): RecallLane[] => {
    if (name === 'auto') return [];
    if (name === 'graph_context') return ['graph'];
    if (name === 'session_first') return ['session', 'graph'];
    return [name as RecallLane];
  });
  return [...new Set(lanes)];
}

function autoLanes({ hasSession, hasType }: LaneConditions): readonly RecallLane[] {
  return hasSession && !hasType ? ['session', 'graph'] : ['graph'];
}

/** Scopes of the contract, in the order of its error text. */
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

/** Lanes to run, in order, each once. */
export interface LanePlan {
  readonly lanes: readonly RecallLane[];
  /** Stops after the session lane when it finds something. */
  readonly sessionFirst: boolean;
}

/** An unknown scope; the route answers with the fixed text of the contract. */
export class RecallScopeError extends Error {
  override readonly name = 'RecallScopeError';
}

interface LaneConditions {
  readonly hasSession: boolean;
  readonly hasDatasets: boolean;
  readonly hasType: boolean;
}

/** Returns the lanes for the requested scopes (search-recall.md §6.2). Null means auto; an empty list means none. */
export function planLanes(scope: readonly string[] | null, conditions: LaneConditions): LanePlan {
  if (scope === null) return autoPlan(conditions);
  for (const name of scope) {
    if (!(RECALL_SCOPES as readonly string[]).includes(name)) throw new RecallScopeError(`unknown scope ${name}`);
  }
  const distinct = [...new Set(scope)];
  if (distinct.length === 1 && distinct[0] === 'auto') return autoPlan(conditions);
  const names = distinct.includes('all')
    ? ['graph', 'session', 'trace', 'session_context', ...distinct.filter(isKeptBesideAll)]
    : distinct;
  const sessionFirst = names.includes('session_first');
  const lanes = [...(sessionFirst ? SESSION_THEN_GRAPH : []), ...names].flatMap((name): readonly RecallLane[] => {
    if (name === 'auto' || name === 'session_first') return [];
    return name === 'graph_context' ? ['graph'] : [name as RecallLane];
  });
  return { lanes: [...new Set(lanes)], sessionFirst };
}

const SESSION_THEN_GRAPH: readonly RecallLane[] = ['session', 'graph'];

function isKeptBesideAll(name: string): boolean {
  return name === 'tools' || name === 'session_first';
}

function autoPlan({ hasSession, hasDatasets, hasType }: LaneConditions): LanePlan {
  if (!hasSession || hasType) return { lanes: ['graph'], sessionFirst: false };
  return { lanes: SESSION_THEN_GRAPH, sessionFirst: !hasDatasets };
}

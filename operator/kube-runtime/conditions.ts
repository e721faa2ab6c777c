/** As in Kubernetes' `metav1.Condition`. */
export interface Condition {
  readonly type: string;
  readonly status: ConditionStatus;
  /** One CamelCase word. */
  readonly reason: string;
  /** A sentence without a trailing period, at most 200 characters, without times: the state, and what to do about it. */
  readonly message: string;
  /** When `status` changed last. */
  readonly lastTransitionTime: string;
  /** Generation that was reconciled. */
  readonly observedGeneration: number;
}

type ConditionStatus = 'True' | 'False' | 'Unknown';

/** A condition as a step returns it; `mergeConditions` adds times and generation. */
export type ConditionDraft = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;
export type ConditionState = Omit<ConditionDraft, 'type'>;

interface MergeContext {
  readonly now: Date;
  /** The generation that was processed, not the latest one. */
  readonly observedGeneration: number;
}

/**
 * Merges conditions: drafts replace those of their type, `removed` types go (abnormal ones that are no longer true), the
 * others stay. `lastTransitionTime` moves only when the status does. Sorted by type.
 */
export function mergeConditions(
  previous: readonly Condition[],
  drafts: readonly ConditionDraft[],
  context: MergeContext,
  removed: readonly string[] = [],
): Condition[] {
  const next = new Map(previous.filter(({ type }) => !removed.includes(type)).map((held) => [held.type, held]));
  for (const draft of drafts) {
    const held = previous.find(({ type }) => type === draft.type);
    const unchanged = held !== undefined && held.status === draft.status;
    next.set(draft.type, {
      type: draft.type,
      status: draft.status,
      reason: draft.reason,
      message: conditionMessage(draft.message),
      lastTransitionTime: unchanged ? held.lastTransitionTime : toSeconds(context.now),
      observedGeneration: context.observedGeneration,
    });
  }
  return [...next.values()].sort((one, other) => (one.type < other.type ? -1 : 1));
}

/** Drafts with status `Unknown` for the types that an object does not have yet. */
export function unknownConditions(previous: readonly Condition[], types: readonly string[]): ConditionDraft[] {
  return types
    .filter((type) => !previous.some((held) => held.type === type))
    .map((type) => ({ type, status: 'Unknown', reason: 'Pending', message: 'Not reconciled yet' }));
}

export function findCondition(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

export const MESSAGE_LIMIT = 200;

/** Shortens a message for conditions and events: one line, no trailing period, at most 200 characters. */
export function conditionMessage(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim().replace(/\.+$/, '');
  if (line.length <= MESSAGE_LIMIT) return line;
  return `${line.slice(0, MESSAGE_LIMIT - 1).trimEnd()}…`;
}

/** Lists the first names in sorted order and the number of the others: `a, b, c and 4 more`. */
export function namesInMessage(names: Iterable<string>, limit = 5): string {
  const sorted = [...names].sort();
  const shown = sorted.slice(0, limit).join(', ');
  return sorted.length > limit ? `${shown} and ${sorted.length - limit} more` : shown;
}

/** Formats a time in whole seconds, as Kubernetes does. */
export function toSeconds(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}

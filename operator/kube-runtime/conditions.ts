/** As in Kubernetes' `metav1.Condition`. */
export interface Condition {
  readonly type: string;
  readonly status: ConditionStatus;
  /** One CamelCase word. */
  readonly reason: string;
  /** A sentence without a trailing period, at most 200 characters, no times: what is so, and what to do about it. */
  readonly message: string;
  /** When `status` changed last. */
  readonly lastTransitionTime: string;
  /** The generation that was looked at. */
  readonly observedGeneration: number;
}

type ConditionStatus = 'True' | 'False' | 'Unknown';

/** A condition as a step states it: times and generation are added by `mergeConditions`. */
export type ConditionDraft = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

interface MergeContext {
  readonly now: Date;
  /** The generation that was processed, not the latest one. */
  readonly observedGeneration: number;
}

/**
 * The next conditions: drafts replace those of their type, `removed` types go (abnormal ones that are not true any more),
 * the rest stays as it is. `lastTransitionTime` moves only when the status does. Sorted by type.
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

/** `Unknown` for each type that is not there yet: the first sight of an object. */
export function unknownConditions(previous: readonly Condition[], types: readonly string[]): ConditionDraft[] {
  return types
    .filter((type) => !previous.some((held) => held.type === type))
    .map((type) => ({ type, status: 'Unknown', reason: 'Pending', message: 'Not looked at yet' }));
}

export function findCondition(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

export const MESSAGE_LIMIT = 200;

/** Message text as conditions and events carry it: one line, no trailing period, at most 200 characters. */
export function conditionMessage(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim().replace(/\.+$/, '');
  if (line.length <= MESSAGE_LIMIT) return line;
  return `${line.slice(0, MESSAGE_LIMIT - 1).trimEnd()}…`;
}

/** The first names of a sorted list, and how many there are besides: `a, b, c and 4 more`. */
export function namesInMessage(names: Iterable<string>, limit = 5): string {
  const sorted = [...names].sort();
  const shown = sorted.slice(0, limit).join(', ');
  return sorted.length > limit ? `${shown} and ${sorted.length - limit} more` : shown;
}

/** Whole seconds, as Kubernetes writes times. */
export function toSeconds(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}

import type { TraceEntry } from '../../common/domain/session.ts';
import type { NewContextRow } from '../../common/domain/session-context.ts';
import type { Json } from '../../common/kernel/json.ts';
import { isSecretName, redacted } from './redact.ts';

const MAX_LESSONS = 20;
const MAX_REASON = 200;
const MAX_NAME = 60;
const MAX_VALUE = 80;
/** Parameters of one step that are looked at. */
const MAX_PARAMS = 20;
/** Steps after a failure among which its remedy is looked for. */
const REMEDY_WITHIN = 5;
const MAX_CHANGED = 3;
/** Successful steps that must agree on a value before it counts as a fact. */
const AGREEING_STEPS = 3;
const MAX_PARAM_NAMES = 500;

/**
 * What steps of an agent teach, without a model: reasons of failures, what made a function work after it had failed, and
 * parameters that have the same value wherever they work. The surest first, at most 20. Linear in the steps.
 */
export function lessonsByRules(steps: readonly TraceEntry[]): readonly NewContextRow[] {
  const read = steps.map(stepOf);
  const lessons = [...failures(read), ...remedies(read), ...environment(read)];
  return lessons.toSorted((left, right) => right.confidence - left.confidence).slice(0, MAX_LESSONS);
}

interface Step {
  readonly id: string;
  readonly name: string;
  readonly failed: boolean;
  readonly reason: string;
  /** Scalars under names that are no secrets, as they are shown. */
  readonly params: ReadonlyMap<string, string>;
}

function stepOf({ id, originFunction, status, errorMessage, methodParams }: TraceEntry): Step {
  const params = new Map<string, string>();
  for (const [name, value] of Object.entries(methodParams).slice(0, MAX_PARAMS)) {
    const shown = isSecretName(name) ? null : scalar(value);
    if (shown !== null) params.set(redacted(name, MAX_NAME), shown);
  }
  const failed = status === 'error';
  const reason = failed ? redacted(errorMessage, MAX_REASON) : '';
  return { id, name: redacted(originFunction, MAX_NAME), failed, reason, params };
}

/** As JSON; null for what is no scalar, is long, or holds something secret. */
function scalar(value: Json | undefined): string | null {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string' || value.length === 0 || value.length > MAX_VALUE) return null;
  const shown = redacted(value, MAX_VALUE);
  return shown.includes('[redacted]') || shown === '' ? null : `"${shown}"`;
}

/** One lesson for each function and reason, surer with each repetition. */
function failures(steps: readonly Step[]): readonly NewContextRow[] {
  const groups = Map.groupBy(
    steps.filter(({ failed, reason, name }) => failed && reason !== '' && name !== ''),
    ({ name, reason }) => `${name}\n${reason.toLowerCase()}`,
  );
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const content = `${first.name} failed: ${first.reason}`;
    return lesson('failure_lessons', content, Math.min(0.97, 0.85 + 0.05 * (group.length - 1)), group);
  });
}

/** What was different when a function that had just failed worked. */
function remedies(steps: readonly Step[]): readonly NewContextRow[] {
  const found: NewContextRow[] = [];
  for (const [at, step] of steps.entries()) {
    if (step.failed || step.name === '') continue;
    const before = steps.slice(Math.max(0, at - REMEDY_WITHIN), at);
    if (before.some((other) => !other.failed && other.name === step.name)) continue;
    const failure = before.findLast((other) => other.failed && other.name === step.name);
    if (failure === undefined) continue;
    const added = [...step.params].filter(([name]) => !failure.params.has(name));
    const changed = [...step.params].filter(([name, value]) => (failure.params.get(name) ?? value) !== value);
    const sources = [failure, step];
    if (added.length === 1 && changed.length === 0) {
      const [[name] = ['']] = added;
      found.push(...lesson('tool_rules', `${step.name} needs the parameter ${name}.`, 0.85, sources));
    } else if (changed.length > 0 && changed.length + added.length <= MAX_CHANGED) {
      const now = [...changed, ...added].map(([name, value]) => `${name}=${value}`).join(', ');
      const then = changed.map(([name]) => `${name}=${failure.params.get(name)}`).join(', ');
      found.push(
        ...lesson('success_patterns', `${step.name} worked with ${now} after it failed with ${then}.`, 0.85, sources),
      );
    }
  }
  return found;
}

/** A text that a parameter had in every step that worked. */
function environment(steps: readonly Step[]): readonly NewContextRow[] {
  const values = new Map<string, { value: string; steps: Step[]; isStable: boolean }>();
  for (const step of steps) {
    if (step.failed) continue;
    for (const [name, value] of step.params) {
      const known = values.get(name);
      if (known !== undefined) {
        if (known.value === value) known.steps.push(step);
        else known.isStable = false;
      } else if (values.size < MAX_PARAM_NAMES) values.set(name, { value, steps: [step], isStable: true });
    }
  }
  return [...values].flatMap(([name, { value, steps: agreeing, isStable }]) => {
    // Numbers and switches are choices of a call, not facts about where it runs.
    if (!isStable || agreeing.length < AGREEING_STEPS || !value.startsWith('"') || value.length < 5) return [];
    const confidence = Math.min(0.9, 0.74 + 0.02 * agreeing.length);
    return lesson('environment_facts', `${name} is ${value}.`, confidence, agreeing);
  });
}

function lesson(
  section: NewContextRow['section'],
  content: string,
  confidence: number,
  sources: readonly Step[],
): readonly NewContextRow[] {
  const traceIds = sources.slice(0, 10).map(({ id }) => id);
  return [{ profile: 'agent', section, content, confidence, traceIds }];
}

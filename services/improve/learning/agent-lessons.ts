import { z } from 'zod';
import type { TraceEntry } from '../../common/domain/session.ts';
import {
  CONTEXT_SECTIONS,
  type ContextRow,
  isSectionOf,
  MAX_CONTEXT_CHARACTERS,
  type NewContextRow,
} from '../../common/domain/session-context.ts';
import { closedObject, type Json } from '../../common/kernel/json.ts';
import type { LanguageModel, ModelCallContext } from '../../common/ports/models.ts';
import { FENCE_RULE, fenced } from '../../common/text/fenced.ts';

const MAX_MODEL_LESSONS = 5;
const MAX_SHOWN_LESSONS = 40;
const MAX_PART = 600;

const Answer = z.object({
  lessons: z.array(z.object({ section: z.string(), content: z.string(), confidence: z.number() })),
});

const SCHEMA = closedObject({
  lessons: {
    type: 'array',
    items: closedObject({
      section: { type: 'string', enum: [...CONTEXT_SECTIONS.agent] },
      content: { type: 'string', description: `One sentence, at most ${MAX_CONTEXT_CHARACTERS} characters` },
      confidence: { type: 'number', description: '0 to 1' },
    }),
  },
});

const SYSTEM = `You read the steps that an agent took with its tools, and write down what it should remember for later steps: rules of tools, the state of the work, what worked, what failed and why, facts about the environment. Write at most ${MAX_MODEL_LESSONS} lessons, each one sentence that holds beyond this one step. Write nothing that is known already. An empty list is a good answer when the steps teach nothing that lasts. ${FENCE_RULE}`;

/** Extracts lessons from the steps by one model call. Throws the errors of the model. */
export async function lessonsByModel(
  model: LanguageModel,
  { steps, known }: { readonly steps: readonly TraceEntry[]; readonly known: readonly ContextRow[] },
  context: ModelCallContext,
): Promise<readonly NewContextRow[]> {
  const agent = known.filter(({ profile }) => profile === 'agent').slice(-MAX_SHOWN_LESSONS);
  const lessons = agent.map(({ section, content }) => `[${section}] ${content}`).join('\n');
  const prompt = [
    ...(agent.length === 0 ? [] : [`Known lessons:\n${fenced('lessons', lessons)}`]),
    `Steps, oldest first:\n${fenced('steps', steps.map(lineOf).join('\n'))}`,
  ].join('\n\n');
  const call = { system: SYSTEM, prompt, schema: SCHEMA, schemaName: 'AgentLessons' };
  const answer = Answer.parse((await model.structured(call, context)).value);
  const traceIds = steps.slice(0, 10).map(({ id }) => id);
  return answer.lessons
    .slice(0, MAX_MODEL_LESSONS)
    .flatMap(({ section, content, confidence }) =>
      isSectionOf('agent', section) ? [{ profile: 'agent' as const, section, content, confidence, traceIds }] : [],
    );
}

/** Formats a step: `- <fn> [<status>] | feedback: … | error: … | output: …` (cognify-improve.md §3.9). */
function lineOf(step: TraceEntry): string {
  const output = step.methodReturnValue === null ? '' : shown(step.methodReturnValue);
  const parts = [
    `- ${redacted(step.originFunction, 100)} [${step.status}]`,
    ...part('feedback', step.sessionFeedback),
    ...part('error', step.errorMessage),
    ...part('output', output),
  ];
  return parts.join(' | ');
}

function part(name: string, text: string): readonly string[] {
  const line = redacted(text, MAX_PART);
  return line === '' ? [] : [`${name}: ${line}`];
}

/** Return values were bounded when they were recorded (§3.5). */
function shown(value: TraceEntry['methodReturnValue']): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const MAX_RULE_LESSONS = 20;
const MAX_REASON = 200;
const MAX_NAME = 60;
const MAX_VALUE = 80;
/** Parameters of one step that are read. */
const MAX_PARAMS = 20;
/** Number of steps after a failure in which a remedy may be found. */
const REMEDY_WITHIN = 5;
const MAX_CHANGED = 3;
/** Successful steps that must agree on a value before it counts as a fact. */
const AGREEING_STEPS = 3;
const MAX_PARAM_NAMES = 500;

/**
 * Extracts lessons from the steps by rules: reasons of failures, changes that made a function succeed after a failure, and
 * parameters that have the same value in all successful steps. At most 20, most confident first. Linear in the steps.
 */
export function lessonsByRules(steps: readonly TraceEntry[]): readonly NewContextRow[] {
  const read = steps.map(stepOf);
  const lessons = [...failures(read), ...remedies(read), ...environment(read)];
  return lessons.toSorted((left, right) => right.confidence - left.confidence).slice(0, MAX_RULE_LESSONS);
}

interface Step {
  readonly id: string;
  readonly name: string;
  readonly failed: boolean;
  readonly reason: string;
  /** Displayed scalar values by parameter name, without secrets. */
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

/** Returns a scalar as JSON; null for other values, long ones, and ones with a secret. */
function scalar(value: Json | undefined): string | null {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string' || value.length === 0 || value.length > MAX_VALUE) return null;
  const shown = redacted(value, MAX_VALUE);
  return shown.includes('[redacted]') || shown === '' ? null : `"${shown}"`;
}

/** Makes one lesson per function and reason of failure; repetitions raise its confidence. */
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

/** Makes lessons of the parameters that changed when a function succeeded after a failure. */
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

/** Makes lessons of texts that a parameter had in every successful step. */
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
    // Numbers and booleans are choices of a call, not facts about its environment.
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

/** Characters of a text that are read: a limit for patterns that are not linear. */
const MAX_READ = 4_000;

const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:bearer|basic)\s+[\w.~+/=-]{6,}/giu, '[redacted]'],
  [
    /\b[\w-]{0,40}(?:key|token|secret|password|passwd|pwd|authorization|credential)[\w-]{0,40}\s{0,3}[=:]\s{0,3}["']?[^\s"',;&]+/giu,
    '[redacted]',
  ],
  [/\beyJ[\w-]{6,}\.[\w-]+\.[\w-]*/gu, '[redacted]'],
  [/\b[\w+.-]{1,20}:\/\/[^\s/@:]+:[^\s/@]+@/gu, '[redacted]@'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/giu, '[uuid]'],
  [/\b[0-9a-f]{32,}\b/giu, '[redacted]'],
  [/\d{8,}/gu, '[number]'],
];

/**
 * Redacts a text of a trace: one line, without credentials and without values that differ each time (UUIDs, long numbers), at
 * most `limit` characters (cognify-improve.md §3.9).
 */
export function redacted(text: string, limit: number): string {
  let line = text.slice(0, MAX_READ).replaceAll(/\s+/gu, ' ').trim();
  for (const [pattern, replacement] of SECRETS) line = line.replaceAll(pattern, replacement);
  return line.slice(0, limit).toWellFormed().trim();
}

const SECRET_NAME = /key|token|secret|passw|pwd|authoriz|authentic|credential|cookie|signature/iu;

/** Whether a parameter of this name may hold a secret. */
function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

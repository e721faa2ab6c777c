import { z } from 'zod';
import type { TraceEntry } from '../../common/domain/session.ts';
import {
  CONTEXT_SECTIONS,
  type ContextRow,
  isSectionOf,
  MAX_CONTEXT_CHARACTERS,
  type NewContextRow,
} from '../../common/domain/session-context.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import type { LanguageModel, ModelCallContext } from '../../common/ports/models.ts';
import { FENCE_RULE, fenced } from '../../common/text/fenced.ts';
import { redacted } from './redact.ts';

const MAX_LESSONS = 5;
const MAX_SHOWN_LESSONS = 40;
const MAX_PART = 600;

const Answer = z.object({
  lessons: z.array(z.object({ section: z.string(), content: z.string(), confidence: z.number() })),
});

const SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    lessons: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          section: { type: 'string', enum: [...CONTEXT_SECTIONS.agent] },
          content: { type: 'string', description: `One sentence, at most ${MAX_CONTEXT_CHARACTERS} characters` },
          confidence: { type: 'number', description: '0 to 1' },
        },
        required: ['section', 'content', 'confidence'],
        additionalProperties: false,
      },
    },
  },
  required: ['lessons'],
  additionalProperties: false,
};

const SYSTEM = `You read the steps that an agent took with its tools, and write down what it should remember for later steps: rules of tools, the state of the work, what worked, what failed and why, facts about the environment. Write at most ${MAX_LESSONS} lessons, each one sentence that holds beyond this one step. Write nothing that is known already. An empty list is a good answer when the steps teach nothing that lasts. ${FENCE_RULE}`;

/** What the steps teach, by one model call. Errors of the model are passed on. */
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
    .slice(0, MAX_LESSONS)
    .flatMap(({ section, content, confidence }) =>
      isSectionOf('agent', section) ? [{ profile: 'agent' as const, section, content, confidence, traceIds }] : [],
    );
}

/** `- <fn> [<status>] | feedback: … | error: … | output: …` (cognify-improve.md §3.9). */
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

import { z } from 'zod';
import { engramError } from '../../../common/kernel/errors.ts';
import type { LanguageModel, ModelCallContext } from '../../../common/ports/models.ts';
import { FENCE_RULE, fenced } from '../../../common/text/fenced.ts';

const AREA_TOKENS = 300;
const ROOT_TOKENS = 500;

const SCHEMA = {
  type: 'object',
  properties: { summary: { type: 'string' } },
  required: ['summary'],
  additionalProperties: false,
};
const answer = z.object({ summary: z.string() });

/** One call: what several summaries say together. */
export async function modelSummary(
  model: LanguageModel,
  { texts, isRoot }: { readonly texts: readonly string[]; readonly isRoot: boolean },
  context: ModelCallContext,
): Promise<string> {
  const inputs = texts.map((text, index) => `Input ${index + 1}:\n${fenced('input', text)}`).join('\n\n');
  const scope = isRoot ? 'all of a body of knowledge' : 'one area of a body of knowledge';
  const { value } = await model.structured(
    {
      system: [
        `You summarise ${scope} from summaries of its parts.`,
        'First say in one line what it is about, then the facts that matter most, with their names, numbers and dates.',
        `Use only what the inputs say, in at most ${isRoot ? ROOT_TOKENS : AREA_TOKENS} tokens.`,
        FENCE_RULE,
      ].join(' '),
      prompt: inputs,
      schema: SCHEMA,
      schemaName: 'GlobalContextSummary',
    },
    context,
  );
  const parsed = answer.safeParse(value);
  if (parsed.success && parsed.data.summary.trim() !== '') return parsed.data.summary.trim();
  throw engramError('CogneeSystemError', 'The model gave no summary.');
}

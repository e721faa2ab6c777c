import { z } from 'zod';
import type { QaEntry } from '../../common/domain/session.ts';
import { cutAtWord } from '../../common/domain/session-context.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import { slices } from '../../common/kernel/slices.ts';
import type { LanguageModel, ModelCallContext } from '../../common/ports/models.ts';
import { FENCE_RULE, fenced } from '../../common/text/fenced.ts';
import type { Candidate } from './candidates.ts';
import { addressesReader } from './statements.ts';

/** Parts of the record that one call reads. */
export const BLOCKS_PER_BATCH = 6;
const MAX_TEXT = 1_200;
const MAX_FEEDBACK = 200;
const MAX_STATEMENT = 600;

/** A lesson before and after it is written. */
export interface ProposedLesson {
  readonly statement: string;
  readonly members: readonly Candidate[];
}

export interface Lesson {
  readonly statement: string;
  /** Clause without a full stop; '' for none. */
  readonly why: string;
  readonly members: readonly Candidate[];
}

interface Block {
  readonly at: string;
  readonly text: string;
  readonly candidate: Candidate | null;
}

/** Turns and candidates as they followed one another, a few at a time; only batches with candidates. */
export function batchesOf(
  turns: readonly QaEntry[],
  candidates: readonly Candidate[],
): readonly { readonly text: string; readonly candidates: readonly Candidate[] }[] {
  const blocks: readonly Block[] = [
    ...turns.flatMap((turn) => turnBlock(turn) ?? []),
    ...candidates.map((candidate) => ({
      at: candidate.at,
      text: `Candidate ${candidate.id} [${candidate.origin}]: ${line(candidate.text, MAX_TEXT)}`,
      candidate,
    })),
  ].toSorted((left, right) => (left.at < right.at ? -1 : left.at > right.at ? 1 : 0));
  const batches: { text: string; candidates: readonly Candidate[] }[] = [];
  for (const batch of slices(blocks, BLOCKS_PER_BATCH)) {
    const held = batch.flatMap(({ candidate }) => candidate ?? []);
    if (held.length > 0) batches.push({ text: batch.map(({ text }) => text).join('\n\n'), candidates: held });
  }
  return batches;
}

function turnBlock({ question, answer, feedbackText, time }: QaEntry): Block | null {
  const [asked, answered] = [line(question, MAX_TEXT), line(answer, MAX_TEXT)];
  if (asked === '' && answered === '') return null;
  const feedback = line(feedbackText ?? '', MAX_FEEDBACK);
  const said = feedback === '' ? [] : [`User feedback on this answer: ${feedback}`];
  return { at: time, text: [`User: ${asked}`, `Assistant: ${answered}`, ...said].join('\n'), candidate: null };
}

const CURATOR = `You read the record of a conversation with a memory service. The lines that begin with "Candidate" are statements that may be worth keeping. Propose lessons that will still hold and help in later conversations: durable facts about the subject, lasting preferences and practices. Merge candidates that say the same into one lesson. Ground every lesson in candidates or in what the user said, never in what only the assistant claims, and name the ids of its candidates. Propose nothing for what holds in this conversation only. ${FENCE_RULE}`;

const CURATOR_SCHEMA: JsonObject = objectOf({
  lessons: {
    type: 'array',
    items: objectOf({
      working_statement: { type: 'string' },
      member_entry_ids: { type: 'array', items: { type: 'string' } },
    }),
  },
});
const Curated = z.object({
  lessons: z.array(z.object({ working_statement: z.string(), member_entry_ids: z.array(z.string()) })),
});

/** Lessons of one batch; those that name none of its candidates are grounded in nothing and left out. */
export async function curate(
  model: LanguageModel,
  batch: { readonly text: string; readonly candidates: readonly Candidate[] },
  context: ModelCallContext,
): Promise<readonly ProposedLesson[]> {
  const prompt = `The record:\n${fenced('record', batch.text)}`;
  const call = { system: CURATOR, prompt, schema: CURATOR_SCHEMA, schemaName: 'CuratedLessons' };
  const { lessons } = Curated.parse((await model.structured(call, context)).value);
  return lessons.slice(0, 2 * BLOCKS_PER_BATCH).flatMap(({ working_statement, member_entry_ids }) => {
    const members = batch.candidates.filter(({ id }) => member_entry_ids.includes(id));
    const statement = line(working_statement, MAX_STATEMENT);
    return statement === '' || members.length === 0 ? [] : [{ statement, members }];
  });
}

const WRITER = `You decide whether a proposed lesson enters the long-term memory, and word it. Accept it only when it is durable, supported by its members and not known already. Word it as one or two sentences that are understood without the conversation, with the names that the memory uses. Say in half a sentence why it was learned. ${FENCE_RULE}`;

const WRITER_SCHEMA: JsonObject = objectOf({
  accept: { type: 'boolean' },
  reason: { type: ['string', 'null'], enum: ['already_known', 'not_durable', 'unsupported', null] },
  statement: { type: 'string' },
  entities: { type: 'array', items: { type: 'string' } },
  why_learned: { type: 'string' },
});
const Written = z.object({
  accept: z.boolean(),
  statement: z.string().nullish(),
  why_learned: z.string().nullish(),
});

/** The lesson as it will be kept; null when it is not accepted. */
export async function write(
  model: LanguageModel,
  proposed: ProposedLesson,
  known: { readonly lessons: readonly string[]; readonly names: readonly string[] },
  context: ModelCallContext,
): Promise<Lesson | null> {
  const parts = [
    `The proposed lesson:\n${fenced('lesson', proposed.statement)}`,
    `Its members:\n${fenced('members', proposed.members.map(({ text }) => `- ${line(text, MAX_TEXT)}`).join('\n'))}`,
    ...(known.lessons.length === 0 ? [] : [`Lessons known already:\n${fenced('known', known.lessons.join('\n'))}`]),
    ...(known.names.length === 0 ? [] : [`Names of the memory:\n${fenced('names', known.names.join('\n'))}`]),
  ];
  const call = { system: WRITER, prompt: parts.join('\n\n'), schema: WRITER_SCHEMA, schemaName: 'WrittenLesson' };
  const answer = Written.parse((await model.structured(call, context)).value);
  const statement = line(answer.statement ?? '', MAX_STATEMENT);
  if (!answer.accept || statement === '' || addressesReader(statement)) return null;
  return {
    statement,
    why: line(answer.why_learned ?? '', MAX_FEEDBACK).replace(/\.$/u, ''),
    members: proposed.members,
  };
}

function objectOf(properties: JsonObject): JsonObject {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

/** Cut first: the rest of a megabyte is not looked at. */
function line(text: string, limit: number): string {
  return cutAtWord(
    text
      .slice(0, 4 * limit)
      .replaceAll(/\s+/gu, ' ')
      .trim()
      .toWellFormed(),
    limit,
  );
}

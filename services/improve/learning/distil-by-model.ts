import { z } from 'zod';
import type { QaEntry } from '../../common/domain/session.ts';
import { closedObject, type JsonObject } from '../../common/kernel/json.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { slices } from '../../common/kernel/slices.ts';
import { createConcurrencyLimit } from '../../common/platform/async/concurrency-limit.ts';
import type { LanguageModel, ModelCallContext } from '../../common/ports/models.ts';
import { FENCE_RULE, fenced } from '../../common/text/fenced.ts';
import { isBudgetError } from '../model.ts';
import { type Candidate, oneLine } from './candidates.ts';
import { glossary, type KnownLessonsDependencies, similarLessons } from './known-lessons.ts';
import type { SessionMaterial } from './session-material.ts';
import { addressesReader } from './statements.ts';

const CONCURRENT_CALLS = 5;

export interface Distilled {
  readonly lessons: readonly Lesson[];
  /** Candidates that were processed, with or without a lesson. */
  readonly sealed: readonly Candidate[];
  /** Processed candidates that no call read, because there were too many. */
  readonly uncurated: number;
  /** Errors of failed calls; their candidates stay open. */
  readonly failed: readonly unknown[];
}

/**
 * Distils lessons by two kinds of model calls: a curator proposes lessons batch by batch, a writer accepts and words each
 * (cognify-improve.md §3.10). A budget error is thrown; other errors of calls are returned.
 */
export async function distilByModel(
  model: LanguageModel,
  { candidates, turns }: SessionMaterial,
  options: {
    readonly deps: KnownLessonsDependencies;
    readonly scope: DatasetScope;
    readonly maxBatches: number;
    readonly context: ModelCallContext;
  },
): Promise<Distilled> {
  const { deps, scope, maxBatches, context } = options;
  const chosen = maxBatches === 0 ? candidates : fitting(turns, candidates, maxBatches);
  const batches = batchesOf(turns, chosen);
  const failed: unknown[] = [];
  const open = new Set<string>();
  const proposed: ProposedLesson[] = [];
  const limit = createConcurrencyLimit(CONCURRENT_CALLS);
  await settled(
    batches.map((batch) =>
      limit(async () => {
        try {
          proposed.push(...(await curate(model, batch, context)));
        } catch (error) {
          throwIfFatal(error, context);
          failed.push(error);
          for (const { id } of batch.candidates) open.add(id);
        }
      }),
    ),
  );
  const lessons: Lesson[] = [];
  await settled(
    proposed.map((lesson) =>
      limit(async () => {
        try {
          const [known, names] = await Promise.all([
            similarLessons(deps, scope, lesson.statement),
            glossary(deps, scope, lesson.statement),
          ]);
          const written = await writeLesson(model, lesson, { lessons: known, names }, context);
          if (written !== null) lessons.push(written);
        } catch (error) {
          throwIfFatal(error, context);
          failed.push(error);
        }
      }),
    ),
  );
  const sealed = candidates.filter(({ id }) => !open.has(id));
  return { lessons, sealed, uncurated: candidates.length - chosen.length, failed };
}

/** Returns the most confident candidates, newer ones first, as many as fit into the batches. */
function fitting(turns: SessionMaterial['turns'], candidates: readonly Candidate[], maxBatches: number) {
  const ranked = candidates.toSorted(
    (left, right) => right.confidence - left.confidence || (left.at < right.at ? 1 : left.at > right.at ? -1 : 0),
  );
  let count = Math.min(ranked.length, maxBatches * BLOCKS_PER_BATCH);
  while (count > 1 && batchesOf(turns, ranked.slice(0, count)).length > maxBatches) count = Math.floor(count / 2);
  return ranked.slice(0, count);
}

/** Throws when the call was aborted or its budget is used up. */
function throwIfFatal(error: unknown, { signal }: ModelCallContext): void {
  signal?.throwIfAborted();
  if (isBudgetError(error)) throw error;
}

/** Waits for all work, so that none continues after an error; then throws the first error. */
async function settled(work: readonly Promise<void>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(work)) if (outcome.status === 'rejected') throw outcome.reason;
}

/** Turns and candidates that one call reads. */
const BLOCKS_PER_BATCH = 6;
const MAX_TEXT = 1_200;
const MAX_FEEDBACK = 200;
const MAX_STATEMENT = 600;

/** A lesson as the curator proposes it. */
interface ProposedLesson {
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

/** Groups turns and candidates in order of time into batches; only batches with candidates. */
function batchesOf(turns: readonly QaEntry[], candidates: readonly Candidate[]) {
  const blocks: readonly Block[] = [
    ...turns.flatMap((turn) => turnBlock(turn) ?? []),
    ...candidates.map((candidate) => ({
      at: candidate.at,
      text: `Candidate ${candidate.id} [${candidate.origin}]: ${oneLine(candidate.text, MAX_TEXT)}`,
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
  const [asked, answered] = [oneLine(question, MAX_TEXT), oneLine(answer, MAX_TEXT)];
  if (asked === '' && answered === '') return null;
  const feedback = oneLine(feedbackText ?? '', MAX_FEEDBACK);
  const said = feedback === '' ? [] : [`User feedback on this answer: ${feedback}`];
  return { at: time, text: [`User: ${asked}`, `Assistant: ${answered}`, ...said].join('\n'), candidate: null };
}

const CURATOR = `You read the record of a conversation with a memory service. The lines that begin with "Candidate" are statements that may be worth keeping. Propose lessons that will still hold and help in later conversations: durable facts about the subject, lasting preferences and practices. Merge candidates that say the same into one lesson. Ground every lesson in candidates or in what the user said, never in what only the assistant claims, and name the ids of its candidates. Propose nothing for what holds in this conversation only. ${FENCE_RULE}`;

const CURATOR_SCHEMA: JsonObject = closedObject({
  lessons: {
    type: 'array',
    items: closedObject({
      working_statement: { type: 'string' },
      member_entry_ids: { type: 'array', items: { type: 'string' } },
    }),
  },
});
const Curated = z.object({
  lessons: z.array(z.object({ working_statement: z.string(), member_entry_ids: z.array(z.string()) })),
});

/** Asks the curator for lessons of one batch; lessons without a candidate of the batch are left out. */
async function curate(
  model: LanguageModel,
  batch: { readonly text: string; readonly candidates: readonly Candidate[] },
  context: ModelCallContext,
): Promise<readonly ProposedLesson[]> {
  const prompt = `The record:\n${fenced('record', batch.text)}`;
  const call = { system: CURATOR, prompt, schema: CURATOR_SCHEMA, schemaName: 'CuratedLessons' };
  const { lessons } = Curated.parse((await model.structured(call, context)).value);
  return lessons.slice(0, 2 * BLOCKS_PER_BATCH).flatMap(({ working_statement, member_entry_ids }) => {
    const members = batch.candidates.filter(({ id }) => member_entry_ids.includes(id));
    const statement = oneLine(working_statement, MAX_STATEMENT);
    return statement === '' || members.length === 0 ? [] : [{ statement, members }];
  });
}

const WRITER = `You decide whether a proposed lesson enters the long-term memory, and word it. Accept it only when it is durable, supported by its members and not known already. Word it as one or two sentences that are understood without the conversation, with the names that the memory uses. Say in half a sentence why it was learned. ${FENCE_RULE}`;

const WRITER_SCHEMA: JsonObject = closedObject({
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

/** Asks the writer to word a proposed lesson; null when it is not accepted. */
async function writeLesson(
  model: LanguageModel,
  proposed: ProposedLesson,
  known: { readonly lessons: readonly string[]; readonly names: readonly string[] },
  context: ModelCallContext,
): Promise<Lesson | null> {
  const parts = [
    `The proposed lesson:\n${fenced('lesson', proposed.statement)}`,
    `Its members:\n${fenced('members', proposed.members.map(({ text }) => `- ${oneLine(text, MAX_TEXT)}`).join('\n'))}`,
    ...(known.lessons.length === 0 ? [] : [`Lessons known already:\n${fenced('known', known.lessons.join('\n'))}`]),
    ...(known.names.length === 0 ? [] : [`Names of the memory:\n${fenced('names', known.names.join('\n'))}`]),
  ];
  const call = { system: WRITER, prompt: parts.join('\n\n'), schema: WRITER_SCHEMA, schemaName: 'WrittenLesson' };
  const answer = Written.parse((await model.structured(call, context)).value);
  const statement = oneLine(answer.statement ?? '', MAX_STATEMENT);
  if (!answer.accept || statement === '' || addressesReader(statement)) return null;
  return {
    statement,
    why: oneLine(answer.why_learned ?? '', MAX_FEEDBACK).replace(/\.$/u, ''),
    members: proposed.members,
  };
}

import { isTerminal, type RunState } from '../../common/domain/run.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import { awaitRun } from '../../common/platform/jobs/await-run.ts';
import { runErrorOf } from '../../common/platform/jobs/run-error.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import { startRun } from '../../common/platform/messaging/methods/cognify.ts';
import { type KeptDocument, keepDocuments as keepMethod } from '../../common/platform/messaging/methods/ingest.ts';
import type { ImproveDependencies } from '../dependencies.ts';
import type { ImprovePass } from '../stage.ts';

/** A text that becomes memory of the dataset. */
export interface BridgedDocument {
  /** The same key is the same item for ever, whatever text it comes with later. Long ones are no matter. */
  readonly key: string;
  /** Of the file that clients see, with its extension. */
  readonly name: string;
  readonly text: string;
  readonly nodeSets: readonly string[];
  /** What is told of the item. */
  readonly externalMetadata?: JsonObject;
}

/**
 * Makes items of the documents and builds the graph from them; when it resolves both are durable, and a repetition changes
 * nothing. What the run ended with is thrown (`LLMPaymentRequiredError` when a budget was spent), also the errors of ingest:
 * then nothing, a part, or all of the documents may be there, and a repetition completes them.
 */
export async function keepDocuments(
  { messenger }: Pick<ImproveDependencies, 'messenger'>,
  { dataset, context, signal }: Pick<ImprovePass, 'dataset' | 'context' | 'signal'>,
  documents: readonly BridgedDocument[],
): Promise<RunState> {
  const calling: CallContext = { ...context, signal };
  const kept: string[] = [];
  for (const batch of batchesOf(documents.flatMap(partsOf))) {
    kept.push(...(await messenger.call(keepMethod, { dataset, documents: batch }, calling)).itemIds);
  }
  const started = await messenger.call(startRun, { dataset, options: {}, background: false }, calling);
  const run = isTerminal(started.run.status) ? started.run : await awaitRun(messenger, started.run.id, calling);
  const error = runErrorOf(run, kept);
  if (error !== null) throw error;
  return run;
}

/** Messages of a bus end at a mebibyte; a character is at most 3 bytes in UTF-8, 4 for a pair of two. */
const PART_LENGTH = 200_000;
const BATCH_LENGTH = 250_000;

/** A very long text becomes several items: each but the first has its number in key and name. */
function partsOf(document: BridgedDocument): readonly KeptDocument[] {
  const { key, name, nodeSets, externalMetadata = {} } = document;
  const parts: KeptDocument[] = [];
  // Two texts may differ only in what UTF-8 cannot carry.
  let rest = document.text.toWellFormed();
  do {
    const end = partEnd(rest);
    const number = parts.length + 1;
    const ending = number === 1 ? '' : `-${number}`;
    const text = rest.slice(0, end);
    parts.push({ key: `${key}${ending}`, name: withEnding(name, ending), text, nodeSets, externalMetadata });
    rest = rest.slice(end);
  } while (rest !== '');
  return parts;
}

/** Behind a line where there is one in the second half; never inside a character. */
function partEnd(text: string): number {
  if (text.length <= PART_LENGTH) return text.length;
  const line = text.lastIndexOf('\n', PART_LENGTH - 1) + 1;
  if (line > PART_LENGTH / 2) return line;
  return /[\ud800-\udbff]/.test(text.charAt(PART_LENGTH - 1)) ? PART_LENGTH - 1 : PART_LENGTH;
}

function withEnding(name: string, ending: string): string {
  const dot = name.lastIndexOf('.');
  return dot > 0 ? `${name.slice(0, dot)}${ending}${name.slice(dot)}` : `${name}${ending}`;
}

function batchesOf(documents: readonly KeptDocument[]): readonly (readonly KeptDocument[])[] {
  const batches: KeptDocument[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const document of documents) {
    size += document.text.length;
    if (size > BATCH_LENGTH) {
      batches.push([]);
      size = document.text.length;
    }
    batches.at(-1)?.push(document);
  }
  return batches;
}

import { isTerminal, type RunState } from '../../common/domain/run.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import { awaitRun } from '../../common/platform/jobs/await-run.ts';
import { runErrorOf } from '../../common/platform/jobs/run-error.ts';
import type { KeptDocument } from '../../common/platform/messaging/messages.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import type { ImproveDependencies } from '../dependencies.ts';
import type { ImprovePass } from '../model.ts';

/** A text that is persisted in the memory of the dataset. */
export interface PersistedDocument {
  /** The same key always means the same item, whatever its text. Of any length. */
  readonly key: string;
  /** File name for clients, with its extension. */
  readonly name: string;
  readonly text: string;
  readonly nodeSets: readonly string[];
  readonly externalMetadata?: JsonObject;
}

/**
 * Adds the documents as items and builds the graph from them; when it resolves both are durable. Idempotent. Throws the error
 * that the run ended with (`LLMPaymentRequiredError` for a used-up budget) and the errors of ingest; then some of the documents
 * may be added, and a repetition completes them.
 */
export async function keepDocuments(
  { messenger }: Pick<ImproveDependencies, 'messenger'>,
  { dataset, context, signal }: Pick<ImprovePass, 'dataset' | 'context' | 'signal'>,
  documents: readonly PersistedDocument[],
): Promise<RunState> {
  const calling: CallContext = { ...context, signal };
  const kept: string[] = [];
  for (const batch of batchesOf(documents.flatMap(partsOf))) {
    kept.push(...(await messenger.call('ingest.KeepDocuments', { dataset, documents: batch }, calling)).itemIds);
  }
  const started = await messenger.call('cognify.StartRun', { dataset, options: {}, background: false }, calling);
  const run = isTerminal(started.run.status) ? started.run : await awaitRun(messenger, started.run.id, calling);
  const error = runErrorOf(run, kept);
  if (error !== null) throw error;
  return run;
}

/** Limits in characters: a message has at most 1 MiB, and a UTF-16 unit at most 3 bytes in UTF-8. */
const PART_LENGTH = 200_000;
const BATCH_LENGTH = 250_000;

/** Splits a very long text into several items: each but the first has its number in key and name. */
function partsOf(document: PersistedDocument): readonly KeptDocument[] {
  const { key, name, nodeSets, externalMetadata = {} } = document;
  const parts: KeptDocument[] = [];
  // Lone surrogates cannot be encoded in UTF-8.
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

/** Returns where the first part ends: after a line break in its second half if there is one, never inside a character. */
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

import type { DocumentBlock, DocumentFacts, LoaderInput, ParsedDocument } from '../../ports/documents.ts';
import type { DocumentLimits } from './formats/limits.ts';
import { createGrammars } from './formats/tree-sitter.ts';
import { parseDocument } from './parse-document.ts';

interface ParseTaskInput extends Omit<LoaderInput, 'content'> {
  readonly limits: DocumentLimits;
}

/** A part of a document, small enough for a busy thread. The remaining facts are the result of the task. */
export type DocumentPart = { readonly text: string } | { readonly blocks: readonly DocumentBlock[] };

/** Approximate characters of one part. */
const PART_LENGTH = 128 * 1024;

/** Size of a block beside its text. */
const BLOCK_LENGTH = 50;

const grammars = createGrammars();

/** Reads one document, in a worker process. */
export async function* parse(
  { limits, ...input }: ParseTaskInput,
  content: Buffer,
): AsyncGenerator<DocumentPart, DocumentFacts> {
  const { text, blocks, ...facts } = await parseDocument({ ...input, content }, { limits, grammars });
  for (let at = 0; at < text.length; at += PART_LENGTH) yield { text: text.slice(at, at + PART_LENGTH) };
  let part: DocumentBlock[] = [];
  let length = 0;
  for (const block of blocks) {
    part.push(block);
    length += block.text.length + BLOCK_LENGTH;
    if (length < PART_LENGTH) continue;
    yield { blocks: part };
    part = [];
    length = 0;
  }
  if (part.length > 0) yield { blocks: part };
  return facts;
}

/** Reads one document into the JSON that is stored. */
export async function* parseEncoded(
  { limits, ...input }: ParseTaskInput,
  content: Buffer,
): AsyncGenerator<Buffer, DocumentFacts> {
  const document = await parseDocument({ ...input, content }, { limits, grammars });
  yield* encodeDocument(document);
  const { text: _, blocks: __, ...facts } = document;
  return facts;
}

const PIECE_LENGTH = 128 * 1024;

/** Serialises a document as JSON in pieces: a large one would exceed the maximum length of a string. */
export function* encodeDocument({ text, blocks, ...facts }: ParsedDocument): Generator<Buffer> {
  let piece = '{"text":"';
  for (let at = 0; at < text.length; at += PIECE_LENGTH) {
    piece += JSON.stringify(text.slice(at, at + PIECE_LENGTH)).slice(1, -1);
    yield Buffer.from(piece);
    piece = '';
  }
  piece += '","blocks":[';
  let separator = '';
  for (const block of blocks) {
    piece += separator + JSON.stringify(block);
    separator = ',';
    if (piece.length < PIECE_LENGTH) continue;
    yield Buffer.from(piece);
    piece = '';
  }
  yield Buffer.from(`${piece}],${JSON.stringify(facts).slice(1)}`);
}

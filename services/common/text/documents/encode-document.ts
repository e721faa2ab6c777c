import type { ParsedDocument } from '../../ports/documents.ts';

const PIECE_LENGTH = 128 * 1024;

/** `JSON.stringify` of a document, piece by piece: as one string, a large one would be longer than strings may be. */
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

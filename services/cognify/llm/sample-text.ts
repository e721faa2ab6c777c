/** Characters of a text that are looked at. */
const MAX_LENGTH = 24_000;
const CUT = '\n[…]\n';

/** A text as a whole, or its beginning, middle and end, cut at words. */
export function sampleText(text: string, maxLength = MAX_LENGTH): string {
  if (text.length <= maxLength) return text.toWellFormed();
  const part = Math.floor(maxLength / 3);
  const middle = Math.floor((text.length - part) / 2);
  const starts = [0, middle, text.length - part];
  return starts
    .map((start) => atWords(text.slice(start, start + part)))
    .join(CUT)
    .toWellFormed();
}

function atWords(text: string): string {
  const first = text.search(/\s/u);
  const last = text.lastIndexOf(' ');
  return first === -1 || last <= first ? text : text.slice(first, last).trim();
}

/** Pieces of about so many characters, cut between paragraphs or sentences where there are any. */
export function piecesOf(text: string, length = 3000): readonly string[] {
  const pieces: string[] = [];
  let piece = '';
  for (const block of text.split(/(?<=\n)\s*\n|(?<=[.!?])\s+/u)) {
    if (piece.length + block.length > length && piece !== '') {
      pieces.push(piece);
      piece = '';
    }
    piece += `${block} `;
  }
  if (piece.trim() !== '') pieces.push(piece);
  return pieces.flatMap((one) => one.match(new RegExp(`[^]{1,${4 * length}}`, 'gu')) ?? []);
}

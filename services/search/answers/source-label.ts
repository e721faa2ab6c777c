import type { ChunkPayload } from '../../common/domain/index-rows.ts';
import { documentLabel } from '../../common/text/document-label.ts';
import { headingTime, isDayLine } from '../../common/text/language/heading-dates.ts';
import { isConversation, type Turn, turnsOf } from '../../common/text/language/turns.ts';
import { quoteLine } from '../../common/text/repetition/own-answers.ts';
import { withoutLinkTargets } from './question.ts';

type Source = Pick<ChunkPayload, 'text' | 'documentName' | 'headings'> &
  Partial<Pick<ChunkPayload, 'page' | 'row' | 'externalMetadata'>>;

/** Where a quote stands in its passage: the heading above it, and the headings above that one, outermost first. */
interface Place {
  readonly heading: string;
  readonly above?: readonly string[];
}

/**
 * Returns a quote with its source; a speaker's name and the time stand in the source. `heading`: the one above it in the passage,
 * perhaps with those above that. `dataset`: named in the source. `keepsLinks`: with the addresses behind the words of links.
 */
export function sourcedQuote(
  source: Source,
  quote: string,
  heading: string | Place = '',
  dataset: string | null = null,
  keepsLinks = false,
): string {
  const turn = turnOf(source, quote);
  const own = turnsOf(quote)[0];
  const said = turn !== null && own?.start === 0 ? quote.slice(own.saidAt) : quote;
  const row = rowOf(source, quote);
  const details = [
    ...(row === null ? [] : [`row ${row}`]),
    ...(turn === null ? [] : [turn.speaker, turn.time].filter((part) => part !== '')),
    ...(dataset === null ? [] : [`dataset ${dataset}`]),
  ];
  const shown = keepsLinks ? said : withoutLinkTargets(said);
  return quoteLine(shown, [sourceLabel(source, heading), ...details].join(', '));
}

const MAX_HEADING_LENGTH = 60;
/** Headings of a source that are named: the innermost ones. */
const MAX_HEADINGS = 3;

/** Returns a source as a person knows it: `report.pdf › Costs, page 3`. */
export function sourceLabel(source: Source, heading: string | Place = ''): string {
  const name = labelOfPassage(source);
  const known = new Set(plainWords(name));
  const path: string[] = [];
  for (const part of headingsAbove(source, heading)) {
    const words = plainWords(part);
    if (words.length > 0 && words.some((word) => !known.has(word)) && !path.includes(part)) path.push(part);
  }
  // The day of another part of a conversation that has no name.
  const isOtherDay = path.length > 0 && source.headings.includes(name) && [name, path.at(-1) ?? ''].every(isDay);
  const place = [...(isOtherDay ? [] : [name]), ...path.slice(-MAX_HEADINGS).map(shortened)].join(' › ');
  return typeof source.page === 'number' ? `${place}, page ${source.page}` : place;
}

const isDay = (heading: string): boolean => headingTime([heading])?.precision === 'day' || isDayLine(heading);

/** The headings of a passage and the one in it above a quote, without those whose sections have ended there. */
function headingsAbove({ text, headings }: Source, place: string | Place): readonly string[] {
  const { heading, above } = typeof place === 'string' ? { heading: place, above: undefined } : place;
  if (above !== undefined) return [...above, heading];
  const levels = new Map(
    [...text.matchAll(/^[ \t]*(#{1,6})[ \t]+(.+)$/gmu)].map(([, marks = '', title = '']) => [
      title.trim(),
      marks.length,
    ]),
  );
  const own = levels.get(heading) ?? Number.POSITIVE_INFINITY;
  return [...headings.filter((above) => (levels.get(above) ?? 0) < own), heading];
}

function shortened(title: string): string {
  const heading = withoutLinkTargets(title);
  if (heading.length <= MAX_HEADING_LENGTH) return heading;
  return `${heading.slice(0, MAX_HEADING_LENGTH).replace(/[^\p{L}\p{N}]*\s+\S*$/u, '')}…`;
}

/** Returns the document of a passage: the file name with its extension, else the name, else the first words. */
export function labelOfPassage({ text, documentName, headings, externalMetadata }: Source): string {
  const fileName = fileNameOf(externalMetadata);
  return documentLabel({ name: documentName, fileName, text: headings[0] ?? text });
}

function fileNameOf(metadata: Source['externalMetadata']): string {
  const { source_uri: uri } = (metadata?.['_cognee'] ?? {}) as { readonly source_uri?: unknown };
  const last = typeof uri === 'string' ? (uri.split('/').at(-1) ?? '') : '';
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

/** Number of the row that a quote is from, in a table or sheet whose rows name their columns. */
function rowOf({ text, row }: Source, quote: string): number | null {
  if (row === undefined) return null;
  const rows = text.split('\n').filter((line) => /^[^,:|]{1,120}: \S/u.test(line));
  const at = rows.findIndex((line) => line.replace(/\s+/gu, ' ').includes(quote));
  return at < 0 ? null : row + at;
}

/** The turn that a quote is part of; null outside a conversation. One turn alone needs a time: `Note: …` is none. */
function turnOf({ text }: Source, quote: string): Turn | null {
  const turns = turnsOf(text);
  const isOne =
    turns.length === 1 && turns[0]?.time !== '' && text.trimStart().length === text.length - (turns[0]?.start ?? 0);
  if (!isOne && !isConversation(turns)) return null;
  const at = text.indexOf(quote);
  return at < 0 ? null : (turns.findLast(({ start }) => start <= at) ?? null);
}

/** Without signs, which file names have instead of blanks. */
function plainWords(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

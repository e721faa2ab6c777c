import type { ParsedDocument } from '../../common/ports/documents.ts';
import type { ExtractedEntity, ExtractedRelation, Extraction } from '../../common/ports/extractor.ts';
import { dates } from '../../common/text/language/dates.ts';
import { anchorBelow, headingTime } from '../../common/text/language/heading-dates.ts';
import type { DateMention, TimeSpan } from '../../common/text/language/time-span.ts';
import type { ItemChunk } from './model.ts';

/** Type of the entities that are points or stretches of time; their names are those of `TimeSpan`. */
export const TIMESTAMP = 'Timestamp';

/** The time in which a relation holds: dates as `TimeSpan` names them, both inclusive; an absent end is open. */
export interface Validity {
  readonly validFrom?: string;
  readonly validTo?: string;
}

export interface DatedRelation extends ExtractedRelation, Validity {}

interface DatedExtraction extends Omit<Extraction, 'relations'> {
  readonly relations: readonly DatedRelation[];
}

/** Returns the time that a whole text is, such as the name of a date; null for other texts. */
export function timeNamed(name: string): TimeSpan | null {
  const stretch = /^(\d{4}(?:-\d\d){0,2})\/(\d{4}(?:-\d\d){0,2})$/u.exec(name);
  if (stretch !== null) {
    const [first, last] = [timeNamed(stretch[1] ?? ''), timeNamed(stretch[2] ?? '')];
    return first === null || last === null || last.until <= first.from
      ? null
      : { name, precision: 'span', from: first.from, until: last.until };
  }
  const month = /^(\d{4})-(\d\d)$/u.exec(name);
  const [date] = dates(month === null ? name : `${name}-01`);
  if (date === undefined || date.start > 0 || date.end < name.length) return null;
  if (month === null) return date;
  const until = new Date(Date.UTC(date.from.getUTCFullYear(), date.from.getUTCMonth() + 1, 1));
  return { name, precision: 'month', from: date.from, until };
}

interface Dated {
  /** When the text was written, ISO; null when nothing says so. */
  readonly writtenAt: string | null;
}

/** A part of a chunk below the same headings. */
interface Section {
  readonly text: string;
  readonly time: TimeSpan | null;
  readonly anchor: Date | null;
}

/**
 * Makes the dates of a chunk timestamps, adds those that are relative or stand in its headings, and dates its relations by the
 * sentences that state them, by the headings above them, or from when the text was written.
 */
export function withTimes(
  extraction: Extraction,
  chunk: Pick<ItemChunk, 'text' | 'parts' | 'headings'>,
  { writtenAt }: Dated,
): DatedExtraction {
  const sections = sectionsOf(chunk, writtenAt === null ? null : new Date(writtenAt));
  const renamed = new Map<string, string>();
  const entities = new Map<string, ExtractedEntity>();
  const add = (name: string, mentions: number, aliases: readonly string[] = []): void => {
    const known = entities.get(name);
    const entity = known ?? { name, type: TIMESTAMP, description: '', aliases: [], mentions: 0 };
    entities.set(name, { ...entity, aliases: [...entity.aliases, ...aliases], mentions: entity.mentions + mentions });
  };
  const others = extraction.entities.flatMap((entity): readonly ExtractedEntity[] => {
    const { name, type, mentions } = entity;
    if (type !== 'Date' && type !== TIMESTAMP) return [entity];
    const time = timeNamed(name);
    if (time === null) return [{ ...entity, type: 'Date' }];
    renamed.set(name, time.name);
    add(time.name, mentions, time.name === name ? [] : [name]);
    return [];
  });
  for (const { text, time, anchor } of sections) {
    if (time !== null) add(time.name, 1);
    if (anchor === null) continue;
    for (const { name, isRelative } of dates(text, anchor)) if (isRelative) add(name, 1);
  }
  const timed = createTimer(sections, writtenAt);
  return {
    ...extraction,
    entities: [...others, ...entities.values()],
    relations: extraction.relations.map((relation) => ({
      ...relation,
      source: renamed.get(relation.source) ?? relation.source,
      target: renamed.get(relation.target) ?? relation.target,
      ...timed(relation),
    })),
  };
}

function sectionsOf({ text, parts, headings }: Pick<ItemChunk, 'text' | 'parts' | 'headings'>, writtenAt: Date | null) {
  const sections: Section[] = [];
  let last: string | null = null;
  for (const part of parts) {
    if (part.kind === 'heading' || part.kind === 'code') continue;
    const own = part.headings ?? headings;
    const path = own.join('\n');
    const before = sections.at(-1);
    const said = text.slice(part.start, part.end);
    if (path === last && before !== undefined) {
      sections[sections.length - 1] = { ...before, text: `${before.text}\n${said}` };
      continue;
    }
    last = path;
    const time = headingTime(own, writtenAt);
    sections.push({ text: said, time, anchor: anchorBelow(time, writtenAt) });
  }
  return sections;
}

/** Characters in front of a date that tell how it bounds a fact. */
const BEFORE = 24;
const SINCE =
  /(?:since|from|starting|as of|after|seit|ab|von|desde|a partir de|depuis|dès|à partir d[eu]) (?:the )?$/iu;
const UNTIL = /(?:until|till|through|before|by|up to|bis|hasta|jusqu[’'](?:en|à|au)) (?:the )?$/iu;

/** Returns a function that finds the time in which a relation holds. */
function createTimer(sections: readonly Section[], writtenAt: string | null) {
  const known = new Map<string, { readonly time: Section | undefined; readonly mentions: readonly DateMention[] }>();
  const read = (evidence: string) => {
    const before = known.get(evidence);
    if (before !== undefined) return before;
    const own = sections.length < 2 ? sections[0] : sections.find(({ text }) => text.includes(evidence));
    const found = { time: own, mentions: dates(evidence, own?.anchor ?? undefined) };
    known.set(evidence, found);
    return found;
  };
  return ({ evidence, target }: ExtractedRelation): Validity => {
    const { time, mentions } = read(evidence);
    const nearest = nearestTo(mentions, Math.max(0, evidence.indexOf(target)));
    if (nearest !== null) return bounds(evidence, nearest, mentions);
    if (time?.time != null) return { validFrom: firstOf(time.time.name), validTo: lastOf(time.time.name) };
    return writtenAt === null ? {} : { validFrom: writtenAt.slice(0, 10) };
  };
}

function nearestTo(mentions: readonly DateMention[], place: number): DateMention | null {
  const distance = ({ start }: DateMention): number => Math.abs(start - place);
  return mentions.toSorted((a, b) => distance(a) - distance(b))[0] ?? null;
}

function bounds(evidence: string, date: DateMention, mentions: readonly DateMention[]): Validity {
  const lead = ({ start }: DateMention) => evidence.slice(Math.max(0, start - BEFORE), start);
  const at = mentions.indexOf(date);
  const [before, behind] = [mentions[at - 1], mentions[at + 1]];
  // `from May 2019 until 2021`
  if (UNTIL.test(lead(date)) && before !== undefined && SINCE.test(lead(before)))
    return { validFrom: firstOf(before.name), validTo: lastOf(date.name) };
  if (SINCE.test(lead(date))) {
    const isClosed = behind !== undefined && UNTIL.test(lead(behind).replace(/(?: to| a| à) $/u, ' until '));
    return { validFrom: firstOf(date.name), ...(isClosed ? { validTo: lastOf(behind.name) } : {}) };
  }
  if (UNTIL.test(lead(date))) return { validTo: lastOf(date.name) };
  return { validFrom: firstOf(date.name), validTo: lastOf(date.name) };
}

function firstOf(name: string): string {
  return name.split('/', 1)[0] ?? name;
}

function lastOf(name: string): string {
  return name.split('/').at(-1) ?? name;
}

/** Formats whose text may begin with the date of writing. */
const PROSE_FORMATS = new Set(['text', 'markdown', 'docx', 'odt', 'rtf', 'html', 'pdf']);
const DATE_LINE =
  /^[ \t>#*-]{0,8}(?:date|datum|fecha|sent|gesendet|enviado|envoyé)(?: de [\p{L} ]{1,20})?\*{0,2}[ \t]?:\*{0,2}[ \t]{0,4}(\S[^\n]{0,60})$/imu;
const MAX_HEAD = 600;
/** `14 January 2026`, `Bonn, March 2, 2026`: the date of a letter; a diary has several. */
const DATE_ALONE =
  /^[ \t]{0,40}(?:\p{Lu}[\p{L} ]{1,30}, (?:den |le )?)?(\d{1,2}(?:st|nd|rd|th|\.)? \p{L}{3,12} \d{4}|\p{L}{3,12} \d{1,2}(?:st|nd|rd|th)?, \d{4})[ \t]{0,40}$/gmu;

function dateOfLetter(text: string): string | undefined {
  const [only, ...others] = text.matchAll(DATE_ALONE);
  return only !== undefined && others.length === 0 && only.index < MAX_HEAD ? only[1] : undefined;
}

/**
 * Returns when a document says it was written, ISO: the header of a mail, front matter, a line `Date: …` or only a date at its
 * beginning, or its file's name. Null when it does not.
 */
export function writtenAtOf(
  { format, metadata, text }: Pick<ParsedDocument, 'format' | 'metadata' | 'text'>,
  fileName: string,
): string | null {
  const sent = format === 'email' ? Date.parse(metadata['date'] ?? '') : Number.NaN;
  if (!Number.isNaN(sent)) return new Date(sent).toISOString();
  const line = PROSE_FORMATS.has(format)
    ? (DATE_LINE.exec(text.slice(0, MAX_HEAD))?.[1] ?? dateOfLetter(text))
    : undefined;
  const name = fileName.replaceAll(/_|(?<=\p{L})[.-]|[.-](?=\p{L})/gu, ' ');
  for (const source of [metadata['date'], line, name]) {
    const date = dates(source ?? '').find(({ precision }) => precision === 'day' || precision === 'second');
    if (date !== undefined) return date.from.toISOString();
  }
  return null;
}

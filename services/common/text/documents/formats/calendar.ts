import type { DocumentBlock } from '../../../ports/documents.ts';
import type { DocumentDraft } from './draft.ts';

/** Properties that say something to a reader, by their name in iCalendar (RFC 5545) and vCard (RFC 6350). */
const LABELS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    SUMMARY: 'summary',
    FN: 'name',
    DTSTART: 'start',
    DTEND: 'end',
    DUE: 'due',
    RRULE: 'repeats',
    LOCATION: 'location',
    ORGANIZER: 'organizer',
    ATTENDEE: 'attendee',
    STATUS: 'status',
    CATEGORIES: 'categories',
    ORG: 'organisation',
    TITLE: 'role',
    EMAIL: 'email',
    TEL: 'phone',
    ADR: 'address',
    BDAY: 'birthday',
    URL: 'url',
    DESCRIPTION: 'description',
    NOTE: 'note',
  }),
);

/** Reads a calendar or address book: one block per event, task or card, with one `key: value` line per property. */
export function readCalendar(text: string): DocumentDraft {
  const blocks: DocumentBlock[] = [];
  let lines: string[] = [];
  const close = (): void => {
    if (lines.length > 0) blocks.push({ kind: 'record', text: lines.join('\n') });
    lines = [];
  };
  for (const line of text.replaceAll(/\r?\n[ \t]/g, '').split(/\r\n?|\n/)) {
    if (/^(?:BEGIN|END):(?:VEVENT|VTODO|VJOURNAL|VCARD)/i.test(line)) close();
    const [, name = '', parameters = '', value = ''] =
      /^(?:[\w-]+\.)?([\w-]+)((?:;[^:"]*(?:"[^"]*"[^:"]*)*)?):(.*)$/.exec(line) ?? [];
    const label = LABELS.get(name.toUpperCase());
    const shown = label === 'repeats' ? ruleText(value) : textOf(value, /;CN="?([^";:]+)/i.exec(parameters)?.[1]);
    if (label !== undefined && shown !== '') lines.push(`${label}: ${shown}`);
  }
  close();
  return { blocks };
}

/** The common name of a person, ISO dates, and text without escapes. */
function textOf(value: string, commonName: string | undefined): string {
  if (commonName !== undefined) return commonName.trim();
  const date = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)\d\dZ?)?$/.exec(value.trim());
  if (date !== null) return `${date.slice(1, 4).join('-')}${date[4] === undefined ? '' : ` ${date[4]}:${date[5]}`}`;
  const plain = value.replaceAll(/\\[nN]/g, ' ').replaceAll(/\\([,;\\])/g, '$1');
  return plain
    .replace(/^(?:mailto|tel):/i, '')
    .replaceAll(/;+/g, ' ')
    .trim();
}

const WORDS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    DAILY: 'day',
    WEEKLY: 'week',
    MONTHLY: 'month',
    YEARLY: 'year',
    MO: 'Monday',
    TU: 'Tuesday',
    WE: 'Wednesday',
    TH: 'Thursday',
    FR: 'Friday',
    SA: 'Saturday',
    SU: 'Sunday',
    '1': 'the first ',
    '2': 'the second ',
    '3': 'the third ',
    '4': 'the fourth ',
    '-1': 'the last ',
  }),
);

/** A rule of repetition as people say it: `every 2 weeks on Monday and Friday until 2026-12-31`. */
function ruleText(rule: string): string {
  const parts = new Map(
    rule.split(';').map((part) => {
      const [name = '', value = ''] = part.split('=');
      return [name.trim().toUpperCase(), value.trim().toUpperCase()] as const;
    }),
  );
  const unit = WORDS.get(parts.get('FREQ') ?? '');
  if (unit === undefined) return textOf(rule, undefined);
  const interval = Number(parts.get('INTERVAL') ?? 1);
  const days = (parts.get('BYDAY') ?? '').split(',').flatMap((written) => {
    const [, place = '', day = ''] = /^\+?(-?\d*)(\w\w)$/.exec(written) ?? [];
    return WORDS.has(day) ? [`${WORDS.get(place) ?? ''}${WORDS.get(day)}`] : [];
  });
  const until = parts.get('UNTIL');
  return [
    interval > 1 ? `every ${interval} ${unit}s` : `every ${unit}`,
    ...(days.length > 0 ? [`on ${new Intl.ListFormat('en').format(days)}`] : []),
    ...(parts.has('COUNT') ? [`${parts.get('COUNT')} times`] : []),
    ...(until === undefined ? [] : [`until ${textOf(until, undefined).slice(0, 10)}`]),
  ].join(' ');
}

import type { calendar_v3 } from '@googleapis/calendar';
import { sha256 } from '../../common/kernel/hashes.ts';
import { once } from '../../common/platform/async/once.ts';
import type { ChangePage, Connector, SourceAccess } from './connector.ts';
import { ask, clientOptions, type GoogleApp, googleDatasetName, googleSteps, pagesOf, unless } from './google.ts';

type Event = calendar_v3.Schema$Event;

const SCOPE = 'https://www.googleapis.com/auth/calendar.readonly';
const PAGE = 250;
/** Where a person works on a day is no event. */
const KINDS = ['default', 'fromGmail', 'outOfOffice', 'focusTime', 'birthday'];

/** Requests about the events of calendars. */
function createEvents(app: GoogleApp) {
  const open = once(async () => {
    const { calendar } = await import('@googleapis/calendar');
    return calendar({ version: 'v3', ...clientOptions(app) });
  });

  /** With a token the events that have changed since, cancelled ones among them. Returns true when it is not kept any more. */
  async function* eventsSince(
    access: SourceAccess,
    calendarId: string,
    syncToken: string | null,
  ): AsyncGenerator<ChangePage, boolean> {
    const api = await open();
    for (let pageToken: string | undefined; ; ) {
      const since = syncToken === null ? {} : { syncToken };
      const request = { calendarId, maxResults: PAGE, eventTypes: KINDS, ...since, ...(pageToken && { pageToken }) };
      const page = await unless(
        syncToken === null ? [] : [410],
        ask(access, (options) => api.events.list(request, options)),
      );
      if (page === null) return true;
      pageToken = page.nextPageToken ?? undefined;
      const isLast = pageToken === undefined;
      const cursor = isLast ? (page.nextSyncToken ?? null) : syncToken;
      yield { ...changesOf(page.items ?? []), cursor, ...(isLast && syncToken === null ? { isWhole: true } : {}) };
      if (isLast) return false;
    }
  }

  /** Null: it is gone, or cancelled. */
  const eventOf = async (access: SourceAccess, calendarId: string, eventId: string): Promise<Event | null> => {
    const api = await open();
    const event = await unless(
      [404, 410],
      ask(access, (options) => api.events.get({ calendarId, eventId }, options)),
    );
    return event?.status === 'cancelled' ? null : event;
  };
  /** The event, and where it recurs the days that differ. */
  const textOf = async (access: SourceAccess, calendarId: string, event: Event): Promise<string> => {
    const { id, iCalUID, recurrence } = event;
    if (!recurrence || !iCalUID) return calendarText([event], null);
    const api = await open();
    const request = { calendarId, iCalUID, showDeleted: true, maxResults: 2500 };
    const { items = [], timeZone } = await ask(access, (options) => api.events.list(request, options));
    const exceptions = items.filter(({ recurringEventId }) => recurringEventId === id);
    return calendarText([event, ...exceptions], timeZone ?? null);
  };
  return { open, eventsSince, eventOf, textOf };
}

/** Chosen calendars of a Google account: an event is a document, and so is one that recurs, with the days that differ. */
export function createCalendarConnector(app: GoogleApp): Connector {
  const { open, eventsSince, eventOf, textOf } = createEvents(app);
  return {
    provider: 'google_calendar',
    capabilities: {
      title: 'Google Calendar',
      feeds: ['events'],
      selection: 'required',
      accounts: 'exclusive',
      everyMs: 300_000,
    },
    datasetName: googleDatasetName('google_calendar'),
    async list(access) {
      const api = await open();
      // A calendar of which only the free time may be seen has no events.
      const request = { minAccessRole: 'reader', showHidden: true, maxResults: PAGE };
      const pages = pagesOf(access, (from, options) => api.calendarList.list({ ...request, ...from }, options));
      const all = (await Array.fromAsync(pages)).flatMap(({ items }) => items ?? []);
      return all.map(({ id, summary, summaryOverride, description, primary, accessRole }) => ({
        id: id ?? '',
        name: summaryOverride ?? summary ?? id ?? '',
        description: description ?? null,
        attributes: { primary: primary === true, access_role: accessRole ?? '' },
      }));
    },
    async *changesSince(access, { resource }, cursor) {
      const isListed = typeof cursor === 'string';
      if (!isListed || (yield* eventsSince(access, resource, cursor))) yield* eventsSince(access, resource, null);
    },
    async fetch(access, { resource: calendarId, key, stored }) {
      const event = await eventOf(access, calendarId, key);
      if (event === null) return null;
      const { recurrence, etag } = event;
      const text = await textOf(access, calendarId, event);
      const version = recurrence ? sha256(text) : (etag ?? sha256(text));
      if (version === stored) return 'unchanged';
      const name = (event.summary ?? 'No title').replaceAll(/[\\/]/g, ' ').trim();
      const day = (event.start?.dateTime ?? event.start?.date ?? '').slice(0, 10);
      const content = Buffer.from(text);
      return {
        fileName: `${name} (${day}).ics`,
        mimeType: 'text/calendar',
        content,
        version,
        uri: event.htmlLink ?? null,
      };
    },
    oauth: googleSteps(app, SCOPE),
  };
}

/** A day of a series that differs, or is cancelled, is a change of the series. */
function changesOf(events: readonly Event[]): Pick<ChangePage, 'present' | 'gone'> {
  const present = new Map<string, string | null>();
  const gone = new Set<string>();
  for (const { id, status, recurringEventId, recurrence, etag } of events) {
    if (!id) continue;
    if (recurringEventId) present.set(recurringEventId, null);
    else if (status === 'cancelled') gone.add(id);
    else present.set(id, recurrence ? null : (etag ?? null));
  }
  for (const key of gone) present.delete(key);
  return { present: [...present].map(([key, version]) => ({ key, version })), gone: [...gone] };
}

/** Events as a calendar (RFC 5545), in the hours of the person's calendar; cancelled ones as days that a series leaves out. */
function calendarText(events: readonly Event[], zone: string | null): string {
  const cancelled = events.filter(({ status }) => status === 'cancelled');
  const lines = events
    .filter(({ status }) => status !== 'cancelled')
    .flatMap((event, at) => [
      ...['BEGIN:VEVENT', `UID:${event.iCalUID ?? event.id}`, `DTSTAMP:${stampOf(event.updated ?? '')}`],
      ...when('RECURRENCE-ID', event.originalStartTime, zone),
      `SUMMARY:${escaped(event.summary ?? 'No title')}`,
      ...[...when('DTSTART', event.start, zone), ...when('DTEND', event.end, zone), ...(event.recurrence ?? [])],
      ...(at === 0 ? cancelled.flatMap(({ originalStartTime }) => when('EXDATE', originalStartTime, zone)) : []),
      ...(event.location ? [`LOCATION:${escaped(event.location)}`] : []),
      ...(event.organizer ? [`ORGANIZER${personOf(event.organizer)}`] : []),
      ...(event.attendees ?? [])
        .filter(({ resource }) => resource !== true)
        .map((one) => `ATTENDEE;PARTSTAT=${answerOf(one.responseStatus)}${personOf(one)}`),
      ...(event.description ? [`DESCRIPTION:${escaped(withoutTags(event.description))}`] : []),
      ...(event.status === 'tentative' ? ['STATUS:TENTATIVE'] : []),
      'END:VEVENT',
    ]);
  const all = ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//Engram//Google Calendar//EN', ...lines, 'END:VCALENDAR'];
  return `${all.map((line) => line.replaceAll(/.{70}(?=.)/gu, '$&\r\n ')).join('\r\n')}\r\n`;
}

function when(name: string, time: calendar_v3.Schema$EventDateTime | undefined, zone: string | null): string[] {
  if (time?.date) return [`${name};VALUE=DATE:${time.date.replaceAll('-', '')}`];
  if (!time?.dateTime) return [];
  const place = zone === null ? '' : `;TZID=${zone}`;
  return [`${name}${place}:${time.dateTime.slice(0, 19).replaceAll(/[-:]/g, '')}`];
}

function stampOf(time: string): string {
  return `${time.slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
}

function personOf({ displayName, email }: { readonly displayName?: string | null; readonly email?: string | null }) {
  const name = displayName ? `;CN="${displayName.replaceAll(/["\r\n]/g, ' ')}"` : '';
  return `${name}:mailto:${email ?? ''}`;
}

function answerOf(status: string | null | undefined): string {
  return status === 'accepted' || status === 'declined' || status === 'tentative'
    ? status.toUpperCase()
    : 'NEEDS-ACTION';
}

function escaped(text: string): string {
  return text.replaceAll(/[\\,;]/g, '\\$&').replaceAll(/\r?\n/g, '\\n');
}

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['#39', "'"],
  ['nbsp', ' '],
]);

/** Descriptions are text, or text with a little HTML. */
function withoutTags(text: string): string {
  if (!/<\/?[a-z]+[^<>]*>/i.test(text)) return text;
  return text
    .replaceAll(/<br\s*\/?>|<\/(?:p|div|li|h\d)>/gi, '\n')
    .replaceAll(/<\/?[a-z]+[^<>]*>/gi, '')
    .replaceAll(/&(#?\w+);/g, (written, name: string) => ENTITIES.get(name) ?? written)
    .trim();
}

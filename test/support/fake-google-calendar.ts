import { type GoogleAnswer, GoogleFault, pageOf } from './fake-google.ts';

interface FakeEvent {
  readonly id: string;
  readonly summary?: string;
  readonly status?: 'confirmed' | 'cancelled';
  readonly recurringEventId?: string;
  readonly [field: string]: unknown;
}

interface FakeCalendar {
  readonly name: string;
  readonly accessRole: string;
  readonly events: Map<string, FakeEvent & { readonly etag: string; readonly iCalUID: string }>;
  /** Ids of events in the order of their changes. */
  readonly log: string[];
}

/** Google Calendar with its sync tokens. */
export function createFakeCalendar(state: { readonly page: number; readonly person: { readonly email: string } }) {
  const calendars = new Map<string, FakeCalendar>();
  const options = {
    /** Sync tokens before it are not known any more. */
    firstToken: 0,
  };
  let changes = 0;

  const list = ({ events, log }: FakeCalendar, query: URLSearchParams): object => {
    const token = query.get('syncToken');
    if (token !== null && Number(token) < options.firstToken)
      throw new GoogleFault(410, 'fullSyncRequired', 'Sync token is no longer valid, a full sync is required.');
    if (token !== null && query.has('iCalUID')) throw new GoogleFault(400, 'invalid', 'A sync token allows no filter.');
    const changed = token === null ? [...events.keys()] : [...new Set(log.slice(Number(token)))];
    const uid = query.get('iCalUID');
    const found = changed
      .map((id) => events.get(id))
      .filter((event) => event !== undefined && (uid === null || event.iCalUID === uid))
      .filter((event) => token !== null || event?.status !== 'cancelled' || event.recurringEventId !== undefined);
    const { items, ...next } = pageOf(found, query, state.page);
    const end = 'nextPageToken' in next || uid !== null ? {} : { nextSyncToken: String(log.length) };
    return { kind: 'calendar#events', timeZone: 'Europe/London', items, ...next, ...end };
  };

  const read = (path: string, query: URLSearchParams): GoogleAnswer | undefined => {
    const [, rest] = /^\/calendar\/v3\/(.*)$/.exec(path) ?? [];
    if (rest === undefined) return undefined;
    if (rest === 'users/me/calendarList') {
      const readable = [...calendars].filter(([, { accessRole }]) => accessRole !== 'freeBusyReader');
      const shown = query.get('minAccessRole') === 'reader' ? readable : [...calendars];
      const { items, ...next } = pageOf(shown, query, state.page);
      const entries = items.map(([id, { name: summary, accessRole }]) => ({
        id,
        summary,
        accessRole,
        timeZone: 'Europe/London',
        ...(id === state.person.email ? { primary: true } : {}),
      }));
      return { json: { kind: 'calendar#calendarList', items: entries, ...next } };
    }
    const [, id = '', event] = /^calendars\/([^/]+)\/events(?:\/([^/]+))?$/.exec(rest) ?? [];
    const calendar = calendars.get(decodeURIComponent(id));
    if (calendar === undefined) throw new GoogleFault(404, 'notFound', 'Not Found');
    if (event === undefined) return { json: list(calendar, query) };
    const found = calendar.events.get(decodeURIComponent(event));
    if (found === undefined) throw new GoogleFault(404, 'notFound', 'Not Found');
    return { json: found };
  };

  return {
    read,
    options,
    calendar(id: string, name: string, accessRole = 'owner'): void {
      calendars.set(id, { name, accessRole, events: new Map(), log: [] });
    },
    /** Adds an event or changes it; a cancelled one has little more than its id, as at Google. */
    put(calendar: string, event: FakeEvent): void {
      const { events, log } = calendars.get(calendar) ?? fail(calendar);
      changes += 1;
      const iCalUID = events.get(event.recurringEventId ?? '')?.iCalUID ?? `${event.id}@google.com`;
      const known = { status: 'confirmed' as const, iCalUID, htmlLink: `https://calendar.google.test/${event.id}` };
      events.set(event.id, { ...known, ...event, etag: `"${changes}"` });
      log.push(event.id);
    },
  };
}

function fail(calendar: string): never {
  throw new Error(`there is no calendar ${calendar}`);
}

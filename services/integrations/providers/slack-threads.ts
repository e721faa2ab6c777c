import { sha256OfJson } from '../../common/kernel/hashes.ts';
import type { Json } from '../../common/kernel/json.ts';
import {
  type ChangePage,
  type PresentDocument,
  type SourceAccess,
  SourceBusyError,
  type SourceDocument,
} from './connector.ts';
import { type SlackApi, SlackRefusedError } from './slack-api.ts';
import { createSlackNames } from './slack-names.ts';
import { type HistorySelection, selectionOf, threadsOf } from './slack-selection.ts';
import { isSaid, peopleOf, type SlackFile, type SlackMessage, threadText, threadTitle } from './slack-text.ts';

const RECENT_MS = 7 * 86_400_000;
const WHOLE_MS = 86_400_000;
/** Messages of one page of Slack. */
const PAGE = 200;
/** Threads of one page of changes. */
const THREADS = 20;
/** A part of a thread is good for so long after its last request. */
const PART_KEPT_MS = 1_800_000;

/**
 * How far a channel was read, for the selection of that hash: the first `named` of the threads that it names, and everything from
 * `before` on. Where Slack allows few requests, an import takes many attempts, and each goes through all channels: `done` is the end
 * of the import before the one that has read all of this channel. `wholeAt`: when all that a resource declares was read last.
 */
type Cursor = {
  readonly run: string;
  readonly before: string | null;
  readonly named?: number;
  readonly done?: string | null;
  readonly wholeAt?: string;
};

/** A thread that Slack asked to wait in. */
interface PartOfThread {
  readonly ts: string;
  readonly messages: SlackMessage[];
  readonly cursor: string | undefined;
  readonly untilMs: number;
}

/** Counts what the import of an access has asked Slack for, and keeps the threads of its present page. */
interface Reading {
  requests: number;
  messages: number;
  readonly threads: Map<string, readonly SlackMessage[]>;
}

interface HistoryAnswer {
  readonly messages?: readonly SlackMessage[];
  readonly response_metadata?: { readonly next_cursor?: string };
}

export function createThreadReader(api: SlackApi) {
  const threads = createThreads(api);
  const names = createSlackNames(api);
  const fileDocument = async (access: SourceAccess, file: SlackFile): Promise<SourceDocument | null> => {
    const url = file.url_private_download ?? file.url_private ?? '';
    const content = await api.download(url, { token: await access.token(), signal: access.signal });
    if (content === null)
      throw new Error(`Slack did not give the file ${file.name ?? file.id}: the app needs files:read.`);
    const { id, name, title, mimetype = null, permalink = null } = file;
    return { fileName: name || title || id, mimeType: mimetype, content, version: id, uri: permalink };
  };

  return {
    changes: createChanges(threads),
    async fetch(access: SourceAccess, { resource, key }: PresentDocument): Promise<SourceDocument | null> {
      const [ts = '', fileId] = key.split('/');
      const messages = threads.readingOf(access).threads.get(ts) ?? (await threads.thread(access, resource, ts));
      const [first] = messages ?? [];
      if (messages === null || first === undefined) return null;
      if (fileId !== undefined) {
        const file = filesOf(messages).find(({ id }) => id === fileId);
        return file === undefined ? null : fileDocument(access, file);
      }
      const [channel, people] = await Promise.all([
        names.channel(access, resource),
        names.people(access, peopleOf(messages)),
      ]);
      const { team_url: teamUrl } = access.connection.metadata;
      return {
        fileName: `${threadTitle(messages.find(isSaid) ?? first, channel, people)}.txt`,
        mimeType: 'text/plain',
        content: Buffer.from(threadText(messages, channel, people)),
        version: versionOf(messages),
        uri: typeof teamUrl === 'string' ? `${teamUrl}archives/${resource}/p${ts.replace('.', '')}` : null,
      };
    },
  };
}

/** Reads threads of channels, within the limits of what is asked for. */
function createThreads(api: SlackApi) {
  const readings = new WeakMap<SourceAccess, Reading>();
  const readingOf = (access: SourceAccess): Reading => {
    const reading = readings.get(access) ?? { requests: 0, messages: 0, threads: new Map() };
    readings.set(access, reading);
    return reading;
  };
  const ask = async (access: SourceAccess, method: string, parameters: object): Promise<HistoryAnswer> => {
    const reading = readingOf(access);
    const selection = selectionOf(access.connection);
    if (reading.requests >= (selection?.max_requests ?? Number.POSITIVE_INFINITY)) {
      throw new Error(`It ended after ${reading.requests} requests to Slack (max_requests).`);
    }
    if (reading.messages >= (selection?.max_messages ?? Number.POSITIVE_INFINITY)) {
      throw new Error(`It ended after ${reading.messages} messages (max_messages).`);
    }
    reading.requests += 1;
    const { signal } = access;
    const answer = await api.request<HistoryAnswer>(method, parameters, { token: await access.token(), signal });
    reading.messages += answer.messages?.length ?? 0;
    return answer;
  };
  /** By connection and channel: read by attempts that had to wait, for the next one. */
  const parts = new Map<string, PartOfThread>();
  const keep = (place: string, part: Omit<PartOfThread, 'untilMs'>) => {
    for (const [kept, { untilMs }] of parts) if (untilMs < Date.now()) parts.delete(kept);
    parts.set(place, { ...part, untilMs: Date.now() + PART_KEPT_MS });
  };
  /** All messages of a thread, the first one first; null: there is none. */
  const thread = async (access: SourceAccess, channel: string, ts: string): Promise<readonly SlackMessage[] | null> => {
    const place = `${access.connection.id} ${channel}`;
    const known = parts.get(place);
    const part = known?.ts === ts && Date.now() < known.untilMs ? known : null;
    const messages = part?.messages ?? [];
    let cursor = part?.cursor;
    try {
      for (;;) {
        const asked = { channel, ts, limit: PAGE, ...(cursor ? { cursor } : {}) };
        const page = await ask(access, 'conversations.replies', asked);
        messages.push(...(page.messages ?? []).filter((one) => messages.length === 0 || one.ts !== ts));
        cursor = page.response_metadata?.next_cursor;
        if (!cursor) break;
      }
    } catch (error) {
      if (error instanceof SourceBusyError && messages.length > 0) keep(place, { ts, messages, cursor });
      if (error instanceof SlackRefusedError && /^(thread_not_found|message_not_found)$/.test(error.code)) return null;
      throw error;
    }
    if (part !== null) parts.delete(place);
    return messages.some(isSaid) ? messages : null;
  };

  /** Reads threads until Slack asks to wait; what was read until then is not lost. */
  async function readThreads(
    access: SourceAccess,
    channel: string,
    starts: readonly SlackMessage[],
    { isActive, oldest }: { readonly isActive: boolean; readonly oldest: string },
  ): Promise<{ readonly read: readonly ThreadRead[]; readonly lowest: string | null; readonly error?: unknown }> {
    const read: ThreadRead[] = [];
    let lowest: string | null = null;
    for (const start of starts) {
      const isWanted = !isActive || (start.latest_reply ?? start.ts) >= oldest;
      try {
        const messages = !isWanted ? null : start.reply_count ? await thread(access, channel, start.ts) : [start];
        if (messages !== null) read.push({ ts: start.ts, messages });
      } catch (error) {
        if (!(error instanceof SourceBusyError) || read.length === 0) throw error;
        return { read, lowest, error };
      }
      lowest = start.ts;
    }
    return { read, lowest };
  }
  return { readingOf, ask, thread, readThreads };
}

/** Changes of a channel: named threads, and those of a stretch of time. */
function createChanges({ readingOf, ask, thread, readThreads }: ReturnType<typeof createThreads>) {
  /** Threads that are named one by one, beginning with those that this import has not read. */
  async function* named(access: SourceAccess, channel: string, from: Cursor, wanted: readonly string[]) {
    for (let at = from.named ?? 0; at < wanted.length; at += 1) {
      const ts = wanted[at] as string;
      const messages = await thread(access, channel, ts);
      const covers = { from: ts, to: `${ts}0` };
      const cursor = { ...from, named: at + 1 };
      yield pageOf(readingOf(access), messages === null ? [] : [{ ts, messages }], { cursor, covers });
    }
  }

  /** The threads of a stretch of time, the last one first. A limit of Slack ends it after what was read is stored. */
  async function* stretch(access: SourceAccess, channel: string, from: Cursor, selection: HistorySelection) {
    const { wholeAt } = from;
    const isDeclared = Boolean(access.connection.declared);
    const isRecent = isDeclared && wholeAt !== undefined && Date.now() - Date.parse(wholeAt) < WHOLE_MS;
    const recentMs = isRecent ? Date.now() - RECENT_MS : 0;
    const oldest = tsOf(Math.max(recentMs, Date.parse(selection.oldest ?? '') || 0));
    // What a resource declares is all that there is to be: what is older goes.
    const floor = isDeclared && !isRecent ? '0' : oldest;
    const isActive = selection.thread_mode === 'active';
    const top = from.before ?? tsOf(selection.latest === null ? Date.now() + 60_000 : Date.parse(selection.latest));
    let upper = top;
    const asked = { channel, oldest: isActive ? '0' : oldest, latest: top, inclusive: true, limit: PAGE };
    for (let next: string | undefined, isLast = false; !isLast; ) {
      const answer = await ask(access, 'conversations.history', { ...asked, ...(next ? { cursor: next } : {}) });
      next = answer.response_metadata?.next_cursor;
      isLast = !next;
      // The bounds that Slack takes are inclusive: a stretch that goes on would begin with what it ended with.
      const starts = (answer.messages ?? []).filter((one) => isStart(one) && one.ts < top);
      const last = answer.messages?.at(-1)?.ts;
      if (starts.length === 0 && !isLast && last !== undefined && last < upper) {
        // So that an attempt that ends here does not begin with it again.
        const end = last < oldest ? oldest : last;
        yield pageOf(readingOf(access), [], { cursor: { ...from, before: last }, covers: { from: end, to: upper } });
        upper = last;
      }
      for (let at = 0; at < starts.length || (at === 0 && isLast); at += THREADS) {
        const isEnd = isLast && at + THREADS >= starts.length;
        const { read, lowest, error } = await readThreads(access, channel, starts.slice(at, at + THREADS), {
          isActive,
          oldest,
        });
        const bottom = isEnd && error === undefined ? oldest : (lowest ?? upper);
        const covered = bottom < oldest ? oldest : bottom;
        const isDone = isEnd && error === undefined;
        const end = isDone ? floor : covered;
        const covers = end < upper ? { covers: { from: end, to: upper } } : {};
        const whole = isDeclared && !isRecent ? new Date().toISOString() : wholeAt;
        const cursor = isDone ? doneOf(access, from.run, whole) : { ...from, before: bottom };
        yield pageOf(readingOf(access), read, { cursor, ...covers });
        if (error !== undefined) throw error;
        upper = bottom;
      }
    }
  }

  return async function* changes(access: SourceAccess, channel: string, cursor: Json): AsyncGenerator<ChangePage> {
    access.signal.throwIfAborted();
    const selection = selectionOf(access.connection, channel);
    if (selection === null) return;
    const run = sha256OfJson(selection);
    const stored = cursor as Cursor | null;
    const known: Cursor = stored?.run === run ? stored : { run, before: null };
    const { done, ...from } = known;
    if (done !== undefined && done === access.connection.lastSyncedAt) return;
    const threads = threadsOf(selection).filter((one) => one.channel_id === channel);
    const wanted = [...new Set(threads.map(({ ts }) => ts))];
    yield* named(access, channel, from, wanted);
    const isRead = !selection.channel_ids.includes(channel);
    if (isRead) yield pageOf(readingOf(access), [], { cursor: doneOf(access, run, from.wholeAt) });
    else yield* stretch(access, channel, { ...from, named: wanted.length }, selection);
  };
}

/** Threads that were read, as a page of changes; `fetch` finds them while the page is stored. */
function pageOf(
  reading: Reading,
  threads: readonly ThreadRead[],
  rest: Pick<ChangePage, 'cursor' | 'covers'>,
): ChangePage {
  reading.threads.clear();
  for (const { ts, messages } of threads) reading.threads.set(ts, messages);
  const present = threads.flatMap(({ ts, messages }) => [
    { key: ts, version: versionOf(messages) },
    ...filesOf(messages).map(({ id }) => ({ key: `${ts}/${id}`, version: id })),
  ]);
  const messages = threads.reduce((sum, one) => sum + one.messages.filter(isSaid).length, 0);
  return { present, gone: [], ...rest, counted: { conversations: threads.length, messages } };
}

/** The cursor of a channel that the present import has read. */
function doneOf({ connection }: SourceAccess, run: string, wholeAt: string | undefined): Cursor {
  return { run, before: null, done: connection.lastSyncedAt, ...(wholeAt !== undefined && { wholeAt }) };
}

interface ThreadRead {
  readonly ts: string;
  readonly messages: readonly SlackMessage[];
}

/** Whether a message of a channel is the first of its thread, or stands alone. */
function isStart(message: SlackMessage): boolean {
  const { ts, thread_ts: thread, reply_count: replies = 0 } = message;
  return (thread === undefined || thread === ts) && (isSaid(message) || replies > 0);
}

/** Files that may hold text. */
function filesOf(messages: readonly SlackMessage[]): readonly SlackFile[] {
  const files = messages.filter(isSaid).flatMap((message) => message.files ?? []);
  const wanted = files.filter(({ mode, mimetype = '', url_private: url }) => {
    return (
      mode !== 'tombstone' && mode !== 'hidden_by_limit' && url !== undefined && !/^(audio|video)\//.test(mimetype)
    );
  });
  return [...new Map(wanted.map((file) => [file.id, file])).values()];
}

function versionOf(messages: readonly SlackMessage[]): string {
  const said = messages.map(({ ts, user = '', username = '', text = '', edited, subtype = '', files = [] }) => {
    return [ts, user, username, text, edited?.ts ?? '', subtype, files.map(({ id }) => id).join()];
  });
  return sha256OfJson(said);
}

/** Slack's form of a time: seconds with six digits behind the point. */
function tsOf(ms: number): string {
  return (ms / 1000).toFixed(6);
}

import type { gmail_v1 } from '@googleapis/gmail';
import { mapConcurrently } from '../../common/platform/async/map-concurrently.ts';
import { once } from '../../common/platform/async/once.ts';
import type { ChangePage, Connector, SourceAccess } from './connector.ts';
import { ask, clientOptions, type GoogleApp, googleDatasetName, googleSteps, pagesOf, unless } from './google.ts';

const SCOPE = 'https://www.googleapis.com/auth/gmail.readonly';
/** Stands for all mail: no label of Gmail's own has this id. */
const ALL = 'ALL';
const PAGE = 500;
const CONCURRENT = 8;
/** A message never changes: a draft that is edited is another message. */
const VERSION = '1';
/** Messages with these labels are left out, unless the label is what was chosen. */
const LEFT_OUT: ReadonlyMap<string, string> = new Map([
  ['TRASH', 'trash'],
  ['SPAM', 'spam'],
  ['DRAFT', 'drafts'],
  ['CHAT', 'chats'],
]);

/** Requests about the mail of accounts. */
function createMailbox(app: GoogleApp) {
  const open = once(async () => {
    const { gmail } = await import('@googleapis/gmail');
    return gmail({ version: 'v1', ...clientOptions(app) }).users;
  });
  const profile = async (access: SourceAccess) => {
    const api = await open();
    return ask(access, (options) => api.getProfile({ userId: 'me' }, options));
  };
  const message = async (access: SourceAccess, id: string, format: 'minimal' | 'raw') => {
    const api = await open();
    return unless(
      [404],
      ask(access, (options) => api.messages.get({ userId: 'me', id, format }, options)),
    );
  };

  async function* listed(access: SourceAccess, label: string): AsyncGenerator<ChangePage> {
    const api = await open();
    // What comes while it is listed comes again in the history.
    const { historyId } = await profile(access);
    const without = [...LEFT_OUT].filter(([id]) => id !== label).map(([, name]) => `-in:${name}`);
    const request = {
      userId: 'me',
      q: without.join(' '),
      maxResults: PAGE,
      includeSpamTrash: LEFT_OUT.has(label),
      ...(label === ALL ? {} : { labelIds: [label] }),
    };
    for await (const page of pagesOf(access, (from, options) => api.messages.list({ ...request, ...from }, options))) {
      const present = (page.messages ?? []).map(({ id }) => ({ key: id ?? '', version: VERSION }));
      const isLast = !page.nextPageToken;
      yield { present, gone: [], ...(isLast ? { cursor: historyId ?? null, isWhole: true } : { cursor: null }) };
    }
  }

  /** Returns true when the history is not kept that long any more. */
  async function* followed(access: SourceAccess, label: string, since: string): AsyncGenerator<ChangePage, boolean> {
    const api = await open();
    for (let pageToken: string | undefined; ; ) {
      const request = { userId: 'me', startHistoryId: since, maxResults: PAGE, ...(pageToken && { pageToken }) };
      const page = await unless(
        [404],
        ask(access, (options) => api.history.list(request, options)),
      );
      if (page === null) return true;
      const { deleted, touched } = touchedBy(page.history ?? [], label);
      const found = await mapConcurrently([...touched], CONCURRENT, async (id) => {
        const { labelIds } = (await message(access, id, 'minimal')) ?? {};
        return { id, isHere: labelIds !== undefined && isOf(label, labelIds ?? []) };
      });
      const present = found.filter(({ isHere }) => isHere).map(({ id }) => ({ key: id, version: VERSION }));
      const gone = [...deleted, ...found.filter(({ isHere }) => !isHere).map(({ id }) => id)];
      pageToken = page.nextPageToken ?? undefined;
      const last = pageToken === undefined ? page.historyId : page.history?.at(-1)?.id;
      const cursor = last ?? since;
      if (cursor !== since || present.length + gone.length > 0) yield { present, gone, cursor };
      if (pageToken === undefined) return false;
    }
  }

  return { open, profile, message, listed, followed };
}

/** Labels of a Gmail account, and all of its mail: each message as it was sent, with its headers. */
export function createGmailConnector(app: GoogleApp): Connector {
  const { open, profile, message, listed, followed } = createMailbox(app);
  return {
    provider: 'gmail',
    capabilities: {
      title: 'Gmail',
      feeds: ['messages'],
      selection: 'nothing at first',
      accounts: 'exclusive',
      everyMs: 300_000,
    },
    datasetName: googleDatasetName('gmail'),
    async list(access) {
      const api = await open();
      const { labels = [] } = await ask(access, (options) => api.labels.list({ userId: 'me' }, options));
      // A list has no numbers of messages.
      const counted = await mapConcurrently(labels, CONCURRENT, async ({ id, name, type }) => {
        const request = { userId: 'me', id: id ?? '' };
        const found = await unless(
          [404],
          ask(access, (options) => api.labels.get(request, options)),
        );
        const attributes = { type: type ?? 'user', messages_total: found?.messagesTotal ?? 0 };
        return { id: id ?? '', name: name ?? '', description: null, attributes, isPart: true as const };
      });
      const attributes = { type: 'system', messages_total: (await profile(access)).messagesTotal ?? 0 };
      return [{ id: ALL, name: 'All mail', description: null, attributes }, ...counted];
    },
    async *changesSince(access, { resource }, cursor) {
      const isListed = typeof cursor === 'string';
      if (!isListed || (yield* followed(access, resource, cursor))) yield* listed(access, resource);
    },
    async fetch(access, { resource, key }) {
      const found = await message(access, key, 'raw');
      if (found === null || !isOf(resource, found.labelIds ?? [])) return null;
      const content = Buffer.from(found.raw ?? '', 'base64url');
      // Loaded with the first mail: it brings a parser of HTML along.
      const { readMailHeader } = await import('../../common/text/documents/formats/email.ts');
      const subject = (readMailHeader(content, 'subject') ?? '').replaceAll(/[\\/]/g, ' ').trim() || 'No subject';
      const day = new Date(Number(found.internalDate ?? 0)).toISOString().slice(0, 10);
      const account = encodeURIComponent(access.connection.accountLabel);
      const uri = `https://mail.google.com/mail/?authuser=${account}#all/${found.threadId ?? key}`;
      return { fileName: `${subject} (${day}).eml`, mimeType: 'message/rfc822', content, version: VERSION, uri };
    },
    oauth: googleSteps(app, SCOPE),
  };
}

function isOf(label: string, labels: readonly string[]): boolean {
  return (label === ALL || labels.includes(label)) && !labels.some((one) => one !== label && LEFT_OUT.has(one));
}

/** Messages that a piece of history may have brought to a label or taken from it, and those that are no more. */
function touchedBy(history: readonly gmail_v1.Schema$History[], label: string) {
  const deleted = new Set<string>();
  const touched = new Set<string>();
  const matters = (id: string) => id === label || LEFT_OUT.has(id);
  for (const { messagesAdded = [], messagesDeleted = [], labelsAdded = [], labelsRemoved = [] } of history) {
    for (const { message } of messagesAdded) {
      // Mail that came to another label. Labels are not always told.
      if (message?.id && (message.labelIds == null || isOf(label, message.labelIds))) touched.add(message.id);
    }
    for (const { message, labelIds } of [...labelsAdded, ...labelsRemoved])
      if (message?.id && labelIds?.some(matters)) touched.add(message.id);
    for (const { message } of messagesDeleted) if (message?.id) deleted.add(message.id);
  }
  return { deleted, touched: touched.difference(deleted) };
}

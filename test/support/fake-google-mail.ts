import { type GoogleAnswer, GoogleFault, pageOf } from './fake-google.ts';

interface FakeMessage {
  readonly threadId: string;
  readonly raw: string;
  readonly date: number;
  readonly labels: Set<string>;
}

interface Entry {
  readonly messagesAdded?: readonly Touched[];
  readonly messagesDeleted?: readonly Touched[];
  readonly labelsAdded?: readonly (Touched & { readonly labelIds: readonly string[] })[];
  readonly labelsRemoved?: readonly (Touched & { readonly labelIds: readonly string[] })[];
}
type Touched = { readonly message: { readonly id: string; readonly threadId: string; readonly labelIds?: string[] } };

const HIDDEN = new Map([
  ['trash', 'TRASH'],
  ['spam', 'SPAM'],
  ['drafts', 'DRAFT'],
  ['chats', 'CHAT'],
]);

/** A mailbox of Gmail with its history. */
export function createFakeGmail(state: { readonly page: number; readonly person: { readonly email: string } }) {
  const messages = new Map<string, FakeMessage>();
  const labels = new Map<string, string>(['INBOX', 'SENT', 'TRASH', 'SPAM', 'DRAFT'].map((id) => [id, id]));
  const history: Entry[] = [];
  const options = {
    /** The history before it is not kept any more. */
    firstHistory: 0,
  };
  let ids = 0;
  const note = (entry: Entry) => history.push(entry);
  const touched = (id: string, isLabelled = false): Touched => {
    const { threadId = id, labels: own = [] } = messages.get(id) ?? {};
    return { message: { id, threadId, ...(isLabelled ? { labelIds: [...own] } : {}) } };
  };

  const matching = (query: URLSearchParams) => {
    const asked = query.getAll('labelIds');
    const out = (query.get('q') ?? '').split(' ').map((word) => HIDDEN.get(word.replace('-in:', '')) ?? '');
    if (query.get('includeSpamTrash') !== 'true') out.push('TRASH', 'SPAM');
    return [...messages]
      .filter(([, { labels: own }]) => asked.every((id) => own.has(id)) && !out.some((id) => own.has(id)))
      .toReversed()
      .map(([id, { threadId }]) => ({ id, threadId }));
  };
  const since = (query: URLSearchParams): object => {
    const start = Number(query.get('startHistoryId'));
    if (!(start >= options.firstHistory && start <= history.length))
      throw new GoogleFault(404, 'notFound', 'Requested entity was not found.');
    const records = history.slice(start).map((entry, at) => ({ id: String(start + at + 1), ...entry }));
    const { items, ...next } = pageOf(records, query, state.page);
    return { ...(items.length > 0 ? { history: items } : {}), ...next, historyId: String(history.length) };
  };

  const read = (path: string, query: URLSearchParams): GoogleAnswer | undefined => {
    const [, rest] = /^\/gmail\/v1\/users\/me\/(.*)$/.exec(path) ?? [];
    if (rest === undefined) return undefined;
    if (rest === 'profile') {
      const { email: emailAddress } = state.person;
      return { json: { emailAddress, messagesTotal: messages.size, historyId: String(history.length) } };
    }
    if (rest === 'labels')
      return { json: { labels: [...labels].map(([id, name]) => ({ id, name, type: typeOf(id) })) } };
    if (rest === 'history') return { json: since(query) };
    if (rest === 'messages') {
      const { items, ...next } = pageOf(matching(query), query, state.page);
      return { json: { ...(items.length > 0 ? { messages: items } : {}), ...next, resultSizeEstimate: items.length } };
    }
    const [, kind, id = ''] = /^(labels|messages)\/([^/]+)$/.exec(rest) ?? [];
    if (kind === 'labels' && labels.has(id)) {
      const messagesTotal = [...messages.values()].filter(({ labels: own }) => own.has(id)).length;
      return { json: { id, name: labels.get(id), type: typeOf(id), messagesTotal } };
    }
    const message = kind === 'messages' ? messages.get(id) : undefined;
    if (message === undefined) throw new GoogleFault(404, 'notFound', 'Requested entity was not found.');
    const { threadId, raw, date, labels: own } = message;
    const facts = { id, threadId, labelIds: [...own], internalDate: String(date), sizeEstimate: raw.length };
    const isRaw = query.get('format') === 'raw';
    return { json: { ...facts, ...(isRaw ? { raw: Buffer.from(raw).toString('base64url') } : {}) } };
  };

  return {
    read,
    options,
    label(name: string): string {
      const id = `Label_${labels.size}`;
      labels.set(id, name);
      return id;
    },
    /** Returns the id of a new message. */
    add(raw: string, ...own: string[]): string {
      ids += 1;
      const id = `19a${ids.toString(16).padStart(13, '0')}`;
      messages.set(id, { threadId: id, raw, date: Date.UTC(2026, 0, 5, 9), labels: new Set(own) });
      note({ messagesAdded: [touched(id, true)] });
      return id;
    },
    change(id: string, { add = [], remove = [] }: { readonly add?: string[]; readonly remove?: string[] }): void {
      const own = messages.get(id)?.labels;
      for (const label of add) own?.add(label);
      for (const label of remove) own?.delete(label);
      if (add.length > 0) note({ labelsAdded: [{ ...touched(id), labelIds: add }] });
      if (remove.length > 0) note({ labelsRemoved: [{ ...touched(id), labelIds: remove }] });
    },
    remove(id: string): void {
      note({ messagesDeleted: [touched(id)] });
      messages.delete(id);
    },
  };
}

function typeOf(id: string): string {
  return id.startsWith('Label_') ? 'user' : 'system';
}

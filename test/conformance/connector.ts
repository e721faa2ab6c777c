import { randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import { asId } from '../../services/common/kernel/ids.ts';
import type { Json } from '../../services/common/kernel/json.ts';
import { PERSONAL_TENANT } from '../../services/common/kernel/scope.ts';
import type { SourceConnection } from '../../services/common/records/integrations/connections.ts';
import { NOTHING_IMPORTED } from '../../services/common/records/integrations/connections.ts';
import type { ChangePage, Connector, SourceAccess } from '../../services/integrations/providers/connector.ts';

/** A source that a test changes, with a connector to it. */
interface ConnectorSubject extends AsyncDisposable {
  readonly connector: Connector;
  readonly account: Pick<SourceConnection, 'accountId' | 'accountLabel'> & Partial<Pick<SourceConnection, 'metadata'>>;
  /** Access token; absent: the connector needs none. */
  readonly token?: string;
  readonly feed: string;
  /** Documents have names and texts; the text is part of what is fetched. */
  put(name: string, text: string): Promise<unknown>;
  remove(name: string): Promise<unknown>;
}

/** What every connector has to do: see `Connector`. */
export function connectorSuite(name: string, open: () => Promise<ConnectorSubject>): void {
  describe(`connector: ${name}`, () => {
    let subject: ConnectorSubject;
    let access: SourceAccess;
    beforeEach(async () => {
      subject = await open();
      access = {
        connection: connectionOf(subject),
        signal: new AbortController().signal,
        token: async () => subject.token ?? '',
      };
      await subject.put('engine', 'The Analytical Engine stops.');
      await subject.put('lamp', 'The lamp flickers.');
    });
    afterEach(() => subject[Symbol.asyncDispose]());

    let imports = 0;
    const resource = async (): Promise<string> => (await subject.connector.list(access))[0]?.id ?? '';
    const changes = async (cursor: Json): Promise<{ readonly pages: readonly ChangePage[]; readonly cursor: Json }> => {
      const pages: ChangePage[] = [];
      const asked = { resource: await resource(), feed: subject.feed };
      // Each is an import of its own, which began after the one before it had ended.
      imports += 1;
      Object.assign(access.connection, { lastSyncedAt: new Date(imports * 1000).toISOString() });
      for await (const page of subject.connector.changesSince(access, asked, cursor)) pages.push(page);
      return { pages, cursor: pages.at(-1)?.cursor ?? cursor };
    };
    const present = (pages: readonly ChangePage[]) => pages.flatMap((page) => page.present);
    const fetchText = async (key: string, version: string | null, stored: string | null = null) => {
      const asked = { resource: await resource(), feed: subject.feed, key, version, stored };
      const document = await subject.connector.fetch(access, asked);
      if (document === null || document === 'unchanged') return document;
      const { content, version: fetched } = document;
      return {
        text: (content instanceof Uint8Array ? Buffer.from(content) : await buffer(content)).toString(),
        fetched,
      };
    };
    /** The texts of a feed by their key. */
    const texts = async (pages: readonly ChangePage[]) => {
      const found = new Map<string, { text: string; fetched: string; version: string | null }>();
      for (const { key, version } of present(pages)) {
        const document = await fetchText(key, version);
        if (document !== null && document !== 'unchanged') found.set(key, { ...document, version });
      }
      return found;
    };

    it('describes itself, and lists resources with stable ids', async () => {
      const { capabilities, provider } = subject.connector;
      expect(provider).to.match(/^[a-z0-9_]+$/);
      expect(capabilities.feeds).to.include(subject.feed);
      const [once, again] = await Promise.all([subject.connector.list(access), subject.connector.list(access)]);
      expect(once).to.deep.equal(again).and.not.to.be.empty;
      expect(subject.connector.datasetName({ ...subject.account, metadata: {} })).to.match(/^[a-z0-9]+(_\w+)?$/);
    });

    it('gives every document, with a version that names its content', async () => {
      const { pages } = await changes(null);
      const found = await texts(pages);
      for (const text of ['The Analytical Engine stops.', 'The lamp flickers.']) {
        expect(
          [...found.values()].some((document) => document.text.includes(text)),
          text,
        ).to.equal(true);
      }
      for (const { version, fetched } of found.values()) if (version !== null) expect(fetched).to.equal(version);
    });

    it('gives what has changed under the same key and another version, and nothing else to fetch', async () => {
      const first = await changes(null);
      const before = await texts(first.pages);
      await subject.put('engine', 'The Analytical Engine runs.');
      await subject.put('steam', 'Steam escapes.');
      const { pages } = await changes(first.cursor);
      const changed: string[] = [];
      for (const { key, version } of present(pages)) {
        const known = before.get(key);
        if (known !== undefined && version !== null && version === known.fetched) continue;
        const document = await fetchText(key, version, known?.fetched ?? null);
        if (document !== null && document !== 'unchanged' && document.fetched !== known?.fetched)
          changed.push(document.text);
      }
      // A page that lists the others changes with them.
      expect(changed.filter((text) => text.includes('.'))).to.have.length(2);
      expect(changed.join()).to.contain('Engine runs').and.contain('Steam escapes');
    });

    it('does not give what is gone, and says so', async () => {
      const first = await changes(null);
      const before = await texts(first.pages);
      const [key = ''] = [...before].find(([, { text }]) => text.includes('lamp flickers')) ?? [];
      await subject.remove('lamp');
      const { pages } = await changes(first.cursor);
      const isListedAsGone = pages.some(({ gone }) => gone.includes(key));
      const isWhole = pages.at(-1)?.isWhole === true && !present(pages).some((one) => one.key === key);
      const isCovered = pages.some(({ covers, present: named }) => {
        const isIn = covers !== undefined && covers.from <= key && key < covers.to;
        return isIn && !named.some((one) => one.key === key);
      });
      const isUnfetchable = (await fetchText(key, before.get(key)?.fetched ?? null)) === null;
      expect(isListedAsGone || isWhole || isCovered || isUnfetchable).to.equal(true);
    });

    it('says who sees each document at the source, in the order of the keys, where it has permissions', async () => {
      const { permissionsOf } = subject.connector;
      if (permissionsOf === undefined) return;
      const keys = present((await changes(null)).pages).map(({ key }) => key);
      const asked = { resource: await resource(), feed: subject.feed };
      const seenBy = await permissionsOf(access, asked, keys);
      expect(seenBy).to.have.length(keys.length);
      for (const audience of seenBy) {
        if (audience === null) continue;
        const { gaps = [], ...seen } = audience;
        expect(seen).to.have.all.keys('addresses', 'groups', 'domains');
        for (const { reason, group } of gaps) expect(reason.includes('{groups}')).to.equal(group !== undefined);
      }
      expect(await permissionsOf(access, asked, keys.toReversed())).to.deep.equal(seenBy.toReversed());
      expect(await permissionsOf(access, asked, [])).to.deep.equal([]);
    });

    it('stops when it is aborted', async () => {
      const aborted = AbortSignal.abort(new Error('stopped'));
      const asked = { resource: await resource(), feed: subject.feed };
      const read = async () => {
        for await (const _ of subject.connector.changesSince({ ...access, signal: aborted }, asked, null));
      };
      expect(
        await read().then(
          () => 'went on',
          () => 'stopped',
        ),
      ).to.equal('stopped');
    });
  });
}

function connectionOf({ account, connector: { provider } }: ConnectorSubject): SourceConnection {
  const at = '2026-01-01T00:00:00.000Z';
  return {
    id: randomUUID(),
    version: 1,
    provider,
    userId: asId('11111111-2222-4333-8444-555555555555'),
    tenant: PERSONAL_TENANT,
    keyId: null,
    authType: 'none',
    scopes: [],
    metadata: {},
    status: 'active',
    ...account,
    revokedReason: null,
    selection: null,
    dataset: null,
    datasetName: 'd',
    ...NOTHING_IMPORTED,
    syncing: true,
    createdAt: at,
    connectedAt: at,
    revokedAt: null,
  };
}

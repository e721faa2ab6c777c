import { expect } from 'chai';
import { INSTALLER, startFakeSlack, tsAt } from '../../../test/support/fake-slack.ts';
import type { Json } from '../../common/kernel/json.ts';
import type { SourceConnection } from '../../common/records/integrations/connections.ts';
import { type ChangePage, SourceBusyError } from './connector.ts';
import { createSlackConnector } from './slack.ts';
import { createSlackApi } from './slack-api.ts';

const DAY_MS = 86_400_000;

describe('channels of Slack that a Dataset resource declares', () => {
  let slack: Awaited<ReturnType<typeof startFakeSlack>>;
  beforeEach(async () => {
    slack = await startFakeSlack();
  });
  afterEach(() => slack[Symbol.asyncDispose]());

  it('are read as a whole once a day, and the last seven days at each import between', async () => {
    const { messages } = slack.add('engine');
    const say = (text: string, daysAgo: number) => {
      const ts = tsAt(new Date(Date.now() - daysAgo * DAY_MS).toISOString());
      messages.push({ ts, user: INSTALLER, text });
      return ts;
    };
    const [old, recent] = [say('The mill is built.', 30), say('The gear is worn.', 2)];
    const connector = createSlackConnector({ api: createSlackApi({ apiUrl: `${slack.url}/api/` }), app: null });
    const token = slack.token();
    const declared = { resource: 'r', source: 'talk', since: null, everyMs: null, cron: null };
    const connection = { accountId: 'T0-U0', declared, dataset: null, metadata: {} } as unknown as SourceConnection;
    const access = () => ({ connection, signal: new AbortController().signal, token: async () => token });
    const read = async (cursor: Json) => {
      const pages: ChangePage[] = [];
      const feed = { resource: 'C0ENGINE', feed: 'threads' };
      for await (const page of connector.changesSince(access(), feed, cursor)) pages.push(page);
      const keys = pages.flatMap(({ present }) => present.map(({ key }) => key));
      const { covers, cursor: next } = pages.at(-1) as ChangePage;
      return { keys, covers, cursor: next as { readonly run: string; readonly wholeAt: string } };
    };
    const whole = await read(null);
    expect(whole.keys).to.deep.equal([recent, old]);
    expect(whole.covers?.from, 'what is older is gone').to.equal('0');
    const later = await read(whole.cursor);
    expect(later.keys).to.deep.equal([recent]);
    expect(Number(later.covers?.from), 'what is older stays').to.be.within(Number(old) + 1, Number(recent) - 1);
    expect(later.cursor).to.deep.equal(whole.cursor);
    const yesterday = new Date(Date.now() - DAY_MS).toISOString();
    expect((await read({ ...later.cursor, wholeAt: yesterday })).keys).to.deep.equal([recent, old]);
    const now = new Date('2026-03-01T00:00:00Z');
    const next = (more: object) =>
      connector.afterImport?.({ ...connection, declared: { ...declared, ...more } } as SourceConnection, {
        isOk: true,
        now,
      });
    expect(next({})).to.deep.equal({ nextSyncAt: '2026-03-01T01:00:00.000Z' });
    expect(next({ everyMs: 60_000 }), 'its own rhythm').to.deep.equal({});
  });
});

describe('history of Slack for an app outside of its Marketplace, with 15 messages a minute', () => {
  it('is read as a whole: every channel, named threads, long threads, and stretches of messages that say nothing', async () => {
    await using slack = await startFakeSlack();
    slack.state.isUnlisted = true;
    const at = (minute: number) => tsAt(new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString());
    const engine = slack.add('engine');
    const lamp = slack.add('lamp');
    const say = ({ messages }: typeof engine, minute: number, more: object = {}) =>
      messages.push({ ts: at(minute), user: INSTALLER, text: `Said at ${minute}`, ...more });
    for (let minute = 0; minute < 40; minute += 1) say(engine, minute);
    for (let minute = 40; minute < 90; minute += 1) say(engine, minute, { subtype: 'channel_join' });
    for (let minute = 90; minute < 140; minute += 1) say(engine, minute, { thread_ts: at(0) });
    for (let minute = 200; minute < 220; minute += 1) say(lamp, minute);
    for (let minute = 200; minute < 203; minute += 1) say(lamp, minute + 100, { thread_ts: at(minute) });
    const threads = [200, 201, 202].map((minute) => ({ channel_id: 'C0LAMP', ts: at(minute) }));
    const once = { channel_ids: ['C0ENGINE', 'C0LAMP'], thread_links: [], threads, thread_mode: 'started' };
    const limits = { max_requests: 1000, max_messages: 100_000, oldest: null, latest: null };
    const metadata = { once: { ...once, ...limits }, sync: null };
    const connector = createSlackConnector({ api: createSlackApi({ apiUrl: `${slack.url}/api/` }), app: null });
    const token = slack.token();
    const cursors = new Map<string, Json>();
    const found = new Map<string, string | null>();
    const notCovered = new Set<string>();

    /** One attempt of an import, as the engine makes it; true at its end. */
    const attempt = async (lastSyncedAt: string | null): Promise<boolean> => {
      const connection = { id: 'c', accountId: 'T0', metadata, lastSyncedAt } as unknown as SourceConnection;
      const access = { connection, signal: new AbortController().signal, token: async () => token };
      slack.state.called.clear();
      try {
        for (const { id: resource } of await connector.list(access)) {
          const feed = { resource, feed: 'threads' };
          for await (const page of connector.changesSince(access, feed, cursors.get(resource) ?? null)) {
            for (const { key, version } of page.present) found.set(`${resource} ${key}`, version);
            const { from = '', to = '' } = page.covers ?? {};
            const named = new Set(page.present.map(({ key }) => `${resource} ${key}`));
            for (const key of found.keys()) {
              const [place, ts = ''] = key.split(' ');
              if (place === resource && ts >= from && ts < to && !named.has(key)) notCovered.add(key);
            }
            cursors.set(resource, page.cursor);
          }
        }
        return true;
      } catch (error) {
        expect(error).to.be.instanceOf(SourceBusyError).and.include({ retryAfterMs: 60_000 });
        return false;
      }
    };
    const imported = async (lastSyncedAt: string | null) => {
      for (let minutes = 1; minutes < 60; minutes += 1) if (await attempt(lastSyncedAt)) return minutes;
      throw new Error('it does not end');
    };
    expect(await imported(null)).to.be.lessThan(25);
    expect([...found.keys()].filter((key) => key.startsWith('C0ENGINE'))).to.have.length(40);
    expect([...found.keys()].filter((key) => key.startsWith('C0LAMP'))).to.have.length(20);
    expect([...notCovered], 'nothing of it is taken for deleted').to.deep.equal([]);
    const before = found.get(`C0ENGINE ${at(0)}`);
    say(engine, 141, { thread_ts: at(0) });
    expect(await imported('2026-02-01T00:00:00.000Z'), 'the next import reads it again').to.be.within(10, 25);
    expect(found.get(`C0ENGINE ${at(0)}`)).not.to.equal(before);
    expect(await imported('2026-02-01T00:00:00.000Z'), 'another attempt of the same import does not').to.equal(1);
  });
});

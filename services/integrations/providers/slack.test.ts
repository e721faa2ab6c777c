import { expect } from 'chai';
import { INSTALLER, startFakeSlack, tsAt } from '../../../test/support/fake-slack.ts';
import type { Json } from '../../common/kernel/json.ts';
import type { SourceConnection } from '../../common/records/integrations/connections.ts';
import type { ChangePage } from './connector.ts';
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

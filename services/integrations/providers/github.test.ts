import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { startFakeGithub } from '../../../test/support/fake-github.ts';
import type { Json } from '../../common/kernel/json.ts';
import type { SourceConnection } from '../../common/records/integrations/connections.ts';
import { type ChangePage, SourceBusyError } from './connector.ts';
import { createGithubConnector } from './github.ts';

describe('GitHub connector', () => {
  let github: Awaited<ReturnType<typeof startFakeGithub>>;
  let repository: ReturnType<typeof github.add>;
  beforeEach(async () => {
    github = await startFakeGithub();
    repository = github.add('acme/engine');
  });
  afterEach(() => github[Symbol.asyncDispose]());

  const open = () => {
    const token = randomUUID();
    github.personal.add(token);
    const connector = createGithubConnector({ webUrl: github.url, app: null });
    const connection = { authType: 'api_key', accountId: 'user-5' } as SourceConnection;
    const access = { connection, signal: new AbortController().signal, token: async () => token };
    const changes = async (feed: string, cursor: Json): Promise<readonly ChangePage[]> => {
      return Array.fromAsync(connector.changesSince(access, { resource: String(repository.id), feed }, cursor));
    };
    const text = async (feed: string, key: string, version: string | null = null) => {
      const resource = String(repository.id);
      const document = await connector.fetch(access, { resource, feed, key, version, stored: null });
      return document === null || document === 'unchanged' ? document : { ...document, content: `${document.content}` };
    };
    return { changes, text };
  };
  const at = (day: number) => `2026-01-${String(day).padStart(2, '0')}T00:00:00Z`;
  const issue = (title: string, updated: string, isPull = false) => {
    return { title, body: title, state: 'open' as const, user: 'ada', updated, comments: [], isPull };
  };

  for (const feed of ['issues', 'discussions'] as const) {
    it(`compares all ${feed} once a day, so that one is removed whose deletion nobody told`, async () => {
      for (let number = 1; number <= 230; number += 1) {
        const updated = at(number === 230 ? 2 : 1);
        if (feed === 'issues') repository.issues.set(number, issue(`Fault ${number}`, updated, number % 2 === 0));
        else {
          const said = { title: `Idea ${number}`, body: 'Why', user: 'ada', updated, comments: [] };
          repository.discussions.set(number, said);
        }
      }
      const { changes } = open();
      const { cursor } = (await changes(feed, null)).at(-1) as ChangePage;
      repository[feed].delete(7);
      const soon = await changes(feed, cursor);
      expect(soon.some(({ isWhole }) => isWhole)).to.equal(false);
      const yesterday = { ...(cursor as object), wholeAt: new Date(Date.now() - 90_000_000).toISOString() };
      const pages = await changes(feed, yesterday);
      expect(pages.map(({ isWhole }) => isWhole === true).indexOf(true)).to.equal(pages.length - 1);
      const keys = new Set(pages.flatMap(({ present }) => present.map(({ key }) => key)));
      expect([keys.size, keys.has('7'), keys.has('230')]).to.deep.equal([229, false, true]);
      expect(await changes(feed, (pages.at(-1) as ChangePage).cursor), 'not again').to.have.length.lessThan(3);
    });
  }

  it('reads a discussion with all of its comments and replies, and says which one is the answer', async () => {
    const replies = Array.from({ length: 130 }, (_, index) => ({ user: 'bob', body: `Reply ${index}.` }));
    const comments = Array.from({ length: 70 }, (_, index) => ({
      user: 'eve',
      body: `Comment ${index}.`,
      replies: [],
    }));
    const answer = { user: 'charles', body: 'Oil the gear.', isAnswer: true, replies };
    const said = { title: 'Engine/stops', body: 'It stops.', user: 'ada', updated: at(2) };
    repository.discussions.set(4, { ...said, comments: [...comments, answer] });
    const { changes, text } = open();
    const [page] = await changes('discussions', null);
    const document = await text('discussions', '4');
    if (document === null || document === 'unchanged') throw new Error('it is there');
    expect(document).to.include({ fileName: 'Engine stops (discussion 4).md', version: page?.present[0]?.version });
    expect(document.content)
      .to.contain('# Engine/stops\n\nDiscussion #4 in Ideas, open. Opened by ada on 2026-01-06.\n\nIt stops.')
      .and.contain('## eve on 2026-01-06\n\nComment 69.')
      .and.contain(
        '## charles on 2026-01-06, the answer\n\nOil the gear.\n\n### bob on 2026-01-06 in reply\n\nReply 0.',
      )
      .and.contain('Reply 129.');
    expect(await text('discussions', '5'), 'one that is not there').to.equal(null);
  });

  it('reads a wiki from its repository of Git: large and similar pages, other forms of text, no sidebars', async () => {
    const long = Array.from({ length: 2000 }, (_, index) => `Line ${index} of ${(index * 7919) % 1009}.`).join('\n');
    repository.wiki.set('Home.md', 'Welcome to the Engine.').set('_Sidebar.md', '[Home](Home)');
    repository.wiki.set('Long-story.md', long).set('Other-story.md', `${long}\nAnd an end.`);
    repository.wiki.set('Café.rst', 'Coffee.').set('plan.png', 'no text').set('Huge.md', 'x'.repeat(1_100_000));
    const { changes, text } = open();
    const pages = await changes('wiki', null);
    const present = new Map(pages.flatMap((page) => page.present).map(({ key, version }) => [key, version]));
    expect([...present.keys()].toSorted()).to.deep.equal(['Café.rst', 'Home.md', 'Long-story.md', 'Other-story.md']);
    const other = await text('wiki', 'Other-story.md', present.get('Other-story.md'));
    expect(other).to.include({
      content: `${long}\nAnd an end.`,
      uri: 'https://github.test/acme/engine/wiki/Other-story',
    });
    const cursor = pages.at(-1)?.cursor ?? null;
    expect(await changes('wiki', cursor), 'nothing new').to.deep.equal([]);
    expect(await open().text('wiki', 'Home.md'), 'by another process').to.include({
      content: 'Welcome to the Engine.',
    });
    repository.wiki.clear();
    expect(await changes('wiki', cursor)).to.deep.equal([
      { present: [], gone: [], total: 0, cursor: null, isWhole: true },
    ]);
  });

  it('waits for what a limit asks: until the hour is over, a time that is said, or a minute where none is', async () => {
    repository.issues.set(1, issue('Fault', at(1)));
    const { changes } = open();
    const waitOf = async (limit: typeof github.state.limit) => {
      Object.assign(github.state, { remaining: 0, limit, retryAfterSeconds: 7 });
      const error = await changes('issues', null).catch((caught: unknown) => caught);
      expect(error).to.be.instanceOf(SourceBusyError);
      return (error as SourceBusyError).retryAfterMs;
    };
    expect(await waitOf('primary')).to.be.within(1_790_000, 1_802_000);
    expect(await waitOf('secondary')).to.equal(7000);
    expect(await waitOf('secondary without a time')).to.be.within(60_000, 90_000);
  });

  it('waits when GraphQL says that its points are spent, though it answers with 200', async () => {
    github.state.isGraphqlSpent = true;
    repository.discussions.set(1, { title: 'Idea', body: 'Why', user: 'ada', updated: at(1), comments: [] });
    const error = await open()
      .changes('discussions', null)
      .catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(SourceBusyError);
    expect((error as SourceBusyError).retryAfterMs).to.be.within(50_000, 61_000);
  });
});

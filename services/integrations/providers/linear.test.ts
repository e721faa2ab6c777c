import { expect } from 'chai';
import { startFakeLinear } from '../../../test/support/fake-linear.ts';
import type { Json } from '../../common/kernel/json.ts';
import type { SourceConnection } from '../../common/records/integrations/connections.ts';
import { type ChangePage, type SourceAccess, SourceBusyError } from './connector.ts';
import { createLinearConnector } from './linear.ts';

describe('issues of a team of Linear', () => {
  let linear: Awaited<ReturnType<typeof startFakeLinear>>;
  beforeEach(async () => {
    linear = await startFakeLinear();
    linear.tokens.set('token', Date.now() + 3_600_000);
  });
  afterEach(() => linear[Symbol.asyncDispose]());

  const open = (compareEveryMs?: number) => {
    const app = { clientId: 'client', clientSecret: 'secret', redirectUri: '', frontendUrl: '', webhookSecret: 's' };
    const addresses = { webUrl: linear.url, apiUrl: linear.url };
    const settings = compareEveryMs === undefined ? {} : { compareEveryMs };
    const { signal } = new AbortController();
    const access: SourceAccess = { connection: {} as SourceConnection, signal, token: async () => 'token' };
    return { connector: createLinearConnector({ ...app, ...addresses, ...settings }), access };
  };
  const read = async (cursor: Json, compareEveryMs?: number): Promise<readonly ChangePage[]> => {
    const { connector, access } = open(compareEveryMs);
    const pages: ChangePage[] = [];
    const feed = { resource: 'team-ENG', feed: 'issues' };
    for await (const page of connector.changesSince(access, feed, cursor)) pages.push(page);
    return pages;
  };
  const keys = (pages: readonly ChangePage[]) => pages.flatMap(({ present }) => present.map(({ key }) => key));

  it('are compared as a whole once a day, so that issues that were erased or moved without a webhook are missed', async () => {
    const { id: team } = linear.team('ENG');
    linear.issue(team, 'Engine stops');
    linear.issue(team, 'Lamp flickers');
    const cursor = (await read(null)).at(-1)?.cursor ?? null;
    linear.issues.shift();
    expect((await read(cursor)).some(({ isWhole }) => isWhole)).to.equal(false);
    const pages = await read(cursor, 0);
    expect(pages.at(-1)?.isWhole).to.equal(true);
    expect(keys(pages.slice(-1))).to.deep.equal(['issue-2']);
  });

  it('are seen by the members of a private team, and by all readers in an open one', async () => {
    const secret = linear.team('SEC');
    for (let number = 1; number <= 120; number += 1) {
      secret.members.push({ id: `user-${number}`, email: `user${number}@acme.test`, active: number !== 7 });
    }
    const { id: team } = linear.team('ENG');
    const { connector, access } = open();
    const ask = (resource: string) => connector.permissionsOf?.(access, { resource, feed: 'issues' }, ['a', 'b']);
    expect(await ask(team)).to.deep.equal([null, null]);
    const [audience] = (await ask(secret.id)) ?? [];
    expect(audience?.addresses).to.have.length(119).and.include('user120@acme.test').and.not.include('user7@acme.test');
  });

  it('go on in the middle of a listing, and begin it anew where the issue it stopped at was erased', async () => {
    const { id: team } = linear.team('ENG');
    for (let number = 1; number <= 120; number += 1) linear.issue(team, `Fault ${number}`);
    const [first] = await read(null);
    const rest = await read(first?.cursor ?? null);
    expect(keys(rest.slice(0, 2))).to.have.length(70);
    const { after } = (first?.cursor ?? {}) as { after?: string };
    linear.issues.splice(
      linear.issues.findIndex(({ id }) => id === after),
      1,
    );
    expect(new Set(keys((await read(first?.cursor ?? null)).slice(0, 3))).size).to.equal(119);
  });

  it('are read with queries that cost less than half of what one may, and wait for the budget that is spent', async () => {
    const { id: team } = linear.team('ENG');
    linear.issue(team, 'Engine stops');
    await read(null, 0);
    const { connector, access } = open();
    await Array.fromAsync(connector.changesSince(access, { resource: team, feed: 'projects' }, null));
    expect(Math.max(...linear.costs)).to.be.within(1000, 5000);
    const waits: number[] = [];
    const limited = async (limit: object) => {
      Object.assign(linear.state, { remaining: 0, ...limit });
      const error = await read(null).catch((caught: unknown) => caught);
      expect(error).to.be.instanceOf(SourceBusyError);
      waits.push((error as SourceBusyError).retryAfterMs);
    };
    for (const budget of ['requests', 'endpoint-requests', 'complexity']) await limited({ budget });
    expect(Math.max(...waits), 'none is that of another budget').to.be.lessThan(1001);
    await limited({ isTerse: true });
    expect(waits.at(-1), 'no time is said').to.be.within(59_000, 60_000);
  });
});

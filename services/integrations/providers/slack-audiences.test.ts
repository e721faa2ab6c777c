import { expect } from 'chai';
import { startFakeSlack } from '../../../test/support/fake-slack.ts';
import type { SourceConnection } from '../../common/records/integrations/connections.ts';
import { SourceBusyError } from './connector.ts';
import { createSlackApi } from './slack-api.ts';
import { createSlackAudiences } from './slack-audiences.ts';

describe('who sees channels of Slack', () => {
  let slack: Awaited<ReturnType<typeof startFakeSlack>>;
  beforeEach(async () => {
    slack = await startFakeSlack();
    slack.state.pageSize = 2;
    slack.users.clear();
    const add = (name: string, more: object = {}) => {
      slack.users.set(`U0${name}`, name);
      slack.people.set(`U0${name}`, { email: `${name}@acme.test`, ...more });
    };
    for (const name of ['ada', 'bob', 'eve']) add(name);
    add('guest', { isGuest: true });
    add('other', { isGuest: true });
    add('unsure', { isConfirmed: false });
    add('left', { isDeleted: true });
  });
  afterEach(() => slack[Symbol.asyncDispose]());

  const open = () => {
    const audienceOf = createSlackAudiences(createSlackApi({ apiUrl: `${slack.url}/api/` }));
    const token = slack.token();
    const connection = { accountId: slack.team.id } as SourceConnection;
    const attempt = () => ({ connection, signal: new AbortController().signal, token: async () => token });
    const first = attempt();
    return { attempt, audienceOf: (channel: string, access = first) => audienceOf(access, channel) };
  };
  const everybody = ['ada@acme.test', 'bob@acme.test', 'eve@acme.test'];

  it('are the members of a private one, by addresses that they confirmed, and those of the workspace and guests of a public one', async () => {
    for (const isPrivate of [true, false]) {
      const channel = slack.add(isPrivate ? 'vault' : 'lamps', { isPrivate });
      for (const name of ['bob', 'guest', 'unsure', 'left', 'stranger']) channel.members.add(`U0${name}`);
    }
    const { audienceOf } = open();
    const members = ['bob@acme.test', 'guest@acme.test'];
    const [vault, lamps] = [await audienceOf('C0VAULT'), await audienceOf('C0LAMPS')];
    expect(vault).to.deep.equal({ addresses: [], groups: [{ id: 'C0VAULT', members }], domains: [] });
    expect(lamps?.groups).to.deep.equal([
      { id: 'C0LAMPS', members },
      { id: 'workspace', members: everybody },
    ]);
    expect(
      slack.requests.filter((method) => method === 'users.list'),
      'everybody is listed once',
    ).to.have.length(4);
  });

  it('are nobody else where the app was removed from the channel', async () => {
    slack.add('vault', { isPrivate: true, isMember: false });
    expect(await open().audienceOf('C0VAULT')).to.deep.equal({ addresses: [], groups: [], domains: [] });
  });

  it('are listed on from where Slack asked to wait', async () => {
    slack.add('vault', { isPrivate: true }).members.add('U0ada');
    const { audienceOf, attempt } = open();
    const busy: unknown[] = [];
    for (let tried = 0; tried < 10; tried += 1) {
      slack.state.remaining.set('users.list', 1);
      const audience = await audienceOf('C0VAULT', attempt()).catch((error: unknown) => error);
      if (!(audience instanceof SourceBusyError)) {
        expect(audience).to.deep.include({ groups: [{ id: 'C0VAULT', members: ['ada@acme.test'] }] });
        break;
      }
      busy.push(audience);
    }
    expect(busy).to.have.length(3);
  });
});

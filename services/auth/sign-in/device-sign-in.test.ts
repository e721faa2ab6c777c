import { expect } from 'chai';
import { startAuth, type TestAuth } from '../../../test/support/auth-service.ts';
import { refusedAs } from '../../../test/support/refusal-of.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { deviceSignInsCollection } from '../repositories/device-sign-ins.ts';
import { DEVICE_GRANT } from './device-sign-in.ts';

interface Codes {
  readonly device_code: string;
  readonly user_code: string;
  readonly interval: number;
}

const PATH = '/api/v1/auth/device';

describe('sign-in of a device', () => {
  let auth: TestAuth;
  let person: Principal;
  beforeEach(async () => {
    auth = await startAuth();
    person = await auth.addUser({ email: 'ada@example.com' });
  });
  afterEach(() => auth[Symbol.asyncDispose]());

  const start = async (): Promise<Codes> =>
    (await auth.call('POST', `${PATH}/code`, { body: { client_id: 'cli', device_name: 'box' } })).json as Codes;
  const poll = async ({ device_code }: Codes, client_id = 'cli') =>
    (
      await auth.call('POST', '/api/v1/auth/oauth/token', {
        body: { grant_type: DEVICE_GRANT, device_code, client_id },
      })
    ).json as {
      access_token: string;
    };
  const decide = ({ user_code }: Codes, approve: boolean, principal = person) =>
    auth.call('POST', PATH, { principal, body: { user_code, approve } });

  it('gives the token of the person who approves, once', async () => {
    const codes = await start();
    expect(codes.user_code).to.match(/^[B-Z]{4}-[B-Z]{4}$/);
    expect(await refusedAs(poll(codes))).to.equal('authorization_pending');
    await decide(codes, true);
    expect(await refusedAs(poll(codes, 'another program'))).to.equal('invalid_grant');
    const { access_token: value } = await poll(codes);
    expect((await auth.authenticate({ kind: 'bearer', value }))?.id).to.equal(person.id);
    expect(await refusedAs(poll(codes))).to.equal('invalid_grant');
    expect((await auth.store.find(SYSTEM_SCOPE, deviceSignInsCollection, { limit: 10 })).items).to.deep.equal([]);
  });

  it('gives one token to polls at the same moment', async () => {
    const codes = await start();
    await decide(codes, true);
    const polls = await Promise.allSettled([poll(codes), poll(codes), poll(codes)]);
    expect(polls.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
  });

  it('is started, approved and ended by different replicas', async () => {
    const codes = await start();
    await using replica = await startAuth({ store: auth.store });
    const body = { user_code: codes.user_code, approve: true };
    await replica.call('POST', PATH, { principal: person, body });
    const { access_token: value } = await poll(codes);
    expect((await replica.authenticate({ kind: 'bearer', value }))?.id).to.equal(person.id);
  });

  it('asks for slower polls, and keeps a program that obeys waiting', async () => {
    const codes = await start();
    expect(await refusedAs(poll(codes))).to.equal('authorization_pending');
    auth.clock.advance(1_000);
    expect(await refusedAs(poll(codes))).to.equal('slow_down');
    auth.clock.advance(codes.interval * 1_000);
    expect(await refusedAs(poll(codes)), 'five seconds more').to.equal('slow_down');
    auth.clock.advance((codes.interval + 10) * 1_000);
    expect(await refusedAs(poll(codes))).to.equal('authorization_pending');
  });

  it('ends with a denial, with its time and with the account', async () => {
    const [denied, late, orphan] = [await start(), await start(), await start()];
    await decide(denied, false);
    expect(await refusedAs(poll(denied))).to.equal('access_denied');
    expect(await refusedAs(decide(denied, true))).to.include('Error');
    await decide(orphan, true);
    const root = await auth.addUser({ isSuperuser: true });
    await auth.call('DELETE', '/api/v1/users/:userId', { params: { userId: person.id }, principal: root });
    expect(await refusedAs(poll(orphan))).to.equal('invalid_grant');
    auth.clock.advance(600_000);
    expect(await refusedAs(poll(late))).to.equal('expired_token');
    expect(await refusedAs(decide(late, true, root))).to.include('Error');
    auth.clock.advance(600_001);
    await start();
    expect((await auth.store.find(SYSTEM_SCOPE, deviceSignInsCollection, { limit: 10 })).items).to.have.length(1);
  });

  it('keeps no code, and limits starts and guesses', async () => {
    const codes = await start();
    const stored = JSON.stringify((await auth.store.find(SYSTEM_SCOPE, deviceSignInsCollection, { limit: 10 })).items);
    for (const code of [codes.device_code, codes.user_code, codes.user_code.replace('-', '')]) {
      expect(stored).to.not.include(code);
    }
    const look = (user_code: string) => auth.call('GET', PATH, { principal: person, query: { user_code } });
    const guess = (count: number) => refusedAs(look(`BCDF-GHJ${'BCDFGHJKLMNPQRSTVWXZ'[count % 20]}`));
    const guesses = await Promise.all(Array.from({ length: 40 }, (_, count) => guess(count)));
    expect(guesses.filter((name) => name === 'EntityNotFoundError')).to.have.length(20);
    expect(await refusedAs(look(codes.user_code)), 'even the right one').to.equal('TooManyRequestsError');
    auth.clock.advance(60_000);
    expect((await look(` ${codes.user_code.toLowerCase()}`)).json).to.include({ client_id: 'cli', device_name: 'box' });
    const starts = await Promise.allSettled(Array.from({ length: 80 }, start));
    expect(starts.filter(({ status }) => status === 'rejected')).to.not.deep.equal([]);
  });
});

import { hash } from 'node:crypto';
import { expect } from 'chai';
import { startAuth, type TestAuth } from '../../../test/support/auth-service.ts';
import { refusedAs } from '../../../test/support/refusal-of.ts';
import type { Principal } from '../../common/kernel/principal.ts';

const PATH = '/api/v1/auth/oauth';
const VERIFIER = 'v'.repeat(43);
const URI = 'http://127.0.0.1/callback';

describe('sign-in of a program by an authorization code', () => {
  let auth: TestAuth;
  let person: Principal;
  let client: string;
  beforeEach(async () => {
    auth = await startAuth();
    person = await auth.addUser({ email: 'ada@example.com' });
    client = await register([URI]);
  });
  afterEach(() => auth[Symbol.asyncDispose]());

  const register = async (redirect_uris: readonly string[]): Promise<string> => {
    const { json } = await auth.call('POST', `${PATH}/register`, { body: { client_name: 'Agent', redirect_uris } });
    return (json as { client_id: string }).client_id;
  };
  const decide = async (more: object = {}): Promise<URLSearchParams> => {
    const request = { client_id: client, redirect_uri: URI, response_type: 'code', code_challenge_method: 'S256' };
    const body = { ...request, code_challenge: hash('sha256', VERIFIER, 'base64url'), approve: true, ...more };
    const { json } = await auth.call('POST', `${PATH}/authorization`, { principal: person, body });
    return new URL((json as { redirect_to: string }).redirect_to).searchParams;
  };
  const redeem = async (answer: URLSearchParams, more: object = {}) => {
    const grant = { grant_type: 'authorization_code', code: answer.get('code') ?? '', code_verifier: VERIFIER };
    const body = { ...grant, client_id: client, redirect_uri: URI, ...more };
    return (await auth.call('POST', `${PATH}/token`, { body })).json as { access_token: string; scope: string };
  };

  it('gives a key of the person who approves, once, also to requests at the same moment', async () => {
    const answer = await decide({ permissions: ['read'], expires_in: 3600 });
    const all = await Promise.allSettled([redeem(answer), redeem(answer), redeem(answer)]);
    const [given, ...more] = all.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    expect(more).to.deep.equal([]);
    expect(given).to.include({ scope: 'read', expires_in: 3600 });
    const principal = await auth.authenticate({ kind: 'bearer', value: given?.access_token ?? '' });
    expect(principal?.id).to.equal(person.id);
    expect(principal?.key).to.deep.include({ permissions: ['read'] });
    expect(await refusedAs(redeem(answer))).to.equal('invalid_grant');
  });

  it('gives nothing for another verifier, program or address, for a forged or an old code, nor after the account ended', async () => {
    const answer = await decide();
    const other = await register(['http://127.0.0.1/other']);
    const forged = new URLSearchParams({ code: `${answer.get('code')?.slice(0, -4)}AAAA` });
    expect(await refusedAs(redeem(answer, { code_verifier: 'w'.repeat(43) }))).to.equal('invalid_grant');
    expect(await refusedAs(redeem(answer, { client_id: other }))).to.equal('invalid_grant');
    expect(await refusedAs(redeem(answer, { redirect_uri: 'http://127.0.0.1/other' }))).to.equal('invalid_grant');
    expect(await refusedAs(redeem(answer, { client_id: 'guessed' }))).to.equal('invalid_client');
    expect(await refusedAs(redeem(answer, { code_verifier: undefined }))).to.equal('invalid_request');
    expect(await refusedAs(redeem(forged))).to.equal('invalid_grant');
    const root = await auth.addUser({ isSuperuser: true });
    await auth.call('DELETE', '/api/v1/users/:userId', { params: { userId: person.id }, principal: root });
    expect(await refusedAs(redeem(answer))).to.equal('invalid_grant');
    person = root;
    const late = await decide();
    auth.clock.advance(61_000);
    expect(await refusedAs(redeem(late))).to.equal('invalid_grant');
  });

  it('tells the program of a denial, with its state, and sends nobody to an address that was not registered', async () => {
    expect(Object.fromEntries(await decide({ approve: false, state: '1e5' }))).to.include({
      error: 'access_denied',
      state: '1e5',
    });
    for (const redirect_uri of ['https://evil.example/callback', 'http://127.0.0.1/other', 'http://localhost/callback'])
      expect(await refusedAs(decide({ redirect_uri })), redirect_uri).to.equal('InvalidRequestError');
    const port = await decide({ redirect_uri: 'http://127.0.0.1:4711/callback' });
    expect(port.get('code'), 'any port of the own machine').to.be.a('string');
    expect(await refusedAs(decide({ resource: 'https://other.example/mcp' }))).to.equal('invalid_target');
    expect(await refusedAs(decide({ response_type: 'token' }))).to.equal('unsupported_response_type');
    expect(await refusedAs(decide({ client_id: 'guessed' }))).to.equal('InvalidRequestError');
  });

  it('registers programs at addresses that reach them alone', async () => {
    for (const uri of ['https://app.example/back', 'http://[::1]:80/', 'cursor://anysphere.cursor/callback'])
      expect(await register([uri])).to.be.a('string');
    for (const uri of ['http://app.example/', 'javascript:alert(1)', 'data:text/html,x', 'https://a.example/#x', 'x'])
      expect(await refusedAs(register([uri])), uri).to.equal('invalid_redirect_uri');
    expect(
      await refusedAs(register(['x'.repeat(1_900), 'y'.repeat(150)].map((at) => `https://a.example/${at}`))),
    ).to.equal('invalid_redirect_uri');
    const many = await Promise.allSettled(Array.from({ length: 80 }, () => register([URI])));
    expect(many.some(({ status }) => status === 'rejected')).to.equal(true);
  });
});

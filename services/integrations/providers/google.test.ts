import { expect } from 'chai';
import { startFakeGoogle } from '../../../test/support/fake-google.ts';
import type { SourceConnection } from '../../common/records/integrations/connections.ts';
import { type SourceAccess, SourceBusyError } from './connector.ts';
import { createGmailConnector } from './gmail.ts';
import { type GoogleApp, GoogleError, googleSteps } from './google.ts';

describe('requests to Google', () => {
  let google: Awaited<ReturnType<typeof startFakeGoogle>>;
  let app: GoogleApp;
  const connection = { accountLabel: 'ada@acme.test', selection: null } as unknown as SourceConnection;
  const access: SourceAccess = { connection, signal: new AbortController().signal, token: async () => 'ya29' };
  beforeEach(async () => {
    google = await startFakeGoogle();
    google.allow('ya29');
    const client = { clientId: 'client of gmail', clientSecret: 'secret', stateSecret: 's', isShared: false };
    app = { ...client, redirectUri: '', frontendUrl: '', url: google.url };
  });
  afterEach(() => google[Symbol.asyncDispose]());
  const failure = (): Promise<unknown> =>
    createGmailConnector(app)
      .list(access)
      .catch((error: unknown) => error);
  const limited = async (status: number, reason: string, retryAfter: string | null) => {
    Object.assign(google.state, { remaining: 0, limit: { status, reason, retryAfter } });
    const error = await failure();
    expect(error).to.be.instanceOf(SourceBusyError);
    return { afterMs: (error as SourceBusyError).retryAfterMs, asked: google.requests.splice(0).length };
  };

  it('wait as long as Google says, or a day of quota takes, without asking again', async () => {
    expect(await limited(429, 'rateLimitExceeded', '7')).to.deep.equal({ afterMs: 7000, asked: 1 });
    expect(await limited(403, 'userRateLimitExceeded', '90000')).to.deep.equal({ afterMs: 3_600_000, asked: 1 });
    expect(await limited(403, 'dailyLimitExceeded', null)).to.deep.equal({ afterMs: 3_600_000, asked: 1 });
    const { afterMs } = await limited(429, 'rateLimitExceeded', new Date(Date.now() + 20_000).toUTCString());
    expect(afterMs).to.be.within(18_000, 20_000);
  });

  it('are sent again for a moment where Google says no time, and then wait half a minute or more', async () => {
    const { afterMs, asked } = await limited(403, 'rateLimitExceeded', null);
    expect(asked).to.equal(4);
    expect(afterMs).to.be.within(30_000, 60_000);
  });

  it('fail with what Google said, and without the token', async () => {
    Object.assign(google.state, {
      remaining: 0,
      limit: { status: 403, reason: 'accessNotConfigured', retryAfter: null },
    });
    const error = (await failure()) as GoogleError;
    expect(error).to.be.instanceOf(GoogleError).and.include({ status: 403, reason: 'accessNotConfigured' });
    expect(error.message).to.equal('Google answered with status 403: Quota exceeded.');
    expect(JSON.stringify([error, error.stack, error.cause ?? ''])).not.to.contain('ya29');
  });

  it('take back the access of a client that nothing else uses, and of no other', async () => {
    await googleSteps(app, 'scope').revoke?.(access);
    expect(google.grants()).to.equal(0);
    expect(googleSteps({ ...app, isShared: true }, 'scope')).not.to.have.property('revoke');
  });
});

import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request as openRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createPasswordHasher } from '../../services/auth/credentials/password-hasher.ts';
import { auditRecordsCollection } from '../../services/auth/repositories/audit-log.ts';
import { loginFailuresCollection } from '../../services/auth/repositories/login-failures.ts';
import { SYSTEM_SCOPE } from '../../services/common/kernel/scope.ts';
import { type App, createApp } from '../../services/common/platform/http/app.ts';
import { createSilentLogger } from '../../services/common/platform/observability/logger.ts';
import { createMetrics } from '../../services/common/platform/observability/metrics.ts';
import { startAuth, type TestAuth } from '../support/auth-service.ts';
import { repeats } from '../support/extent.ts';

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: readonly string[];
  readonly tookMs: number;
}

const PASSWORD = 'correct horse battery staple';
const WRONG_LOGINS = repeats(3_000, 1_000);
/** Accounts of each kind whose refusals are timed: one after the other, so that nothing but their own work shows. */
const TIMED = 11;
/** What one address and what one account has, see `login-throttle.ts`; the clock stands still, so nothing is forgiven. */
const LIMIT = 100;
const ATTACKER = '198.51.100.66';
const SECOND_ATTACKER = '198.51.100.67';

describe('password spraying', function () {
  this.timeout(300_000);
  let auth: TestAuth;
  let app: App;
  let port: number;
  let spoolDirectory: string;
  let hashes = 0;
  let startedAt = 0;
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });

  before(async () => {
    const hasher = createPasswordHasher();
    const verify: typeof hasher.verify = (password, hash) => {
      hashes += 1;
      return hasher.verify(password, hash);
    };
    startedAt = performance.now();
    auth = await startAuth({ passwords: { ...hasher, verify } });
    const passwordHash = await hasher.hash(PASSWORD);
    await auth.addUser({ email: 'bystander@example.com', passwordHash });
    for (let count = 0; count < TIMED; count += 1) {
      await auth.addUser({ email: `known-${count}@example.com`, passwordHash });
      await auth.addUser({ email: `inactive-${count}@example.com`, passwordHash, isActive: false });
      await auth.addUser({ email: `passwordless-${count}@example.com` });
    }
    spoolDirectory = await mkdtemp(join(tmpdir(), 'engram-spool-'));
    app = createApp({
      routes: auth.routes,
      authenticate: (credentials, strict, context) =>
        auth.messenger.call('auth.Authenticate', { credentials, strict }, context),
      settings: {
        spoolDirectory,
        uploadLimitBytes: 1_000_000,
        jsonLimitBytes: 1_000_000,
        trustedProxies: ['127.0.0.1'],
        corsOrigins: [],
        cookieName: 'auth_token',
        authRequired: true,
        drainTimeoutMs: 100,
        guard: { isActive: false, refusesProxies: false, allowedHosts: [] },
      },
      logger: createSilentLogger(),
      metrics: createMetrics(),
    });
    ({ port } = await app.listen(0, '127.0.0.1'));
  });
  after(async () => {
    agent.destroy();
    await app.close();
    await auth[Symbol.asyncDispose]();
    await rm(spoolDirectory, { recursive: true });
  });

  const send = (method: string, path: string, headers: Record<string, string>, body = '') =>
    new Promise<Answer>((resolve, reject) => {
      const begun = performance.now();
      const request = openRequest(
        { host: '127.0.0.1', port, method, path: `/api/v1${path}`, headers, agent },
        (response) => {
          let text = '';
          response.setEncoding('utf8');
          response.on('data', (part: string) => {
            text += part;
          });
          response.on('end', () => {
            const { statusCode: status = 0, headers: received } = response;
            resolve({ status, text, headers: Object.keys(received).sort(), tookMs: performance.now() - begun });
          });
        },
      );
      request.on('error', reject);
      request.end(body);
    });
  const login = (username: string, password: string, from: string) =>
    send(
      'POST',
      '/auth/login',
      { 'content-type': 'application/x-www-form-urlencoded', 'x-forwarded-for': from },
      String(new URLSearchParams({ username, password })),
    );
  const own = async (token: string) => send('GET', '/users/me', { authorization: `Bearer ${token}` });

  it('learns nothing from the time or the text of a refusal, and leaves the service to others', async () => {
    const signedIn = await login('bystander@example.com', PASSWORD, '192.0.2.1');
    const { access_token: token } = JSON.parse(signedIn.text) as { access_token: string };
    hashes = 0;

    const kinds = [
      { kind: 'known', from: ATTACKER },
      { kind: 'unknown', from: ATTACKER },
      { kind: 'inactive', from: SECOND_ATTACKER },
      { kind: 'passwordless', from: SECOND_ATTACKER },
    ].map((kind) => ({ ...kind, answers: [] as Answer[] }));
    for (let count = 0; count < TIMED; count += 1) {
      for (const { kind, from, answers } of kinds) {
        // The right password of an inactive account is as wrong as any other.
        answers.push(await login(`${kind}-${count}@example.com`, kind === 'inactive' ? PASSWORD : 'Winter2026!', from));
      }
    }
    const [known] = kinds;
    const usual = median(known?.answers ?? []);
    for (const { kind, answers } of kinds) {
      for (const { status, text, headers } of answers) {
        expect([status, text], kind).to.deep.equal([401, '{"detail":"LOGIN_BAD_CREDENTIALS"}']);
        expect(headers, kind).to.deep.equal(known?.answers[0]?.headers);
      }
      // A hash takes tens of milliseconds: an account that costs none, or two, differs by as much as it takes.
      expect(Math.abs(median(answers) - usual), `${kind}: ${median(answers)} ms, known: ${usual} ms`).to.be.lessThan(
        usual / 2 + 5,
      );
    }
    const timed = kinds.length * TIMED;
    expect(hashes).to.equal(timed);

    // The rest at once: from one address at ever new accounts, and from ever new addresses at one account.
    const flood = Array.from({ length: WRONG_LOGINS - timed }, (_, count) =>
      count % 2 === 0
        ? () => login(`sprayed-${count}@example.com`, 'Winter2026!', ATTACKER)
        : () => login('target@example.com', `guess ${count}`, `203.0.${count % 100}.${count % 255}`),
    );
    let isOver = false;
    const waits: number[] = [];
    const bystander = async (): Promise<void> => {
      while (!isOver) {
        const { status, tookMs } = await own(token);
        expect(status).to.equal(200);
        waits.push(tookMs);
      }
    };
    const logins: number[] = [];
    const guest = async (): Promise<void> => {
      for (let count = 0; count < 5; count += 1) {
        logins.push((await login('bystander@example.com', PASSWORD, '192.0.2.1')).status);
      }
    };
    const watching = Promise.all([bystander(), guest()]);
    const answers = await allOf(flood, 40);
    isOver = true;
    await watching;

    // What the first attacker's address has left, and what the account has.
    const looked = LIMIT - 2 * TIMED + LIMIT;
    expect(tally(answers)).to.deep.equal({ 401: looked, 429: flood.length - looked });
    expect(logins, 'sign-ins of others').to.deep.equal([200, 200, 200, 200, 200]);
    expect(hashes, 'all others were turned away before any hash').to.equal(timed + looked + logins.length);
    expect(waits.length).to.be.greaterThan(30);
    // A login takes as long as one hash, here and now.
    expect(percentile(waits, 0.95), 'p95 of another user, in ms').to.be.lessThan(Math.max(250, 10 * usual));
    expect((await login('known-0@example.com', PASSWORD, '192.0.2.2')).status, 'an owner is not locked out').to.equal(
      200,
    );

    const where = { action: 'session.refused' };
    // Every minute the counts are recorded, each and those of all others, and begin again.
    const minutes = Math.floor((performance.now() - startedAt) / 60_000);
    const entries = await auth.store.count(SYSTEM_SCOPE, auditRecordsCollection, where);
    expect(entries).to.be.at.most(LIMIT + minutes * (2 * LIMIT + 1));
    expect(await auth.store.count(SYSTEM_SCOPE, loginFailuresCollection, {})).to.be.at.most(3 * (timed + looked));
  });
});

/** Runs the tasks, so many at a time. */
async function allOf<Result>(tasks: readonly (() => Promise<Result>)[], atOnce: number): Promise<readonly Result[]> {
  const results: Result[] = [];
  const rest = tasks.values();
  const work = async (): Promise<void> => {
    for (const task of rest) results.push(await task());
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return results;
}

function tally(answers: readonly Answer[]): Readonly<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

function median(answers: readonly Answer[]): number {
  return percentile(
    answers.map(({ tookMs }) => tookMs),
    0.5,
  );
}

function percentile(values: readonly number[], share: number): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length * share)] ?? Number.NaN;
}

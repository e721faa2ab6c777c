import { randomBytes, randomUUID, hash as sha } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { type ManagedApp, startManagedApp } from '../support/managed-app.ts';
import { until } from '../support/until.ts';

const CALL = { requestId: 'operator' };

describe('a hibernated tenant', () => {
  let app: ManagedApp;
  before(async () => {
    app = await startManagedApp();
  });
  after(() => app?.stop());

  const crUid = randomUUID();
  const key = randomBytes(32).toString('hex');
  const ensure = (wakesOnRequest: boolean, afterIdleMs: number) =>
    app.messenger.call(
      'auth.EnsureTenant',
      {
        crUid,
        displayName: 'Acme',
        ownerEmail: 'owner@acme.example.com',
        ownerPasswordHash: `$2b$04$${'a'.repeat(53)}`,
        hostNames: [],
        state: 'Active',
        hibernation: { afterIdleMs, wakesOnRequest },
      },
      CALL,
    );
  const ask = (presented = key, path = '/datasets') =>
    fetch(`${app.baseUrl}/api/v1${path}`, { headers: { 'x-api-key': presented } });
  const wakings = async () => {
    const text = await (await fetch(`${app.baseUrl}/metrics`)).text();
    return Number(/^engram_tenant_wake_seconds_count (\d+)/m.exec(text)?.[1] ?? 'NaN');
  };

  it('is woken by the first request with its key, which is served', async () => {
    const { tenantId } = await ensure(true, 3_600_000);
    await app.messenger.call(
      'auth.SetTenantKeys',
      { tenantId, crUid, name: 'default', keySha256: [sha('sha256', key)] },
      CALL,
    );
    await wait(5);
    expect(await ensure(true, 1)).to.include({ isAsleep: true });
    expect((await ask('0'.repeat(64))).status).to.equal(401);
    for (const path of ['/datasets/status', '/activity/pipeline-runs']) {
      expect((await ask(key, path)).status, 'what an open page asks for').to.equal(503);
    }
    const answers = await Promise.all([ask(), ask(), ask()]);
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
    expect(await wakings()).to.equal(1);
    expect(await ensure(true, 3_600_000)).to.include({ isAsleep: false });
  });

  it('answers 503 with Retry-After while requests may not wake it', async () => {
    // A use that is still being written keeps it awake for a moment.
    await until('it sleeps', async () => (await ensure(false, 1)).isAsleep);
    let answer = await ask();
    const isClosed = async () => {
      answer = await ask();
      return answer.status === 503;
    };
    await until('everybody heard of it', isClosed);
    expect(Number(answer.headers.get('retry-after'))).to.be.greaterThan(0);
    expect(await wakings()).to.equal(1);
  });
});

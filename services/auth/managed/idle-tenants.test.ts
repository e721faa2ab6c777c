import { randomUUID, hash as sha } from 'node:crypto';
import { expect } from 'chai';
import { required, startAuth, type TestAuth } from '../../../test/support/auth-service.ts';
import { CALL } from '../../../test/support/call-route.ts';
import { until } from '../../../test/support/until.ts';
import type { DatasetId, TenantId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import type { RequestOf } from '../../common/platform/messaging/messages.ts';
import { tenantsCollection } from '../../common/records/auth/tenants.ts';
import { update } from '../../common/storage/ports/document-store.ts';

const HOUR = 3_600_000;
const KEY = 'a'.repeat(64);

describe('a tenant with hibernation', () => {
  let auth: TestAuth;
  let tenantId: TenantId;
  const crUid = randomUUID();
  const wakings: number[] = [];
  beforeEach(async () => {
    wakings.length = 0;
    auth = await startAuth({ settings: { posture: required }, wakes: { tenantWoken: (ms) => void wakings.push(ms) } });
    tenantId = (await ensure()).tenantId;
    const keySha256 = [sha('sha256', KEY)];
    await auth.messenger.call('auth.SetTenantKeys', { tenantId, crUid, name: 'default', keySha256 }, CALL);
  });
  afterEach(() => auth[Symbol.asyncDispose]());

  const idle = (wakesOnRequest = true) => ({ hibernation: { afterIdleMs: HOUR, wakesOnRequest } });
  const ensure = (change: Partial<RequestOf<'auth.EnsureTenant'>> = idle()) =>
    auth.messenger.call(
      'auth.EnsureTenant',
      {
        crUid,
        displayName: 'Acme',
        ownerEmail: 'owner@acme.example.com',
        ownerPasswordHash: `$2b$04$${'a'.repeat(53)}`,
        hostNames: [],
        state: 'Active',
        ...change,
      },
      CALL,
    );
  const request = () =>
    auth.messenger.call('auth.Authenticate', { credentials: [{ kind: 'api-key', value: KEY }], strict: true }, CALL);
  const stored = async () => (await auth.store.get(SYSTEM_SCOPE, tenantsCollection, tenantId))?.value;
  /** Forgets what is cached of a tenant, so that writes limited to one a minute happen again. */
  const pass = (ms: number) => auth.clock.advance(ms);
  const used = async () => {
    const before = (await stored())?.lastUsedAt;
    await request();
    await until('the use is noted', async () => (await stored())?.lastUsedAt !== before);
  };

  it('hibernates after it was idle for the declared time, and not before', async () => {
    pass(HOUR - 1);
    expect(await ensure()).to.include({ isAsleep: false });
    expect((await stored())?.state).to.equal('Active');
    pass(1);
    expect(await ensure()).to.deep.include({ isAsleep: true, corrected: [] });
    expect(await stored()).to.include({ state: 'Hibernated', isAsleep: true });
    expect(await ensure()).to.deep.include({ isAsleep: true, corrected: [] });
  });

  it('stays awake with requests and runs, which cost one write a minute at most', async () => {
    pass(HOUR / 2);
    await used();
    const at = (await stored())?.lastUsedAt;
    pass(30_000);
    await request();
    await request();
    expect((await stored())?.lastUsedAt).to.equal(at);
    pass(HOUR / 2);
    expect(await ensure()).to.include({ isAsleep: false });
    const { principal } = await request();
    pass(120_000);
    const { lastUsedAt } = (await stored()) ?? {};
    await auth.messenger.call('auth.GetPrincipal', { userId: (principal as Principal).id, tenant: tenantId }, CALL);
    await until('the run is noted', async () => (await stored())?.lastUsedAt !== lastUsedAt);
  });

  it('keeps its time of last use when it is declared again at the same moment', async () => {
    pass(HOUR / 2);
    const lastUsedAt = auth.clock.now().toISOString();
    const { commit } = auth.store;
    let isUsed = false;
    const during: typeof commit = async (...given) => {
      if (!isUsed) {
        isUsed = true;
        await commit(SYSTEM_SCOPE, [update(tenantsCollection, tenantId, { set: { lastUsedAt } })]);
      }
      return commit(...given);
    };
    Object.assign(auth.store, { commit: during });
    await ensure({ ...idle(), displayName: 'Acme Ltd' });
    expect(await stored()).to.include({ name: 'Acme Ltd', lastUsedAt });
  });

  it('is not kept awake by refused requests', async () => {
    pass(HOUR / 2);
    const { lastUsedAt } = (await stored()) ?? {};
    const wrong = { credentials: [{ kind: 'api-key' as const, value: 'b'.repeat(64) }], strict: true };
    expect((await auth.messenger.call('auth.Authenticate', wrong, CALL)).principal).to.equal(null);
    pass(HOUR / 2);
    expect(await ensure()).to.include({ isAsleep: true });
    pass(2000);
    expect((await auth.messenger.call('auth.Authenticate', wrong, CALL)).principal).to.equal(null);
    expect(await stored()).to.include({ state: 'Hibernated', lastUsedAt });
  });

  it('is neither kept awake nor woken by unattended requests', async () => {
    const look = () =>
      auth.messenger.call(
        'auth.Authenticate',
        { credentials: [{ kind: 'api-key', value: KEY }], strict: true, unattended: true },
        CALL,
      );
    pass(HOUR / 2);
    const { lastUsedAt, ownerId = '' } = (await stored()) ?? {};
    expect((await look()).tenantState).to.equal(null);
    const eraser = { tenantId, datasetId: asId<DatasetId>(randomUUID()) };
    expect(await auth.messenger.call('auth.GetEraser', eraser, CALL)).to.include({ principal: null });
    const account = { userId: ownerId, tenant: tenantId, unattended: true };
    expect((await auth.messenger.call('auth.GetPrincipal', account, CALL)).principal).to.include({ id: ownerId });
    pass(HOUR / 2);
    expect(await ensure()).to.include({ isAsleep: true });
    pass(2000);
    expect(await look()).to.include({ tenantState: 'Hibernated' });
    expect(await stored()).to.include({ state: 'Hibernated', lastUsedAt });
    expect((await request()).tenantState).to.equal(null);
  });

  it('wakes with the first request, which is served, and measures the time', async () => {
    pass(HOUR);
    await ensure();
    pass(2000);
    const answers = await Promise.all([request(), request(), request()]);
    for (const answer of answers) expect(answer.tenantState).to.equal(null);
    expect(await stored()).to.include({ state: 'Active', isAsleep: false });
    expect(wakings).to.have.length(1);
    expect(await ensure()).to.deep.include({ isAsleep: false, corrected: [] });
  });

  it('stays hibernated with wake Manual until it is woken explicitly', async () => {
    await ensure(idle(false));
    pass(HOUR);
    await ensure(idle(false));
    pass(2000);
    expect((await request()).tenantState).to.equal('Hibernated');
    expect(await ensure(idle(false))).to.include({ isAsleep: true });
    expect(await ensure({ ...idle(false), wake: true })).to.include({ isAsleep: false });
    expect((await request()).tenantState).to.equal(null);
    expect(await ensure(idle(false))).to.include({ isAsleep: false });
  });

  it('does not wake when it was declared hibernated or disabled', async () => {
    for (const state of ['Hibernated', 'Disabled'] as const) {
      await ensure({ state });
      pass(2000);
      expect((await request()).tenantState).to.equal(state);
      expect((await stored())?.state).to.equal(state);
    }
    expect(wakings).to.deep.equal([]);
  });

  it('serves again when hibernation is no longer declared', async () => {
    pass(HOUR);
    await ensure();
    expect(await ensure({})).to.include({ isAsleep: false });
    expect(await stored()).to.include({ state: 'Active', hibernation: null });
    pass(100 * HOUR);
    expect(await ensure({})).to.include({ isAsleep: false });
  });

  it('does not hibernate when a request comes at the same time', async () => {
    pass(HOUR);
    const [ensured] = await Promise.all([ensure(), used()]);
    pass(2000);
    await request();
    expect(await stored()).to.include({ state: 'Active' });
    expect(ensured.isAsleep).to.be.a('boolean');
  });
});

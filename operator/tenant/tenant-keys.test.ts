import { expect } from 'chai';
import { engramError } from '../../services/common/kernel/errors.ts';
import { unavailable } from '../../test/support/kube/fake-services.ts';
import { createTenantWorld, PLACE, type TenantWorld } from '../../test/support/kube/tenant-world.ts';
import { ROTATE_AT } from '../api/names.ts';
import type { TenantApiKey } from '../api/tenant.ts';
import { KINDS, type Secret } from '../kube-runtime/kube-object.ts';
import { keySha256 } from './key-plan.ts';

const HOUR_MS = 3_600_000;
const ROTATED: TenantApiKey = { name: 'default', secretName: 'key', rotation: { interval: '48h', overlap: '2h' } };
const BY_HAND = 'ab'.repeat(32);

describe('API keys of a tenant', () => {
  let world: TenantWorld;
  beforeEach(async () => {
    world = await createTenantWorld();
  });
  afterEach(() => world.close());

  /** Hashes that the services take under a name. */
  const valid = (name = 'default') => [...world.services.tenants.values()][0]?.keys.get(name) ?? [];
  const value = (key = 'apiKey', secret = 'key') => world.secretValue(secret, key) ?? '';
  const listed = () => world.read()?.status?.secrets?.find(({ name }) => name === 'key');
  const reasons = () => world.notes.map(({ reason }) => reason);
  const write = (text: string) =>
    world.kube.change<Secret>(
      KINDS.secret,
      { ...PLACE, name: 'key' },
      { data: { apiKey: Buffer.from(text).toString('base64') } },
    );

  it('issues a key, sets it at the services before its Secret, and shows its next rotation', async () => {
    world.services.before['setTenantKeys'] = () => {
      expect(world.secret('key')).to.equal(undefined);
    };
    world.put({ apiKeys: [ROTATED] });
    const { requeueAfterMs } = await world.reconcile();
    expect(value()).to.match(/^[0-9a-f]{64}$/);
    expect(valid()).to.deep.equal([keySha256(value())]);
    expect(listed()).to.include({ purpose: 'ApiKey', apiKey: 'default', managed: true });
    expect(listed()?.nextRotation).to.equal('2026-08-03T00:00:00Z');
    expect(requeueAfterMs).to.be.at.most(660_000);
  });

  it('rotates a due key; the former one stays valid until the overlap ends', async () => {
    world.put({ apiKeys: [ROTATED] });
    await world.reconcile();
    const former = value();
    await world.clock.advance(47 * HOUR_MS);
    await world.reconcile();
    expect(value()).to.equal(former);

    await world.clock.advance(HOUR_MS);
    await world.reconcile();
    expect(value()).not.to.equal(former);
    expect(value('previousApiKey')).to.equal(former);
    expect(valid()).to.deep.equal([keySha256(value()), keySha256(former)]);
    expect(listed()).to.include({ previousValidUntil: '2026-08-03T02:00:00Z', nextRotation: '2026-08-05T00:00:00Z' });
    expect(world.conditions()).to.include({ CredentialsReady: 'True Rotating', Ready: 'True Available' });

    const next = value();
    await world.clock.advance(2 * HOUR_MS);
    await world.reconcile();
    expect(valid()).to.deep.equal([keySha256(next)]);
    expect(value()).to.equal(next);
    expect(world.secret('key')?.data).not.to.have.property('previousApiKey');
    expect(listed()).not.to.have.property('previousValidUntil');
    expect(world.conditions()).to.include({ CredentialsReady: 'True Issued' });
    expect(reasons().filter((reason) => reason.startsWith('Key'))).to.deep.equal([
      'KeyIssued',
      'KeyRotated',
      'KeyRevoked',
    ]);
  });

  it('reconciles when a key is due', async () => {
    world.put({ apiKeys: [{ ...ROTATED, rotation: { interval: '5m', overlap: '1m' } }] });
    expect((await world.reconcile()).requeueAfterMs).to.be.within(300_000, 330_000);
  });

  it('keeps the key in the Secret valid at every moment', async () => {
    world.put({ apiKeys: [ROTATED] });
    await world.reconcile();
    const gaps: string[] = [];
    const look = () => {
      if (!valid().includes(keySha256(value()))) gaps.push(value());
    };
    const { store } = world.kube;
    const stop = store.onEvent(look);
    world.services.before['setTenantKeys'] = look;
    await world.clock.advance(48 * HOUR_MS);
    await world.reconcile();
    await world.clock.advance(2 * HOUR_MS);
    await world.reconcile();
    stop();
    expect(gaps).to.deep.equal([]);
  });

  it('rotates keys once for each new value of the annotation', async () => {
    world.put({ apiKeys: [{ name: 'default', secretName: 'key' }] });
    await world.reconcile();
    const former = value();
    world.change({ metadata: { annotations: { [ROTATE_AT]: 'now' } } });
    await world.reconcile();
    const next = value();
    expect(next).not.to.equal(former);
    expect(valid()).to.deep.equal([keySha256(next), keySha256(former)]);
    expect(world.read()?.status?.lastHandledRotateAt).to.equal('now');
    await world.reconcile();
    expect(value()).to.equal(next);
    world.change({ metadata: { annotations: { [ROTATE_AT]: 'again' } } });
    await world.reconcile();
    expect(value()).not.to.equal(next);
  });

  it('revokes the former key at once with an overlap of zero', async () => {
    world.put({ apiKeys: [{ ...ROTATED, rotation: { interval: '48h', overlap: '0s' } }] });
    await world.reconcile();
    world.change({ metadata: { annotations: { [ROTATE_AT]: 'leaked' } } });
    await world.reconcile();
    expect(valid()).to.deep.equal([keySha256(value())]);
    expect(world.secret('key')?.data).to.have.all.keys('apiKey');
  });

  it('keeps the former key valid until the Secret has the new one, also with an overlap of zero', async () => {
    world.put({ apiKeys: [{ ...ROTATED, rotation: { interval: '48h', overlap: '0s' } }] });
    await world.reconcile();
    const former = value();
    world.change({ metadata: { annotations: { [ROTATE_AT]: 'leaked' } } });
    world.kube.fail({ method: 'PATCH', path: /secrets\/key$/, fault: { status: 500 } });
    await world.reconcile().catch(() => 'not written');
    expect(value()).to.equal(former);
    expect(valid()).to.include(keySha256(former));
    await world.reconcile();
    expect(value()).not.to.equal(former);
    expect(valid()).to.deep.equal([keySha256(value())]);
  });

  it('uses a key that was edited by hand, and keeps the former one for the overlap', async () => {
    world.put({ apiKeys: [ROTATED] });
    await world.reconcile();
    const former = keySha256(value());
    write(BY_HAND);
    await world.reconcile();
    expect(value()).to.equal(BY_HAND);
    expect(valid()).to.deep.equal([keySha256(BY_HAND), former]);
    const writes = world.writes();
    await world.reconcile();
    expect(world.writes()).to.equal(writes);
    expect(reasons().filter((reason) => reason === 'KeyReplaced')).to.have.length(1);
    await world.clock.advance(2 * HOUR_MS);
    await world.reconcile();
    expect(valid()).to.deep.equal([keySha256(BY_HAND)]);
  });

  it('reports an edited value that is not a key, and keeps the former key valid', async () => {
    world.put({ apiKeys: [ROTATED] });
    await world.reconcile();
    const hashes = valid();
    write('changeme');
    await world.reconcile();
    expect(world.conditions()).to.include({ CredentialsReady: 'False SecretInvalid', Stalled: 'True SecretInvalid' });
    expect(world.condition('Stalled')?.message).to.equal(
      'Secret key has no key for default: write 64 lower-case hexadecimal digits to apiKey, or delete the Secret',
    );
    expect(valid()).to.deep.equal(hashes);
    expect(value()).to.equal('changeme');
    world.kube.remove(KINDS.secret, { ...PLACE, name: 'key' });
    await world.reconcile();
    expect(valid()).to.deep.equal([keySha256(value())]);
    expect(world.conditions()).to.include({ Ready: 'True Available' });
  });

  it('reads the key of a foreign Secret and never writes it', async () => {
    const given = { apiVersion: 'v1', kind: 'Secret', metadata: { ...PLACE, name: 'key' }, data: {} };
    world.kube.put<Secret>(KINDS.secret, given);
    world.put({ apiKeys: [ROTATED] });
    await world.reconcile();
    expect(world.conditions()).to.include({ CredentialsReady: 'False SecretInvalid' });
    write(BY_HAND);
    const before = world.secret('key');
    await world.reconcile();
    await world.clock.advance(100 * HOUR_MS);
    await world.reconcile();
    expect(valid()).to.deep.equal([keySha256(BY_HAND)]);
    expect(world.secret('key')).to.deep.equal(before);
    expect(listed()).to.include({ managed: false }).and.not.to.have.property('nextRotation');
  });

  it('refuses a Secret with a key of another tenant', async () => {
    world.put({ apiKeys: [ROTATED] }, { name: 'first', namespace: 'memory' });
    await world.reconcile('memory/first');
    const before = world.secret('key');
    world.put({ apiKeys: [ROTATED], owner: { email: 'second@acme.example.com' } });
    await world.reconcile();
    expect(world.condition('Stalled')?.message).to.equal(
      'Secret key holds a key of Tenant/memory/first: name another secretName for default',
    );
    expect(world.secret('key')).to.deep.equal(before);
    expect([...world.services.tenants.values()].map(({ keys }) => keys.size)).to.deep.equal([1, 0]);
  });

  it('reports a key that is used elsewhere, and syncs the other keys', async () => {
    world.put({ apiKeys: [ROTATED, { name: 'second', secretName: 'other' }] });
    world.services.fail('setTenantKeys', engramError('ConflictError', 'One of the keys is in use elsewhere.'));
    await world.reconcile();
    expect(world.conditions()).to.include({ CredentialsReady: 'False SecretInvalid' });
    expect(world.condition('CredentialsReady')?.message).to.contain('default in Secret key is in use elsewhere');
    expect([valid(), valid('second').length]).to.deep.equal([[], 1]);
    await world.reconcile();
    expect(world.conditions()).to.include({ Ready: 'True Available' });
  });

  it('revokes a removed key although its Secret is unusable', async () => {
    const given = { apiVersion: 'v1', kind: 'Secret', metadata: { ...PLACE, name: 'key' }, data: {} };
    world.kube.put<Secret>(KINDS.secret, given);
    write(BY_HAND);
    world.put({ apiKeys: [ROTATED] });
    await world.reconcile();
    write('changeme');
    await world.reconcile();
    expect(valid()).to.deep.equal([keySha256(BY_HAND)]);
    world.change({ spec: { apiKeys: [] } });
    await world.reconcile();
    expect(valid()).to.deep.equal([]);
  });

  it('revokes a removed key and deletes its Secret', async () => {
    world.put({ apiKeys: [ROTATED, { name: 'ci', secretName: 'ci-key' }] });
    await world.reconcile();
    world.change({ spec: { apiKeys: [ROTATED] } });
    await world.reconcile();
    expect(valid('ci')).to.deep.equal([]);
    expect(world.secret('ci-key')?.metadata.deletionTimestamp ?? 'gone').to.equal('gone');
    expect(valid()).to.have.length(1);
    expect(world.read()?.status?.secrets?.map(({ name }) => name)).to.deep.equal(['acme-owner', 'key']);
  });

  it('moves a key to another Secret with its value', async () => {
    world.put({ apiKeys: [ROTATED] });
    await world.reconcile();
    const kept = value();
    world.change({ spec: { apiKeys: [{ ...ROTATED, secretName: 'other' }] } });
    await world.reconcile();
    expect(value('apiKey', 'other')).to.equal(kept);
    expect(world.secret('key')).to.equal(undefined);
    expect(valid()).to.deep.equal([keySha256(kept)]);
  });

  it('revokes keys while the tenant is disabled, and restores the same values', async () => {
    world.put({ apiKeys: [ROTATED] });
    await world.reconcile();
    const kept = value();
    world.change({ spec: { state: 'Disabled' } });
    await world.clock.advance(100 * HOUR_MS);
    await world.reconcile();
    expect(valid()).to.deep.equal([]);
    expect(value()).to.equal(kept);
    world.change({ spec: { state: 'Active', apiKeys: [{ name: 'default', secretName: 'key' }] } });
    await world.reconcile();
    expect(valid()).to.deep.equal([keySha256(kept)]);
  });

  it('revokes keys of foreign Secrets while the tenant is disabled', async () => {
    const given = { apiVersion: 'v1', kind: 'Secret', metadata: { ...PLACE, name: 'key' }, data: {} };
    world.kube.put<Secret>(KINDS.secret, given);
    write(BY_HAND);
    world.put({ apiKeys: [ROTATED], state: 'Disabled' });
    await world.reconcile();
    expect(valid()).to.deep.equal([]);
    world.change({ spec: { state: 'Active' } });
    await world.reconcile();
    expect(valid()).to.deep.equal([keySha256(BY_HAND)]);
  });

  it('does not overwrite a concurrent edit of a Secret', async () => {
    world.put({ apiKeys: [ROTATED] });
    await world.reconcile();
    await world.clock.advance(48 * HOUR_MS);
    world.services.before['setTenantKeys'] = () => {
      world.services.before = {};
      write(BY_HAND);
    };
    const failed = await world.reconcile().catch(() => 'conflict');
    expect(failed).to.equal('conflict');
    await world.reconcile();
    expect(value()).to.equal(BY_HAND);
    expect(valid()[0]).to.equal(keySha256(BY_HAND));
  });

  it('keeps keys unchanged while the services do not answer', async () => {
    world.put({ apiKeys: [ROTATED] });
    await world.reconcile();
    const kept = value();
    await world.clock.advance(48 * HOUR_MS);
    world.services.fail('setTenantKeys', unavailable());
    await world.reconcile();
    expect(value()).to.equal(kept);
    expect(world.conditions()).to.include({ Ready: 'False StoreUnreachable' });
    await world.reconcile();
    expect(value('previousApiKey')).to.equal(kept);
  });

  it('continues from the Secret when the status was lost', async () => {
    world.put({ apiKeys: [ROTATED] });
    await world.reconcile();
    const kept = value();
    world.kube.store.update('/apis/engram.dev/v1alpha1/tenants', PLACE, (held) => ({ ...held, status: {} }), 'status');
    await world.reconcile();
    expect(value()).to.equal(kept);
    expect(listed()?.nextRotation).to.equal('2026-08-03T00:00:00Z');
  });
});

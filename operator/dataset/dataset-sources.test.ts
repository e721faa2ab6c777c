import { expect } from 'chai';
import { createDatasetWorld, type DatasetWorld } from '../../test/support/kube/dataset-world.ts';
import type { DatasetSourcesEntry } from '../api/dataset.ts';
import { MESSAGE_LIMIT } from '../kube-runtime/conditions.ts';

const SITE: DatasetSourcesEntry = { name: 'site', connector: 'web', address: 'https://a.test/', onRemoval: 'Keep' };
const CODE: DatasetSourcesEntry = {
  name: 'code',
  connector: 'github',
  onRemoval: 'Delete',
  selection: ['acme/engine'],
  interval: '30m',
  credentialsSecretRef: { name: 'github' },
};

const TALK: DatasetSourcesEntry = {
  name: 'talk',
  connector: 'slack',
  account: 'Acme',
  selection: ['engine'],
  onRemoval: 'Keep',
  since: '2026-01-01T00:00:00Z',
};

describe('sources of a dataset', () => {
  let world: DatasetWorld;
  beforeEach(async () => {
    world = await createDatasetWorld();
    world.putTenant();
  });
  afterEach(async () => {
    for (const { message } of world.read()?.status?.conditions ?? []) {
      expect(message).to.have.length.of.at.most(MESSAGE_LIMIT);
      expect(message).not.to.match(/\.$/);
    }
    await world.close();
  });

  const held = (name: string) => world.services.sources.get(name);
  const status = (name: string) => world.read()?.status?.sources?.find((source) => source.name === name);
  const ended = (name: string, more: object = {}) => {
    const source = held(name);
    if (source === undefined) throw new Error(`There is no source ${name}.`);
    const lastSyncedAt = world.clock.now().toISOString();
    source.state = { ...source.state, importing: false, lastSyncedAt, items: 3, failure: null, ...more };
  };
  const later = async (ms: number) => {
    await world.clock.advance(ms);
    return world.reconcile();
  };

  it('are connected as declared, with the values of their Secret, and are ready after their first import', async () => {
    world.putSecret('github', { token: 'ghp_1' });
    world.put({ sources: [SITE, CODE, TALK] });
    expect((await world.reconcile()).requeueAfterMs).to.be.at.most(11_000);
    expect(held('site')?.declared).to.deep.include({ connector: 'web', address: 'https://a.test/', hold: false });
    expect(held('code')?.declared).to.deep.include({
      selection: ['acme/engine'],
      everyMs: 1_800_000,
      deleteOnRemoval: true,
    });
    const { account, selection, since } = TALK;
    expect(held('talk')?.declared).to.deep.include({ connector: 'slack', account, selection, since });
    expect(held('code')?.declared.credentials?.values).to.deep.equal([{ key: 'token', value: 'ghp_1' }]);
    expect(world.conditions()).to.include({ Ready: 'True Available', SourcesReady: 'False Importing' });
    expect(world.notes.filter(({ reason }) => reason === 'SourceConnected')).to.have.length(3);
    for (const name of ['site', 'code', 'talk']) ended(name);
    await later(11_000);
    expect(world.conditions()).to.include({ SourcesReady: 'True Synced' });
    expect(status('code')).to.include({ connected: true, items: 3, failed: 0 });
    const writes = world.statusWrites();
    await later(30_000);
    expect(world.statusWrites()).to.equal(writes);
    expect(JSON.stringify(world.read())).not.to.contain('ghp_1');
  });

  it('follow a change of their Secret, and stay as they are while it is missing', async () => {
    world.put({ sources: [CODE] });
    await world.reconcile();
    expect(world.conditions()).to.include({ Ready: 'True Available', SourcesReady: 'False SecretMissing' });
    expect(world.condition('SourcesReady')?.message).to.match(/^code: There is no Secret github: create it/);
    expect(world.notes).to.deep.include({
      type: 'Warning',
      reason: 'SourceFailed',
      message: 'code: There is no Secret github: create it, or correct credentialsSecretRef',
    });
    expect(held('code')).to.equal(undefined);
    world.putSecret('github', { token: 'ghp_1' });
    await world.reconcile();
    const first = held('code')?.declared.credentials;
    world.putSecret('github', { token: 'ghp_2' });
    await world.reconcile();
    expect(held('code')?.declared.credentials?.values).to.deep.equal([{ key: 'token', value: 'ghp_2' }]);
    expect(held('code')?.declared.credentials?.version).not.to.equal(first?.version);
    world.removeSecret('github');
    await world.reconcile();
    expect(held('code')?.declared.credentials?.values, 'kept').to.have.length(1);
    expect(status('code')).to.include({ connected: true, reason: 'SecretMissing' });
  });

  it('that fail are told with the reason, once, and leave the dataset and the other sources ready', async () => {
    world.put({ sources: [SITE, { ...SITE, name: 'other', connector: 'carrier_pigeon' }] });
    await world.reconcile();
    ended('site');
    const failure = {
      reason: 'ConnectorUnknown',
      message: 'There is no connector carrier_pigeon; this server has web.',
    };
    ended('other', { connected: false, lastSyncedAt: null, items: 0, failure });
    await later(11_000);
    expect(world.conditions()).to.include({ Ready: 'True Available', SourcesReady: 'False ConnectorUnknown' });
    expect(status('other')).to.include({ connected: false, reason: 'ConnectorUnknown' });
    expect(status('site')).to.not.have.property('reason');
    await later(61_000);
    const told = world.notes.filter(({ reason }) => reason === 'SourceFailed');
    expect(told).to.have.length(1);
    ended('other');
    await later(61_000);
    expect(world.conditions()).to.include({ SourcesReady: 'True Synced' });
  });

  it('end when they are taken out, also the last one', async () => {
    world.put({ sources: [SITE, { ...SITE, name: 'other' }] });
    await world.reconcile();
    world.change({ spec: { sources: [SITE] } });
    await world.reconcile();
    expect([...world.services.sources.keys()]).to.deep.equal(['site']);
    expect(world.notes.at(-1)?.message).to.match(/^No longer followed: other/);
    world.change({ spec: { sources: null } });
    await world.reconcile();
    expect(world.services.sources.size).to.equal(0);
    expect(world.read()?.status).to.not.have.property('sources');
    expect(world.conditions()).to.not.have.property('SourcesReady');
    const calls = world.services.countOf('syncSources');
    await later(600_000);
    expect(world.services.countOf('syncSources'), 'nothing to ask for').to.equal(calls);
  });

  for (const deletionPolicy of ['Retain', 'Delete'] as const) {
    it(`end with the resource that is deleted by ${deletionPolicy}, and what came by them is left to it`, async () => {
      world.put({ sources: [CODE, SITE], deletionPolicy });
      world.putSecret('github', { token: 'ghp_1' });
      await world.reconcile();
      world.remove();
      await world.reconcile();
      const { request } = world.services.calls.findLast(({ method }) => method === 'syncSources') ?? {};
      expect(request).to.include({ release: true });
      expect(world.services.sources.size).to.equal(0);
      expect(world.read()).to.equal(undefined);
    });
  }

  it('with a schedule that cannot be read are refused as a whole', async () => {
    world.put({ sources: [{ ...SITE, schedule: '61 * * * *' }] });
    await world.reconcile();
    expect(world.conditions()).to.include({ Ready: 'False InvalidSpec' });
    expect(world.condition('Stalled')?.message).to.match(/^spec\.sources\[site\]\.schedule is invalid/);
  });
});

import { expect } from 'chai';
import { createSilentLogger } from '../../services/common/platform/observability/logger.ts';
import { createFakeClock, type FakeClock } from '../../test/support/kube/fake-clock.ts';
import { type FakeKube, startFakeKube } from '../../test/support/kube/fake-kube.ts';
import { until } from '../../test/support/until.ts';
import { KINDS } from './kube-object.ts';
import { createLeaderElector, type LeaderElector, type Lease } from './leader-election.ts';

const lease = { name: 'operator', namespace: 'ns' };

describe('leader elector', () => {
  let kube: FakeKube;
  let clock: FakeClock;
  let electors: LeaderElector[];
  let lost: string[];

  beforeEach(async () => {
    kube = await startFakeKube();
    clock = createFakeClock();
    electors = [];
    lost = [];
  });
  afterEach(async () => {
    kube.heal();
    await Promise.all(electors.map((elector) => elector.stop()));
    await kube.close();
  });

  const elector = (identity: string): LeaderElector => {
    const client = kube.client({ clock });
    const onLost = () => void lost.push(identity);
    const made = createLeaderElector({ client, clock, logger: createSilentLogger(), lease, identity, onLost });
    electors.push(made);
    return made;
  };
  const held = () => kube.read<Lease>(KINDS.lease, lease)?.spec;
  /** Lets two seconds pass and a try happen, as often as it takes. */
  const passUntil = (what: string, isSo: () => boolean) =>
    until(what, async () => {
      if (isSo()) return true;
      await clock.advance(500);
      return isSo();
    });

  it('elects one of two processes, which stays the leader while it renews', async () => {
    const one = elector('one');
    const two = elector('two');
    one.start();
    await one.whenLeading();
    two.start();
    const begin = clock.monotonicMs();
    await passUntil('a minute', () => clock.monotonicMs() - begin > 60_000);
    expect([one.isLeading(), two.isLeading()]).to.deep.equal([true, false]);
    expect(held()).to.include({ holderIdentity: 'one', leaseDurationSeconds: 15, leaseTransitions: 0 });
    expect(held()?.renewTime).to.match(/^2026-08-01T00:0.:..\.\d{6}Z$/);
    expect(lost).to.deep.equal([]);
  });

  it('releases the lease when it stops', async () => {
    const one = elector('one');
    const two = elector('two');
    one.start();
    await one.whenLeading();
    two.start();
    await clock.advance(100);
    await one.stop();
    expect([one.isLeading(), held()?.holderIdentity]).to.deep.equal([false, '']);
    const begin = clock.monotonicMs();
    await passUntil('the other leads', () => two.isLeading());
    expect(clock.monotonicMs() - begin).to.be.at.most(4_000);
    expect(held()).to.include({ holderIdentity: 'two', leaseTransitions: 1 });
    expect(lost).to.deep.equal([]);
  });

  it('takes over after 15 seconds without a renewal, whatever the other clock says', async () => {
    kube.put<Lease>(KINDS.lease, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: lease,
      spec: { holderIdentity: 'dead', leaseDurationSeconds: 15, renewTime: '2031-01-01T00:00:00.000000Z' },
    });
    const two = elector('two');
    two.start();
    await until('it looked', () => kube.requests.length > 0);
    const begin = clock.monotonicMs();
    await passUntil('it leads', () => two.isLeading());
    expect(clock.monotonicMs() - begin).to.be.within(14_000, 19_000);
  });

  it('stops leading by its own clock before another process may lead', async () => {
    const one = elector('one');
    one.start();
    await one.whenLeading();
    kube.fail({ times: 10_000, fault: { status: 500 } });
    const begin = clock.monotonicMs();
    await passUntil('it does not lead', () => !one.isLeading());
    expect(clock.monotonicMs() - begin).to.be.at.most(10_500);
    await passUntil('it was told', () => lost.length === 1);
    expect(one.isAlive()).to.equal(true);
  });

  it('loses the lease when a renewal hangs', async () => {
    const one = elector('one');
    one.start();
    await one.whenLeading();
    kube.fail({ times: 10_000, fault: { action: 'hang' } });
    const begin = clock.monotonicMs();
    await passUntil('it was told', () => lost.length === 1);
    expect(one.isLeading()).to.equal(false);
    expect(clock.monotonicMs() - begin).to.be.at.most(10_500);
  });

  it('keeps the lease during a failure shorter than its deadline', async () => {
    const one = elector('one');
    one.start();
    await one.whenLeading();
    kube.fail({ times: 3, fault: { status: 500 } });
    const asked = kube.requests.length;
    await passUntil('it tried some more times', () => kube.requests.length > asked + 8);
    expect([one.isLeading(), lost.length]).to.deep.equal([true, 0]);
  });

  it('loses the lease when another process holds it', async () => {
    const one = elector('one');
    one.start();
    await one.whenLeading();
    kube.change(KINDS.lease, lease, { spec: { holderIdentity: 'thief' } });
    await passUntil('it was told', () => lost.length === 1);
    expect(one.isLeading()).to.equal(false);
  });

  it('elects one of many processes that start together', async () => {
    const many = ['a', 'b', 'c', 'd'].map(elector);
    for (const each of many) each.start();
    await Promise.race(many.map((each) => each.whenLeading()));
    await clock.advance(5_000);
    expect(many.filter((each) => each.isLeading())).to.have.length(1);
  });
});

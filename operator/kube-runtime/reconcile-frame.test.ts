import { expect } from 'chai';
import { Registry } from 'prom-client';
import { createSilentLogger } from '../../services/common/platform/observability/logger.ts';
import { createFakeClock, type FakeClock } from '../../test/support/kube/fake-clock.ts';
import { type FakeKube, startFakeKube } from '../../test/support/kube/fake-kube.ts';
import { type Condition, findCondition } from './conditions.ts';
import type { EventNote } from './events.ts';
import { KubeError } from './kube-client.ts';
import type { CustomObject, ResourceKind } from './kube-object.ts';
import { createRuntimeMetrics } from './metrics.ts';
import { type BaseStatus, createReconciler, type ReconcileDefinition } from './reconcile-frame.ts';
import { done, progressing, retrying, type Step, StepFailure, type StepOutcome, stalled } from './steps.ts';

const WIDGET: ResourceKind = { apiVersion: 'example.dev/v1', kind: 'Widget', plural: 'widgets', namespaced: true };
const PLACE = { name: 'w', namespace: 'ns' };

interface Spec {
  readonly size?: number;
  readonly suspend?: boolean;
}
interface Status extends BaseStatus {
  readonly size?: number;
  readonly checkedAt?: string;
}
type Widget = CustomObject<Spec, Partial<Status>>;
type Run = Step<Widget, Status>['run'];

describe('reconcile frame', () => {
  let kube: FakeKube;
  let clock: FakeClock;
  let steps: Run[];
  let deletion: Run[];
  let ran: number;
  let abandoned: number;
  let notes: EventNote[];
  const signal = new AbortController().signal;

  beforeEach(async () => {
    kube = await startFakeKube();
    clock = createFakeClock();
    [steps, deletion, notes] = [[], [], []];
    [ran, abandoned] = [0, 0];
  });
  afterEach(() => kube.close());

  const stepsOf = (runs: () => Run[]): Step<Widget, Status>[] =>
    runs().map((run, index) => ({
      name: `step-${index}`,
      run: (context) => {
        ran += 1;
        return run(context);
      },
    }));

  function reconciler() {
    const definition: ReconcileDefinition<Widget, Status> = {
      kind: WIDGET,
      finalizer: 'example.dev/finalizer',
      annotations: { reconcileAt: 'example.dev/reconcile-at', abandon: 'example.dev/abandon' },
      conditionTypes: ['Sized'],
      isSuspended: ({ spec }) => spec.suspend === true,
      validate: ({ spec }) => ((spec.size ?? 0) > 9 ? { reason: 'InvalidSpec', message: 'size is at most 9' } : null),
      steps: stepsOf(() => steps),
      deletionSteps: stepsOf(() => deletion),
      abandon: async () => {
        abandoned += 1;
      },
      volatileStatus: ['checkedAt'],
      resyncMs: 600_000,
    };
    const events = { record: (_: unknown, note: EventNote) => void notes.push(note), flush: async () => {} };
    const metrics = createRuntimeMetrics(new Registry(), 'test_');
    const client = kube.client({ clock });
    const made = createReconciler(definition, {
      client,
      clock,
      events,
      metrics,
      logger: createSilentLogger(),
      random: () => 0.5,
    });
    return () => made.reconcile('ns/w', signal);
  }

  const put = (spec: Spec = {}) => kube.put<Widget>(WIDGET, { ...WIDGET, metadata: PLACE, spec } as Widget);
  const change = (patch: object) => kube.change<Widget>(WIDGET, PLACE, patch);
  const read = () => kube.read<Widget>(WIDGET, PLACE);
  const condition = (type: string) => findCondition(read()?.status?.conditions, type);
  const brief = () =>
    Object.fromEntries((read()?.status?.conditions ?? []).map(({ type, status, reason }) => [type, [status, reason]]));
  const statusWrites = () => kube.requests.filter(({ path }) => path.endsWith('/status')).length;
  const outcome =
    (value: StepOutcome<Status>): Run =>
    async () =>
      value;

  it('adds the finalizer, runs the steps in order and writes the status once', async () => {
    put({ size: 3 });
    steps = [
      async ({ object }) => done({ status: { size: object.spec.size ?? 0 } }),
      async ({ status }) =>
        done({ conditions: [{ type: 'Sized', status: 'True', reason: 'Sized', message: `Size ${status.size}` }] }),
    ];
    expect(await reconciler()()).to.deep.equal({ requeueAfterMs: 600_000, result: 'success' });
    expect(read()?.metadata.finalizers).to.deep.equal(['example.dev/finalizer']);
    expect(read()?.status).to.include({ size: 3, observedGeneration: 1 });
    expect(brief()).to.deep.equal({ Ready: ['True', 'Available'], Sized: ['True', 'Sized'] });
    expect(condition('Sized')?.message).to.equal('Size 3');
    expect(statusWrites()).to.equal(1);
    expect(notes.map(({ type, reason }) => [type, reason])).to.deep.equal([['Normal', 'Available']]);
  });

  it('writes the status of an unchanged object only once', async () => {
    put();
    steps = [async ({ now }) => done({ status: { checkedAt: now.toISOString() } })];
    const reconcile = reconciler();
    for (let round = 0; round < 4; round += 1) {
      await reconcile();
      await clock.advance(60_000);
    }
    expect(statusWrites()).to.equal(1);
    expect(notes).to.have.length(1);
  });

  it('writes a repeated failure once, and Stalled after five in a row', async () => {
    put();
    steps = [outcome(retrying('StoreUnreachable', 'The store cannot be reached'))];
    const reconcile = reconciler();
    for (let round = 0; round < 4; round += 1) {
      expect(await reconcile()).to.deep.equal({ retry: true, result: 'retrying' });
      await clock.advance(1_000);
    }
    expect(statusWrites()).to.equal(1);
    const since = condition('Ready')?.lastTransitionTime;
    expect(brief()).to.deep.equal({
      Ready: ['False', 'StoreUnreachable'],
      Reconciling: ['True', 'StoreUnreachable'],
      Sized: ['Unknown', 'Pending'],
    });
    expect(notes).to.deep.equal([]);
    for (let round = 0; round < 3; round += 1) await reconcile();
    expect(statusWrites()).to.equal(2);
    expect(notes.map(({ type, reason }) => [type, reason])).to.deep.equal([['Warning', 'StoreUnreachable']]);
    expect(brief()).to.include.keys('Stalled').and.not.include.keys('Reconciling');
    expect(condition('Ready')?.lastTransitionTime).to.equal(since);

    // Another process knows nothing of the tries, and does not flap.
    await reconciler()();
    expect(statusWrites()).to.equal(2);

    steps = [outcome(done())];
    await reconciler()();
    expect(brief()).to.deep.equal({ Ready: ['True', 'Available'], Sized: ['Unknown', 'Pending'] });
  });

  it('stops at the first step that is not done, unless it continues', async () => {
    put();
    steps = [
      outcome(progressing('Waiting', 'For something', { continues: true, requeueAfterMs: 5_000 })),
      outcome(stalled('QuotaConflict', 'Raise the quota')),
      outcome(done()),
    ];
    expect(await reconciler()()).to.deep.equal({ requeueAfterMs: 5_250, result: 'stalled' });
    expect(ran).to.equal(2);
    expect(brief()).to.include.keys('Stalled').and.not.include.keys('Reconciling');
    expect(condition('Stalled')?.message).to.equal('Raise the quota');
    expect(notes).to.deep.equal([{ type: 'Warning', reason: 'QuotaConflict', message: 'Raise the quota' }]);
  });

  it('retries a failed step, also when another one is stalled', async () => {
    put();
    steps = [
      async () => retrying('Away', 'a', { continues: true }),
      async () => stalled('Wrong', 'w', { continues: true }),
      async () => done(),
    ];
    expect(await reconciler()()).to.deep.equal({ retry: true, result: 'stalled' });
    expect(brief()).to.deep.include({ Stalled: ['True', 'Wrong'] });
  });

  it('shows Reconciling only while a step is progressing', async () => {
    put();
    steps = [outcome(progressing('ProvisioningStores', 'Indexes are made', { requeueAfterMs: 1_000 }))];
    await reconciler()();
    expect(brief()['Reconciling']).to.deep.equal(['True', 'ProvisioningStores']);
    steps = [outcome(done())];
    await reconciler()();
    expect(brief()).not.to.include.keys('Reconciling');
  });

  it('throws conflicts and time-outs of the API server without writing them', async () => {
    put();
    steps = [
      async () => {
        throw new KubeError({ code: 409, reason: 'Conflict', message: 'the object has been modified' });
      },
    ];
    const error = await reconciler()().catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(KubeError);
    expect([read()?.status, notes]).to.deep.equal([undefined, []]);
  });

  it('reports a missing permission, an invalid object and a bug, without the message of the bug', async () => {
    const failures: [unknown, string, RegExp][] = [
      [new KubeError({ code: 403, reason: 'Forbidden', message: 'secrets is forbidden' }), 'Forbidden', /forbidden/],
      [new KubeError({ code: 422, reason: 'Invalid', message: 'spec.x is wrong' }), 'Invalid', /spec.x/],
      [new TypeError('secret-value is not a function'), 'InternalError', /step step-0 failed/],
      [new StepFailure(stalled('SecretMissing', 'Make the Secret a')), 'SecretMissing', /Make the Secret a/],
    ];
    put();
    for (const [failure, reason, message] of failures) {
      steps = [() => Promise.reject(failure)];
      await reconciler()();
      expect(condition('Ready')?.reason).to.equal(reason);
      expect(condition('Ready')?.message).to.match(message);
    }
  });

  it('reports the processed generation, also when the spec changed meanwhile', async () => {
    put({ size: 1 });
    steps = [
      async ({ object }) => {
        change({ spec: { size: 2 } });
        return done({ status: { size: object.spec.size ?? 0 } });
      },
    ];
    await reconciler()();
    expect(read()?.metadata.generation).to.equal(2);
    expect(read()?.status).to.include({ size: 1, observedGeneration: 1 });
    expect(condition('Ready')?.observedGeneration).to.equal(1);
  });

  it('stalls on an invalid object without running a step', async () => {
    put({ size: 10 });
    steps = [outcome(done())];
    const reconcile = reconciler();
    await reconcile();
    expect([ran, brief()['Stalled']]).to.deep.equal([0, ['True', 'InvalidSpec']]);
    change({ spec: { size: 1 } });
    await reconcile();
    expect(brief()['Ready']).to.deep.equal(['True', 'Available']);
  });

  it('runs no step while suspended', async () => {
    put();
    steps = [outcome(done())];
    const reconcile = reconciler();
    await reconcile();
    change({ spec: { suspend: true } });
    await reconcile();
    expect(ran).to.equal(1);
    expect(brief()['Ready']).to.deep.equal(['True', 'Suspended']);
    expect(read()?.status?.observedGeneration).to.equal(1);
    change({ spec: { suspend: false } });
    await reconcile();
    expect(brief()['Ready']).to.deep.equal(['True', 'Available']);
  });

  it('reports the handled value of the reconcile-at annotation', async () => {
    put();
    steps = [outcome(done())];
    change({ metadata: { annotations: { 'example.dev/reconcile-at': 'now' } } });
    await reconciler()();
    expect(read()?.status?.lastHandledReconcileAt).to.equal('now');
  });

  it('removes the finalizer only when the deletion is done', async () => {
    put();
    await reconciler()();
    kube.remove(WIDGET, PLACE);
    deletion = [outcome(retrying('StoreUnreachable', 'The store cannot be reached'))];
    const reconcile = reconciler();
    for (let round = 0; round < 5; round += 1) await reconcile();
    expect(read()?.metadata.finalizers).to.deep.equal(['example.dev/finalizer']);
    expect(brief()['Stalled']).to.deep.equal(['True', 'StoreUnreachable']);
    deletion = [outcome(done())];
    expect(await reconciler()()).to.deep.equal({ result: 'gone' });
    expect(read()).to.equal(undefined);
  });

  it('deletes while suspended, and ignores objects without its finalizer', async () => {
    put({ suspend: true });
    deletion = [outcome(done())];
    change({ metadata: { finalizers: ['someone.else/finalizer'] } });
    kube.remove(WIDGET, PLACE);
    await reconciler()();
    expect(ran).to.equal(0);
    change({ metadata: { finalizers: ['someone.else/finalizer', 'example.dev/finalizer'] } });
    await reconciler()();
    expect(ran).to.equal(1);
    expect(read()?.metadata.finalizers).to.deep.equal(['someone.else/finalizer']);
  });

  it('abandons an object only by its own uid', async () => {
    put();
    await reconciler()();
    deletion = [outcome(stalled('StoreUnreachable', 'Gone for good'))];
    kube.remove(WIDGET, PLACE);
    change({ metadata: { annotations: { 'example.dev/abandon': 'another' } } });
    await reconciler()();
    expect([abandoned, read() !== undefined]).to.deep.equal([0, true]);
    change({ metadata: { annotations: { 'example.dev/abandon': read()?.metadata.uid } } });
    const before = ran;
    await reconciler()();
    expect([abandoned, read(), ran]).to.deep.equal([1, undefined, before]);
  });

  it('does nothing for a deleted object', async () => {
    expect(await reconciler()()).to.deep.equal({ result: 'gone' });
    expect(kube.requests.map(({ method }) => method)).to.deep.equal(['GET']);
  });

  it('keeps conditions of other writers', async () => {
    put();
    const foreign: Condition = {
      type: 'Reviewed',
      status: 'True',
      reason: 'Yes',
      message: 'By a person',
      lastTransitionTime: '2026-07-01T00:00:00Z',
      observedGeneration: 1,
    };
    kube.store.update(
      '/apis/example.dev/v1/widgets',
      PLACE,
      (held) => ({ ...held, status: { conditions: [foreign] } }),
      'status',
    );
    steps = [outcome(done())];
    await reconciler()();
    expect(condition('Reviewed')).to.deep.equal(foreign);
  });
});

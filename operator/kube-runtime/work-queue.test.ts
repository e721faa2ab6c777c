import { expect } from 'chai';
import fc from 'fast-check';
import { createFakeClock } from '../../test/support/kube/fake-clock.ts';
import { createWorkQueue } from './work-queue.ts';

const RATE = { perSecond: 1_000_000, burst: 1_000_000 };

describe('work queue', () => {
  it('hands out a key once, however often it was added', async () => {
    const queue = createWorkQueue({ clock: createFakeClock(), rate: RATE });
    for (const key of ['a', 'b', 'a', 'a']) queue.add(key);
    expect(queue.depth).to.equal(2);
    expect([await queue.next(), await queue.next()]).to.deep.equal(['a', 'b']);
    expect(queue.depth).to.equal(0);
  });

  it('hands out a key again when it was added during the work, after done', async () => {
    const queue = createWorkQueue({ clock: createFakeClock(), rate: RATE });
    queue.add('a');
    await queue.next();
    queue.add('a');
    queue.add('a');
    let taken: string | null | undefined;
    void queue.next().then((key) => {
      taken = key;
    });
    await Promise.resolve();
    expect(taken).to.equal(undefined);
    queue.done('a');
    await Promise.resolve();
    expect(taken).to.equal('a');
    queue.done('a');
    expect(queue.depth).to.equal(0);
  });

  it('never lets two workers hold one key, and loses no addition, in any order of adds and dones', async () => {
    const steps = fc.array(
      fc.oneof(
        fc.record({ add: fc.constantFrom('a', 'b', 'c') }),
        fc.record({ done: fc.nat(5) }),
        fc.constant({ take: true }),
      ),
      { maxLength: 60 },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (script) => {
        const queue = createWorkQueue({ clock: createFakeClock(), rate: RATE });
        const held: string[] = [];
        const owed = new Set<string>();
        const taking: Promise<void>[] = [];
        const take = () =>
          taking.push(
            queue.next().then((key) => {
              if (key === null) return;
              expect(held).not.to.include(key);
              held.push(key);
              owed.delete(key);
            }),
          );
        for (const step of script) {
          if ('add' in step) {
            queue.add(step.add);
            owed.add(step.add);
          } else if ('done' in step) {
            const [key] = held.splice(step.done % Math.max(held.length, 1), 1);
            if (key !== undefined) queue.done(key);
          } else take();
          await Promise.resolve();
          await Promise.resolve();
        }
        while (held.length > 0 || owed.size > 0) {
          for (const key of held.splice(0)) queue.done(key);
          if (owed.size > 0) take();
          for (let turn = 0; turn < 4; turn += 1) await Promise.resolve();
        }
        expect(queue.depth).to.equal(0);
        await queue.stop();
        await Promise.all(taking);
      }),
      { numRuns: 200 },
    );
  });

  it('adds after the earliest delay, and an addition replaces the delay', async () => {
    const clock = createFakeClock();
    const queue = createWorkQueue({ clock, rate: RATE });
    queue.addAfter('a', 1_000);
    queue.addAfter('a', 500);
    queue.addAfter('a', 2_000);
    await clock.advance(499);
    expect(queue.depth).to.equal(0);
    await clock.advance(1);
    expect(queue.depth).to.equal(1);
    queue.addAfter('b', 1_000);
    queue.add('b');
    expect(queue.depth).to.equal(2);
    await queue.next();
    await queue.next();
    queue.done('a');
    queue.done('b');
    await clock.advance(10_000);
    expect(queue.depth).to.equal(0);
  });

  it('doubles the back-off of each key up to the maximum until it is forgotten', async () => {
    const clock = createFakeClock();
    const queue = createWorkQueue({ clock, rate: RATE, backoffMs: { first: 100, most: 350 } });
    const waits: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      queue.retry('a');
      const begin = clock.monotonicMs();
      while (queue.depth === 0) await clock.advance(10);
      waits.push(clock.monotonicMs() - begin);
      await queue.next();
      queue.done('a');
    }
    expect(waits).to.deep.equal([100, 200, 350, 350]);
    expect([queue.retriesOf('a'), queue.retriesOf('b')]).to.deep.equal([4, 0]);
    queue.forget('a');
    queue.retry('a', 1_000);
    await clock.advance(999);
    expect(queue.depth).to.equal(0);
    await clock.advance(1);
    expect(queue.depth).to.equal(1);
  });

  it('limits the overall rate of keys', async () => {
    const clock = createFakeClock();
    const queue = createWorkQueue({ clock, rate: { perSecond: 10, burst: 2 } });
    const taken: string[] = [];
    for (const key of ['a', 'b', 'c', 'd']) {
      queue.add(key);
      void queue.next().then((next) => taken.push(next ?? ''));
    }
    await clock.advance(0);
    expect(taken).to.deep.equal(['a', 'b']);
    await clock.advance(99);
    expect(taken).to.have.length(2);
    await clock.advance(1);
    expect(taken).to.have.length(3);
    await clock.advance(100);
    expect(taken).to.have.length(4);
  });

  it('stops when all keys are done, and resolves waiting takers with null', async () => {
    const clock = createFakeClock();
    const queue = createWorkQueue({ clock, rate: RATE });
    queue.add('a');
    await queue.next();
    const waiting = queue.next();
    queue.addAfter('b', 100);
    let stopped = false;
    const stopping = queue.stop().then(() => {
      stopped = true;
    });
    expect(await waiting).to.equal(null);
    queue.add('c');
    await clock.advance(1_000);
    expect([stopped, queue.depth, clock.pending]).to.deep.equal([false, 0, 0]);
    queue.done('a');
    await stopping;
    expect(await queue.next()).to.equal(null);
  });
});

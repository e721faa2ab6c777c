import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { until } from '../../support/until.ts';
import { withBackend } from '../backend.ts';
import { type NatsWorld, natsWorld } from './nats-world.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (payload: Uint8Array) => new TextDecoder().decode(payload);

withBackend('nats', ({ ENGRAM_TEST_NATS_URL: url }) => {
  describe('bus: nats, queue groups of kept messages', () => {
    let world: NatsWorld;
    beforeEach(() => {
      world = natsWorld(url);
    });
    afterEach(() => world[Symbol.asyncDispose]());

    it('give what a lost member had in hand to another one', async () => {
      const [publisher, lost, other] = await Promise.all([
        world.open(),
        world.open({ ackWaitMs: 3000 }),
        world.open({ ackWaitMs: 3000 }),
      ]);
      const seen: string[] = [];
      let isTaken = false;
      const wakeUp = Promise.withResolvers<void>();
      const member = { queue: 'workers' };
      await lost.subscribe(
        'kept.work',
        async () => {
          isTaken = true;
          await wakeUp.promise; // as a process that hangs
        },
        member,
      );
      await publisher.publish('kept.work', bytes('1'));
      await until('it is in hand', () => isTaken);
      await other.subscribe('kept.work', ({ payload }) => void seen.push(text(payload)), member);
      await publisher.publish('kept.work', bytes('2'));
      await until('both were handled', () => seen.length >= 2);
      expect(seen.toSorted()).to.deep.equal(['1', '2']);
      await sleep(3500);
      expect(seen).to.have.length(2);
      wakeUp.resolve();
    });

    it('keep messages while they have no member', async () => {
      const bus = await world.open();
      const seen: string[] = [];
      const join = () =>
        bus.subscribe('kept.work', ({ payload }) => void seen.push(text(payload)), { queue: 'workers' });
      const first = await join();
      await bus.publish('kept.work', bytes('1'));
      await until('the first arrived', () => seen.length === 1);
      await first.stop();
      await bus.publish('kept.work', bytes('2'));
      await join();
      await until('the second arrived', () => seen.length === 2);
      await sleep(100);
      expect(seen).to.deep.equal(['1', '2']);
    });
  });
});

import { expect } from 'chai';
import type { NatsBus } from '../../../services/common/storage/bus/nats/nats-bus.ts';
import { rejection } from '../../support/refusal-of.ts';
import { until } from '../../support/until.ts';
import { withBackend } from '../backend.ts';
import { type FaultProxy, faultProxy } from './fault-proxy.ts';
import { type NatsWorld, natsWorld } from './nats-world.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (payload: Uint8Array) => new TextDecoder().decode(payload);

withBackend('chaos', ({ ENGRAM_TEST_CHAOS_URL: control }) => {
  withBackend('nats', ({ ENGRAM_TEST_NATS_URL: url }) => {
    describe('bus: nats, over a connection that is lost', () => {
      let proxy: FaultProxy;
      let world: NatsWorld;
      let near: NatsBus;
      let far: NatsBus;
      const changes: string[] = [];

      beforeEach(async () => {
        proxy = await faultProxy(control, new URL(url).host);
        world = natsWorld(url);
        near = await world.open();
        changes.length = 0;
        far = await world.open({
          url: `nats://127.0.0.1:${proxy.port}`,
          pingIntervalMs: 200,
          connectTimeoutMs: 1000,
          onConnection: ({ kind }) => void changes.push(kind),
        });
      });
      afterEach(async () => {
        await proxy.heal();
        await world[Symbol.asyncDispose]();
        await proxy[Symbol.asyncDispose]();
      });

      it('refuses requests and publications at once, and serves again when it is back', async () => {
        await near.respond('echo', async ({ payload }) => payload);
        await far.respond('far', async ({ payload }) => payload);
        await proxy.cut();
        await until('the loss is known', () => changes.includes('lost'));
        const startedAt = performance.now();
        for (const work of [
          far.request('echo', bytes('x'), { deadlineMs: 5000 }),
          far.publish('news', bytes('x')),
          far.publish('kept.news', bytes('x')),
          far.check(),
        ]) {
          const refusal = await rejection(work);
          expect(refusal).to.include({ status: 503, retryable: true, retryAfterSeconds: 1 });
          expect(refusal.message).to.match(/^NATS at nats:\/\/127\.0\.0\.1:\d+ is away$/);
        }
        expect(performance.now() - startedAt, 'none waited for its deadline').to.be.lessThan(4_500);
        expect(await rejection(near.request('far', bytes('x'), { deadlineMs: 10_000 }))).to.include({ status: 503 });
        await proxy.heal();
        await until('the connection is back', () => changes.includes('restored'));
        expect(text(await far.request('echo', bytes('again'), { deadlineMs: 10_000 }))).to.equal('again');
        expect(text(await near.request('far', bytes('too'), { deadlineMs: 10_000 }))).to.equal('too');
        await far.check();
      });

      it('loses no kept message, and brings them in order and once', async () => {
        const seen: string[] = [];
        await far.subscribe('kept.>', ({ payload }) => void seen.push(text(payload)));
        await near.publish('kept.a', bytes('0'));
        await until('the first arrived', () => seen.length === 1);
        await proxy.cut();
        await until('the loss is known', () => changes.includes('lost'));
        for (let index = 1; index < 50; index += 1) await near.publish(`kept.${index % 3}`, bytes(String(index)));
        await proxy.heal();
        await until('all arrived', () => seen.length >= 50);
        await near.publish('kept.a', bytes('50'));
        await until('the last arrived', () => seen.length >= 51);
        expect(seen).to.deep.equal(Array.from({ length: 51 }, (_, index) => String(index)));
      });

      it('loses none either that came before the first one was seen', async () => {
        const seen: string[] = [];
        await far.subscribe('kept.>', ({ payload }) => void seen.push(text(payload)));
        await proxy.cut();
        await until('the loss is known', () => changes.includes('lost'));
        await near.publish('kept.a', bytes('missed'));
        await proxy.heal();
        await until('it arrived', () => seen.length === 1);
      });

      it('notices a connection that only hangs, ends requests at their deadline, and recovers', async () => {
        await near.respond('echo', async ({ payload }) => payload);
        await proxy.hang();
        const startedAt = performance.now();
        expect(await rejection(far.request('echo', bytes('x'), { deadlineMs: 300 }))).to.include({ status: 504 });
        expect(performance.now() - startedAt).to.be.lessThan(5_000);
        await until('the loss is known', () => changes.includes('lost'));
        await proxy.heal();
        await until('it answers again', async () =>
          far.request('echo', bytes('x'), { deadlineMs: 2_000 }).then(
            () => true,
            () => false,
          ),
        );
      });

      it('stops a responder whose caller is out of reach at the deadline', async () => {
        let reason: unknown;
        let isInHand = false;
        await far.respond('slow', async (_, signal) => {
          isInHand = true;
          await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
          reason = signal.reason;
          return bytes('');
        });
        const asking = rejection(near.request('slow', bytes(''), { deadlineMs: 2_000 }));
        await until('it is in hand', () => isInHand);
        await proxy.cut();
        expect(await asking).to.include({ status: 504 });
        await until('the responder knows', () => reason !== undefined);
        expect(reason).to.include({ status: 504 });
      });

      it('drains while it is lost, without waiting for the server', async () => {
        await far.respond('far', async ({ payload }) => payload);
        await far.subscribe('news', () => {});
        await far.subscribe('kept.news', () => {});
        await proxy.cut();
        await until('the loss is known', () => changes.includes('lost'));
        const startedAt = performance.now();
        await far.drain();
        expect(performance.now() - startedAt).to.be.lessThan(15_000);
      });
    });
  });
});

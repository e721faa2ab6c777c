import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { engramError } from '../../services/common/kernel/errors.ts';
import type { Bus, BusMessage, KeptSubjects } from '../../services/common/storage/ports/bus.ts';
import { rejection } from '../support/refusal-of.ts';
import { until } from '../support/until.ts';

/** What a bus under test keeps. */
export const KEPT: readonly KeptSubjects[] = [
  { name: 'KEPT', prefix: 'kept', maxAgeMs: 60_000, maxMessages: 10_000, maxBytes: 4 * 2 ** 20 },
];

/** Every bus passes this; `open` gives one that nobody else uses and that keeps `KEPT`. */
export function busConformance(name: string, open: () => Promise<Bus>): void {
  describe(`bus: ${name}`, () => {
    let bus: Bus;
    beforeEach(async () => {
      bus = await open();
    });
    afterEach(() => bus.drain());
    busRequests(() => bus);
    busMessages(() => bus, '');
    busMessages(() => bus, 'kept.');
    busDrain(() => bus);
  });
}

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (payload: Uint8Array) => new TextDecoder().decode(payload);

export function busRequests(bus: () => Bus): void {
  describe('requests', () => {
    it('get the answer of the responder, who sees subject, payload and headers', async () => {
      await bus().respond('a.b', async ({ subject, payload, headers }) =>
        bytes(`${subject} ${text(payload)} ${headers['request-id']}`),
      );
      const answer = await bus().request('a.b', bytes('question'), {
        deadlineMs: 10_000,
        headers: { 'request-id': 'r1' },
      });
      expect(text(answer)).to.equal('a.b question r1');
    });

    it('fail at once when the subject has no responder', async () => {
      const startedAt = performance.now();
      const error = await rejection(bus().request('nobody', bytes(''), { deadlineMs: 40_000 }));
      expect(error).to.include({
        wireName: 'ServiceUnavailableError',
        status: 503,
        retryable: true,
        retryAfterSeconds: 1,
      });
      expect(performance.now() - startedAt).to.be.lessThan(30_000);
      const responder = await bus().respond('gone', async () => bytes(''));
      await responder.stop();
      expect(await rejection(bus().request('gone', bytes(''), { deadlineMs: 10_000 }))).to.include({ status: 503 });
    });

    it('end at their deadline, and tell the responder', async () => {
      let seen: AbortSignal | undefined;
      await bus().respond('slow', async (_, signal) => {
        seen = signal;
        await aborted(signal);
        return bytes('late');
      });
      const error = await rejection(bus().request('slow', bytes(''), { deadlineMs: 300 }));
      expect(error).to.include({ wireName: 'DeadlineExceededError', status: 504 });
      await until('the handler is aborted', () => seen?.aborted === true);
    });

    it('end when the caller aborts, and tell the responder', async () => {
      const controller = new AbortController();
      let seen: AbortSignal | undefined;
      await bus().respond('slow', async (_, signal) => {
        seen = signal;
        controller.abort(new Error('the client went away'));
        await aborted(signal);
        return bytes('late');
      });
      const options = { deadlineMs: 10_000, signal: controller.signal };
      expect((await rejection(bus().request('slow', bytes(''), options))).message).to.equal('the client went away');
      await until('the handler is aborted', () => seen?.aborted === true);
    });

    it('fail with the error of the responder as it was', async () => {
      await bus().respond('fails', () => {
        throw engramError('LLMPaymentRequiredError', 'Budget used up', { extra: { code: 'x' }, retryAfterSeconds: 7 });
      });
      expect(await rejection(bus().request('fails', bytes(''), { deadlineMs: 10_000 }))).to.deep.include({
        wireName: 'LLMPaymentRequiredError',
        message: 'Budget used up',
        status: 402,
        extra: { code: 'x' },
        retryAfterSeconds: 7,
      });
    });

    it('get answers of several megabytes whole', async () => {
      const large = Uint8Array.from({ length: 3 * 2 ** 20 + 7 }, (_, index) => index * 31);
      await bus().respond('large', async () => large);
      const answer = await bus().request('large', bytes(''), { deadlineMs: 10_000 });
      expect(Buffer.compare(answer, large)).to.equal(0);
    });

    it('go to one responder each, whichever is free', async () => {
      const served = { first: 0, second: 0 };
      const isBoth = Promise.withResolvers<void>();
      const serve = (name: keyof typeof served) => async () => {
        served[name] += 1;
        if (served.first > 0 && served.second > 0) isBoth.resolve();
        // Who has one in hand is not free until the other one has got one.
        await isBoth.promise;
        return bytes(name);
      };
      await bus().respond('shared', serve('first'));
      await bus().respond('shared', serve('second'));
      const answers = await Promise.all(
        Array.from({ length: 4 }, () => bus().request('shared', bytes(''), { deadlineMs: 10_000 })),
      );
      expect(answers).to.have.length(4);
      expect(served.first + served.second).to.equal(4);
      expect(served.second).to.be.at.least(1);
      expect(served.first).to.be.at.least(1);
    });
  });
}

/** `at` is what the subjects begin with. */
export function busMessages(bus: () => Bus, at: string): void {
  describe(at === '' ? 'messages' : 'kept messages', () => {
    it('reach every subscription once, in the order they were published', async () => {
      const seen: string[][] = [[], []];
      for (const list of seen) {
        await bus().subscribe(`${at}run.1`, async ({ payload }) => {
          await sleep(text(payload) === '0' ? 10 : 0);
          list.push(text(payload));
        });
      }
      for (let index = 0; index < 20; index += 1) await bus().publish(`${at}run.1`, bytes(String(index)));
      await until('each has seen all', () => seen.every((list) => list.length === 20));
      const order = Array.from({ length: 20 }, (_, index) => String(index));
      expect(seen).to.deep.equal([order, order]);
    });

    it('reach subscriptions to everything below a subject, and no others', async () => {
      const seen: string[] = [];
      const note = (name: string) => (message: BusMessage) =>
        void seen.push(`${name}:${message.subject.slice(at.length)}`);
      await bus().subscribe(`${at}runs.>`, note('below'));
      await bus().subscribe(`${at}runs.1`, note('exact'));
      await bus().subscribe(`${at}runs`, note('parent'));
      await bus().subscribe(`${at}run.>`, note('other'));
      for (const subject of ['runs.1', 'runs.1.progress', 'runs', 'runsX.1'])
        await bus().publish(`${at}${subject}`, bytes(''));
      await until('four messages', () => seen.length >= 4);
      await sleep(20);
      expect(seen.toSorted()).to.deep.equal(['below:runs.1', 'below:runs.1.progress', 'exact:runs.1', 'parent:runs']);
    });

    it('without a listener are no error, and a failing listener does not affect others', async () => {
      await bus().publish(`${at}void`, bytes(''));
      const seen: string[] = [];
      await bus().subscribe(`${at}news`, ({ payload }) => {
        if (text(payload) === 'bad') throw new Error('listener');
        seen.push(text(payload));
      });
      for (const payload of ['bad', 'good']) await bus().publish(`${at}news`, bytes(payload));
      await until('one message', () => seen.length === 1);
    });

    it('stop when their subscription stops, after the one in hand', async () => {
      const seen: string[] = [];
      let isRunning = false;
      const subscription = await bus().subscribe(`${at}news`, async ({ payload }) => {
        isRunning = true;
        await sleep(20);
        seen.push(text(payload));
      });
      await bus().publish(`${at}news`, bytes('in hand'));
      await until('the handler runs', () => isRunning);
      await subscription.stop();
      expect(seen).to.deep.equal(['in hand']);
      await bus().publish(`${at}news`, bytes('later'));
      await sleep(40);
      expect(seen).to.deep.equal(['in hand']);
    });
  });
}

function busDrain(bus: () => Bus): void {
  describe('draining', () => {
    it('lets requests in flight end, with those they make themselves, and takes no new one', async () => {
      await bus().respond('inner', async () => {
        await sleep(10);
        return bytes('inner');
      });
      let isInHand = false;
      await bus().respond('outer', async () => {
        isInHand = true;
        await sleep(20);
        return bus().request('inner', bytes(''), { deadlineMs: 10_000 });
      });
      const running = bus().request('outer', bytes(''), { deadlineMs: 10_000 });
      await until('the message is in hand', () => isInHand);
      const drained = bus().drain();
      expect(await rejection(bus().request('inner', bytes(''), { deadlineMs: 10_000 }))).to.include({ status: 503 });
      expect(text(await running)).to.equal('inner');
      await drained;
    });

    it('delivers what was published before', async () => {
      const seen: string[] = [];
      for (const subject of ['news', 'kept.news']) {
        await bus().subscribe(subject, async () => {
          await sleep(10);
          seen.push(subject);
        });
        await bus().publish(subject, bytes(''));
        await bus().publish(subject, bytes(''));
      }
      await bus().drain();
      expect(seen.toSorted()).to.deep.equal(['kept.news', 'kept.news', 'news', 'news']);
    });
  });
}

/** Resolves when the caller gave up, and at once when it already has. */
async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}

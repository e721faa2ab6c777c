import { expect } from 'chai';
import { createFakeClock } from '../test/support/kube/fake-clock.ts';
import { type ControllerParts, controlOf } from './controller-parts.ts';
import { createWorkQueue } from './kube-runtime/work-queue.ts';

describe('controllers of both kinds', () => {
  it('try what failed for a day again within half a minute, so that it works soon after its cause is mended', async () => {
    const clock = createFakeClock();
    const parts = { options: { workers: 1 }, frame: { clock } } as unknown as ControllerParts;
    const queue = createWorkQueue({ clock, ...controlOf(parts).queue });
    for (let tries = 0; tries < 3_000; tries += 1) {
      queue.retry('memory/acme');
      await clock.advance(30_000);
      expect(queue.depth, `after ${tries} tries`).to.equal(1);
      queue.done((await queue.next()) ?? '');
    }
    await queue.stop();
  });
});

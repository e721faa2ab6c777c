import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { abortable } from './abortable.ts';
import { retry } from './retry.ts';
import { settlesWithin, withTimeout } from './time-limit.ts';

const never = () => new Promise<never>(() => undefined);
const failure = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: Error) => error.message,
  );

describe('limits on asynchronous work', () => {
  it('give the outcome of work that ends in time, and of late work what the caller says', async () => {
    expect(await withTimeout(Promise.resolve(1), 10_000, () => 2)).to.equal(1);
    expect(await withTimeout(never(), 1, () => 2)).to.equal(2);
    expect(await failure(withTimeout(Promise.reject(new Error('broken')), 10_000, () => 2))).to.equal('broken');
    expect(await settlesWithin(sleep(0), 10_000)).to.equal(true);
    expect(await settlesWithin(never(), 1)).to.equal(false);
  });

  it('leave work alone as soon as the signal is aborted, also when it was before', async () => {
    const controller = new AbortController();
    const waiting = failure(abortable(never(), controller.signal));
    controller.abort(new Error('stop'));
    expect(await waiting).to.equal('stop');
    expect(await failure(abortable(never(), controller.signal))).to.equal('stop');
    expect(await abortable(Promise.resolve(3), undefined)).to.equal(3);
  });

  it('end the pauses of a retry when its signal is aborted', async () => {
    const controller = new AbortController();
    let attempts = 0;
    const failing = async () => {
      attempts += 1;
      if (attempts === 2) controller.abort(new Error('stop'));
      throw new Error('conflict');
    };
    const options = { isRetryable: () => true, signal: controller.signal };
    expect(await failure(retry(failing, options))).to.equal('stop');
    expect(attempts).to.equal(2);
  });
});

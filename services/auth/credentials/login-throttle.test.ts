import { expect } from 'chai';
import { testClock } from '../../../test/support/auth-service.ts';
import { createMemoryDocumentStore } from '../../../test/support/memory/document-store.ts';
import type { EngramError } from '../../common/kernel/errors.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { createLoginFailureCounts, loginFailuresCollection } from '../repositories/login-failures.ts';
import { createLoginThrottle, type LoginThrottle } from './login-throttle.ts';

describe('login throttle', () => {
  let clock: ReturnType<typeof testClock>;
  let store: ReturnType<typeof createMemoryDocumentStore>;
  let reads: number;
  let turnTimeoutMs: number;
  beforeEach(async () => {
    clock = testClock();
    store = createMemoryDocumentStore();
    reads = 0;
    turnTimeoutMs = 0;
    await store.prepare([loginFailuresCollection]);
  });
  /** One of several replicas on the same store. */
  const replica = (): LoginThrottle => {
    const failures = createLoginFailureCounts(store);
    const read: typeof failures.read = (ids) => {
      reads += 1;
      return failures.read(ids);
    };
    return createLoginThrottle({ failures: { ...failures, read }, clock, turnTimeoutMs });
  };
  const fail = async (throttle: LoginThrottle, account: string, address = '192.0.2.1') => {
    using attempt = await throttle.enter(account, address);
    await attempt.fail();
  };
  const succeed = async (throttle: LoginThrottle, account: string, address = '192.0.2.1') => {
    using attempt = await throttle.enter(account, address);
    attempt.succeed();
  };
  /** Seconds to wait; 0 when the attempt was let in. */
  const wait = async (work: Promise<unknown>): Promise<number> =>
    work.then(
      () => 0,
      (error: unknown) => (error as EngramError).retryAfterSeconds ?? Number.NaN,
    );
  const rows = () => store.count(SYSTEM_SCOPE, loginFailuresCollection, {});

  it('allows ten failures of an account from one address over all replicas', async () => {
    const replicas = [replica(), replica(), replica()];
    for (let count = 0; count < 10; count += 1) {
      const throttle = replicas[count % 3];
      if (throttle !== undefined) await fail(throttle, 'ada@example.com');
    }
    for (const throttle of [...replicas, replica()])
      expect(await wait(succeed(throttle, 'ADA@example.com'))).to.equal(10);
    clock.advance(10_000);
    for (const throttle of replicas) expect(await wait(succeed(throttle, 'ada@example.com'))).to.equal(0);
    await fail(replicas[0] ?? replica(), 'ada@example.com');
    for (const throttle of replicas) expect(await wait(succeed(throttle, 'ada@example.com'))).to.equal(10);
    expect(await wait(succeed(replica(), 'grace@example.com')), 'another account').to.equal(0);
    expect(await wait(succeed(replica(), 'ada@example.com', '192.0.2.2')), 'another address').to.equal(0);
  });

  it('allows a hundred failures of an account over all addresses', async () => {
    const replicas = [replica(), replica()];
    for (let count = 0; count < 100; count += 1) {
      const throttle = replicas[count % 2];
      if (throttle !== undefined) await fail(throttle, 'ada@example.com', `192.0.2.${count}`);
    }
    for (const throttle of [...replicas, replica()]) {
      expect(await wait(succeed(throttle, 'ada@example.com', '198.51.100.1'))).to.equal(5);
      expect(await wait(succeed(throttle, 'grace@example.com', '192.0.2.1'))).to.equal(0);
    }
  });

  it('allows a hundred failures of a network over all accounts', async () => {
    const one = replica();
    for (let count = 0; count < 100; count += 1) await fail(one, `user-${count}@example.com`, `2001:db8::${count}`);
    for (const throttle of [one, replica()]) {
      expect(await wait(succeed(throttle, 'ada@example.com', '2001:db8::ffff:1'))).to.equal(1);
      expect(await wait(succeed(throttle, 'ada@example.com', '2001:db8:0:1::1'))).to.equal(0);
    }
  });

  it('does not apply the limit of an address to accounts that have logged in from it', async () => {
    const throttle = replica();
    await succeed(throttle, 'ada@example.com');
    for (let count = 0; count < 100; count += 1) await fail(throttle, `user-${count}@example.com`);
    expect(await wait(succeed(throttle, 'grace@example.com'))).to.equal(1);
    expect(await wait(succeed(throttle, 'ada@example.com'))).to.equal(0);
    for (let count = 0; count < 10; count += 1) await fail(throttle, 'ada@example.com');
    expect(await wait(succeed(throttle, 'ada@example.com')), 'its own failures').to.equal(10);
  });

  it('makes a few attempts at a time wait for an address that has no failures left', async () => {
    turnTimeoutMs = 60_000;
    const throttle = replica();
    for (let count = 0; count < 100; count += 1) await fail(throttle, `user-${count}@example.com`);
    const outcomes = Array.from({ length: 8 }, (_, count) => wait(succeed(throttle, `guest-${count}@example.com`)));
    expect(await Promise.all(outcomes.slice(5))).to.deep.equal([1, 1, 1]);
    clock.advance(10_000);
    expect(await Promise.all(outcomes.slice(0, 5))).to.deep.equal([0, 0, 0, 0, 0]);
  });

  it('does not exceed the limits with concurrent attempts', async () => {
    const throttle = replica();
    const results = await Promise.all(Array.from({ length: 50 }, () => wait(fail(throttle, 'ada@example.com'))));
    expect(results.filter((seconds) => seconds === 0)).to.have.length(10);
    await fail(throttle, 'grace@example.com');
    const other = replica();
    const late = await Promise.all(Array.from({ length: 50 }, () => wait(fail(other, 'grace@example.com'))));
    expect(late.filter((seconds) => seconds === 0)).to.have.length(9);
  });

  it('counts concurrent failures at several replicas without losing any', async () => {
    const replicas = Array.from({ length: 5 }, replica);
    await Promise.all(
      replicas.flatMap((throttle) => [fail(throttle, 'a@example.com'), fail(throttle, 'a@example.com')]),
    );
    expect(await wait(succeed(replica(), 'a@example.com'))).to.equal(10);
  });

  it('writes nothing for a success, and does not ask the store when it knows that no failure is left', async () => {
    const throttle = replica();
    for (let count = 0; count < 200; count += 1) await succeed(throttle, 'ada@example.com');
    expect(await rows()).to.equal(0);
    for (let count = 0; count < 10; count += 1) await fail(replica(), 'ada@example.com');
    expect(await wait(succeed(throttle, 'ada@example.com'))).to.equal(10);
    const before = reads;
    for (let count = 0; count < 100; count += 1) await wait(succeed(throttle, 'ada@example.com'));
    expect(reads).to.equal(before);
  });

  it('stores three entries for a failure, without the address, until they are forgiven', async () => {
    const throttle = replica();
    await fail(throttle, 'ada@example.com');
    await throttle.sweep();
    const { items } = await store.find(SYSTEM_SCOPE, loginFailuresCollection, { limit: 10 });
    expect(items).to.have.length(3);
    expect(JSON.stringify(items)).not.to.contain('ada').and.not.to.contain('192.0');
    clock.advance(10_001);
    await throttle.sweep();
    expect(await rows()).to.equal(0);
  });

  it('returns an attempt when the store fails, and refuses the login', async () => {
    const failures = createLoginFailureCounts(store);
    let isAway = true;
    const read: typeof failures.read = async (ids) => {
      if (isAway) throw new Error('away');
      return failures.read(ids);
    };
    const throttle = createLoginThrottle({ failures: { ...failures, read }, clock });
    for (let count = 0; count < 20; count += 1) {
      const error: unknown = await throttle.enter('ada@example.com', '').catch((thrown: unknown) => thrown);
      expect(error).to.have.property('message', 'away');
    }
    isAway = false;
    expect(await wait(succeed(throttle, 'ada@example.com', ''))).to.equal(0);
  });
});

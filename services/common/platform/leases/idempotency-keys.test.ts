import { expect } from 'chai';
import { createMemoryDocumentStore } from '../../../../test/support/memory/document-store.ts';
import { SYSTEM_SCOPE } from '../../kernel/scope.ts';
import { createLogger } from '../observability/logger.ts';
import { createIdempotencyKeys, idempotencyKeysCollection, type KeyedRequest } from './idempotency-keys.ts';

const REQUEST: KeyedRequest = { user: 'u', tenant: 't', key: 'key of the client', fingerprint: 'f' };

async function twoReplicas() {
  const store = createMemoryDocumentStore();
  await store.prepare([idempotencyKeysCollection]);
  let nowMs = Date.parse('2026-01-01');
  let made = 0;
  const clock = { now: () => new Date(nowMs), monotonicMs: () => nowMs };
  const ids = { uuid: () => `holder-${made++}` };
  const replica = () =>
    createIdempotencyKeys({ store, clock, ids, logger: createLogger({ level: 'error', name: 't' }) });
  const advance = (ms: number) => {
    nowMs += ms;
  };
  const records = () => store.find(SYSTEM_SCOPE, idempotencyKeysCollection, { limit: 10 });
  return { one: replica(), two: replica(), advance, records };
}

const failure = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

describe('idempotency keys', () => {
  it('give the first answer in another process, for a day', async () => {
    const { one, two, advance, records } = await twoReplicas();
    let count = 0;
    const work = async () => ({ json: { count: ++count } });
    expect(await one.once(REQUEST, work)).to.equal(null);
    expect(await two.once(REQUEST, work)).to.deep.equal({ json: { count: 1 } });
    expect(await two.once({ ...REQUEST, user: 'other' }, work)).to.equal(null);
    expect(JSON.stringify((await records()).items)).not.to.match(/count"|key of the client/);
    advance(24 * 3_600_000 + 1);
    expect(await one.once(REQUEST, work)).to.equal(null);
    expect(count).to.equal(3);
    expect((await records()).items).to.have.length(1);
  });

  it('refuse another request, and the same one while it is carried out', async () => {
    const { one, two } = await twoReplicas();
    const { promise, resolve } = Promise.withResolvers<{ json: string }>();
    const first = one.once(REQUEST, () => promise);
    const never = () => expect.fail('carried out twice');
    expect(await failure(two.once({ ...REQUEST, fingerprint: 'g' }, never))).to.include({ status: 422 });
    expect(await failure(two.once(REQUEST, never))).to.include({ status: 409, retryAfterSeconds: 10 });
    resolve({ json: 'done' });
    expect(await first).to.equal(null);
    expect(await two.once(REQUEST, never)).to.deep.equal({ json: 'done' });
  });

  it('carry out again what failed, and what a killed process left', async () => {
    const { one, two, advance } = await twoReplicas();
    expect(await failure(one.once(REQUEST, () => Promise.reject(new Error('away'))))).to.include({ message: 'away' });
    const operations: string[] = [];
    // Never ends, like the work of a killed process.
    void one.once(REQUEST, (operation) => {
      operations.push(operation);
      return new Promise(() => undefined);
    });
    await new Promise(setImmediate);
    advance(10_001);
    const second = async (operation: string) => {
      operations.push(operation);
      return { json: 'second' };
    };
    expect(await two.once(REQUEST, second)).to.equal(null);
    expect(new Set(operations).size, 'one operation').to.equal(1);
    advance(24 * 3_600_000);
    await two.once(REQUEST, second);
    expect(new Set(operations).size, 'another one a day later').to.equal(2);
  });
});

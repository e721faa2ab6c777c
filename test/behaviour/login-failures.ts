import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createLoginThrottle } from '../../services/auth/credentials/login-throttle.ts';
import {
  createLoginFailureCounts,
  type LoginFailureCounts,
  loginFailuresCollection,
} from '../../services/auth/repositories/login-failures.ts';
import type { EngramError } from '../../services/common/kernel/errors.ts';
import { SYSTEM_SCOPE } from '../../services/common/kernel/scope.ts';
import { testClock } from '../support/auth-service.ts';
import type { SharedDocuments } from '../support/document-stores.ts';

/** What the counts of failed logins promise over any document store, with two processes at it. */
export function loginFailuresBehaviour(name: string, open: () => Promise<SharedDocuments>): void {
  describe(`counts of failed logins over ${name}`, () => {
    let subject: SharedDocuments;
    let counts: readonly [LoginFailureCounts, LoginFailureCounts];
    before(async () => {
      subject = await open();
      for (const store of subject.stores) await store.prepare([loginFailuresCollection]);
      counts = [createLoginFailureCounts(subject.stores[0]), createLoginFailureCounts(subject.stores[1])];
    });
    after(() => subject.dispose());

    it('lose no failure when two processes count the same thing at the same time', async () => {
      const [id, other] = [randomUUID(), randomUUID()];
      const failures = [id, other].map((each) => ({ id: each, forgivenAfterMs: 1000 }));
      const all = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? counts[0] : counts[1]));
      await Promise.all(all.map((each) => each.add(failures, 5_000_000)));
      for (const each of counts) {
        expect(Object.fromEntries(await each.read([id, other, 'unknown']))).to.deep.equal({
          [id]: 5_020_000,
          [other]: 5_020_000,
        });
      }
    });

    it('forget what is forgiven, and count anew from then on', async () => {
      const id = randomUUID();
      const failure = [{ id, forgivenAfterMs: 1000 }];
      await counts[0].add(failure, 6_000_000);
      await counts[1].add(failure, 6_000_500);
      await counts[0].sweep(6_002_000);
      expect((await counts[1].read([id])).get(id)).to.equal(6_002_000);
      await counts[1].add(failure, 9_000_000);
      expect((await counts[0].read([id])).get(id)).to.equal(9_001_000);
      await counts[0].sweep(9_001_001);
      expect((await counts[1].read([id])).size).to.equal(0);
      expect(await subject.stores[0].count(SYSTEM_SCOPE, loginFailuresCollection, {})).to.equal(0);
    });

    it('hold the limit of a throttle in each process for both of them', async () => {
      const clock = testClock();
      const throttles = counts.map((failures) => createLoginThrottle({ failures, clock }));
      const account = `${randomUUID()}@example.com`;
      const refusals: (number | undefined)[] = [];
      for (let turn = 0; turn < 14; turn += 1) {
        const throttle = throttles[turn % 2];
        try {
          using attempt = await throttle?.enter(account, '192.0.2.1');
          await attempt?.fail();
        } catch (error) {
          refusals.push((error as EngramError).retryAfterSeconds);
        }
      }
      expect(refusals).to.deep.equal([10, 10, 10, 10]);
    });
  });
}

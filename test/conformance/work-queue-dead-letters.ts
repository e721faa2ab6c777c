import { expect } from 'chai';
import type { Page } from '../../services/common/kernel/result-page.ts';
import { SYSTEM_SCOPE } from '../../services/common/kernel/scope.ts';
import type { DeadLetter } from '../../services/common/ports/work-queue.ts';
import { VersionConflictError } from '../../services/common/storage/ports/document-store.ts';
import { rejection } from '../support/refusal-of.ts';
import { newDataset } from './document-store-subject.ts';
import { claim, complete, enqueue, mustClaim, newKind, type QueueSubject } from './work-queue-subject.ts';

/** Jobs that were given up, and jobs that are taken back before anybody works on them. */
export function deadLettersConformance(current: () => QueueSubject): void {
  describe('dead letters', () => {
    it('list dead letters in enqueue order, page by page, with what they were to do', async () => {
      const { queue } = current();
      const kind = newKind();
      const scope = newDataset();
      const ids: string[] = [];
      for (let number = 0; number < 5; number += 1) {
        ids.push(await enqueue(current(), { kind, payload: { number } }, scope));
        await queue.fail(await mustClaim(current(), kind), { name: 'E', message: 'm' }, { retry: false });
      }
      const living = await enqueue(current(), { kind }, scope);
      const found: DeadLetter[] = [];
      let after: string | null = null;
      do {
        const page: Page<DeadLetter> = await queue.deadLetters.list(SYSTEM_SCOPE, { limit: 2, after });
        expect(page.items.length).to.be.at.most(2);
        found.push(...page.items.filter((letter) => letter.kind === kind));
        after = page.next;
      } while (after !== null);
      expect(found.map(({ id }) => id)).to.deep.equal(ids);
      expect(found[3]).to.deep.include({ tenant: scope.tenant, dataset: scope.dataset, payload: { number: 3 } });
      expect(await queue.deadLetters.get(SYSTEM_SCOPE, living)).to.equal(null);
      expect(await queue.deadLetters.get(SYSTEM_SCOPE, 'unknown')).to.equal(null);
    });

    it('withdraw a job only from the state it is said to be in', async () => {
      const { queue, subject } = current();
      const kind = newKind();
      const withdraw = (id: string, state: 'queued' | 'dead') =>
        rejection(subject.store.commit(SYSTEM_SCOPE, queue.withdrawWrites(id, state)));
      const id = await enqueue(current(), { kind });
      expect(await withdraw(id, 'dead')).to.be.instanceOf(VersionConflictError);
      const job = await mustClaim(current(), kind);
      expect(await withdraw(id, 'queued')).to.be.instanceOf(VersionConflictError);
      await queue.fail(job, { name: 'E', message: 'm' }, { retry: false });
      await subject.store.commit(SYSTEM_SCOPE, queue.withdrawWrites(id, 'dead'));
      expect(await queue.deadLetters.get(SYSTEM_SCOPE, id)).to.equal(null);
      const waiting = await enqueue(current(), { kind });
      await subject.store.commit(SYSTEM_SCOPE, queue.withdrawWrites(waiting, 'queued'));
      expect(await claim(current(), kind)).to.equal(null);
    });

    it('put a dead letter back as new, unless its idempotency key is taken by then', async () => {
      const { queue } = current();
      const kind = newKind();
      const scope = newDataset();
      const id = await enqueue(current(), { kind, idempotencyKey: 'once' }, scope);
      await queue.fail(await mustClaim(current(), kind), { name: 'E', message: 'm' }, { retry: false });
      const second = await enqueue(current(), { kind, idempotencyKey: 'once' }, scope);
      expect(await queue.deadLetters.replay(SYSTEM_SCOPE, id)).to.equal(false);
      const other = await mustClaim(current(), kind);
      expect(other.id).to.equal(second);
      await complete(current(), other);
      expect(await queue.deadLetters.replay(SYSTEM_SCOPE, id)).to.equal(true);
      expect(await queue.deadLetters.replay(SYSTEM_SCOPE, id)).to.equal(false);
      expect(await mustClaim(current(), kind)).to.include({ id, attempt: 1 });
      expect(await queue.deadLetters.replay(SYSTEM_SCOPE, 'unknown')).to.equal(false);
    });
  });
}

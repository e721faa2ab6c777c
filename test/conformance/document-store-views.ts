import { expect } from 'chai';
import type { Page } from '../../services/common/kernel/result-page.ts';
import {
  type DocumentStore,
  insert,
  remove,
  type Stored,
  update,
} from '../../services/common/storage/ports/document-store.ts';
import { rejection } from '../support/refusal-of.ts';
import { newTenant, type Thing, tenantThings } from './document-store-subject.ts';

/** Documents of one moment, while others write. */
export function documentViewConformance(store: () => DocumentStore): void {
  describe('views', () => {
    it('read everything as it stood at one moment, whatever is written between the pages', async () => {
      const scope = newTenant();
      for (let at = 0; at < 30; at++)
        await store().commit(scope, [insert(tenantThings, `thing-${10 + at}`, { rank: 0 })]);
      const view = await store().view();
      try {
        const seen: string[] = [];
        let after: string | null = null;
        do {
          const page: Page<Stored<Thing>> = await view.find(scope, tenantThings, {
            sort: [{ field: 'id' }],
            limit: 7,
            after,
          });
          seen.push(...page.items.map(({ id, value, version }) => `${id} ${value.rank} ${version}`));
          after = page.next;
          const at = seen.length;
          await store().commit(scope, [
            insert(tenantThings, `thing-${at}-late`, { rank: 1 }),
            update(tenantThings, `thing-${39}`, { set: { rank: at } }),
            ...(at < 28 ? [remove(tenantThings, `thing-${10 + at + 1}`)] : []),
          ]);
        } while (after !== null);
        expect(seen).to.deep.equal(Array.from({ length: 30 }, (_, at) => `thing-${10 + at} 0 1`));
        expect((await store().find(scope, tenantThings, { limit: 100 })).items).to.have.length(32);
      } finally {
        await view.close();
      }
    });

    it('never see a part of a commit', async () => {
      const scope = newTenant();
      const pair = (rank: number) => ['one', 'two'].map((id) => update(tenantThings, id, { set: { rank } }));
      await store().commit(scope, [insert(tenantThings, 'one', { rank: 0 }), insert(tenantThings, 'two', { rank: 0 })]);
      let isOver = false;
      const writing = (async () => {
        for (let rank = 1; !isOver; rank++) await store().commit(scope, pair(rank));
      })();
      try {
        for (let round = 0; round < 10; round++) {
          const view = await store().view();
          const one = await view.find(scope, tenantThings, { where: { id: 'one' }, limit: 1 });
          // Others write meanwhile.
          await store().commit(scope, [update(tenantThings, 'one', { set: {} })]);
          const two = await view.find(scope, tenantThings, { where: { id: 'two' }, limit: 1 });
          expect(one.items[0]?.value.rank).to.equal(two.items[0]?.value.rank);
          await view.close();
        }
      } finally {
        isOver = true;
        await writing;
      }
    });

    it('see what was acknowledged before', async () => {
      const scope = newTenant();
      await store().commit(scope, [insert(tenantThings, 'a', { rank: 1 })]);
      const view = await store().view();
      expect((await view.find(scope, tenantThings, { limit: 1 })).items[0]?.value.rank).to.equal(1);
      await view.close();
      await view.close();
      expect(await rejection(view.find(scope, tenantThings, { limit: 1 }))).to.be.an('error');
    });
  });
}

import { expect } from 'chai';
import { type DocumentStore, insert, remove, update } from '../../services/common/storage/ports/document-store.ts';
import { rejection } from '../support/refusal-of.ts';
import { newTenant, type Thing, tenantThings } from './document-store-subject.ts';

const HOSTILE = [
  "'; DROP TABLE c_tenant_things; --",
  '" OR 1=1 --',
  '$where',
  '{"$gt": ""}',
  '../../etc/passwd',
  'a/b\\c',
  '%_*?[a-z]',
  'line\nbreak\r\ttab',
  'NUL \u0000 inside',
  '\u0000',
  '\ufeffbyte order mark',
  'عربى עברית \u202e right to left',
  'e\u0301 is not \u00e9',
  '😀👩‍👩‍👧‍👦',
  '\u{10ffff}',
  '__proto__',
  'constructor',
  ' leading and trailing ',
  'x'.repeat(1000),
];

export function documentTextConformance(store: () => DocumentStore): void {
  describe('text', () => {
    it('of any kind works as an id', async () => {
      const scope = newTenant();
      await store().commit(
        scope,
        HOSTILE.map((id) => insert(tenantThings, id, { text: id })),
      );
      for (const id of HOSTILE) {
        expect((await store().get(scope, tenantThings, id))?.value.text).to.equal(id);
        const found = await store().find(scope, tenantThings, { where: { id }, limit: 5 });
        expect(found.items.map((item) => item.id)).to.deep.equal([id]);
        const [result] = await store().commit(scope, [update(tenantThings, id, { set: { name: id } })]);
        expect(result?.stored).to.deep.include({ id, version: 2, value: { text: id, name: id } });
      }
      expect((await store().getMany(scope, tenantThings, HOSTILE)).map(({ id }) => id)).to.deep.equal(HOSTILE);
      const removed = await store().commit(scope, [...HOSTILE.map((id) => remove(tenantThings, id))]);
      expect(removed.every(({ changed }) => changed === 1)).to.equal(true);
    });

    it('of any kind works as a value, in filters, unique keys and cursors', async () => {
      const scope = newTenant();
      await store().commit(
        scope,
        HOSTILE.map((text, index) => insert(tenantThings, `i${index}`, { name: text, key: text, text })),
      );
      for (const [index, text] of HOSTILE.entries()) {
        const { items } = await store().find(scope, tenantThings, { where: { name: text }, limit: 5 });
        expect(items.map(({ id, value }) => [id, value])).to.deep.equal([
          [`i${index}`, { name: text, key: text, text }],
        ]);
        expect(await store().count(scope, tenantThings, { name: { in: [text] } })).to.equal(1);
        expect(await store().count(scope, tenantThings, { name: { prefix: text } })).to.be.at.least(1);
        const again = store().commit(scope, [insert(tenantThings, 'again', { key: text })]);
        expect(await rejection(again)).to.include({ name: 'DuplicateKeyError' });
      }
      const seen: string[] = [];
      for (let after: string | null = null; ; ) {
        const page: Awaited<ReturnType<typeof nextPage>> = await nextPage(after);
        seen.push(...page.items.map(({ value }) => value.name ?? ''));
        after = page.next;
        if (after === null) break;
      }
      expect(seen.toSorted()).to.deep.equal(HOSTILE.toSorted());

      function nextPage(after: string | null) {
        return store().find<Thing>(scope, tenantThings, { sort: [{ field: 'name' }], limit: 2, after });
      }
    });

    it('keeps lone surrogates in values, compares them as U+FFFD, and refuses them in ids', async () => {
      const scope = newTenant();
      const text = 'high \ud83d and low \ude00 alone';
      await store().commit(scope, [insert(tenantThings, 'a', { name: text, text })]);
      expect((await store().get(scope, tenantThings, 'a'))?.value).to.deep.equal({ name: text, text });
      expect(await store().count(scope, tenantThings, { name: text })).to.equal(1);
      expect(await store().count(scope, tenantThings, { name: text.toWellFormed() })).to.equal(1);
      const [changed] = await store().commit(scope, [update(tenantThings, 'a', { where: { text }, set: { rank: 1 } })]);
      expect(changed?.changed).to.equal(1);
      const refused = await rejection(store().commit(scope, [insert(tenantThings, 'x\ud83d', {})]));
      expect(refused).to.include({ wireName: 'InvalidRequestError', status: 400 });
      await store().commit(scope, [insert(tenantThings, 'x\ufffd', {})]);
      expect(await store().get(scope, tenantThings, 'x\ud83d')).to.equal(null);
      expect((await store().commit(scope, [remove(tenantThings, 'x\ud83d')]))[0]?.changed).to.equal(0);
    });

    it('refuses empty ids and ids of more than 1024 characters', async () => {
      for (const id of ['', 'x'.repeat(1025)]) {
        const refused = await rejection(store().commit(newTenant(), [insert(tenantThings, id, {})]));
        expect(refused).to.include({ wireName: 'InvalidRequestError' });
      }
    });

    it('keeps documents of several megabytes, odd keys and numbers as JSON does', async () => {
      const scope = newTenant();
      const value = JSON.parse(
        '{"__proto__":{"polluted":1},"":"empty","a.b":"dotted","$set":1,"big":9007199254740991,"small":5e-324,"minus":-0.1}',
      ) as Thing;
      const large = 'long text \u0000 é 😀 '.repeat(300_000);
      await store().commit(scope, [insert(tenantThings, 'odd', value), insert(tenantThings, 'large', { text: large })]);
      const odd = await store().get(scope, tenantThings, 'odd');
      expect(JSON.stringify(odd?.value)).to.equal(JSON.stringify(value));
      expect((await store().get(scope, tenantThings, 'large'))?.value.text === large).to.equal(true);
      await store().commit(scope, [update(tenantThings, 'odd', { set: { rank: 1 } })]);
      const changed = await store().get(scope, tenantThings, 'odd');
      expect(JSON.stringify(changed?.value)).to.equal(JSON.stringify({ ...value, rank: 1 }));
    });

    it('leaves fields that a set names as undefined as they are', async () => {
      const scope = newTenant();
      await store().commit(scope, [insert(tenantThings, 'a', { name: 'n', rank: 1 })]);
      const set = { name: undefined, rank: 2 } as unknown as Thing;
      await store().commit(scope, [update(tenantThings, 'a', { set })]);
      expect((await store().get(scope, tenantThings, 'a'))?.value).to.deep.equal({ name: 'n', rank: 2 });
    });
  });
}

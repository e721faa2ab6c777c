import { expect } from 'chai';
import type { JsonObject } from '../../services/common/kernel/json.ts';
import { seededRandom } from '../../services/common/kernel/random.ts';
import type { Scope } from '../../services/common/kernel/scope.ts';
import { rulesOf } from '../../services/common/storage/documents/rules/collection-rules.ts';
import { conditionsOf, matches } from '../../services/common/storage/documents/rules/filter.ts';
import { compareIndexValues, totalOrder } from '../../services/common/storage/documents/rules/ordering.ts';
import { storedField } from '../../services/common/storage/documents/rules/stored-field.ts';
import {
  type DocumentStore,
  type Filter,
  insert,
  type Query,
  type Stored,
  update,
} from '../../services/common/storage/ports/document-store.ts';
import { rejection } from '../support/refusal-of.ts';
import { newTenant, numberedThings, type Thing, tenantThings } from './document-store-subject.ts';

export function documentQueryConformance(store: () => DocumentStore): void {
  const fill = async (things: Readonly<Record<string, Thing>>): Promise<Scope> => {
    const scope = newTenant();
    await store().commit(
      scope,
      Object.entries(things).map(([id, thing]) => insert(tenantThings, id, thing)),
    );
    return scope;
  };
  const idsOf = async (scope: Scope, where: Filter<Thing>): Promise<string> => {
    const { items, next } = await store().find(scope, tenantThings, { where, limit: 100 });
    expect(next).to.equal(null);
    expect(await store().count(scope, tenantThings, where)).to.equal(items.length);
    return items.map(({ id }) => id).join(' ');
  };

  describe('filters', () => {
    it('compare equality by type and value', async () => {
      const scope = await fill({
        a: { mixed: 1 },
        b: { mixed: true },
        c: { mixed: '1' },
        d: { mixed: null },
        e: {},
        f: { mixed: 0 },
        g: { mixed: false },
        h: { mixed: '' },
      });
      expect(await idsOf(scope, { mixed: 1 })).to.equal('a');
      expect(await idsOf(scope, { mixed: true })).to.equal('b');
      expect(await idsOf(scope, { mixed: '1' })).to.equal('c');
      expect(await idsOf(scope, { mixed: null })).to.equal('d e');
      expect(await idsOf(scope, { mixed: false })).to.equal('g');
      expect(await idsOf(scope, { mixed: '' })).to.equal('h');
      expect(await idsOf(scope, { mixed: { notEquals: 1 } })).to.equal('b c d e f g h');
      expect(await idsOf(scope, { mixed: { notEquals: null } })).to.equal('a b c f g h');
      expect(await idsOf(scope, { mixed: { exists: true } })).to.equal('a b c f g h');
      expect(await idsOf(scope, { mixed: { exists: false } })).to.equal('d e');
      expect(await idsOf(scope, { mixed: { in: [1, '1', null] } })).to.equal('a c d e');
      expect(await idsOf(scope, { mixed: { in: [true, 0] } })).to.equal('b f');
      expect(await idsOf(scope, { mixed: { in: [] } })).to.equal('');
      expect(await idsOf(scope, { mixed: {} })).to.equal('a b c d e f g h');
    });

    it('hold ranges to the type of their bound', async () => {
      const scope = await fill({
        a: { mixed: -1.5 },
        b: { mixed: 2 },
        c: { mixed: 'b' },
        d: { mixed: 'ba' },
        e: { mixed: true },
        f: { mixed: null },
        g: { mixed: 1e300 },
      });
      expect(await idsOf(scope, { mixed: { greaterThan: -1.5 } })).to.equal('b g');
      expect(await idsOf(scope, { mixed: { atLeast: -1.5, lessThan: 3 } })).to.equal('a b');
      expect(await idsOf(scope, { mixed: { atMost: 2 } })).to.equal('a b');
      expect(await idsOf(scope, { mixed: { greaterThan: 'b' } })).to.equal('d');
      expect(await idsOf(scope, { mixed: { atLeast: '' } })).to.equal('c d');
      expect(await idsOf(scope, { mixed: { lessThan: 'ba' } })).to.equal('c');
    });

    it('take prefixes literally', async () => {
      const scope = await fill({
        a: { name: 'a%b' },
        b: { name: 'aXb' },
        c: { name: 'a_b' },
        d: { name: 'A%b' },
        e: { name: 'a' },
        f: { name: '\u{10ffff}x' },
        g: { name: '\ud7ffz' },
        h: { name: null },
        i: { name: 'a\u{10ffff}\u{10ffff}' },
      });
      expect(await idsOf(scope, { name: { prefix: 'a%' } })).to.equal('a');
      expect(await idsOf(scope, { name: { prefix: 'a_' } })).to.equal('c');
      expect(await idsOf(scope, { name: { prefix: 'a' } })).to.equal('a b c e i');
      expect(await idsOf(scope, { name: { prefix: '' } })).to.equal('a b c d e f g i');
      expect(await idsOf(scope, { name: { prefix: '\u{10ffff}' } })).to.equal('f');
      expect(await idsOf(scope, { name: { prefix: '\ud7ff' } })).to.equal('g');
      expect(await idsOf(scope, { name: { prefix: 'a\u{10ffff}' } })).to.equal('i');
      expect(await idsOf(scope, { id: { prefix: 'a' } })).to.equal('a');
    });

    it('reach into objects, and see objects and lists only as present', async () => {
      const scope = await fill({
        a: { nested: { deep: 'x' } },
        b: { nested: {} },
        c: {},
        d: { nested: { deep: { no: 'scalar' } } as unknown as { deep: string } },
      });
      expect(await idsOf(scope, { 'nested.deep': 'x' })).to.equal('a');
      expect(await idsOf(scope, { 'nested.deep': { exists: true } })).to.equal('a d');
      expect(await idsOf(scope, { 'nested.deep': '{"no":"scalar"}' })).to.equal('');
    });

    it('take lists of any length', async () => {
      const scope = await fill({ a: { rank: 1 }, b: { rank: 99_999 }, c: { rank: -1 } });
      const numbers = Array.from({ length: 50_000 }, (_, index) => index * 3);
      expect(await idsOf(scope, { rank: { in: numbers } })).to.equal('b');
    });

    it('never widen for an undefined value or an unknown condition', async () => {
      const scope = await fill({ a: { name: 'x' } });
      for (const where of [{ name: undefined }, { name: { equals: undefined } }, { name: { like: 'x' } }]) {
        await rejection(store().count(scope, tenantThings, where as unknown as Filter<Thing>));
      }
    });
  });

  describe('pages', () => {
    it('order null, numbers, text by code point, booleans', async () => {
      const values = [null, -2, 1, 1.5, '', 'Z', 'a', 'é', '\ue000', '\u{1f600}', false, true];
      const scope = await fill(Object.fromEntries(values.map((mixed, index) => [`i${index}`, { mixed }])));
      for (const descending of [false, true]) {
        const { items } = await store().find(scope, tenantThings, {
          sort: [{ field: 'mixed', descending }],
          limit: 50,
        });
        const expected = descending ? values.toReversed() : values;
        expect(items.map(({ value }) => value.mixed)).to.deep.equal(expected);
      }
    });

    it('break ties by id in the direction of the last sort key', async () => {
      const scope = await fill({ b: { rank: 1 }, a: { rank: 1 }, c: { rank: 0 } });
      const order = async (descending: boolean) => {
        const page = await store().find(scope, tenantThings, { sort: [{ field: 'rank', descending }], limit: 9 });
        return page.items.map(({ id }) => id).join('');
      };
      expect(await order(false)).to.equal('cab');
      expect(await order(true)).to.equal('bac');
    });

    it('show each document once while others are inserted, changed and removed', async () => {
      const scope = newTenant();
      const fixed = Array.from({ length: 60 }, (_, index) => `f${String(index).padStart(2, '0')}`);
      await store().commit(
        scope,
        fixed.map((id, index) => insert(tenantThings, id, { rank: index % 5 === 0 ? null : index % 7 })),
      );
      const seen: string[] = [];
      let after: string | null = null;
      let round = 0;
      do {
        const page: Awaited<ReturnType<DocumentStore['find']>> = await store().find(scope, tenantThings, {
          sort: [{ field: 'rank', descending: true }],
          limit: 7,
          after,
        });
        seen.push(...page.items.map(({ id }) => id));
        after = page.next;
        round += 1;
        await store().commit(scope, [
          insert(tenantThings, `x${round}`, { rank: round % 8 }),
          insert(tenantThings, `n${round}`, {}),
          update(tenantThings, `x${round - 1}`, { set: { rank: 9 - round } }),
        ]);
      } while (after !== null);
      expect(seen.filter((id) => id.startsWith('f')).sort()).to.deep.equal(fixed);
    });

    it('end with a null cursor when the last page is full', async () => {
      const scope = await fill({ a: {}, b: {}, c: {}, d: {} });
      const first = await store().find(scope, tenantThings, { limit: 2 });
      const second = await store().find(scope, tenantThings, { limit: 2, after: first.next });
      expect(first.next).to.be.a('string');
      expect(second).to.deep.include({ next: null });
      expect(second.items.map(({ id }) => id)).to.deep.equal(['c', 'd']);
    });

    it('pass over an offset, from the start and from a cursor', async () => {
      const scope = await fill({ a: {}, b: {}, c: {}, d: {}, e: {} });
      const offset = await store().find(scope, tenantThings, { limit: 2, offset: 1 });
      expect(offset.items.map(({ id }) => id)).to.deep.equal(['b', 'c']);
      const on = await store().find(scope, tenantThings, { limit: 5, offset: 1, after: offset.next });
      expect(on.items.map(({ id }) => id)).to.deep.equal(['e']);
      expect((await store().find(scope, tenantThings, { limit: 5, offset: 50 })).items).to.deep.equal([]);
    });

    it('refuse a cursor of another order, or one that is none', async () => {
      const scope = await fill({ a: {}, b: {} });
      const { next } = await store().find(scope, tenantThings, { limit: 1 });
      for (const after of [next, 'nonsense', 'WyJpZCJd']) {
        const query: Query<Thing> = { sort: [{ field: 'rank' }], limit: 1, after };
        const error = await rejection(store().find(scope, tenantThings, query));
        expect(error).to.include({ wireName: 'InvalidRequestError', status: 400 });
      }
    });

    it('refuse limits outside 1 to 1000', async () => {
      for (const limit of [0, -1, 1001, 1.5, Number.NaN]) {
        await rejection(store().find(newTenant(), tenantThings, { limit }));
      }
    });

    it('answer any filter, order and page as a scan of all documents does', async () => {
      const scope = newTenant();
      const random = integers(7);
      const writes = Array.from({ length: 300 }, (_, index) => insert(tenantThings, `d${index}`, randomThing(random)));
      const all = (await store().commit(scope, writes)).flatMap(({ stored }) => stored ?? []);
      for (let round = 0; round < 100; round += 1) {
        const query = randomQuery(random);
        expect(await readAll(store(), scope, query)).to.deep.equal(scan(all, query));
      }
    });

    it('follow a sequence', async () => {
      const scope = newTenant();
      const writes = ['c', 'a', 'b'].map((id) => insert(numberedThings, id, { name: id === 'a' ? 'x' : 'y' }));
      await store().commit(scope, writes);
      const all = await store().find(scope, numberedThings, { sort: [{ field: 'sequence' }], limit: 2 });
      expect(all.items.map(({ id }) => id)).to.deep.equal(['c', 'a']);
      const where = { name: 'y', sequence: { greaterThan: all.items[0]?.sequence ?? 0 } };
      const rest = await store().find(scope, numberedThings, { where, sort: [{ field: 'sequence' }], limit: 2 });
      expect(rest.items.map(({ id }) => id)).to.deep.equal(['b']);
    });
  });
}

async function readAll(store: DocumentStore, scope: Scope, query: Query<Thing>): Promise<readonly string[]> {
  const ids: string[] = [];
  let after: string | null = null;
  do {
    const page: Awaited<ReturnType<DocumentStore['find']>> = await store.find(scope, tenantThings, { ...query, after });
    ids.push(...page.items.map(({ id }) => id), '|');
    after = page.next;
  } while (after !== null);
  return ids;
}

/** The pages of a query, by a look at every document. */
function scan(all: readonly Stored<JsonObject>[], { where = {}, sort = [], limit, offset = 0 }: Query<Thing>) {
  const order = totalOrder(rulesOf(tenantThings), sort);
  const compare = (left: Stored<JsonObject>, right: Stored<JsonObject>) => {
    for (const { field, descending } of order) {
      const difference = compareIndexValues(storedField(left, field), storedField(right, field));
      if (difference !== 0) return descending ? -difference : difference;
    }
    return 0;
  };
  const conditions = conditionsOf(where as Filter<JsonObject>);
  let rest = all.filter((each) => matches(conditions, (field) => storedField(each, field))).sort(compare);
  const ids: string[] = [];
  for (;;) {
    ids.push(...rest.slice(offset, offset + limit).map(({ id }) => id), '|');
    if (rest.length <= offset + limit) return ids;
    rest = rest.slice(offset + limit);
  }
}

type Random = (below: number) => number;

function integers(seed: number): Random {
  const random = seededRandom(seed);
  return (below) => Math.floor(random() * below);
}

const NAMES = ['', 'a', 'ab', 'b', 'É', '\u{1f600}', '\ufffd', '\ud800', 'a\u0000b', "'"];
const MIXED = [null, 0, 1, -3.5, true, false, '', 'a', '1'];

function pick<T>(random: Random, list: readonly T[]): T {
  return list[random(list.length)] as T;
}

function randomThing(random: Random): Thing {
  return {
    ...(random(4) === 0 ? {} : { name: pick(random, [...NAMES, null]) }),
    ...(random(4) === 0 ? {} : { rank: pick(random, [null, 0, 1, 2, 3.25]) }),
    ...(random(2) === 0 ? {} : { flag: random(2) === 0 }),
    ...(random(4) === 0 ? {} : { mixed: pick(random, MIXED) }),
  };
}

function randomQuery(random: Random): Query<Thing> {
  const conditions: readonly Filter<Thing>[] = [
    {},
    { name: pick(random, NAMES) },
    { name: { in: [pick(random, NAMES), pick(random, NAMES)] } },
    { name: { prefix: pick(random, NAMES) } },
    { rank: { atLeast: random(3) } },
    { rank: { lessThan: 2 }, flag: true },
    { mixed: { notEquals: pick(random, MIXED) } },
    { mixed: { in: [pick(random, MIXED), pick(random, MIXED)] } },
    { mixed: { atMost: 'a' } },
    { id: { greaterThan: `d${random(300)}` } },
  ];
  const fields = ['name', 'rank', 'flag', 'mixed', 'id'] as const;
  const sort = Array.from({ length: random(4) }, () => ({ field: pick(random, fields), descending: random(2) === 0 }));
  return { where: pick(random, conditions), sort, limit: 12 + random(80), offset: random(4) === 0 ? random(5) : 0 };
}

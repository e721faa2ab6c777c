import { expect } from 'chai';
import { linearRandom } from '../../services/common/kernel/random.ts';
import { slices } from '../../services/common/kernel/slices.ts';
import { scoreBm25 } from '../../services/common/ranking/bm25.ts';
import type { DatasetIndexes } from '../../services/common/storage/ports/dataset-indexes.ts';
import { INDEX_KINDS } from '../../services/common/storage/ports/index-entry.ts';
import type { TextEntry, TextIndex } from '../../services/common/storage/ports/text-index.ts';
import { createScopes, HOSTILE_IDS, item, textEntry } from '../support/dataset-rows.ts';
import { rejection } from '../support/refusal-of.ts';

/** What every `TextIndex` must do. */
export function textIndexConformance(name: string, open: () => Promise<DatasetIndexes>): void {
  describe(`TextIndex: ${name}`, () => {
    const scopes = createScopes();
    let indexes: DatasetIndexes;
    let text: TextIndex;
    before(async () => {
      indexes = await open();
      text = indexes.text;
    });
    after(() => indexes.close());

    const find = async (scope: ReturnType<typeof scopes>, terms: readonly string[], more = {}) =>
      (await text.candidates(scope, { kind: 'chunk', terms, limit: 100, ...more })).candidates
        .map((row) => row.id)
        .sort();

    it('finds rows by any of the terms and gives back what was stored', async () => {
      const scope = scopes();
      const payload = { text: 'Ada', nested: { list: [1, null, 'x'] }, number: 0.25 };
      await text.upsert(scope, [
        textEntry('a', 'ada wrote notes', { ordinal: 3, nodeSets: ['n1', 'n2'], payload }),
        textEntry('b', 'charles built'),
      ]);
      const { candidates } = await text.candidates(scope, { kind: 'chunk', terms: ['notes', 'missing'], limit: 5 });
      expect(candidates).to.deep.equal([
        {
          kind: 'chunk',
          id: 'a',
          item: 'item',
          generation: 1,
          ordinal: 3,
          nodeSets: ['n1', 'n2'],
          payload,
          length: 3,
          frequencies: [1, 0],
        },
      ]);
      expect(await find(scope, ['ada', 'charles'])).to.deep.equal(['a', 'b']);
      expect(await find(scope, ['nobody'])).to.deep.equal([]);
    });

    it('gives the tokens of listed rows back when asked, so that a copy of a row ranks like it', async () => {
      const [scope, copied] = [scopes(), scopes()];
      const often = new Array(40).fill('again').join(' ');
      const rows = [
        textEntry('a', `ada wrote ${often} notes ada`, { ordinal: 1, nodeSets: ['n'] }),
        textEntry('b', '', { ordinal: 2 }),
        textEntry('c', `über 東京 _x_ ${'long'.repeat(60)}`, { ordinal: 3 }),
        textEntry('other', 'not of the item', { item: item('other') }),
        textEntry('later', 'not of the generation', { generation: 2 }),
      ];
      await text.upsert(scope, rows);
      const query = { kind: 'chunk', provenance: { item: item('item'), generation: 1 }, limit: 10 } as const;
      const listed = await text.list(scope, { ...query, withTokens: true });
      expect(listed.map(({ id }) => id)).to.deep.equal(['a', 'b', 'c']);
      expect(listed[0]?.tokens?.split(' ').sort()).to.deep.equal(rows[0]?.tokens.split(' ').sort());
      expect(listed[1]?.tokens).to.equal('');
      expect((await text.list(scope, query))[0]).not.to.have.property('tokens');
      await text.upsert(
        copied,
        listed.map(({ tokens = '', ...row }) => ({ ...row, tokens })),
      );
      const wanted = { kind: 'chunk', terms: ['again', 'ada', 'über', '東京', '_x_'], limit: 10 } as const;
      const original = await text.candidates(copied, wanted);
      await text.remove(scope, { item: item('other') });
      await text.remove(scope, { item: item('item'), generation: 2 });
      const byId = (rows: typeof original.candidates) => rows.toSorted((one, two) => (one.id < two.id ? -1 : 1));
      const before = await text.candidates(scope, wanted);
      expect(byId(original.candidates)).to.deep.equal(byId(before.candidates));
      expect(original.statistics).to.deep.equal(before.statistics);
    });

    it('gives statistics over the whole kind, whatever the filter', async () => {
      const scope = scopes();
      await text.upsert(scope, [
        textEntry('a', 'x x y', { item: item('one') }),
        textEntry('b', 'x z z z z', { item: item('two') }),
        textEntry('c', '', { item: item('two') }),
        textEntry('s', 'x x x x x x', { kind: 'summary' }),
      ]);
      const { candidates, statistics } = await text.candidates(scope, {
        kind: 'chunk',
        terms: ['x', 'z', 'none'],
        limit: 10,
        items: [item('one')],
      });
      expect(statistics).to.deep.equal({ rowCount: 3, averageLength: 8 / 3, rowFrequencies: [2, 1, 0] });
      expect(candidates.map(({ id, length, frequencies }) => ({ id, length, frequencies }))).to.deep.equal([
        { id: 'a', length: 3, frequencies: [2, 0, 0] },
      ]);
    });

    it('has empty statistics for a dataset that holds nothing', async () => {
      const found = await text.candidates(scopes(), { kind: 'chunk', terms: ['a', 'b'], limit: 5 });
      expect(found).to.deep.equal({
        candidates: [],
        statistics: { rowCount: 0, averageLength: 0, rowFrequencies: [0, 0] },
      });
    });

    it('keeps the best rows by BM25 when there are more than the limit', async () => {
      const scope = scopes();
      const random = linearRandom(11);
      const word = () => `w${Math.floor(30 * random() ** 2)}`;
      const entries = Array.from({ length: 6000 }, (_, index) =>
        textEntry(`row-${index}`, Array.from({ length: 3 + Math.floor(random() * 25) }, word).join(' ')),
      );
      for (const slice of slices(entries, 1500)) await text.upsert(scope, slice);
      await text.remove(scope, { item: item('nobody') });
      for (const terms of [['w29', 'w3', 'w0'], ['w28'], ['w0', 'w1', 'w2', 'w25', 'w26']]) {
        const expected = bruteForce(entries, terms);
        const { candidates, statistics } = await text.candidates(scope, { kind: 'chunk', terms, limit: 50 });
        expect(candidates).to.have.length(50);
        expect(statistics).to.deep.equal(expected.statistics);
        const scored = scoreBm25({ candidates, statistics });
        const best = scoreBm25(expected).slice(0, 50);
        expect(scored.map(({ score }) => score.toFixed(9))).to.deep.equal(best.map(({ score }) => score.toFixed(9)));
      }
    });

    it('indexes exactly the words it is given, whatever they look like', async () => {
      const scope = scopes();
      const words = [
        'c++',
        'c',
        'a-b',
        'a',
        'b',
        '"x"',
        'x',
        'near(',
        'near',
        'and',
        'or',
        'not',
        'foo:bar',
        '*',
        'pre*',
        '^',
        '日本',
        '日',
        'é',
        'e',
        'ß',
        'ss',
        'ς',
        'σ',
        'ı',
        '👍',
        '👍🏽',
        '_id',
        'id',
        "o'hara",
        '\\',
        '%',
        '_',
        '?',
        'null',
        '--',
        '(',
        ')',
        '{',
        '}',
        'a\u0000b',
        '\u0000',
        'a\tb',
        'a\nb',
        '\u200b',
        'nul\u0000',
        '\ud800',
        '\udc00',
        'x'.repeat(199),
        'x'.repeat(200),
        'x'.repeat(201),
        `${'y'.repeat(100_000)}1`,
        `${'y'.repeat(100_000)}2`,
      ];
      await text.upsert(
        scope,
        words.map((word, index) => textEntry(`row-${index}`, `${word} filler`)),
      );
      for (const [index, word] of words.entries()) {
        const found = await text.candidates(scope, { kind: 'chunk', terms: [word], limit: 100 });
        expect(
          found.candidates.map(({ id }) => id),
          JSON.stringify(word).slice(0, 40),
        ).to.deep.equal([`row-${index}`]);
        expect(found.statistics.rowFrequencies).to.deep.equal([1]);
        expect(found.candidates[0]).to.include({ length: 2 });
      }
      const all = await text.candidates(scope, { kind: 'chunk', terms: words, limit: 1000 });
      expect(all.candidates).to.have.length(words.length);
    });

    it('takes 256 terms and hostile query text without an error', async () => {
      const scope = scopes();
      await text.upsert(scope, [textEntry('a', 'needle in hay')]);
      const terms = Array.from({ length: 255 }, (_, index) => `term${index} OR "`).concat('needle');
      expect(await find(scope, terms)).to.deep.equal(['a']);
      expect(await find(scope, ['"; DROP TABLE text_row; --', "' OR 1=1", 'a* OR b', ''])).to.deep.equal([]);
    });

    it('replaces a row with the same key, also inside one call and with other node sets', async () => {
      const scope = scopes();
      await text.upsert(scope, [textEntry('a', 'old words here'), textEntry('b', 'stays')]);
      await text.upsert(scope, [textEntry('a', 'never seen'), textEntry('a', 'new', { nodeSets: ['n'], ordinal: 7 })]);
      await text.upsert(scope, [textEntry('b', 'stays')]);
      expect(await text.count(scope, { kind: 'chunk' })).to.equal(2);
      const { candidates, statistics } = await text.candidates(scope, {
        kind: 'chunk',
        terms: ['old', 'never', 'new', 'stays'],
        limit: 10,
      });
      expect(statistics).to.deep.equal({ rowCount: 2, averageLength: 1, rowFrequencies: [0, 0, 1, 1] });
      expect(candidates.map(({ id }) => id).sort()).to.deep.equal(['a', 'b']);
      expect(await text.fetch(scope, 'chunk', ['a'])).to.deep.include.members([
        {
          kind: 'chunk',
          id: 'a',
          item: 'item',
          generation: 1,
          ordinal: 7,
          nodeSets: ['n'],
          payload: { text: 'new' },
        },
      ]);
    });

    it('writes all rows of a call or none', async () => {
      const scope = scopes();
      await text.upsert(scope, [textEntry('a', 'first')]);
      const broken = {
        toJSON: () => {
          throw new Error('no JSON');
        },
      } as unknown as TextEntry['payload'];
      const error = await rejection(
        text.upsert(scope, [textEntry('b', 'second'), textEntry('c', 'third', { payload: broken })]),
      );
      expect(error.message).to.include('no JSON');
      expect(await text.count(scope, {})).to.equal(1);
      expect(await find(scope, ['first', 'second', 'third'])).to.deep.equal(['a']);
    });

    it('removes by item, by generation and those before a generation, and returns how many', async () => {
      const scope = scopes();
      const rows = [1, 2, 3].flatMap((generation) => [
        textEntry('a', `word g${generation}`, { generation }),
        textEntry('s', `word g${generation}`, { kind: 'sentence', generation }),
      ]);
      await text.upsert(scope, [...rows, textEntry('other', 'word', { item: item('other') })]);
      expect(await text.remove(scope, { item: item('item'), beforeGeneration: 2 })).to.equal(2);
      expect(await text.remove(scope, { item: item('item'), generation: 2 })).to.equal(2);
      expect((await text.fetch(scope, 'chunk', ['a'])).map((row) => row.generation)).to.deep.equal([3]);
      const { statistics } = await text.candidates(scope, {
        kind: 'chunk',
        terms: ['g1', 'g2', 'g3', 'word'],
        limit: 5,
      });
      expect(statistics).to.deep.equal({ rowCount: 2, averageLength: 1.5, rowFrequencies: [0, 0, 1, 2] });
      expect(await text.remove(scope, { item: item('item') })).to.equal(2);
      expect(await text.remove(scope, { item: item('item') })).to.equal(0);
      expect(await find(scope, ['word'])).to.deep.equal(['other']);
    });

    it('returns rows of every generation and item, so that readers can leave out what is not committed', async () => {
      const scope = scopes();
      await text.upsert(scope, [
        textEntry('same', 'word', { generation: 1 }),
        textEntry('same', 'word', { generation: 2 }),
        textEntry('same', 'word', { item: item('other') }),
      ]);
      const origins = (rows: readonly { item: string; generation: number }[]) =>
        rows.map((row) => `${row.item}:${row.generation}`).sort();
      const expected = ['item:1', 'item:2', 'other:1'];
      const found = await text.candidates(scope, { kind: 'chunk', terms: ['word'], limit: 10 });
      expect(origins(found.candidates)).to.deep.equal(expected);
      expect(origins(await text.fetch(scope, 'chunk', ['same', 'same', 'unknown']))).to.deep.equal(expected);
    });

    it('returns the terms that rows hold by id, also none, and later writes', async () => {
      const scope = scopes();
      const ask = async (...terms: string[]) => {
        const rows = await text.fetchCandidates(scope, { kind: 'chunk', ids: ['b', 'a', 'b', 'unknown'], terms });
        return rows
          .map(({ id, generation, length, frequencies }) => [`${id}:${generation}`, length, frequencies])
          .sort();
      };
      const payload = { text: 'X' };
      await text.upsert(scope, [textEntry('a', 'x x y', { payload }), textEntry('b', 'z'), textEntry('c', 'x')]);
      expect(await ask('x', 'y', 'none')).to.deep.equal([
        ['a:1', 3, [2, 1, 0]],
        ['b:1', 1, [0, 0, 0]],
      ]);
      expect(await ask()).to.deep.equal([
        ['a:1', 3, []],
        ['b:1', 1, []],
      ]);
      const [row] = await text.fetch(scope, 'chunk', ['a']);
      const [candidate] = await text.fetchCandidates(scope, { kind: 'chunk', ids: ['a'], terms: ['x'] });
      expect(candidate).to.deep.equal({ ...row, length: 3, frequencies: [2] });
      const query = { kind: 'chunk' as const, terms: ['x'], withPayload: false };
      const fetched = await text.fetchCandidates(scope, { ...query, ids: ['a'] });
      const { candidates } = await text.candidates(scope, { ...query, limit: 9 });
      for (const bare of [fetched, candidates.filter(({ id }) => id === 'a')]) {
        // Without the payload where that costs less.
        const isWhole = Object.keys(bare[0]?.payload ?? {}).length > 0;
        expect(bare).to.deep.equal([{ ...candidate, payload: isWhole ? payload : {} }]);
      }
      await text.upsert(scope, [textEntry('b', 'x x x y', { generation: 2 })]);
      expect(await ask('x', 'y')).to.deep.include.members([['b:2', 4, [3, 1]]]);
      await text.remove(scope, { item: item('item'), generation: 1 });
      expect(await ask('x')).to.deep.equal([['b:2', 4, [3]]]);
      expect(await text.fetchCandidates(scopes(), { kind: 'chunk', ids: ['a'], terms: ['x'] })).to.deep.equal([]);
      expect(await text.fetchCandidates(scope, { kind: 'chunk', ids: [], terms: ['x'] })).to.deep.equal([]);
    });

    it('gives the rows of an id that came last, when asked for so many', async () => {
      const scope = scopes();
      for (const name of ['one', 'two', 'three']) {
        await text.upsert(scope, [textEntry('same', 'word', { item: item(name) }), textEntry(name, 'word')]);
      }
      const fetched = async (perId: number) =>
        (await text.fetch(scope, 'chunk', ['one', 'same'], { perId })).map((row) => `${row.id}:${row.item}`).sort();
      expect(await fetched(2)).to.deep.equal(['one:item', 'same:three', 'same:two']);
      expect(await fetched(9)).to.deep.equal(['one:item', 'same:one', 'same:three', 'same:two']);
      await text.upsert(scope, [textEntry('same', 'word', { item: item('four') })]);
      expect(await fetched(2), 'what came since').to.deep.equal(['one:item', 'same:four', 'same:three']);
      await text.remove(scope, { item: item('four') });
      expect(await fetched(2), 'what went since').to.deep.equal(['one:item', 'same:three', 'same:two']);
      await text.drop(scope);
      expect(await fetched(2), 'of a dataset that is gone').to.deep.equal([]);
      await text.upsert(scope, [textEntry('same', 'word', { item: item('new') })]);
      expect(await fetched(2), 'of one that came in its place').to.deep.equal(['same:new']);
    });

    it('leaves items out that the scope withholds from its reader, before the limit and in fetches of the last rows', async () => {
      const scope = scopes();
      const noise = Array.from({ length: 50 }, (_, index) =>
        textEntry(`noise-${index}`, 'word word word', { item: item(`secret-${index}`) }),
      );
      await text.upsert(scope, [
        textEntry('a', 'word', { item: item('one'), nodeSets: ['red'] }),
        textEntry('same', 'other', { item: item('one') }),
      ]);
      await text.upsert(scope, [...noise, textEntry('same', 'other', { item: item('secret-1') })]);
      const reader = { ...scope, withheld: new Set(noise.map((entry) => entry.item)) };
      expect(await find(reader, ['word'], { limit: 1 })).to.deep.equal(['a']);
      expect(await find(reader, ['word'], { limit: 1, nodeSets: ['red'] })).to.deep.equal(['a']);
      expect(await find(scope, ['word'], { limit: 1 })).to.not.deep.equal(['a']);
      const same = await text.fetch(reader, 'chunk', ['same'], { perId: 1 });
      expect(same.map((row) => row.item)).to.deep.equal(['one']);
    });

    it('filters by item and by node set, before the limit', async () => {
      const scope = scopes();
      await text.upsert(scope, [
        ...Array.from({ length: 50 }, (_, index) => textEntry(`noise-${index}`, 'word word word')),
        textEntry('a', 'word', { item: item('one'), nodeSets: ['red'] }),
        textEntry('b', 'word', { item: item('one'), nodeSets: ['red', 'blue'] }),
        textEntry('c', 'word', { item: item('two'), nodeSets: ['blue'] }),
      ]);
      expect(await find(scope, ['word'], { items: [item('one'), item('two')], limit: 5 })).to.deep.equal([
        'a',
        'b',
        'c',
      ]);
      expect(await find(scope, ['word'], { nodeSets: ['red'], limit: 5 })).to.deep.equal(['a', 'b']);
      expect(await find(scope, ['word'], { nodeSets: ['blue', 'green'], items: [item('one')] })).to.deep.equal(['b']);
      expect(await find(scope, ['word'], { nodeSets: [] })).to.deep.equal([]);
      expect(await find(scope, ['word'], { items: [] })).to.deep.equal([]);
      expect(await text.count(scope, { nodeSets: ['red'] })).to.equal(2);
      expect(await text.count(scope, { kind: 'chunk', items: [item('one'), item('one')] })).to.equal(2);
      expect(await text.count(scope, { kind: 'entity' })).to.equal(0);
    });

    it('lists an item in ordinal order and pages without losing rows that share an ordinal', async () => {
      const scope = scopes();
      const ordinals = [5, 0, 1, 1, 1, 2, 3, 4];
      await text.upsert(scope, [
        ...ordinals.map((ordinal, index) => textEntry(`row-${index}`, 'x', { ordinal })),
        textEntry('late', 'x', { generation: 2 }),
        textEntry('elsewhere', 'x', { item: item('other') }),
      ]);
      const provenance = { item: item('item'), generation: 1 };
      const seen: number[] = [];
      for (let after: number | undefined; ; ) {
        const page = await text.list(scope, {
          kind: 'chunk',
          provenance,
          limit: 2,
          ...(after === undefined ? {} : { after }),
        });
        if (page.length === 0) break;
        seen.push(...page.map((row) => row.ordinal));
        after = page.at(-1)?.ordinal;
      }
      expect(seen).to.deep.equal(ordinals.toSorted());
      expect(await text.list(scope, { kind: 'chunk', limit: 100 })).to.have.length(10);
      expect(await text.list(scope, { kind: 'entity', limit: 100 })).to.deep.equal([]);
    });

    it('keeps kinds apart', async () => {
      const scope = scopes();
      await text.upsert(
        scope,
        INDEX_KINDS.map((kind) => textEntry('same', `word ${kind}`, { kind })),
      );
      for (const kind of INDEX_KINDS) {
        const found = await text.candidates(scope, { kind, terms: ['word', 'sentence'], limit: 10 });
        expect(found.candidates.map((row) => row.payload)).to.deep.equal([{ text: `word ${kind}` }]);
        expect(found.statistics.rowCount).to.equal(1);
      }
    });

    it('keeps ids with slashes, blanks and any letters apart, as row, item and dataset', async () => {
      const entries = HOSTILE_IDS.map((id, index) => textEntry(id, `word u${index}`, { item: item(id) }));
      for (const id of HOSTILE_IDS) await text.upsert(scopes(id, id), [textEntry('only', `word ${id.length}`)]);
      const scope = scopes();
      await text.upsert(scope, entries);
      for (const [index, id] of HOSTILE_IDS.entries()) {
        expect(await find(scope, [`u${index}`], { items: [item(id)] })).to.deep.equal([id]);
        expect((await text.fetch(scope, 'chunk', [id])).map((row) => row.item)).to.deep.equal([id]);
        expect(await text.count(scopes(id, id), {})).to.equal(1);
        expect(await find(scopes(id, id), [String(id.length)])).to.deep.equal(['only']);
      }
      for (const id of HOSTILE_IDS) expect(await text.remove(scope, { item: item(id) })).to.equal(1);
      for (const id of HOSTILE_IDS) await text.drop(scopes(id, id));
    });

    it('never reaches another tenant or dataset, by any method', async () => {
      const mine = scopes('shared', 'mine');
      const others = [scopes('shared', 'theirs'), scopes('private', 'mine')];
      await text.upsert(mine, [textEntry('a', 'secret')]);
      for (const other of others) {
        expect(await find(other, ['secret'])).to.deep.equal([]);
        expect(await text.fetch(other, 'chunk', ['a'])).to.deep.equal([]);
        expect(await text.list(other, { kind: 'chunk', limit: 10 })).to.deep.equal([]);
        expect(await text.count(other, {})).to.equal(0);
        expect(await text.remove(other, { item: item('item') })).to.equal(0);
        await text.drop(other);
        await text.upsert(other, [textEntry('a', 'other secret words')]);
      }
      const { statistics } = await text.candidates(mine, { kind: 'chunk', terms: ['secret', 'words'], limit: 5 });
      expect(statistics).to.deep.equal({ rowCount: 1, averageLength: 1, rowFrequencies: [1, 0] });
    });

    it('drops everything it holds of a dataset, which can be filled again', async () => {
      const scope = scopes();
      await text.upsert(scope, [textEntry('a', 'word'), textEntry('b', 'word', { kind: 'summary' })]);
      await text.drop(scope);
      await text.drop(scope);
      expect(await text.count(scope, {})).to.equal(0);
      expect((await text.candidates(scope, { kind: 'chunk', terms: ['word'], limit: 5 })).statistics.rowCount).to.equal(
        0,
      );
      await text.upsert(scope, [textEntry('c', 'word')]);
      expect(await find(scope, ['word'])).to.deep.equal(['c']);
    });

    it('shows whole calls only while others write', async () => {
      const scope = scopes();
      const write = async (round: number) =>
        text.upsert(
          scope,
          Array.from({ length: 20 }, (_, index) => textEntry(`row-${index}`, `word r${round}`)),
        );
      await write(0);
      const counts: number[] = [];
      const writing = (async () => {
        for (let round = 1; round <= 15; round++) await write(round);
      })();
      let isDone = false;
      void writing.finally(() => {
        isDone = true;
      });
      while (!isDone) {
        const { candidates } = await text.candidates(scope, { kind: 'chunk', terms: ['word'], limit: 100 });
        counts.push(new Set(candidates.map(({ payload }) => payload['text'])).size, candidates.length);
      }
      await writing;
      expect(new Set(counts)).to.satisfy((seen: Set<number>) =>
        [...seen].every((count) => count === 1 || count === 20),
      );
    });

    it('stops at an abort', async () => {
      const scope = scopes();
      await text.upsert(scope, [textEntry('a', 'word')]);
      const query = { kind: 'chunk', terms: ['word'], limit: 5 } as const;
      const error = await rejection(text.candidates(scope, query, AbortSignal.abort()));
      expect(error.name).to.equal('AbortError');
      expect((await text.candidates(scope, query, new AbortController().signal)).candidates).to.have.length(1);
    });
  });
}

function bruteForce(entries: readonly TextEntry[], terms: readonly string[]) {
  const rows = entries.map((entry) => {
    const tokens = entry.tokens.split(' ');
    const frequencies = terms.map((term) => tokens.filter((token) => token === term).length);
    return { ...entry, length: tokens.length, frequencies };
  });
  return {
    candidates: rows,
    statistics: {
      rowCount: rows.length,
      averageLength: rows.reduce((sum, row) => sum + row.length, 0) / rows.length,
      rowFrequencies: terms.map((_, term) => rows.filter((row) => (row.frequencies[term] ?? 0) > 0).length),
    },
  };
}

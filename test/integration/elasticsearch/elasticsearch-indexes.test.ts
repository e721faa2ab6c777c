import { Client } from '@elastic/elasticsearch';
import { expect } from 'chai';
import { linearRandom } from '../../../services/common/kernel/random.ts';
import { scoreBm25 } from '../../../services/common/ranking/bm25.ts';
import { openElasticsearchIndexes } from '../../../services/common/storage/indexes/elasticsearch/elasticsearch-indexes.ts';
import { textLayout, vectorLayout } from '../../../services/common/storage/indexes/elasticsearch/index-layout.ts';
import { createNames } from '../../../services/common/storage/indexes/elasticsearch/names.ts';
import type { DatasetIndexes } from '../../../services/common/storage/ports/dataset-indexes.ts';
import { createScopes, item, textEntry, vectorEntry } from '../../support/dataset-rows.ts';
import { createMemoryDatasetIndexes } from '../../support/memory/dataset-indexes.ts';
import { rejection } from '../../support/refusal-of.ts';
import { withBackend } from '../backend.ts';
import { freshPrefix, openTestIndexes, removeIndexes } from './indexes.ts';

const SPACE = { model: 'test/model', dimensions: 3 };
const SETTINGS = { replicas: 0 };

withBackend('elasticsearch', ({ ENGRAM_TEST_ELASTICSEARCH_URL: url }) => {
  describe('Elasticsearch indexes of several processes', () => {
    const indexPrefix = freshPrefix();
    const names = createNames(indexPrefix);
    const scopes = createScopes();
    const tenantOfItsOwn = (name: string) => scopes(undefined, name);
    let client: Client;
    let one: DatasetIndexes;
    let other: Pick<DatasetIndexes, 'text' | 'vectors' | 'close'>;
    before(async () => {
      client = new Client({ node: url });
      one = await openTestIndexes({ url, indexPrefix });
      other = await openElasticsearchIndexes({ url, indexPrefix, replicas: 0 });
    });
    after(async () => {
      await client.close();
      await other.close();
      await one.close();
    });

    it('shows at once what the other wrote', async () => {
      const scope = scopes();
      await one.text.upsert(scope, [textEntry('a', 'word')]);
      await other.text.upsert(scope, [textEntry('b', 'word')]);
      const query = { kind: 'chunk', terms: ['word'], limit: 5 } as const;
      expect((await one.text.candidates(scope, query)).candidates).to.have.length(2);
    });

    it('shows rows that were read before as the other wrote them last, also after it dropped the dataset', async () => {
      const scope = scopes();
      const read = async () => {
        const { candidates } = await one.text.candidates(scope, { kind: 'chunk', terms: ['word'], limit: 5 });
        const fetched = await one.text.fetch(scope, 'chunk', ['a', 'b', 'c']);
        expect(fetched.map(({ payload }) => payload)).to.have.deep.members(candidates.map(({ payload }) => payload));
        return candidates.map(({ id, payload, nodeSets }) => [id, payload['text'], ...nodeSets].join(' ')).toSorted();
      };
      const write = (id: string, text: string) =>
        other.text.upsert(scope, [textEntry(id, 'word', { nodeSets: [text], payload: { text } })]);
      await write('a', 'first');
      await write('b', 'first');
      for (let time = 0; time < 3; time++) expect(await read()).to.deep.equal(['a first first', 'b first first']);
      await write('a', 'second');
      await write('c', 'second');
      expect(await read()).to.deep.equal(['a second second', 'b first first', 'c second second']);
      await other.text.remove(scope, { item: item('item') });
      expect(await read()).to.deep.equal([]);
      await other.text.drop(scope);
      await write('a', 'third');
      expect(await read()).to.deep.equal(['a third third']);
    });

    it('lets one win when both settle a space at once', async () => {
      const scope = scopes();
      const wide = { model: 'test/wide', dimensions: 4 };
      const results = await Promise.allSettled([
        one.vectors.upsert(scope, SPACE, [vectorEntry('a', [1, 0, 0])]),
        other.vectors.upsert(scope, wide, [vectorEntry('a', [1, 0, 0, 0])]),
      ]);
      const [failed, ...more] = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
      expect(failed).to.include({ name: 'EmbeddingDimensionMismatchError' });
      expect(more).to.deep.equal([]);
      expect(await one.vectors.space(scope)).to.deep.equal(results[0]?.status === 'fulfilled' ? SPACE : wide);
      expect(await one.vectors.count(scope, {})).to.equal(1);
    });

    it('does not trust what it remembers when the other drops a dataset and builds it with another embedding', async () => {
      const scope = scopes();
      const small = { model: 'test/small', dimensions: 2 };
      await one.vectors.upsert(scope, SPACE, [vectorEntry('a', [1, 0, 0])]);
      await other.vectors.drop(scope);
      const old = { kind: 'chunk', vector: Float32Array.of(1, 0, 0), limit: 1 } as const;
      expect(await one.vectors.nearest(scope, old)).to.deep.equal([]);
      await one.vectors.upsert(scope, SPACE, [vectorEntry('a', [1, 0, 0])]);
      await other.vectors.drop(scope);
      await other.vectors.upsert(scope, small, [vectorEntry('b', [1, 0])]);
      expect((await rejection(one.vectors.nearest(scope, old))).name).to.equal('EmbeddingDimensionMismatchError');
      const refused = await rejection(one.vectors.upsert(scope, SPACE, [vectorEntry('a', [1, 0, 0])]));
      expect(refused.name).to.equal('EmbeddingDimensionMismatchError');
      const [hit] = await one.vectors.nearest(scope, { ...old, vector: Float32Array.of(1, 0) });
      expect(hit).to.include({ id: 'b' });
      expect(await one.vectors.count(scope, {})).to.equal(1);
    });

    it('counts and removes rows that no alias shows any more', async () => {
      const scope = scopes();
      await one.text.upsert(scope, [textEntry('a', 'word')]);
      await one.vectors.upsert(scope, SPACE, [vectorEntry('a', [1, 0, 0])]);
      await client.indices.deleteAlias({ index: names.textIndex(scope), name: names.textAlias(scope) });
      await client.indices.deleteAlias({ index: names.vectorIndexes(scope), name: names.vectorAliases(scope) });
      for (const index of [one.text, one.vectors]) {
        expect(await index.count(scope, {})).to.equal(1);
        expect(await index.remove(scope, { item: item('item') })).to.equal(1);
        expect(await index.count(scope, {})).to.equal(0);
      }
    });

    it('takes the index away with the last dataset of a tenant, not before', async () => {
      const first = tenantOfItsOwn('alone');
      const second = tenantOfItsOwn('alone');
      for (const scope of [first, second]) {
        await one.text.upsert(scope, [textEntry('a', 'word')]);
        await one.vectors.upsert(scope, SPACE, [vectorEntry('a', [1, 0, 0])]);
      }
      const indexes = [names.textIndex(first), names.vectorIndex(first, SPACE)];
      const present = () => Promise.all(indexes.map((index) => client.indices.exists({ index })));
      await Promise.all([one.text.drop(first), one.vectors.drop(first)]);
      expect(await present()).to.deep.equal([true, true]);
      expect(await other.text.count(second, {})).to.equal(1);
      await Promise.all([other.text.drop(second), other.vectors.drop(second)]);
      expect(await present()).to.deep.equal([false, false]);
    });

    it('loses no row of one dataset while another one of the tenant is dropped again and again', async () => {
      const dropped = tenantOfItsOwn('busy');
      const kept = [tenantOfItsOwn('busy'), tenantOfItsOwn('busy')];
      for (let round = 0; round < 4; round++) {
        const scope = kept[round % 2] ?? dropped;
        await other.text.upsert(dropped, [textEntry('a', 'word')]);
        await Promise.all([other.text.drop(dropped), one.text.upsert(scope, [textEntry(`row-${round}`, 'word')])]);
        expect(await other.text.fetch(scope, 'chunk', [`row-${round}`])).to.have.length(1);
        if (round % 2 === 1) for (const each of kept) await one.text.drop(each);
      }
    });

    it('refuses an index of other dimensions or of another layout before it writes', async () => {
      const scope = tenantOfItsOwn('foreign');
      const { mappings } = vectorLayout(SETTINGS, 5);
      await client.indices.create({ index: names.vectorIndex(scope, SPACE), mappings });
      const wide = await rejection(one.vectors.upsert(scope, SPACE, [vectorEntry('a', [1, 0, 0])]));
      expect(wide.name).to.equal('EmbeddingDimensionMismatchError');
      expect(wide.message).to.include('5 dimensions instead of 3').and.include(names.vectorIndex(scope, SPACE));
      const { properties = {} } = textLayout(SETTINGS).mappings;
      await client.indices.create({ index: names.textIndex(scope), mappings: { properties } });
      const foreign = await rejection(one.text.upsert(scope, [textEntry('a', 'word')]));
      expect(foreign.message).to.include('layout').and.include(names.textIndex(scope));
    });

    it('ranks as the embedded shape does: frequent terms, long rows, several datasets in one index', async () => {
      const scope = scopes();
      const memory = createMemoryDatasetIndexes().text;
      const random = linearRandom(3);
      const word = () => `w${Math.floor(400 * random() ** 2)}`;
      const rows = (count: number, length: number) =>
        Array.from({ length: count }, (_, index) =>
          textEntry(
            `row-${length}-${index}`,
            Array.from({ length: 1 + Math.floor(length * random() ** 2) }, word).join(' '),
          ),
        );
      await one.text.upsert(scopes(), rows(300, 10));
      const entries = [...rows(700, 400), ...rows(5, 4000)];
      await one.text.upsert(scope, entries);
      await memory.upsert(scope, entries);
      const many = Array.from({ length: 256 }, (_, index) => `w${index}`);
      for (const terms of [['w0'], ['w3', 'w150'], ['w1', 'w2', 'w80', 'none'], many]) {
        const query = { kind: 'chunk', terms, limit: 40 } as const;
        const [found, expected] = await Promise.all([
          one.text.candidates(scope, query),
          memory.candidates(scope, query),
        ]);
        expect(found.statistics).to.deep.equal(expected.statistics);
        const scores = (of: typeof found) => scoreBm25(of).map(({ score }) => score.toFixed(9));
        expect(scores(found)).to.deep.equal(scores(expected));
      }
    });
  });

  it('Elasticsearch refuses a wrong password with a clear error', async () => {
    const { origin } = new URL(url);
    const error = await rejection(openElasticsearchIndexes({ url: origin, username: 'elastic', password: 'wrong' }));
    expect(error.message).to.include('credentials').and.not.include('wrong');
  });

  it('Elasticsearch serves a key that is limited to the prefix', async () => {
    const indexPrefix = freshPrefix();
    const admin = new Client({ node: url });
    const indices = [{ names: [`${indexPrefix}-*`], privileges: ['all' as const] }];
    const { encoded, id } = await admin.security.createApiKey({
      name: indexPrefix,
      role_descriptors: { engram: { cluster: [], indices } },
    });
    const { origin } = new URL(url);
    const indexes = await openElasticsearchIndexes({ url: origin, apiKey: encoded, indexPrefix, replicas: 0 });
    const scope = createScopes()();
    await indexes.text.upsert(scope, [textEntry('a', 'word')]);
    await indexes.vectors.upsert(scope, SPACE, [vectorEntry('a', [1, 0, 0])]);
    const query = { kind: 'chunk', vector: Float32Array.of(1, 0, 0), limit: 1 } as const;
    expect(await indexes.vectors.nearest(scope, query)).to.have.length(1);
    await Promise.all([indexes.text.drop(scope), indexes.vectors.drop(scope)]);
    await indexes.close();
    await removeIndexes(url, indexPrefix);
    await admin.security.invalidateApiKey({ ids: [id] });
    await admin.close();
  });
});

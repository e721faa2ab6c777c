import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import type { DataItemId, DatasetId, TenantId } from '../../../services/common/kernel/brand.ts';
import { asId } from '../../../services/common/kernel/ids.ts';
import { linearRandom } from '../../../services/common/kernel/random.ts';
import { datasetScope } from '../../../services/common/kernel/scope.ts';
import { openElasticsearchIndexes } from '../../../services/common/storage/indexes/elasticsearch/elasticsearch-indexes.ts';
import type { CopyOptions } from '../../../services/common/storage/ports/index-entry.ts';
import { type BenchClient, createClient } from '../../bench/speed/client.ts';
import { type EngramProcess, freePort, makeDataDir, startProcess } from '../../support/engram-process.ts';
import { until } from '../../support/until.ts';
import { withBackend, withBackends } from '../backend.ts';
import { type ClusterProcess, startCluster } from '../cluster-process.ts';
import { freshPrefix, removeIndexes } from '../elasticsearch/indexes.ts';
import { openTestGraphStore } from '../neo4j/test-graph-store.ts';
import { type OwnNames, takeOwnNames } from '../own-names.ts';

const SCOPE = datasetScope(asId<TenantId>('t'), asId<DatasetId>('copied'));
const NEIGHBOUR = datasetScope(asId<TenantId>('t'), asId<DatasetId>('neighbour'));
const ITEMS = ['one', 'two', 'three', 'four'].map((id) => asId<DataItemId>(id));
const GENERATION = 3;
const COPY: CopyOptions = {
  committed: new Map(ITEMS.map((item) => [item, GENERATION])),
  maxBytes: 2 ** 26,
  signal: new AbortController().signal,
};

/** Of which one item is gone in `COPY`, one was built again, and one is new. */
const EARLIER: CopyOptions = {
  ...COPY,
  committed: new Map(
    ['one', 'two', 'three', 'gone'].map((id, at) => [asId<DataItemId>(id), GENERATION - (at === 1 ? 1 : 0)]),
  ),
};

withBackend('elasticsearch', (elasticsearch) => {
  withBackend('neo4j', (neo4j) => {
    describe('copies of indexes answer as the servers do', function () {
      this.timeout(300_000);

      it('with rows of random words', async () => {
        const prefix = freshPrefix();
        const url = elasticsearch.ENGRAM_TEST_ELASTICSEARCH_URL;
        const indexes = await openElasticsearchIndexes({ url, indexPrefix: prefix, replicas: 0 });
        try {
          const random = linearRandom(7);
          const words = (count: number) => Array.from({ length: count }, () => `w${Math.floor(60 * random() ** 3)}`);
          for (const kind of ['chunk', 'entity', 'summary'] as const) {
            for (let part = 0; part < 4; part += 1) {
              const rows = Array.from({ length: 200 }, (_, at) => ({
                kind,
                // Many rows of few ids.
                id: kind === 'entity' ? `e${Math.floor(40 * random() ** 2)}` : `${kind}-${part}-${at}`,
                item: ITEMS[Math.floor(4 * random())] as DataItemId,
                generation: GENERATION,
                ordinal: Math.floor(random() * 50),
                nodeSets: random() < 0.3 ? ['red'] : random() < 0.5 ? ['red', 'blue'] : [],
                tokens: words(1 + Math.floor(40 * random())).join(' '),
                payload: { text: `${part} ${at}`, no: random() },
              }));
              await indexes.text.upsert(SCOPE, rows);
              await indexes.text.upsert(NEIGHBOUR, rows.slice(0, 50));
            }
          }
          const earlier = await indexes.text.copy?.(SCOPE, EARLIER);
          const copy = await earlier?.updated(COPY);
          if (!copy) throw new Error('there is no copy');
          // What searches remember of a text, they remember by its payload.
          const [once, again] = [
            await copy.reads.fetch(SCOPE, 'chunk', ['chunk-0-7']),
            await copy.reads.fetch(SCOPE, 'chunk', ['chunk-0-7']),
          ];
          expect(once[0]?.payload).to.equal(again[0]?.payload).and.not.equal(undefined);
          const withheld = { ...SCOPE, withheld: new Set([ITEMS[1] as DataItemId]) };
          for (let round = 0; round < 40; round += 1) {
            for (const kind of ['chunk', 'entity', 'summary'] as const) {
              const scope = round % 3 === 0 ? withheld : SCOPE;
              const sets = round % 4 === 1 ? { nodeSets: ['blue', 'green'] } : round % 9 === 2 ? { nodeSets: [] } : {};
              const terms = [...new Set([...words(1 + (round % 12)), 'unknown'])];
              const query = { kind, terms, limit: 1 + Math.floor(80 * random()), ...sets };
              expect(plain(await copy.reads.candidates(scope, query))).to.equal(
                plain(await indexes.text.candidates(scope, query)),
              );
              const ids = Array.from({ length: 12 }, () =>
                kind === 'entity'
                  ? `e${Math.floor(45 * random())}`
                  : `${kind}-${round % 4}-${Math.floor(210 * random())}`,
              );
              const asked = { kind, ids, terms };
              expect(plain(await copy.reads.fetchCandidates(scope, asked))).to.equal(
                plain(await indexes.text.fetchCandidates(scope, asked)),
              );
              for (const options of [{}, { perId: 1 }, { perId: 3 }, { perId: 64 }]) {
                expect(plain(await copy.reads.fetch(scope, kind, ids, options)), JSON.stringify(options)).to.equal(
                  plain(await indexes.text.fetch(scope, kind, ids, options)),
                );
              }
              const listed = { kind, limit: 1 + Math.floor(150 * random()), after: Math.floor(40 * random()) - 1 };
              const provenance = { item: ITEMS[round % 4] as DataItemId, generation: GENERATION };
              for (const query of [listed, { ...listed, provenance }]) {
                expect(plain(await copy.reads.list(scope, query))).to.equal(
                  plain(await indexes.text.list(scope, query)),
                );
              }
            }
          }
          expect(await indexes.text.copy?.(SCOPE, { ...COPY, maxBytes: 1000 })).to.equal(null);
        } finally {
          await indexes.close();
          await removeIndexes(url, prefix);
        }
      });

      it('with the nearest of random vectors, of which many are the same', async () => {
        const prefix = freshPrefix();
        const url = elasticsearch.ENGRAM_TEST_ELASTICSEARCH_URL;
        const { vectors, close } = await openElasticsearchIndexes({ url, indexPrefix: prefix, replicas: 0 });
        try {
          const random = linearRandom(3);
          for (const [at, dimensions] of [8, 100, 384].entries()) {
            const scope = { ...SCOPE, dataset: asId<DatasetId>(`copied-${at}`) };
            const vector = () => Float32Array.from({ length: dimensions }, () => random() - 0.4);
            const few = Array.from({ length: 20 }, vector);
            const rows = Array.from({ length: 400 }, (_, row) => ({
              kind: row % 3 === 0 ? ('summary' as const) : ('chunk' as const),
              id: `row-${row}`,
              item: ITEMS[Math.floor(4 * random())] as DataItemId,
              generation: GENERATION,
              nodeSets: random() < 0.5 ? ['red', 'blue'] : [],
              vector:
                row % 5 === 0
                  ? (few[row % few.length] as Float32Array)
                  : row === 7
                    ? new Float32Array(dimensions)
                    : vector(),
            }));
            await vectors.upsert(scope, { model: 'm', dimensions }, rows);
            const earlier = await vectors.copy?.(scope, EARLIER);
            const copy = await earlier?.updated(COPY);
            if (!copy) throw new Error('there is no copy');
            const withheld = { ...scope, withheld: new Set([ITEMS[1] as DataItemId]) };
            for (let round = 0; round < 20; round += 1) {
              const asked = {
                kind: round % 3 === 1 ? ('summary' as const) : ('chunk' as const),
                vector: round % 2 === 0 ? (few[round] as Float32Array) : vector(),
                limit: 1 + Math.floor(60 * random()),
                ...(round % 4 === 1 ? { nodeSets: ['blue', 'green'] } : round === 9 ? { nodeSets: [] } : {}),
              };
              const from = round % 3 === 0 ? withheld : scope;
              const near = await copy.reads.nearest(from, asked);
              expectAlike(plain(near), plain(await vectors.nearest(from, asked)), `${dimensions} ${round}`);
            }
            expect(await vectors.copy?.(scope, { ...COPY, maxBytes: 1000 })).to.equal(null);
          }
        } finally {
          await close();
          await removeIndexes(url, prefix);
        }
      });

      it('with random edges, of which many are as heavy as the last that is read', async () => {
        const { graph, close } = await openTestGraphStore(neo4j);
        try {
          const random = linearRandom(11);
          const edges = (count: number) =>
            Array.from({ length: count }, (_, at) => ({
              source: `n${Math.floor(30 * random() ** 2)}`,
              target: `n${Math.floor(30 * random() ** 2)}`,
              relation: ['contains', 'knows', 'is_a'][Math.floor(3 * random())] as string,
              item: ITEMS[Math.floor(4 * random())] as DataItemId,
              generation: GENERATION,
              weight: random() < 0.7 ? 1 : 1 + Math.floor(4 * random()),
              properties: { text: `edge ${at}`, mentions: 1 + Math.floor(3 * random()) },
            }));
          for (let part = 0; part < 5; part += 1) await graph.upsert(SCOPE, { nodes: [], edges: edges(400) });
          // Numbers of records that are free again are used again.
          await graph.remove(SCOPE, { item: ITEMS[3] as DataItemId });
          await graph.upsert(NEIGHBOUR, { nodes: [], edges: edges(50) });
          await graph.upsert(SCOPE, { nodes: [], edges: edges(600) });
          const earlier = await graph.copy?.(SCOPE, EARLIER);
          const copy = await earlier?.updated(COPY);
          if (!copy) throw new Error('there is no copy');
          const withheld = { ...SCOPE, withheld: new Set([ITEMS[1] as DataItemId]) };
          for (let round = 0; round < 60; round += 1) {
            const ids = Array.from({ length: 1 + (round % 8) }, () => `n${Math.floor(32 * random())}`);
            const scope = round % 3 === 0 ? withheld : SCOPE;
            const options = {
              limitPerNode: 1 + Math.floor(40 * random()),
              ...(round % 2 === 0 ? { relations: ['contains', 'is_a'] } : {}),
              ...(round % 5 === 1 ? { excludeRelations: ['contains'] } : {}),
              ...(round % 4 === 1
                ? { direction: 'in' as const }
                : round % 4 === 2
                  ? { direction: 'out' as const }
                  : {}),
              withProperties: round % 7 !== 3,
            };
            expect(plain(await copy.reads.neighbours(scope, ids, options)), JSON.stringify(options)).to.equal(
              plain(await graph.neighbours(scope, ids, options)),
            );
            const paths = { relation: 'contains', leaving: 1 + (round % 20), arriving: 1 + (round % 33) };
            expect(plain(await copy.reads.pathsOver(SCOPE, ids, paths)), JSON.stringify(paths)).to.equal(
              plain(await graph.pathsOver?.(SCOPE, ids, paths)),
            );
          }
        } finally {
          await close();
        }
      });
    });
  });
});

const TYPES = [
  ...['CHUNKS', 'CHUNKS_LEXICAL', 'SUMMARIES', 'RAG_COMPLETION', 'GRAPH_COMPLETION', 'GRAPH_COMPLETION_COT'],
  ...['GRAPH_COMPLETION_CONTEXT_EXTENSION', 'GRAPH_COMPLETION_DECOMPOSITION', 'GRAPH_SUMMARY_COMPLETION', 'TEMPORAL'],
  ...['HYBRID_COMPLETION', 'TRIPLET_COMPLETION', 'BROAD', 'CODING_RULES', 'GRAPH_REPORT', 'FEELING_LUCKY'],
];
const NAMES = ['Ada Lovelace', 'Charles Babbage', 'Mary Somerville', 'Ishmael', 'Queequeg', 'Captain Ahab', 'Starbuck'];
const PLACES = ['Nantucket', 'London', 'Oslo', 'New Bedford', 'Cairo'];

withBackends(['mongodb', 'nats', 'elasticsearch', 'neo4j'], () => {
  describe('copies of datasets in search processes', function () {
    this.timeout(400_000);
    let names: OwnNames;
    let cluster: ClusterProcess;
    /** Searches without copies. */
    let plainSearch: EngramProcess;
    let client: BenchClient;
    let mongo: MongoClient;
    const data = makeDataDir();
    /** Items of `notes`. */
    let [first, second] = ['', ''];

    const random = linearRandom(5);
    const one = (values: readonly string[]) => values[Math.floor(values.length * random())] as string;
    const text = (title: string) =>
      `# ${title}\n\n${Array.from({ length: 12 }, (_, at) => `${one(NAMES)} met ${one(NAMES)} in ${one(PLACES)} on ${1 + at} March ${1830 + at}. ${one(NAMES)} lives in ${one(PLACES)}, and wrote letter ${at} of ${title} about the whale.`).join('\n\n')}`;
    const copyIds = async () => {
      const database = mongo.db(names.environment['ENGRAM_MONGODB_DATABASE'] ?? '');
      return (await database.collection('dataset_copies').find().toArray()).map(({ _id }) => JSON.stringify(_id));
    };
    const copies = async () => (await copyIds()).length;
    const search = async (
      baseUrl: string,
      searchType: string,
      query: string,
      onlyContext: boolean,
      datasets: readonly string[],
    ) => {
      const body = JSON.stringify({ query, searchType, datasets, onlyContext, topK: 8, explain: true });
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(`${baseUrl}/api/v1/search`, { method: 'POST', headers, body });
      return `${response.status} ${await response.text()}`;
    };
    const [searchUrl] = [() => cluster.urlsOf('search')[0] ?? ''];
    /** Searches until the process has copies of both datasets, and has read them. */
    const untilCopied = async (count: number) => {
      await until(
        'the datasets are copied',
        async () => {
          for (const dataset of ['notes', 'letters'].slice(0, count))
            await search(searchUrl(), 'CHUNKS_LEXICAL', 'whale', false, [dataset]);
          return (await copies()) >= count;
        },
        { everyMs: 300, limitMs: 60_000 },
      );
      await new Promise((copied) => setTimeout(copied, 3000));
    };

    before(async () => {
      names = takeOwnNames();
      cluster = await startCluster(names.environment);
      const environment = { ...cluster.environment, ENGRAM_SERVICES: 'search', ENGRAM_COPY_MEMORY: '0' };
      plainSearch = await startProcess({
        dataDir: data.path,
        environment: { ...environment, HTTP_API_PORT: String(await freePort()) },
      });
      client = createClient(cluster.baseUrl);
      mongo = new MongoClient(process.env['ENGRAM_TEST_MONGODB_URL'] ?? '');
      const added = await client.post('/api/v1/add', { datasetName: 'notes', data: ['a', 'b', 'c', 'd'].map(text) });
      const { data_ingestion_info: items } = added as {
        readonly data_ingestion_info: readonly { readonly data_id: string }[];
      };
      [first, second] = items.map(({ data_id: id }) => id) as [string, string];
      await client.post('/api/v1/add', { datasetName: 'letters', data: ['x', 'y'].map(text) });
      for (const dataset of ['notes', 'letters'])
        await client.post('/api/v1/cognify', { datasets: [dataset], chunkSize: 60 });
    });

    after(async () => {
      await client.post('/api/v1/forget', { everything: true });
      await plainSearch.stop();
      await mongo.close();
      await cluster.stop();
      data.remove();
    });

    it('change no byte of any reply, but for the seventh digit of similarities', async () => {
      await untilCopied(2);
      const questions = Array.from(
        { length: 3 },
        () => `Where did ${one(NAMES)} meet ${one(NAMES)} of ${one(PLACES)} in March 1835?`,
      );
      for (const datasets of [['notes'], ['notes', 'letters']]) {
        for (const type of TYPES) {
          for (const [at, question] of questions.entries()) {
            const isContext = at > 0 && type.includes('COMPLETION');
            const copied = await search(searchUrl(), type, question, isContext, datasets);
            const plain = await search(plainSearch.baseUrl, type, question, isContext, datasets);
            expectAlike(copied, plain, `${type} ${question}`);
            expect(copied, type).to.match(/^200 /);
          }
        }
      }
      expect(await copies()).to.equal(2);
    });

    it('are brought up to date under their lease when an item is added', async () => {
      await untilCopied(2);
      const before = await copyIds();
      await client.post('/api/v1/add', { datasetName: 'notes', data: [text('e')] });
      await client.post('/api/v1/cognify', { datasets: ['notes'], chunkSize: 60 });
      const query = 'Who wrote letter 3 of e about the whale?';
      // At once from the servers, later from the copy.
      for (let time = 0; time < 4; time += 1) {
        for (const type of ['CHUNKS_LEXICAL', 'CHUNKS', 'SUMMARIES', 'GRAPH_COMPLETION']) {
          const found = await search(searchUrl(), type, query, false, ['notes']);
          expectAlike(found, await search(plainSearch.baseUrl, type, query, false, ['notes']), `${type} ${time}`);
          if (type === 'CHUNKS_LEXICAL') expect(found).to.include('of e about');
        }
        await new Promise((updated) => setTimeout(updated, 1500));
      }
      expect(await copyIds()).to.have.members(before);
    });

    it('are dropped before an item is reported as forgotten', async () => {
      await untilCopied(2);
      const before = await copyIds();
      const begunMs = performance.now();
      await client.post('/api/v1/forget', { dataset: 'notes', dataId: first });
      const left = new Set(await copyIds());
      expect(before.filter((id) => left.has(id))).to.have.length(1);
      // That of the process which holds it lasts ten seconds.
      expect(performance.now() - begunMs).to.be.below(9_000);
      const query = 'Who wrote letter 3 of a about the whale?';
      expect(await search(searchUrl(), 'CHUNKS_LEXICAL', query, false, ['notes'])).to.not.include('of a about');
    });

    it('of a killed process delay the report until their lease is over, and no longer', async () => {
      await untilCopied(2);
      const before = await copyIds();
      for (const pid of cluster.pidsOf('search')) process.kill(pid, 'SIGKILL');
      const begunMs = performance.now();
      await client.post('/api/v1/forget', { dataset: 'notes', dataId: second });
      expect(performance.now() - begunMs).to.be.within(9_900, 60_000);
      const left = new Set(await copyIds());
      expect(before.filter((id) => left.has(id))).to.have.length(1);
    });
  });
});

/** With what is read only when it is asked for. */
function plain(value: unknown): string {
  return JSON.stringify(value);
}

/** The same texts, but for the last digits of numbers: servers add up vectors in different orders. */
function expectAlike(found: string, wanted: string, message: string): void {
  const numbers = /-?\d+\.\d{5,}(?:e-?\d+)?/g;
  expect(found.replaceAll(numbers, '#'), message).to.equal(wanted.replaceAll(numbers, '#'));
  const wantedNumbers = [...wanted.matchAll(numbers)].map(Number);
  for (const [at, number] of [...found.matchAll(numbers)].map(Number).entries())
    expect(number, message).to.be.closeTo(wantedNumbers[at] ?? Number.NaN, 1e-6);
}

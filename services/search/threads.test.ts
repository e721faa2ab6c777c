import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { partOf } from '../../test/support/extent.ts';
import { createSearchWorld, type SearchWorld, type WorldPassage } from '../../test/support/search-world.ts';
import { collections } from '../app/collections.ts';
import { type DatasetRef, scopeOf } from '../common/kernel/dataset.ts';
import { createSystemClock } from '../common/platform/system/clock.ts';
import { createSupersessions } from '../common/records/cognify/supersessions.ts';
import { openSqliteDocumentStore } from '../common/storage/documents/sqlite/document-store.ts';
import {
  createSqliteDatasetIndexes,
  type SqliteDatasetIndexes,
} from '../common/storage/indexes/sqlite/sqlite-dataset-indexes.ts';
import type { DocumentStore } from '../common/storage/ports/document-store.ts';
import { packPassages } from './answers/contexts.ts';
import { type KnowledgeReader, knowledgeAround } from './answers/knowledge.ts';
import { type QuoteReader, quotesFrom } from './answers/quotes.ts';
import { CURRENT } from './model.ts';
import { createLearnedElements } from './retrieval/learned-weights.ts';
import type { RetrievalRequest, Retriever } from './retrieval/retrieval.ts';
import { createPassageRetriever } from './tasks.ts';
import {
  createThreadKnowledge,
  createThreadQuotes,
  createThreadRetriever,
  type PreparedAnswers,
  type SearchThreads,
} from './threads.ts';

const WORDS =
  'harbour whale captain letter garden bridge winter market lamp river song teacher engine mountain paper train'.split(
    ' ',
  );
const NAMES = ['Ada Byron', 'Oslo', 'Hank Snow', 'Nashville', 'Pequod', 'Grace Hopper', 'Team Red', 'Quito'];

/** Numbers from a seed, 0 to 1. */
function createDice(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (1_664_525 * state + 1_013_904_223) % 2 ** 32;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function randomPassages(seed: number): readonly WorldPassage[] {
  const dice = createDice(seed);
  const pick = (list: readonly string[]) => list[dice(list.length)] ?? '';
  const sentence = () =>
    `${pick(NAMES)} ${pick(['found', 'left', 'praised', 'met'])} ${pick(NAMES)} at the ${pick(WORDS)} of the ${pick(WORDS)} in ${1900 + dice(120)}.`;
  return Array.from({ length: 12 + dice(30) }, (_, at) => ({
    title: `${pick(NAMES)} ${at}`,
    text: Array.from({ length: 1 + dice(4) }, sentence).join(' '),
    ...(dice(3) === 0 ? { nodeSets: [pick(['a', 'b'])] } : {}),
    ...(dice(4) === 0 ? { dates: [String(1900 + dice(120))] } : {}),
  }));
}

function randomQuery(seed: number): string {
  const dice = createDice(seed);
  const pick = (list: readonly string[]) => list[dice(list.length)] ?? '';
  return `${pick(['Who', 'What', 'Where'])} ${pick(NAMES)} ${pick(WORDS)} ${pick(WORDS)} ${dice(2) === 0 ? `before ${1950 + dice(60)}` : ''}?`;
}

/** The part of a retrieval that a caller can see. */
async function seen(retriever: Retriever, request: RetrievalRequest) {
  const { visibility: _, learned, ...found } = await retriever.retrieve(request);
  return { ...structuredClone(found), isLearned: learned !== null };
}

describe('retrieval in threads', () => {
  let directory: string;
  let store: DocumentStore;
  let indexes: SqliteDatasetIndexes;
  let world: SearchWorld;
  let dataset: DatasetRef;
  let here: Retriever;
  let threads: Retriever;
  let knowledgeHere: KnowledgeReader;
  let knowledge: KnowledgeReader;
  let knowledgeTrips: number;
  let quotes: QuoteReader;
  let quotedHere: number;
  const workers: Worker[] = [];
  const start = (module: URL, workerData: object) => {
    const worker = new Worker(module, { workerData });
    workers.push(worker);
    return worker;
  };

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'engram-threads-'));
    const records = join(directory, 'control.db');
    store = await openSqliteDocumentStore({ file: records, autoMigrate: true, collections });
    indexes = await createSqliteDatasetIndexes({
      directory: join(directory, 'datasets'),
      searchThreads: {
        module: new URL('../app/stores/search-worker.ts', import.meta.url),
        data: { records },
        count: 2,
        start,
      },
    });
    world = await createSearchWorld({ store, indexes });
    here = createPassageRetriever({ store, indexes, clock: createSystemClock() });
    const run: SearchThreads = {
      retrieve: (scope, request, signal) => indexes.run('retrieve', [scope], request, signal) as never,
      knowledge(scope, request) {
        knowledgeTrips += 1;
        return indexes.run('knowledge', [scope], request) as never;
      },
    };
    const learned = createLearnedElements(store, createSystemClock());
    const known: PreparedAnswers = new WeakMap();
    threads = createThreadRetriever(run, { ledger: world.ledger, learned }, known);
    const supersessions = createSupersessions(store);
    knowledgeHere = (...input) => knowledgeAround({ indexes, supersessions }, ...input);
    knowledge = createThreadKnowledge(run, knowledgeHere, known);
    quotes = createThreadQuotes((...input) => {
      quotedHere += 1;
      return quotesFrom({ indexes }, ...input);
    }, known);
  });
  beforeEach(function () {
    knowledgeTrips = 0;
    quotedHere = 0;
    dataset = world.dataset(`notes of ${this.currentTest?.title}`);
  });
  after(async () => {
    await indexes.close();
    await store.close();
    await rm(directory, { recursive: true, force: true });
  });

  async function requestOf(query: string, more: Partial<RetrievalRequest> = {}): Promise<RetrievalRequest> {
    const scope = scopeOf(dataset);
    const [vector = null] = await world.embedder.embed([query], { scope, purpose: 'query' });
    return { scope, query, vector, limit: 8, now: new Date('2026-11-27'), ...more };
  }
  const titles = async (query: string) =>
    (await threads.retrieve(await requestOf(query))).passages.map(({ payload }) => payload.documentName);

  it('ranks several datasets as one dataset that holds all of their texts, here and in threads', async () => {
    let [compared, shared] = [0, 0];
    for (const seed of partOf([11, 12, 13], 3)) {
      const [one, ...several] = ['one', 'a', 'b', 'c'].map((name) => world.dataset(`${name} ${seed}`)) as [
        DatasetRef,
        ...DatasetRef[],
      ];
      const passages = randomPassages(seed).map((passage, at) => ({ ...passage, title: `${passage.title} ${at}` }));
      await world.fill(one, passages);
      // The first has one passage, the second a quarter, the third the rest.
      const shareOf = (at: number) => (at === 0 ? 0 : at % 4 === 1 ? 1 : 2);
      for (const [place, part] of several.entries()) {
        await world.fill(
          part,
          passages.filter((_, at) => shareOf(at) === place),
        );
      }
      for (const query of [randomQuery(seed), randomQuery(seed + 100), randomQuery(seed + 200)]) {
        const asked = await requestOf(query, { scope: scopeOf(one) });
        const joined = several.map((part) => {
          const scope = scopeOf(part);
          return { scope, vector: asked.vector, vectorVersion: scope };
        });
        const apart = { ...asked, scope: scopeOf(several[0] as DatasetRef), joined };
        const whole = (await here.retrieve(asked)).passages;
        const together = (await here.retrieve(apart)).passages;
        // Ids differ, by which equal scores are ordered.
        for (const [place, { score }] of together.entries())
          expect(score, query).to.be.closeTo(whole[place]?.score ?? 0, 0.15);
        const wholeTexts = new Set(whole.map(({ payload }) => payload.text));
        shared += together.filter(({ payload }) => wholeTexts.has(payload.text)).length;
        for (const { dataset: own, payload } of together) {
          const at = passages.findIndex(({ title }) => title === payload.documentName);
          expect(own).to.equal(several[shareOf(at)]?.id);
        }
        expect(await seen(threads, apart)).to.deep.equal(await seen(here, apart));
        compared += together.length;
      }
    }
    expect(compared).to.be.greaterThan(13);
    expect(shared / compared).to.be.greaterThan(0.95);
  });

  it('finds, orders, scores and explains as on the ports of this thread, on random corpora', async () => {
    let found = 0;
    let facts = 0;
    for (const seed of partOf([1, 2, 3], 3)) {
      dataset = world.dataset(`random ${seed}`);
      const items = await world.fill(dataset, randomPassages(seed));
      if (items[0] !== undefined) await world.forget(dataset, items[0]);
      for (let at = 0; at < 12; at++) {
        const more = [{}, { limit: 1000 }, { nodeSets: ['a'] }, { vector: null }][at % 4];
        const request = await requestOf(randomQuery(100 * seed + at), more);
        const expected = await seen(here, request);
        found += expected.passages.length;
        expect(await seen(threads, request), request.query).to.deep.equal(expected);
        const retrieval = await here.retrieve(request);
        const around = { passages: retrieval.passages, retrieval, query: request.query, view: CURRENT };
        const known = await knowledgeHere(dataset, around, { entities: 8, facts: 24 });
        facts += known.facts.length;
        expect(await knowledge(dataset, around, { entities: 8, facts: 24 }), request.query).to.deep.equal(known);
        const together = await threads.retrieve({ ...request, knowledge: { entities: 8, facts: 24 } });
        const passages = packPassages(together.passages);
        const input = { ...around, retrieval: together, passages };
        const trips = knowledgeTrips;
        expect(await knowledge(dataset, input, { entities: 8, facts: 24 }), request.query).to.deep.equal(
          await knowledgeHere(dataset, { ...around, passages }, { entities: 8, facts: 24 }),
        );
        expect(knowledgeTrips, 'it came with the passages').to.equal(trips);
        // For other passages it is read anew.
        const [, ...others] = passages;
        expect(await knowledge(dataset, { ...input, passages: others }, { entities: 2, facts: 4 })).to.deep.equal(
          await knowledgeHere(dataset, { ...around, passages: others }, { entities: 2, facts: 4 }),
        );
      }
    }
    expect(found).to.be.greaterThan(66);
    expect(facts).to.be.greaterThan(6);
  });

  it('answers with the quotes that are made in this thread, in the same trip', async () => {
    const limits = { entities: 8, facts: 24 };
    const options = { dataset: null };
    const texts = new Set<string>();
    for (const seed of [21, 22]) {
      dataset = world.dataset(`quoted ${seed}`);
      await world.fill(dataset, randomPassages(seed));
      for (let at = 0; at < 12; at++) {
        const request = await requestOf(randomQuery(100 * seed + at), at % 3 === 0 ? {} : { knowledge: limits });
        const { query } = request;
        const retrieval = await threads.retrieve({ ...request, quotes: options });
        const passages = packPassages(retrieval.passages);
        const around = { passages, retrieval, query, view: CURRENT };
        const { facts } = request.knowledge ? await knowledge(dataset, around, limits) : { facts: [] };
        const found = { query, retrieval, passages, inner: null, facts };
        const before = quotedHere;
        const answer = await quotes(dataset, found, options);
        expect(quotedHere, query).to.equal(before);
        expect(answer, query).to.deep.equal(await quotesFrom({ indexes }, dataset, found, options));
        texts.add(answer.text);
        await quotes(dataset, { ...found, passages: passages.slice(1) }, options);
        await quotes(dataset, found, { dataset: 'notes' });
        expect(quotedHere, 'of other passages, and of several datasets').to.equal(before + 2);
      }
    }
    expect(texts.size).to.be.greaterThan(10);
  });

  it('sends the passages alone on request', async () => {
    await world.fill(dataset, randomPassages(5));
    const request = await requestOf('Who met Ada Byron at the harbour?');
    const whole = await threads.retrieve(request);
    const { passages, mentions, named } = await threads.retrieve({ ...request, isForPassages: true });
    expect(passages).to.deep.equal(whole.passages);
    expect([whole.mentions.length > 0, mentions, named]).to.deep.equal([true, [], []]);
  });

  it('sees what was committed, forgotten and dropped before the request', async () => {
    for (let round = 0; round < 20; round++) {
      const title = `Note ${round}`;
      const [item] = await world.fill(dataset, [{ title, text: `Ada Byron hid key ${round} under the lamp.` }]);
      expect(await titles(`Where did Ada Byron hide key ${round}?`), title).to.include(title);
      if (round % 2 === 0 && item !== undefined) {
        await world.forget(dataset, item);
        expect(await titles(`Where did Ada Byron hide key ${round}?`), title).not.to.include(title);
      }
    }
    const scope = scopeOf(dataset);
    await Promise.all([indexes.text.drop(scope), indexes.vectors.drop(scope), indexes.graph.drop(scope)]);
    expect(await titles('Where did Ada Byron hide key 3?')).to.deep.equal([]);
    await world.fill(dataset, [{ title: 'Again', text: 'Ada Byron hid another key under the bridge.' }]);
    expect(await titles('Where did Ada Byron hide a key?')).to.deep.equal(['Again']);
  });

  it('answers while a dataset is deleted, and with nothing afterwards', async () => {
    await world.fill(dataset, randomPassages(7));
    const scope = scopeOf(dataset);
    const request = await requestOf('Who met Ada Byron at the harbour?');
    const searches = Array.from({ length: 30 }, () => threads.retrieve(request));
    await Promise.all([indexes.text.drop(scope), indexes.vectors.drop(scope), indexes.graph.drop(scope)]);
    for (const { passages } of await Promise.all(searches)) expect(passages.length).to.be.within(0, 8);
    expect((await threads.retrieve(request)).passages).to.deep.equal([]);
  });

  it('answers the requests of a thread that was killed with another one', async () => {
    await world.fill(dataset, randomPassages(9));
    const request = await requestOf('Who met Ada Byron at the harbour?');
    const expected = await seen(threads, request);
    // One of them has the dataset open.
    const running = [...workers];
    for (const worker of running) {
      const searches = Array.from({ length: 20 }, () => seen(threads, request));
      await worker.terminate();
      for (const found of await Promise.all(searches)) expect(found).to.deep.equal(expected);
    }
    expect(workers.length).to.be.greaterThan(running.length);
  });

  it('ends a request that is aborted, and serves the next', async () => {
    await world.fill(dataset, randomPassages(11));
    const request = await requestOf('Who met Ada Byron at the harbour?');
    const controller = new AbortController();
    const aborted = threads.retrieve({ ...request, signal: controller.signal }).catch((error: Error) => error.name);
    controller.abort();
    expect(await aborted).to.equal('AbortError');
    expect((await threads.retrieve(request)).passages.length).to.be.greaterThan(0);
  });
});

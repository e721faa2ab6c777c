import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  createSearchWorld,
  OWNER,
  type SearchApp,
  type SearchWorld,
  startSearch,
} from '../../test/support/search-world.ts';
import { until } from '../../test/support/until.ts';
import type { DatasetRef } from '../common/kernel/dataset.ts';
import { openOwnIndexes } from '../common/storage/indexes/sqlite/thread-indexes.ts';
import type { DatasetIndexes, IndexStores } from '../common/storage/ports/dataset-indexes.ts';

const PASSAGES = [
  { title: 'ada', text: 'Ada Lovelace lives in Oslo. She works with Charles Babbage on the engine.' },
  { title: 'river', text: 'The Nile flows through Egypt. Cairo lies on the Nile.' },
  { title: 'engine', text: 'Charles Babbage built the engine in London. It was never finished.' },
];
const TYPES = ['CHUNKS', 'CHUNKS_LEXICAL', 'SUMMARIES', 'RAG_COMPLETION', 'GRAPH_COMPLETION', 'HYBRID_COMPLETION'];
const QUERY = 'Where does Ada Lovelace live?';

describe('copies of datasets that are searched repeatedly', () => {
  let world: SearchWorld;
  let notes: DatasetRef;
  let other: DatasetRef;
  let directory: string;
  let copies: DatasetIndexes;
  let search: SearchApp;
  /** Calls of the servers' indexes. */
  let calls = 0;

  beforeEach(async () => {
    world = await createSearchWorld();
    [notes, other] = [world.dataset('notes'), world.dataset('other')];
    await world.fill(notes, PASSAGES);
    await world.fill(other, [{ title: 'copy', text: 'Ada Lovelace lives in Paris.' }]);
    directory = mkdtempSync(join(tmpdir(), 'engram-copies-'));
    copies = openOwnIndexes(join(directory, 'copies'), 16 * 2 ** 20);
    await start(1000);
  });

  afterEach(async () => {
    await search[Symbol.asyncDispose]();
    await copies.close();
    rmSync(directory, { recursive: true });
  });

  async function start(maxRows: number) {
    const indexes = counted(world.indexes, () => {
      calls += 1;
    });
    search = await startSearch(world, [notes, other], {
      indexes,
      copies: { indexes: copies, maxRows },
      settings: { sessionMemory: false },
    });
  }

  async function ask(searchType: string, query = QUERY, datasets = ['notes']): Promise<unknown> {
    const body = { query, searchType, datasets, topK: 5, onlyContext: searchType.endsWith('COMPLETION') };
    const response = await search.app.post('/api/v1/search', body);
    expect(response.status, searchType).to.equal(200);
    // Single precision in the copy.
    const found = JSON.parse(await response.text(), (_, value: unknown) =>
      typeof value === 'number' ? Number(value.toFixed(6)) : value,
    ) as { readonly search_result: unknown }[];
    return found.map((entry) => entry.search_result);
  }

  /** Whether a search asked the servers for nothing. */
  async function isAnsweredHere(...datasets: readonly string[]): Promise<boolean> {
    const before = calls;
    await ask('CHUNKS', QUERY, [...datasets]);
    return calls === before;
  }

  it('answer as the servers do, which are asked for nothing any more', async () => {
    const fromServers = new Map<string, unknown>();
    for (const type of TYPES) fromServers.set(type, await ask(type));
    await until('a copy answers', () => isAnsweredHere('notes'));
    const before = calls;
    for (const type of TYPES) expect(await ask(type), type).to.deep.equal(fromServers.get(type));
    expect(calls).to.equal(before);
  });

  it('rank several datasets together', async () => {
    const fromServers = await ask('CHUNKS', QUERY, ['notes', 'other']);
    await until('a copy of both answers', () => isAnsweredHere('notes', 'other'));
    expect(await ask('CHUNKS', QUERY, ['notes', 'other'])).to.deep.equal(fromServers);
  });

  it('show at once what was committed or forgotten since they were made', async () => {
    await until('a copy answers', () => isAnsweredHere('notes'));
    const [added] = await world.fill(notes, [{ title: 'move', text: 'Ada Lovelace moved to Lisbon.' }]);
    expect(JSON.stringify(await ask('CHUNKS'))).to.include('Lisbon');
    await until('a copy answers', () => isAnsweredHere('notes'));
    expect(JSON.stringify(await ask('CHUNKS')))
      .to.include('Lisbon')
      .and.include('Oslo');
    if (added !== undefined) await world.forget(notes, added);
    expect(JSON.stringify(await ask('CHUNKS')))
      .to.include('Oslo')
      .and.not.include('Lisbon');
  });

  it('are removed with the dataset', async () => {
    await until('a copy answers', () => isAnsweredHere('notes'));
    const files = () =>
      existsSync(join(directory, 'copies')) ? readdirSync(join(directory, 'copies'), { recursive: true }) : [];
    expect(files().filter((file) => String(file).endsWith('.db'))).to.have.length(1);
    await search.messenger.call('search.Erase', { dataset: notes }, { principal: OWNER, requestId: 'erase' });
    expect(files().filter((file) => String(file).endsWith('.db'))).to.deep.equal([]);
  });

  it('are not made of a dataset that is too large', async () => {
    await search[Symbol.asyncDispose]();
    await start(5);
    for (let time = 0; time < 6; time += 1) expect(await isAnsweredHere('notes')).to.equal(false);
    expect(existsSync(join(directory, 'copies'))).to.equal(false);
  });
});

/** The indexes, with each call noted. */
function counted(indexes: IndexStores, note: () => void): IndexStores {
  const noted = <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return (...values: unknown[]) => {
          note();
          return Reflect.apply(member, target, values);
        };
      },
    });
  return { text: noted(indexes.text), vectors: noted(indexes.vectors), graph: noted(indexes.graph) };
}

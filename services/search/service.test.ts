import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import {
  createSearchWorld,
  OWNER,
  type SearchApp,
  type SearchWorld,
  startSearch,
} from '../../test/support/search-world.ts';
import type { RunState } from '../common/domain/run.ts';
import { NO_RESULT } from '../common/domain/run.ts';
import type { DatasetRef } from '../common/kernel/dataset.ts';
import { engramError } from '../common/kernel/errors.ts';
import { asId } from '../common/kernel/ids.ts';
import type { LanguageModel } from '../common/ports/models.ts';

const ADA = { title: 'ada', text: 'Ada Lovelace lives in Oslo. She works with Charles Babbage on the engine.' };
const RIVER = { title: 'river', text: 'The Nile flows through Egypt. Cairo lies on the Nile.' };
const QUERY = 'Where does Ada Lovelace live?';

type Json = Record<string, unknown>;

describe('the search service', () => {
  let world: SearchWorld;
  let notes: DatasetRef;
  let other: DatasetRef;
  let empty: DatasetRef;
  /** The item that tells of Ada, in `notes`. */
  let ada: string | undefined;

  beforeEach(async () => {
    world = await createSearchWorld();
    [notes, other, empty] = ['notes', 'other', 'empty'].map((name) => world.dataset(name)) as [
      DatasetRef,
      DatasetRef,
      DatasetRef,
    ];
    [ada] = await world.fill(notes, [ADA, RIVER]);
    await world.fill(other, [{ title: 'copy', text: 'Ada Lovelace lives in Paris.' }]);
  });

  const start = (options?: Parameters<typeof startSearch>[2]) => startSearch(world, [notes, other, empty], options);

  async function post(search: SearchApp, path: string, body: object) {
    const response = await search.app.post(`/api/v1${path}`, body);
    return { status: response.status, body: (await response.json()) as unknown };
  }

  const ask = async (search: SearchApp, body: object) =>
    post(search, '/search', { query: QUERY, datasets: ['notes'], ...body });

  async function result(search: SearchApp, body: object): Promise<unknown> {
    const answer = await ask(search, body);
    expect(answer.status).to.equal(200);
    return (answer.body as Json[])[0]?.['search_result'];
  }

  describe('POST /search', () => {
    it('ranks the rows of several datasets as one, and top_k is over all', async () => {
      await using search = await start();
      for (const searchType of ['CHUNKS', 'CHUNKS_LEXICAL', 'SUMMARIES']) {
        const { body } = await ask(search, { datasets: ['other', 'notes', 'empty'], searchType, topK: 2 });
        const [copy, own, none] = (body as Json[]).map((entry) => entry['search_result'] as Json[]);
        expect([copy?.length, own?.length, none?.length], searchType).to.deep.equal([1, 1, 0]);
        expect([copy?.[0]?.['rank'], own?.[0]?.['rank']].sort(), searchType).to.deep.equal([1, 2]);
        expect((body as Json[])[2]?.['error']).to.include('No searchable memory');
      }
      const recalled = (await post(search, '/recall', { query: QUERY, datasets: ['other', 'notes'], topK: 3 })).body;
      const texts = (recalled as Json[]).map((item) => item['text']);
      expect(texts.slice(0, 2)).to.have.members([ADA.text, 'Ada Lovelace lives in Paris.']);
    });

    it('omits the refusals of datasets beside the answer of another, and refuses once', async () => {
      await using search = await start();
      const answers = async (query: string) => {
        const { body } = await ask(search, { query, datasets: ['other', 'notes'] });
        return (body as Json[]).map((entry) => entry['search_result']);
      };
      const [none, found] = await answers('Where does the Nile flow?');
      expect(none).to.deep.equal([]);
      expect(String(found)).to.match(/Egypt.*\(river\.?\w*, dataset notes\)$/u);
      const refused = await answers('Who painted the Mona Lisa?');
      expect(refused).to.have.deep.members([['Nothing in memory answers this question.'], []]);
    });

    it('quotes without a model and cites its evidence', async () => {
      await using search = await start();
      const [answer] = (await result(search, { searchType: 'HYBRID_COMPLETION', includeReferences: true })) as string[];
      expect(answer).to.match(
        /^Oslo: "Ada Lovelace lives in Oslo\." \(ada\)[\s\S]*\n\nEvidence:\n- chunk 1 of document ada/,
      );
      const [graph] = (await result(search, { searchType: 'GRAPH_COMPLETION', includeReferences: true })) as string[];
      expect(graph).to.match(/\n\nEvidence:\n- chunk 1 of document ada \(data_id: [^)]+\)(\n|$)/);
    });

    it('answers TRIPLET_COMPLETION as GRAPH_COMPLETION where no triplets were made', async () => {
      await using search = await start();
      for (const options of [{ onlyContext: true }, { includeReferences: true }]) {
        const [triplets, graph] = await Promise.all(
          ['TRIPLET_COMPLETION', 'GRAPH_COMPLETION'].map((searchType) => result(search, { searchType, ...options })),
        );
        expect(triplets).to.deep.equal(graph);
        expect(String(graph)).to.include('Ada Lovelace lives in Oslo.');
      }
    });

    it('returns the other results when one dataset fails, without details of the failure', async () => {
      const text = {
        ...world.indexes.text,
        candidates: ((scope, ...rest) =>
          scope.dataset === other.id
            ? Promise.reject(new Error('disk on fire'))
            : world.indexes.text.candidates(scope, ...rest)) as typeof world.indexes.text.candidates,
      };
      await using search = await start({ indexes: { ...world.indexes, text } });
      const { status, body } = await ask(search, { datasets: ['other', 'notes'], searchType: 'CHUNKS' });
      expect(status).to.equal(200);
      expect((body as Json[])[0]?.['error'])
        .to.be.a('string')
        .and.not.include('fire');
      expect((body as Json[])[1]?.['search_result']).to.have.length.greaterThan(0);
      expect((await ask(search, { datasets: ['other'], searchType: 'CHUNKS' })).status).to.equal(500);
    });

    it('returns plain results without access control', async () => {
      await using search = await start({ settings: { accessControl: false } });
      const chunks = (await ask(search, { searchType: 'CHUNKS' })).body as Json[];
      expect(chunks[0]?.['text']).to.equal(ADA.text);
      const [answer] = (await ask(search, { searchType: 'RAG_COMPLETION' })).body as string[];
      expect(answer).to.include('Oslo');
      const context = (await ask(search, { searchType: 'RAG_COMPLETION', onlyContext: true })).body as string[];
      expect(context).to.have.length(1);
      expect(context[0]).to.include('The question is');
      const both = (await ask(search, { datasets: ['notes', 'other'], searchType: 'CHUNKS' })).body as Json[];
      expect(both.map((row) => row['document_name'])).to.include.members(['ada', 'copy']);
    });
  });

  describe('search with a model', () => {
    function model(answer: () => string): LanguageModel & { readonly prompts: { system: string; prompt: string }[] } {
      const prompts: { system: string; prompt: string }[] = [];
      return {
        name: 'test/model',
        prompts,
        async text({ system, prompt }) {
          prompts.push({ system, prompt });
          return { text: answer(), usage: { inputTokens: 1, outputTokens: 1 } };
        },
        structured: () => Promise.reject(new Error('not asked')),
        async *stream() {},
      };
    }

    it('routes a recall without a type, and answers from everything when the type finds nothing', async () => {
      await using search = await start({ models: { languageModel: model(() => 'An answer.') } });
      const typeOf = async (query: string) => {
        const { body } = await post(search, '/recall', { query, datasets: ['notes'] });
        return (body as Json[]).map(({ search_type }) => search_type);
      };
      expect(await typeOf('What happened to Ada in 1999?')).to.deep.equal(['TEMPORAL']);
      expect(await typeOf('Who is Ada?')).to.deep.equal(['HYBRID_COMPLETION']);
      expect(await typeOf('"Ada Lovelace lives"')).to.deep.equal(['CHUNKS_LEXICAL']);
      expect(await typeOf('What are our coding standards for Ada?')).to.deep.equal(['HYBRID_COMPLETION']);
      await world.fill(notes, [{ title: 'rules', text: 'Tabs, never spaces.', nodeSets: ['coding_agent_rules'] }]);
      expect(await typeOf('What are our coding standards for Ada?')).to.deep.equal(['CODING_RULES']);
    });

    it('calls the model once per dataset with the context, and never for retrieval alone', async () => {
      const languageModel = model(() => 'Oslo, of course.');
      await using search = await start({ models: { languageModel } });
      expect(await result(search, { searchType: 'HYBRID_COMPLETION', systemPrompt: 'Be brief.' })).to.deep.equal([
        'Oslo, of course.',
      ]);
      expect(languageModel.prompts).to.have.length(1);
      expect(languageModel.prompts[0]?.system).to.equal('Be brief.');
      expect(languageModel.prompts[0]?.prompt).to.include(ADA.text);
      await ask(search, { searchType: 'CHUNKS' });
      await ask(search, { searchType: 'HYBRID_COMPLETION', onlyContext: true });
      await ask(search, { searchType: 'RAG_COMPLETION', query: '?!' });
      expect(languageModel.prompts).to.have.length(1);
    });

    it('fails the whole request with 402 when the budget is used up', async () => {
      const languageModel = model(() => {
        throw engramError('LLMPaymentRequiredError', 'Budget used up.');
      });
      await using search = await start({ models: { languageModel } });
      const answer = await ask(search, { datasets: ['notes', 'other'] });
      expect(answer.status).to.equal(402);
      expect((answer.body as Json)['detail']).to.equal('Budget used up. [LLMPaymentRequiredError]');
    });
  });

  describe('POST /recall', () => {
    it('answers a question over several datasets once, and names the dataset', async () => {
      await using search = await start();
      const body = { query: QUERY, datasets: ['notes', 'other'], searchType: 'GRAPH_COMPLETION' };
      const items = (await post(search, '/recall', body)).body as Json[];
      expect(items).to.have.length(1);
      expect(String(items[0]?.['text'])).to.include(`, dataset ${items[0]?.['dataset_name']})`);
    });

    const recall = (search: SearchApp, body: object) =>
      post(search, '/recall', { query: QUERY, datasets: ['notes'], ...body });

    it('names the passages, entities and relations of an answer when references are asked for', async () => {
      await using search = await start();
      const typed = { searchType: 'GRAPH_COMPLETION', query: QUERY, includeReferences: true };
      const [item] = (await recall(search, typed)).body as [
        { readonly metadata: { readonly evidence: readonly Json[] } },
      ];
      const { evidence } = item.metadata;
      expect(evidence.map(({ rank }) => rank)).to.deep.equal(evidence.map((_, at) => at));
      expect(evidence[0]).to.deep.include({
        kind: 'segment',
        role: 'used_as_context',
        data_id: ada,
        dataset_id: notes.id,
      });
      expect(evidence.map(({ kind }) => kind)).to.include.members(['graph_node', 'graph_edge']);
      expect(evidence.at(-1)).to.include({ kind: 'segment', role: 'supports_assertion', data_id: ada });
      const plain = ((await recall(search, { ...typed, includeReferences: false })).body as Json[])[0];
      expect(plain?.['metadata']).to.deep.equal({});
    });

    it('names the supported types when the type is unknown', async () => {
      await using search = await start();
      const { status, body } = await recall(search, { searchType: 'NOPE' });
      expect(status).to.equal(400);
      expect(JSON.stringify(body))
        .to.include('GRAPH_COMPLETION')
        .and.match(/'CODE'/);
    });

    it('reports that memory is warming up or could not be built, and searches otherwise', async () => {
      await using search = await start();
      const marker = async () => (await recall(search, { datasets: ['empty'] })) as { status: number; body: Json[] };
      expect((await marker()).body[0]).to.deep.include({
        source: 'system',
        status: 'memory_warming_up',
        datapoint_count: 0,
        threshold: 1,
        error_class: null,
      });
      const run: RunState = {
        id: asId(randomUUID()),
        pipeline: 'cognify_pipeline',
        dataset: notes.id,
        datasetName: notes.name,
        status: 'DATASET_PROCESSING_ERRORED',
        ...NO_RESULT,
        errorClass: 'IngestionError',
        errorMessage: 'broken',
        startedAt: '2026-01-02',
        endedAt: null,
      };
      search.runs.push(run);
      expect((await marker()).body[0]).to.include({ status: 'build_failed', error_class: 'IngestionError' });
      search.runs[0] = { ...run, pipeline: 'add_pipeline', status: 'DATASET_PROCESSING_COMPLETED', errorClass: null };
      expect((await marker()).status).to.equal(404);
    });

    it('ends a stream with an error event when the work fails later', async () => {
      const text = { ...world.indexes.text, candidates: () => Promise.reject(new Error('disk on fire')) };
      await using search = await start({ indexes: { ...world.indexes, text } });
      const body = { query: QUERY, datasets: ['notes'], stream: true };
      const events = await (await search.app.post('/api/v1/recall', body)).text();
      expect(events).to.include('event: error\ndata: {"message":');
      expect(events).not.to.include('fire');
    });
  });

  describe('search history', () => {
    const history = async (search: SearchApp, path = '/search') =>
      (await (await search.app.get(`/api/v1${path}`)).json()) as Json[];

    it('contains a question and an answer per dataset, oldest first, on both routes', async () => {
      await using search = await start();
      await ask(search, { searchType: 'RAG_COMPLETION', datasets: ['notes', 'other'] });
      await post(search, '/recall', { query: 'Nile', datasets: ['notes'] });
      const rows = await history(search);
      expect(rows.map((row) => [row['user'], row['datasetId']])).to.deep.equal([
        ['user', notes.id],
        ['system', notes.id],
        ['user', other.id],
        ['system', other.id],
        ['user', notes.id],
        ['system', notes.id],
      ]);
      expect(rows[0]?.['text']).to.equal(QUERY);
      // Both datasets have an answer, and the question is answered once.
      expect(`${rows[1]?.['text']}${rows[3]?.['text']}`).to.match(/^(Oslo|Paris): "Ada Lovelace lives in \1\."/);
      expect(Object.keys(rows[0] as Json)).to.deep.equal(['id', 'text', 'user', 'createdAt', 'datasetId']);
      expect(await history(search, '/recall')).to.deep.equal(rows);
    });

    it('does not fail a search when the store cannot be written', async () => {
      const full = engramError('ServiceUnavailableError', 'The disk that holds /data/control.db is full');
      const store = { ...world.store, commit: () => Promise.reject(full) };
      await using search = await startSearch({ ...world, store }, [notes]);
      expect(await result(search, { searchType: 'CHUNKS', topK: 1 })).to.have.length(1);
    });

    it('contains no failed searches, and nothing when switched off', async () => {
      await using search = await start();
      await ask(search, { datasets: ['empty'] });
      expect(await history(search)).to.deep.equal([]);
      await using silent = await start({ settings: { logSearchHistory: false } });
      await ask(silent, {});
      expect(await history(silent)).to.deep.equal([]);
    });

    for (const searchType of ['CHUNKS', 'CHUNKS_LEXICAL', 'RAG_COMPLETION', 'GRAPH_COMPLETION', 'HYBRID_COMPLETION']) {
      it(`loses the answers of ${searchType} from forgotten items, but no questions or other answers`, async () => {
        await using search = await start();
        const asking = { searchType, topK: 1 };
        await ask(search, asking);
        await ask(search, { ...asking, query: 'Where does the Nile flow?' });
        const before = (await history(search)).map((row) => row['text']);
        expect(before[1]).to.include('Oslo');
        expect(before[3]).to.include('Egypt');
        const context = { requestId: 'test', principal: OWNER };
        const erased = { dataset: notes, items: [ada ?? ''] };
        expect(await search.messenger.call('search.EraseAnswers', erased, context)).to.deep.equal({ removed: 1 });
        expect((await history(search)).map((row) => row['text'])).to.deep.equal([before[0], '', before[2], before[3]]);
      });
    }

    it('loses the rows of an erased dataset only', async () => {
      await using search = await start();
      await ask(search, { datasets: ['notes', 'other'] });
      const erased = await search.messenger.call(
        'search.Erase',
        { dataset: notes },
        { requestId: 'test', principal: OWNER },
      );
      expect(erased).to.deep.equal({ removed: 1, residue: 0 });
      expect((await history(search)).map((row) => row['datasetId'])).to.deep.equal([other.id, other.id]);
    });
  });
});

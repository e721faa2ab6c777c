import { expect } from 'chai';
import { createSearchWorld, type SearchWorld, startSearch } from '../../../test/support/search-world.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import type { LanguageModel } from '../../common/ports/models.ts';
import { NOTHING_FITS } from '../../common/text/repetition/own-answers.ts';

const NOTES = [
  { title: 'move', text: 'When I moved to Berlin in 2018, I knew nobody in the city.', dates: ['2018'] },
  { title: 'chess', text: 'My uncle Boris taught me chess when I was seven.' },
  { title: 'shop', text: 'I opened a small shop in Vienna in May 2018.', dates: ['2018-05'] },
  { title: 'cat', text: 'We adopted our cat Luna from a shelter in 2020.', dates: ['2020'] },
  { title: 'train', text: 'On a train from Prague to Vienna, I sat next to a physicist.' },
  { title: 'rules', text: 'Use tabs, never spaces.', nodeSets: ['coding_agent_rules'] },
];

interface Entry {
  readonly search_result: readonly string[];
  readonly reasoning?: {
    readonly by: string;
    readonly steps: readonly { readonly kind: string; readonly query: string }[];
  };
}

/** Answers structured calls by the name of their schema, texts by `text`. */
function scripted(structured: Readonly<Record<string, unknown>>, text: (prompt: string) => string) {
  const calls: string[] = [];
  const usage = { inputTokens: 1, outputTokens: 1 };
  const model: LanguageModel = {
    name: 'test/model',
    async text({ prompt }) {
      calls.push('text');
      return { text: text(prompt), usage };
    },
    async structured({ schemaName }) {
      calls.push(schemaName);
      return { value: structured[schemaName], usage };
    },
    async *stream() {},
  };
  return { model, calls };
}

describe('search types that look more than once', () => {
  let world: SearchWorld;
  let notes: DatasetRef;
  let empty: DatasetRef;
  beforeEach(async () => {
    world = await createSearchWorld();
    [notes, empty] = ['notes', 'empty'].map((name) => world.dataset(name)) as [DatasetRef, DatasetRef];
    await world.fill(notes, NOTES);
  });

  async function ask(searchType: string, query: string, more: object = {}, languageModel?: LanguageModel) {
    const models = languageModel === undefined ? {} : { models: { languageModel } };
    await using search = await startSearch(world, [notes, empty], models);
    const body = { query, searchType, datasets: ['notes'], explain: true, ...more };
    const response = await search.app.post('/api/v1/search', body);
    const entries = (await response.json()) as Entry[];
    expect(response.status, JSON.stringify(entries)).to.equal(200);
    const [{ search_result: result, reasoning }] = entries as [Entry];
    return { text: [result].flat().join('\n'), steps: reasoning?.steps.map(({ kind }) => kind), by: reasoning?.by };
  }

  describe('without a model', () => {
    it('GRAPH_COMPLETION_DECOMPOSITION names each part before its answer', async () => {
      const { text, steps, by } = await ask(
        'GRAPH_COMPLETION_DECOMPOSITION',
        'Where did I move in 2018 and who taught me chess?',
      );
      expect(text).to.match(/^Where did I move in 2018\?\nBerlin: ".*\n\nWho taught me chess\?\n.*uncle/su);
      expect([steps, by]).to.deep.equal([['part', 'part'], 'rules']);
      const alone = await ask('GRAPH_COMPLETION_DECOMPOSITION', 'Who taught me chess?');
      expect(alone.text).to.include('uncle').and.not.include('Who taught');
      const unknown = await ask('GRAPH_COMPLETION_DECOMPOSITION', 'Who rules France and what is the price of tea?');
      expect(unknown.text).to.equal(NOTHING_FITS);
    });

    const NOVELS = [
      { title: 'reading', text: 'In March I finished Wolf Hall by Hilary Mantel, 650 pages.' },
      { title: 'authors', text: 'Hilary Mantel was born in Glossop. Raynor Winn comes from Melton Mowbray.' },
      { title: 'Glossop', text: 'Glossop is a market town. The mayor of Glossop is Edna Hale.' },
    ];

    it('GRAPH_COMPLETION asks for what a question describes, then for the rest, and quotes both', async () => {
      await world.fill(empty, NOVELS);
      const { text } = await ask('GRAPH_COMPLETION', 'Where was the author of Wolf Hall born?', {
        datasets: ['empty'],
      });
      expect(text).to.match(/^Glossop: /u);
      expect(text).to.contain('finished Wolf Hall by Hilary Mantel');
    });

    it('GRAPH_COMPLETION resolves a description within a description', async () => {
      await world.fill(empty, NOVELS);
      const query = 'Who is the mayor of the town where the author of Wolf Hall was born?';
      const { text } = await ask('GRAPH_COMPLETION', query, { datasets: ['empty'] });
      expect(text).to.match(/^Edna Hale: /u);
      expect(text).to.contain('finished Wolf Hall by Hilary Mantel');
      expect(text).to.contain('Hilary Mantel was born in Glossop');
    });

    it('GRAPH_COMPLETION quotes first what is asked of the one that a question describes', async () => {
      await world.fill(empty, [
        { title: 'team', text: 'The web shop is maintained by Fatima Said. Fatima is reachable at extension 4417.' },
      ]);
      const query = 'What is the extension of the person who maintains the web shop?';
      const { text } = await ask('GRAPH_COMPLETION', query, { datasets: ['empty'] });
      expect(text).to.match(/^[^"]*"Fatima is reachable at extension 4417\."/u);
    });

    it('GRAPH_COMPLETION says what a note tells of a relative before it looks for the name', async () => {
      await world.fill(empty, [
        { title: 'wife', text: 'My wife Leila still cycles to the clinic where she works as a midwife.' },
        { title: 'receipts', text: 'Our accountant, Mrs. Brandt, wants all receipts by the fifth of the month.' },
        { title: 'bakery', text: 'I run a small bakery on Harbour Road with my cousin Yusuf.' },
        { title: 'mother', text: 'My mother moved back to Izmir in 2019 and calls every evening at seven.' },
      ]);
      const wife = await ask('GRAPH_COMPLETION', "What is my wife's profession?", { datasets: ['empty'] });
      expect(wife.text).to.match(/^midwife: "My wife Leila/u);
      const mother = await ask('GRAPH_COMPLETION', 'Where does my mother live?', { datasets: ['empty'] });
      expect(mother.text).to.match(/^Izmir\b.*: "My mother moved back to Izmir/u);
    });

    it('GRAPH_COMPLETION refuses when the one that a question describes is unknown', async () => {
      await world.fill(empty, NOVELS);
      const { text } = await ask('GRAPH_COMPLETION', 'Where was the author of Ulysses born?', { datasets: ['empty'] });
      expect(text).to.equal(NOTHING_FITS);
    });

    it('GRAPH_COMPLETION_COT answers the inner question first', async () => {
      const { text, steps } = await ask(
        'GRAPH_COMPLETION_COT',
        'Where did I open a shop in the year I moved to Berlin?',
      );
      expect(text).to.match(/^Vienna: /u);
      expect(steps).to.deep.equal(['inner_question']);
    });

    it('GRAPH_COMPLETION_CONTEXT_EXTENSION adds what the graph joins to the question', async () => {
      const { text, by } = await ask('GRAPH_COMPLETION_CONTEXT_EXTENSION', 'What is connected with Vienna?');
      expect(text).to.include('small shop').and.include('a physicist');
      expect(by).to.equal('rules');
      expect((await ask('GRAPH_COMPLETION_CONTEXT_EXTENSION', 'Who is the mayor of Oslo?')).text).to.equal(
        NOTHING_FITS,
      );
    });

    it('TEMPORAL lists what happened at a time, and prefers it for other questions', async () => {
      const { text, steps } = await ask('TEMPORAL', 'What happened in 2018?');
      expect(text.split('\n')).to.have.length(2);
      expect(text).to.include('Berlin').and.include('shop');
      expect(steps).to.deep.equal(['time_window']);
      expect((await ask('TEMPORAL', 'What happened in 2018?', { onlyContext: true })).text).to.include('Berlin');
      expect((await ask('TEMPORAL', 'What happened last year?', { asOf: '2021-03-01' })).text).to.include('Luna');
      expect((await ask('TEMPORAL', 'What happened in 1950?')).text).to.equal(NOTHING_FITS);
      expect((await ask('TEMPORAL', 'Who taught me chess?')).text).to.include('uncle');
    });

    it('BROAD quotes every passage that fits, with their number', async () => {
      const { text, steps } = await ask('BROAD', 'How many notes mention Vienna?');
      expect(text).to.match(/^2 of 6 passages: "/u);
      expect(steps).to.deep.equal(['read']);
    });

    it('GRAPH_SUMMARY_COMPLETION quotes what memory says of a topic', async () => {
      const { text, by } = await ask('GRAPH_SUMMARY_COMPLETION', 'Summarise what I know about Luna');
      expect(text).to.include('adopted our cat Luna');
      expect(by).to.equal('rules');
    });

    it('CODING_RULES returns the texts of node sets, GRAPH_REPORT describes the graph', async () => {
      expect((await ask('CODING_RULES', '')).text).to.equal('Use tabs, never spaces.');
      expect((await ask('CODING_RULES', 'x', { nodeName: ['other'] })).text).to.equal('');
      expect((await ask('CODING_RULES', 'x', { datasets: ['empty'] })).text).to.equal('');
      expect((await ask('GRAPH_REPORT', '', { datasets: ['empty'] })).text).to.include('run cognify');
      expect((await ask('TEMPORAL', 'x', { datasets: ['empty'] })).text).to.equal('');
    });
  });

  describe('with a model', () => {
    it('ask follow-up questions until the draft is complete', async () => {
      const thoughts = [{ is_complete: false, follow_up_question: 'Who taught me chess?' }, { is_complete: true }];
      const { model, calls } = scripted({}, () => 'Boris.');
      const structured: LanguageModel['structured'] = async ({ schemaName }) => {
        calls.push(schemaName);
        return {
          value: { missing: '', follow_up_question: null, ...thoughts.shift() },
          usage: { inputTokens: 1, outputTokens: 1 },
        };
      };
      const more = { topK: 1 };
      const { text, steps, by } = await ask('GRAPH_COMPLETION_COT', 'Where is Luna from?', more, {
        ...model,
        structured,
      });
      expect([text, steps, by]).to.deep.equal(['Boris.', ['follow_up'], 'model']);
      expect(calls).to.deep.equal(['text', 'Thought', 'text', 'Thought', 'text']);
    });

    it('extend the context by drafts, at most four times', async () => {
      const { model, calls } = scripted({}, () => 'Vienna, Berlin, chess.');
      const { steps } = await ask('GRAPH_COMPLETION_CONTEXT_EXTENSION', 'Where is Luna from?', { topK: 1 }, model);
      expect(steps).to.have.length.within(1, 4);
      expect(calls.length).to.be.within(2, 5);
    });

    it('split a question and answer the whole from the parts', async () => {
      const { model, calls } = scripted(
        { Parts: { questions: ['Where is Luna from?', 'Who taught me chess?'] } },
        (prompt) => (prompt.includes('Part: Who taught me chess?') ? 'Both.' : 'One.'),
      );
      const { text } = await ask('GRAPH_COMPLETION_DECOMPOSITION', 'Where is Luna from, who taught chess?', {}, model);
      expect(text).to.equal('Both.');
      expect(calls).to.deep.equal(['Parts', 'text', 'text', 'text']);
    });

    it('summarise the context before the answer, and say what BROAD has read', async () => {
      const { model, calls } = scripted({}, (prompt) => (prompt.includes('Context:\n`Short.`') ? 'Answer.' : 'Short.'));
      expect((await ask('GRAPH_SUMMARY_COMPLETION', 'Who is Luna?', {}, model)).text).to.equal('Answer.');
      expect(calls).to.deep.equal(['text', 'text']);
      const broad = scripted({}, (prompt) => (NOTES.every(({ text }) => prompt.includes(text)) ? 'Six.' : 'Less.'));
      expect((await ask('BROAD', 'How many notes do I have?', {}, broad.model)).text).to.match(
        /^(?:Six|Less)\.\n\n\(From/u,
      );
    });

    it('choose the type for FEELING_LUCKY, and RAG_COMPLETION when they name none', async () => {
      const lucky = scripted({ SearchTypeChoice: { search_type: 'CODING_RULES' } }, () => 'no');
      expect((await ask('FEELING_LUCKY', 'Which rules?', {}, lucky.model)).text).to.equal('Use tabs, never spaces.');
      const lost = scripted({ SearchTypeChoice: { search_type: 'CODE' } }, () => 'Plain.');
      expect((await ask('FEELING_LUCKY', 'Which rules?', {}, lost.model)).text).to.equal('Plain.');
    });
  });
});

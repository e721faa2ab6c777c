import { expect } from 'chai';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { createWire, type Wire } from '../support/wire.ts';

describe('answers about what has changed', () => {
  let app: StartedApp;
  let wire: Wire;

  before(async () => {
    app = await startApp();
    wire = createWire(app.baseUrl);
    await remember([
      ['Anna Petrova works at Initech.', '2023-02-01'],
      ['I live in Lisbon.', '2024-05-01'],
      ['My phone number is 555 010 2030.', '2024-05-01'],
      ['I prefer coffee.', '2024-05-01'],
      ['I prefer dark mode.', '2024-05-01'],
      ['The price of Widget Nine is $10.', '2024-05-01'],
      ['Yesterday I had lunch with Marta at the harbour.', '2026-03-05'],
      ['Last week we repaired the boat.', '2026-03-05'],
      ['The roof was painted three days ago.', '2026-03-05'],
      ['I visited the dentist yesterday.', '2025-06-10'],
      ['Last Thursday I visited the dentist.', '2026-02-10'],
      ['We went sailing near Sines.', '2025-06-10'],
      ['We went sailing off Cascais.', '2025-08-10'],
      ['The van is blue.', '2026-03-05'],
      ['The workshop is in Seville.', '2026-03-05'],
      ['The choir practice is on Tuesday.', '2026-03-05'],
      ['Harbor is on version 2.0.', '2024-05-01'],
    ]);
    await remember([
      ['Anna Petrova now works at Globex.', '2024-06-01'],
      ['I moved to Porto.', '2026-03-02'],
      ['My new phone number is 555 999 8877.', '2026-03-02'],
      ['I now prefer tea.', '2026-03-02'],
      ['The price of Widget Nine is $12.', '2026-03-02'],
      ['Since April 2025, Harbor is on version 2.1.', '2026-03-02'],
    ]);
  });
  after(() => app.stop());

  async function remember(notes: readonly (readonly [text: string, date: string])[]) {
    const added = await wire.post('/add', {
      data: notes.map(([text]) => text),
      datasetName: 'notes',
      external_metadata: notes.map(([, date]) => ({ date })),
    });
    expect(added.status, added.text).to.equal(200);
    const built = await wire.post('/cognify', { datasets: ['notes'] });
    expect(built.status, built.text).to.equal(200);
  }
  async function ask(query: string): Promise<string> {
    const body = { query, search_type: 'HYBRID_COMPLETION', datasets: ['notes'] };
    const answer = await wire.post('/search', body);
    expect(answer.status, answer.text).to.equal(200);
    return answer.json[0].search_result[0];
  }

  const answers: Readonly<Record<string, string>> = {
    'Where does Anna Petrova work?': 'Globex (since June 2024; before: Initech): "Anna Petrova now works at Globex."',
    'Where did Anna Petrova work before Globex?': 'Initech (until June 2024; now: Globex): ',
    'Does Anna Petrova work at Initech?': 'No, Globex since June 2024: ',
    'Where do I live?': 'Porto (since 2 March 2026; before: Lisbon): "I moved to Porto."',
    'Where did I live before I moved to Porto?': 'Lisbon (until 2 March 2026; now: Porto): ',
    'Do I live in Lisbon?': 'No, Porto since 2 March 2026: ',
    'When did I move to Porto?': '2 March 2026: "I moved to Porto."',
    'What is my phone number?': '555 999 8877 (since 2 March 2026; before: 555 010 2030): ',
    'What was my previous phone number?': '555 010 2030 (until 2 March 2026; now: 555 999 8877): ',
    'Do I prefer coffee or tea?': 'tea (since 2 March 2026; before: coffee): ',
    'What is the price of Widget Nine?': '$12 (since 2 March 2026; before: $10): ',
    'What did Widget Nine cost before?': '$10 (until 2 March 2026; now: $12): ',
    'Which version is Harbor on?': '2.1 (since April 2025; before: 2.0): ',
    // A preference of another kind is no former one.
    'Do I prefer dark mode?': 'Yes: "I prefer dark mode."',
  };
  for (const [question, answer] of Object.entries(answers)) {
    it(`say the latest value and the former one: ${question}`, async () => {
      expect((await ask(question)).slice(0, answer.length)).to.equal(answer);
    });
  }

  const moments: Readonly<Record<string, string>> = {
    'When did I have lunch with Marta?': '4 March 2026 (yesterday): "Yesterday I had lunch with Marta at the harbour."',
    'When did we repair the boat?': '23 February 2026 to 1 March 2026 (last week): "Last week we repaired the boat."',
    'When was the roof painted?': '2 March 2026 (three days ago): ',
    'When did I last visit the dentist?': '5 February 2026 (last Thursday): ',
    'Where did I last go sailing?': 'Cascais: "We went sailing off Cascais."',
  };
  for (const [question, answer] of Object.entries(moments)) {
    it(`count from the date of the note: ${question}`, async () => {
      expect((await ask(question)).slice(0, answer.length)).to.equal(answer);
    });
  }

  const suppositions: Readonly<Record<string, string>> = {
    'Is the van red?': 'No: "The van is blue."',
    'Is the van blue?': 'Yes: "The van is blue."',
    'Is the workshop in Madrid?': 'No: "The workshop is in Seville."',
    'Is the choir practice on Monday?': 'No: "The choir practice is on Tuesday."',
  };
  for (const [question, answer] of Object.entries(suppositions)) {
    it(`deny what has another value: ${question}`, async () => {
      expect((await ask(question)).slice(0, answer.length)).to.equal(answer);
    });
  }

  it('neither deny nor affirm what may be true beside it', async () => {
    expect(await ask('Is the van fast?')).to.not.match(/^(?:Yes|No):/u);
  });

  it('come with no weak chunks from a recall without a type, and padded from CHUNKS', async () => {
    const body = { query: 'Is the workshop in Madrid?', datasets: ['notes'], top_k: 10 };
    const texts = async (more: object) =>
      (await wire.post('/recall', { ...body, ...more })).json.map(({ text }: { readonly text: string }) => text);
    const recalled = await texts({});
    expect(recalled[0]).to.equal('The workshop is in Seville.');
    expect(recalled.length).to.be.below(4);
    expect(await texts({ search_type: 'CHUNKS' })).to.have.length(10);
  });

  it('quote no statement that was replaced', async () => {
    expect(await ask('Where do I live?')).to.not.include('I live in Lisbon');
  });
});

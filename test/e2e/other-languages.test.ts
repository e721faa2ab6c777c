import { expect } from 'chai';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { createWire, type Wire } from '../support/wire.ts';

describe('questions in German, Spanish and French', () => {
  let app: StartedApp;
  let wire: Wire;

  before(async () => {
    app = await startApp();
    wire = createWire(app.baseUrl);
  });
  after(() => app.stop());

  async function remember(datasetName: string, notes: readonly string[], date: string) {
    const external_metadata = notes.map(() => ({ date }));
    expect((await wire.post('/add', { data: notes, datasetName, external_metadata })).status).to.equal(200);
    expect((await wire.post('/cognify', { datasets: [datasetName] })).status).to.equal(200);
  }
  async function ask(dataset: string, query: string): Promise<string> {
    const answer = await wire.post('/search', { query, search_type: 'GRAPH_COMPLETION', datasets: [dataset] });
    return answer.json[0].search_result[0];
  }

  const notes: Readonly<Record<string, readonly [first: string, later: string, others: readonly string[]]>> = {
    de: ['Ich wohne in Hamburg.', 'Ich wohne jetzt in Leipzig.', ['Mein Hund heißt Rex.', 'Ich arbeite bei Siemens.']],
    es: ['Vivo en Madrid.', 'Ahora vivo en Bilbao.', ['Mi perro se llama Toby.', 'Trabajo en Iberia.']],
    fr: [
      "J'habite à Paris.",
      "J'habite maintenant à Lyon.",
      ["Mon chien s'appelle Filou.", 'Je travaille chez Airbus.'],
    ],
  };
  const questions: Readonly<Record<string, readonly (readonly [question: string, answer: RegExp])[]>> = {
    de: [
      ['Wo wohne ich?', /^Leipzig \(since 2 March 2026; before: Hamburg\)/u],
      ['Wie heißt mein Hund?', /Rex/u],
      ['Wo arbeite ich?', /Siemens/u],
      ['Wie heißt meine Katze?', /^Nothing in memory/u],
    ],
    es: [
      ['¿Dónde vivo?', /^Bilbao \(since 2 March 2026; before: Madrid\)/u],
      ['¿Cómo se llama mi perro?', /Toby/u],
      ['¿Dónde trabajo?', /Iberia/u],
      ['¿Cómo se llama mi gato?', /^Nothing in memory/u],
    ],
    fr: [
      ["Où est-ce que j'habite ?", /^Lyon \(since 2 March 2026; before: Paris\)/u],
      ["Comment s'appelle mon chien ?", /Filou/u],
      ['Où est-ce que je travaille ?', /Airbus/u],
      ["Comment s'appelle mon chat ?", /^Nothing in memory/u],
    ],
  };
  for (const [language, [first, later, others]] of Object.entries(notes)) {
    it(`are answered from notes in that language, the latest statement first: ${language}`, async () => {
      await remember(language, [first, ...others], '2024-05-01');
      await remember(language, [later], '2026-03-02');
      for (const [question, answer] of questions[language] ?? []) {
        expect(await ask(language, question), question).to.match(answer);
      }
    });
  }

  it('are answered from notes in any of them and in English', async () => {
    await remember(
      'mixed',
      [
        'My sister Clara lives in Bremen and works as a nurse.',
        'The washing machine broke on 3 March 2026, and the repair cost 95 euros.',
        'The rent of our flat is 1,240 euros a month.',
        'Meine Tante Gerda wohnt in Rostock; der Zahnarzt heißt Dr. Petersen.',
        'Le plombier a réparé la chaudière le 5 février 2026.',
        'Compré una cámara usada por 350 euros.',
        'Meine Nichte Karin hat im Juni 2021 geheiratet.',
        'Mi hermano se jubiló en 2020.',
        'J’ai vendu la voiture à Paul en mars 2022.',
      ],
      '2026-05-01',
    );
    for (const [question, answer] of [
      ['Wo wohnt meine Schwester?', /^Bremen: /u],
      ['¿Cuándo se rompió la lavadora?', /^3 March 2026: /u],
      ['Quel est le loyer ?', /^1,240 euros: /u],
      ['Where does my aunt live?', /^Rostock: /u],
      ['When did the plumber repair the boiler?', /^5 février 2026: /u],
      ['When did my niece marry?', /^Juni 2021: /u],
      ['When did my brother retire?', /^2020: /u],
      ['To whom did I sell the car?', /^Paul: /u],
      ['¿Cuándo reparó el fontanero la caldera?', /^5 février 2026: /u],
      ['Où habite ma tante ?', /Rostock/u],
      ['Wie viel kostete der neue Kühlschrank?', /^Nothing in memory/u],
      ['Wo arbeitet mein Onkel?', /^Nothing in memory/u],
      ['Quel est le numéro de téléphone du plombier ?', /^Nothing in memory/u],
      ['When is the appointment with the lawyer?', /^Nothing in memory/u],
    ] as const)
      expect(await ask('mixed', question), question).to.match(answer);
  });
});

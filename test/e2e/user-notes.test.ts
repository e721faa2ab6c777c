import { expect } from 'chai';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { createWire, type Wire } from '../support/wire.ts';

describe('what an assistant notes about the user', () => {
  let app: StartedApp;
  let wire: Wire;

  before(async () => {
    app = await startApp();
    wire = createWire(app.baseUrl);
    const data = [
      'User lives in Porto',
      "User's sister Inês lives in Braga",
      'User is allergic to peanuts',
      'User has a dog named Pablo',
      'User drives a Renault Zoe',
      '# Meeting Notes\n\nAttendees: Anna Kowalska, Ben Ortiz',
      '# Shopping\n\n| thing | shop |\n|---|---|\n| bread | Padaria Sol |\n\n## Opening Hours\n\nPadaria Sol opens at 7:00.',
    ];
    expect((await wire.post('/add', { data, datasetName: 'notes' })).status).to.equal(200);
    expect((await wire.post('/cognify', { datasets: ['notes'] })).status).to.equal(200);
  });
  after(() => app.stop());

  async function ask(query: string): Promise<string> {
    const answer = await wire.post('/search', { query, search_type: 'GRAPH_COMPLETION', datasets: ['notes'] });
    return answer.json[0].search_result[0];
  }

  it('answers questions of the user, and about the user', async () => {
    for (const [question, answer] of [
      ['Where do I live?', /^Porto: /u],
      ['Where does my sister live?', /^Braga: /u],
      ["Where does the user's sister live?", /^Braga: /u],
      ['Who is my sister?', /^Inês: /u],
      ['Which car do I drive?', /^Renault Zoe: /u],
      ['Do I have a dog?', /^Yes: /u],
      ['Who attended the meeting?', /^Anna Kowalska, Ben Ortiz: /u],
      ['What is my wife called?', /^Nothing in memory/u],
      ['What is the name of my cat?', /^Nothing in memory/u],
    ] as const) {
      expect(await ask(question), question).to.match(answer);
    }
  });

  it('is one person in the graph, and headings of raw Markdown are nobody', async () => {
    const [{ id }] = (await wire.get('/datasets')).json;
    const { nodes, edges } = (await wire.get(`/datasets/${id}/graph`)).json;
    const labelOf = new Map(nodes.map((node: { id: string; label: string }) => [node.id, node.label]));
    const relations = edges.map((edge: { source: string; label: string; target: string }) =>
      [labelOf.get(edge.source), edge.label, labelOf.get(edge.target)].join(' '),
    );
    expect(relations).to.include.members([
      'me live_in porto',
      'me sister inês',
      'me dog pablo',
      'me drive renault zoe',
      'bread shop padaria sol',
    ]);
    expect([...labelOf.values()]).to.not.include.members(['user', 'opening hours']);
  });
});

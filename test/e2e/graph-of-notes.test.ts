import { expect } from 'chai';
import { type StartedApp, startApp } from '../support/start-app.ts';

interface Node {
  readonly id: string;
  readonly label: string;
  readonly type: string;
}

interface Edge {
  readonly source: string;
  readonly target: string;
  readonly label: string;
}

/** The graph of a dataset as a client reads it, names in lower case: `source relation target`, and entities as `name [type]`. */
interface Read {
  readonly relations: readonly string[];
  readonly entities: readonly string[];
}

describe('the graph of real files, without a model', () => {
  let app: StartedApp;
  before(async () => {
    app = await startApp();
  });
  after(() => app.stop());

  async function call(path: string, init: RequestInit = {}): Promise<unknown> {
    const response = await fetch(`${app.baseUrl}/api/v1${path}`, init);
    const text = await response.text();
    expect(response.status, text).to.equal(200);
    return JSON.parse(text);
  }

  async function graphOf(dataset: string, files: Readonly<Record<string, string>>): Promise<Read> {
    const form = new FormData();
    for (const [name, content] of Object.entries(files)) form.append('data', new Blob([content]), name);
    form.append('datasetName', dataset);
    await call('/add', { method: 'POST', body: form });
    const headers = { 'content-type': 'application/json' };
    await call('/cognify', { method: 'POST', headers, body: JSON.stringify({ datasets: [dataset] }) });
    const found = ((await call('/datasets')) as { id: string; name: string }[]).find(({ name }) => name === dataset);
    const { nodes, edges } = (await call(`/datasets/${found?.id}/graph`)) as { nodes: Node[]; edges: Edge[] };
    const labels = new Map(nodes.map(({ id, label }) => [id, label]));
    const entities = new Set(nodes.filter(({ type }) => type === 'Entity').map(({ id }) => id));
    const line = ({ source, label, target }: Edge) => `${labels.get(source)} ${label} ${labels.get(target)}`;
    return {
      relations: edges.filter(({ source, target }) => entities.has(source) && entities.has(target)).map(line),
      entities: edges
        .filter(({ source, label }) => entities.has(source) && label === 'is_a')
        .map(({ source, target }) => `${labels.get(source)} [${labels.get(target)}]`),
    };
  }

  it('knows the owner of the notes behind I, my and we', async () => {
    const { relations, entities } = await graphOf('notes', {
      'studies.md': '# First day\n\nI studied physics at Uppsala University. I was born in Oslo.',
      'pets.txt': 'My dog is called Rufus. We adopted our cat Luna in 2020.',
      'tastes.txt': 'I prefer tea over coffee. My favourite colour is green. I do not eat meat. I want to visit Japan.',
      'family.txt': 'My sister Ana is a nurse. My uncle taught me chess. "I hate Paris," said Tom.',
    });
    expect(entities).to.include('me [person]').and.include('my uncle [person]');
    expect(relations).to.include.members([
      'me study_at uppsala university',
      'me born_in oslo',
      'me dog rufus',
      'me cat luna',
      'me prefer tea',
      'me favourite_colour green',
      'me sister ana',
      'me has my uncle',
    ]);
    expect(relations.filter((one) => /coffee|meat|japan|paris/.test(one))).to.deep.equal([]);
  });

  it('knows who says I in mails, front matter and conversations', async () => {
    const { relations } = await graphOf('others', {
      'mail.eml': 'From: Ann Lee <al@example.com>\r\nSubject: Move\r\n\r\nI moved to Berlin.\r\n',
      'post.md': '---\nauthor: Mia Braun\n---\n\nI live in Hamburg.',
      'chat.txt': 'Tom: I work in Lisbon now.\nEva: Nice, I met Karl.\nTom: I play chess.\nAssistant: I live in Rome.',
    });
    expect(relations).to.include.members([
      'ann lee move_to berlin',
      'mia braun live_in hamburg',
      'tom work_in lisbon',
      'eva meet karl',
      'tom play chess',
    ]);
    expect(relations.filter((one) => one.includes('me ') || one.includes('rome'))).to.deep.equal([]);
  });
});

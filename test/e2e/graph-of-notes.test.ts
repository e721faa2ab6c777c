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
    const entities = new Set(nodes.filter(({ type }) => type === 'Entity' || type === 'Timestamp').map(({ id }) => id));
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

  it('knows what the owner says in German, Spanish and French', async () => {
    const { relations } = await graphOf('languages', {
      'de.txt': 'Ich wohne jetzt in Berlin. Mein Hund heißt Rex.',
      'es.txt': 'Trabajo en Iberdrola. Me gusta el ajedrez.',
      'fr.txt': "Je suis née à Lyon. J'aime le thé.",
    });
    expect(relations).to.include.members([
      'me live_in berlin',
      'me dog rex',
      'me work_at iberdrola',
      'me born_in lyon',
    ]);
  });

  it('has one node for the spellings of a name in several files', async () => {
    const { entities } = await graphOf('spellings', {
      'one.txt': 'Herman Melville wrote Moby Dick. Herman Melville lived in Zürich.',
      'two.txt': 'Herman Melville wrote Moby-Dick. Herman Melville lived in Zurich.',
    });
    expect(entities.filter((one) => one.startsWith('moby'))).to.have.lengthOf(1);
    expect(entities.filter((one) => one.startsWith('z'))).to.have.lengthOf(1);
  });

  it('states nothing of the speaker and a bare common noun', async () => {
    const { relations } = await graphOf('trivial', {
      'bare.txt': 'I crossed a street. I carried my gear. I bought a racing bicycle. I like tomatoes.',
    });
    expect(relations).to.include('me like tomato').and.include('me buy racing bicycle');
    expect(relations.filter((one) => /street|gear/.test(one))).to.deep.equal([]);
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

  it('takes rows, keys, headers and events for facts', async () => {
    const { relations, entities } = await graphOf('records', {
      'customers.csv':
        'id,name,city,since,monthly_fee\n7,Sarah Lee,Berlin,2024-03-01,49\n8,Tom Okoye,Lagos,2025-01-15,9\n',
      'plans.md':
        '# Plans\n\n| Product | Price | SSO | Owner |\n| --- | --- | --- | --- |\n| Basic plan | 9 EUR | no | Mia Braun |\n| Pro plan | 49 EUR | yes | - |\n',
      'luis.md':
        '---\ntitle: Luis Ortega\ntags: [customer, vip]\n---\n\n## Contact\n\n- **City:** Sevilla\n- Employer: Acme GmbH\n',
      'team.json': JSON.stringify({
        title: 'Team Alpha',
        members: [
          { name: 'Ann Lee', age: 31 },
          { name: 'Bob Stone', age: 40 },
        ],
      }),
      'deploy.yaml':
        'name: billing-service\nversion: 1.4.2\nserver:\n  port: 8080\nmembers:\n  - name: Ann Lee\n    role: lead\n',
      'app.ini': '[database]\nhost = db.example.com\n',
      'mail.eml':
        'From: Ann Lee <al@example.com>\r\nTo: Bob Stone <bob@example.com>\r\nSubject: Budget\r\n\r\nHello.\r\n',
      'events.ics':
        'BEGIN:VEVENT\r\nSUMMARY:Kick-off Kestrel\r\nDTSTART:20250303T100000Z\r\nORGANIZER;CN=Ann Lee:mailto:a@example.com\r\nEND:VEVENT\r\n',
    });
    expect(relations).to.include.members([
      'sarah lee city berlin',
      'sarah lee since 2024-03-01',
      'tom okoye monthly_fee 9',
      'basic plan price 9 eur',
      'basic plan owner mia braun',
      'pro plan has sso',
      'luis ortega tags vip',
      'luis ortega city sevilla',
      'luis ortega employer acme gmbh',
      'team alpha members ann lee',
      'bob stone age 40',
      'billing-service version 1.4.2',
      'server port 8080',
      'ann lee role lead',
      'database host db.example.com',
      'budget from ann lee',
      'ann lee write_to bob stone',
      'kick-off kestrel organizer ann lee',
    ]);
    expect(entities).to.include.members([
      'sarah lee [person]',
      'berlin [place]',
      '49 [quantity]',
      'acme gmbh [organisation]',
    ]);
    expect(entities.filter((one) => /^(?:-|no|yes|contact|plans|product) \[/.test(one))).to.deep.equal([]);
  });

  it('finds definitions and imports in code, and no words of it', async () => {
    const { relations, entities } = await graphOf('code', {
      'reader.ts':
        "import { open } from 'node:fs';\nimport { alpha } from '../lib/alpha.ts';\n\n/** Reads Paris. */\nexport class Reader {}\n\nexport function start(): void {\n  const promise = new Promise(open, alpha);\n}\n",
      'guide.md':
        '# Setting Up\n\nAda Lovelace met Charles Babbage. Call `toString` or set HTTP_API_PORT.\n\n```bash\ncurl -d "Ada\\nShe wrote" $DATASET\n```\n',
    });
    expect(relations).to.have.members([
      'reader.ts import node:fs',
      'reader.ts import lib/alpha.ts',
      'reader.ts define reader',
      'reader.ts define start',
      'ada lovelace meet charles babbage',
    ]);
    expect(entities).to.have.members([
      ...['reader.ts [module]', 'node:fs [module]', 'lib/alpha.ts [module]', 'reader [class]', 'start [function]'],
      ...['ada lovelace [person]', 'charles babbage [person]'],
    ]);
  });
});

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { docxParagraph, makeDocx } from '../../services/common/text/documents/fixtures/make-office.ts';
import { type EngramProcess, makeDataDir, startProcess } from '../support/engram-process.ts';
import { itWhenWhole, partOf } from '../support/extent.ts';
import { startApp } from '../support/start-app.ts';
import { type Answer, createWire, type Upload, type Wire } from '../support/wire.ts';

/**
 * An accessor, a constructor and two methods, or the accessor alone. That no other name is looked up either, the second test
 * proves.
 */
const NAMES = partOf(['__proto__', 'constructor', 'toString', 'hasOwnProperty'], 4);
const WATCH = fileURLToPath(new URL('../support/watch-inherited-lookups.mjs', import.meta.url));
/** A word that no program has of its own: a lookup of it comes from a text. */
const PROBE = 'zyzzyva';

/** The words where a text, its title, its keys, its labels and its markup can have words. */
function documentsWith(words: readonly string[]): readonly Upload[] {
  const lines = words.flatMap((word) => [
    `Ada Lovelace is the ${word} of London. Queen ${word} met Charles ${word}, a ${word}, last ${word}.`,
    `She was a ${word}. The ${word} of Ada Lovelace is 5 ${word}. ${word}: Ada's ${word} "${word}" @${word} #${word}.`,
    `Ada Lovelace ${word}s. Her ${word} is ${word}. The ${word} costs 5 dollars. ${word} ${word} lives in ${word}.`,
  ]);
  const prose = lines.join('\n');
  const record = JSON.stringify(Object.fromEntries(words.map((word) => [word, { [word]: word, name: word }])));
  const cells = words.map((word) => `${word} of Ada Lovelace`).join(',');
  const elements = words.map((word) => `<${word} ${word}="${word}">${word} &${word};</${word}>`).join('\n');
  const front = words.map((word) => `${word}: ${word}`).join('\n');
  const mail = `${words.map((word) => `${word}: ${word}`).join('\r\n')}\r\nSubject: ${words[0]}\r\n\r\n${prose}`;
  const fences = words.map((word) => `\`\`\`${word}\n${word}()\n\`\`\``).join('\n\n');
  const code = words.map((word) => `export function ${word}(${word}) {\n  return ${word}.${word};\n}`).join('\n\n');
  const cell = { cell_type: 'markdown', source: [prose], metadata: JSON.parse(record) };
  return [
    { name: 'prose.txt', content: prose },
    {
      name: 'notes.md',
      content: `---\n${front}\n---\n\n${words.map((word) => `# ${word}\n&${word};`).join('\n\n')}\n\n${fences}\n\n${prose}`,
    },
    { name: 'record.json', content: record },
    { name: 'records.jsonl', content: words.map((word) => JSON.stringify({ [word]: `Ada ${word}` })).join('\n') },
    { name: 'table.csv', content: `${words.join(',')}\n${cells}\n${cells}` },
    { name: 'tree.xml', content: `<root>${elements}</root>` },
    {
      name: 'page.html',
      content: `<html><head><title>${words[0]}</title>${words.map((word) => `<meta name="${word}" content="${word}">`).join('')}</head><body>${elements}<p>${prose}</p></body></html>`,
    },
    {
      name: 'words.rtf',
      content: `{\\rtf1\\ansi Ada Lovelace ${words.map((word) => `\\${word} met ${word}`).join(' ')} in London.}`,
    },
    { name: 'mail.eml', content: mail },
    { name: 'program.js', content: code },
    {
      name: 'server.log',
      content: words.map((word) => `2024-01-02T03:04:05Z INFO ${word} ${word}=${word}`).join('\n'),
    },
    {
      name: 'book.ipynb',
      content: JSON.stringify({ cells: [cell], metadata: JSON.parse(record), nbformat: 4, nbformat_minor: 5 }),
    },
    { name: 'settings.ini', content: words.map((word) => `[${word}]\n${word} = ${word}`).join('\n') },
    {
      name: 'letter.docx',
      content: makeDocx(
        words.map((word) => docxParagraph(`Ada Lovelace is the ${word} of London.`, 'Heading1')).join(''),
      ),
    },
    ...words.map((word) => ({ name: `${word}.txt`, content: `Ada Lovelace wrote the ${word}.` })),
    ...words.map((word) => ({ name: `file.${word}`, content: `Grace Hopper wrote the ${word}.` })),
  ];
}

function expectFine(answer: Answer, what: string): void {
  expect(answer.status, `${what}: ${answer.text.slice(0, 2000)}`).to.equal(200);
}

/** Everything that a client can say with these words; 4xx where the contract refuses a value, never a failure. */
async function sayEverywhere(wire: Wire, words: readonly string[]): Promise<void> {
  expectFine(await wire.upload('words', ...documentsWith(words)), 'add');
  for (const word of words) {
    const form = new FormData();
    form.append('datasetName', word);
    form.append('node_set', word);
    form.append('data', new Blob([`Ada Lovelace wrote the ${word} in 1843.`]), 'note.txt');
    form.append(word, word);
    expectFine(await wire.form('/add', form), `add to ${word}`);
    expectFine(
      await wire.post(
        '/add',
        { data: `${word} ${word}`, datasetName: word, nodeSet: [word], [word]: word },
        { 'content-type': 'application/json', [`x-${word}`]: word },
      ),
      'add a text',
    );
  }
  expectFine(await wire.post('/cognify', { datasets: ['words', ...words] }), 'cognify');
  const progress = await wire.get('/datasets/status/progress');
  expectFine(progress, 'progress');
  expect(progress.text).to.not.include('ERRORED');
  const datasets = (await wire.get('/datasets')).json as readonly { readonly id: string; readonly name: string }[];
  expect(datasets.map(({ name }) => name)).to.include.members([...words]);
  for (const { id, name } of datasets) {
    expectFine(await wire.get(`/datasets/${id}/graph`), `graph of ${name}`);
    expectFine(await wire.get(`/visualize/json?dataset_id=${id}`), `visualize ${name}`);
    const items = (await wire.get(`/datasets/${id}/data`)).json as readonly { readonly id: string }[];
    for (const item of items.slice(0, 3)) await expectNoFailure(wire.get(`/datasets/${id}/data/${item.id}/raw`));
  }
  for (const word of words) await askWith(wire, word);
}

async function askWith(wire: Wire, word: string): Promise<void> {
  for (const searchType of ['HYBRID_COMPLETION', 'CHUNKS', 'SUMMARIES', 'TRIPLET_COMPLETION', 'CHUNKS_LEXICAL']) {
    const body = {
      query: `Who is the ${word}? ${word} since last ${word}`,
      searchType,
      datasets: [word],
      nodeName: [word],
      session_id: word,
    };
    expectFine(await wire.post('/search', body), `search ${searchType} ${word}`);
  }
  expectFine(
    await wire.post('/recall', { query: word, datasets: ['words', word], session_id: word, includeReferences: true }),
    'recall',
  );
  const entry = { type: 'qa', question: word, answer: word, context: word };
  await expectNoFailure(wire.post('/remember/entry', { entry, session_id: word, dataset_name: word }));
  for (const path of [
    `/sessions?order_by=${word}`,
    `/sessions?status=${word}`,
    `/sessions?range=${word}`,
    `/sessions?${word}=${word}`,
    `/sessions/with-agent-info?order_by=${word}`,
    `/sessions/${word}`,
    `/datasets/${word}/data`,
    `/datasets/${word}`,
    `/cognify/jobs?state=${word}`,
    `/auth/oidc/${word}/login`,
    `/activity/usage?range=${word}`,
    `/visualize?dataset_id=${word}`,
    `/${word}`,
    `/skills/${word}`,
    `/permissions/tenants/${word}/users`,
    `/schema/${word}`,
    `/settings?${word}`,
    `/users/${word}`,
    `/scim/v2/Users?filter=${encodeURIComponent(`${word} eq "${word}"`)}`,
  ])
    await expectNoFailure(wire.get(path, { cookie: `${word}=${word}` }));
  for (const [path, body] of [
    ['/search', { query: word, searchType: word }],
    ['/search', { query: word, [word]: word }],
    ['/search', `{"${word}": {"${word}": 1}, "query": "${word}"}`],
    ['/search', { query: word, searchType: 'CYPHER', datasets: [word] }],
    [
      '/search',
      {
        query: `MATCH (n:${word}) WHERE n.${word} = "${word}" RETURN n.${word} AS ${word}`,
        searchType: 'CYPHER',
        datasets: [word],
      },
    ],
    ['/recall', { query: word, scope: [word] }],
    ['/recall', { query: word, responseSchema: { type: 'object', properties: { [word]: { type: word } } } }],
    ['/recall', { query: word, responseSchema: { type: 'object', properties: { a: { $ref: `#/$defs/${word}` } } } }],
    ['/remember/entry', { entry: { type: word }, session_id: word }],
    ['/remember/entry', { type: word, [word]: word }],
    ['/improve', { dataset_name: word, session_ids: [word], extraction_tasks: [word], enrichment_tasks: [word] }],
    ['/memify', { dataset_name: word, extraction_tasks: [word], enrichment_tasks: [word], node_name: [word] }],
    [
      '/cognify',
      { datasets: [word], graph_model: { title: word, properties: { [word]: { $ref: `#/$defs/${word}` } } } },
    ],
    ['/cognify', { datasets: [word], chunker: word, [word]: word }],
    ['/cognify', { datasets: [word], ontologyKey: [word] }],
    ['/llm/infer-schema', { text: word, parameters: { [word]: word } }],
    ['/settings', { llm: { provider: word, model: word, apiKey: '' }, vectorDb: { provider: word } }],
    ['/configuration/store_user_configuration', { name: word, config: { [word]: word } }],
    ['/auth/register', { email: `${word}@example.com`, password: word, [word]: word }],
    ['/auth/login', `username=${word}&password=${word}&${word}=${word}`],
    ['/agents/register', { agent_session_name: word, type: word, source: word, [word]: word }],
    ['/skills', { name: word, description: word, [word]: word }],
    ['/validate', { datasets: [word], [word]: word }],
    ['/forget', { dataset: `no-${word}`, [word]: word }],
  ] as const)
    await expectNoFailure(wire.post(path, body));
}

async function expectNoFailure(asked: Promise<Answer>): Promise<void> {
  const answer = await asked;
  expect(answer.status, answer.text).to.be.below(500);
  expect(answer.text).to.not.include('[native code]');
}

describe('words that every JavaScript object inherits', () => {
  it('are words like others in texts, names, keys, labels, filters and headers', async () => {
    const app = await startApp();
    try {
      const wire = createWire(app.baseUrl);
      await sayEverywhere(wire, NAMES);
      const chunks = await wire.post('/search', { query: NAMES.join(' '), searchType: 'CHUNKS', topK: 100 });
      expect(chunks.text).to.include(NAMES[0]).and.not.include('[native code]');
      expectFine(await wire.get('/datasets'), 'the server afterwards');
    } finally {
      await app.stop();
    }
  });

  itWhenWhole('are never looked up on objects that inherit', async () => {
    const data = makeDataDir();
    const file = join(data.path, 'lookups.txt');
    const environment = {
      NODE_OPTIONS: `--import ${WATCH}`,
      TEST_WATCHED_WORD: PROBE,
      TEST_WATCHED_LOOKUPS: file,
    };
    let server: EngramProcess | null = null;
    try {
      server = await startProcess({ dataDir: join(data.path, 'data'), environment });
      await sayEverywhere(createWire(server.baseUrl), [PROBE]);
    } finally {
      await server?.stop();
    }
    expect(existsSync(file) ? readFileSync(file, 'utf8') : '').to.equal('');
    data.remove();
  });
});

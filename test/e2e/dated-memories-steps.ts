import { expect } from 'chai';
import { createWire } from '../support/wire.ts';

const DIARY = `# Diary

## 2021

I live in Lisbon. I work at Feedzai.

## 2024

I live in Berlin. I work at Zalando.

## March 2025

I broke my left arm while skiing in Davos.

## 2025-06-10

Picked up the new bike at Rabe. Yesterday I sold the old car to Tom.

## 2025-07-01

We moved to the flat in Kreuzberg. Two weeks ago I quit my job at Zalando.
`;
const MAIL = `From: Tom Okoye <tom@acme.com>
To: me@example.com
Date: Mon, 12 May 2025 09:00:00 +0000
Subject: Launch
Message-ID: <2@acme.com>

Hello,

last Tuesday we launched the shop in Vienna. The audit was two weeks ago.
`;
const MINUTES = `# Team meeting

Date: 2025-05-19

- We decided to use PostgreSQL instead of MySQL.
- The old server was switched off yesterday.
- In spring 2024 the hosting cost 900 euros.
`;
const ROWS = 'date,supplier,amount\n2025-01-10,Bauhaus,120.50\n2025-08-05,Ikea,899.00\n2025-08-22,Obi,45.20\n';
const NOTES: readonly (readonly [string, string])[] = [
  ['2026-06-15', 'Gestern habe ich Paul in Wien getroffen.'],
  ['2026-07-01', 'Ayer compré un coche en Sevilla.'],
  ['2026-08-01', 'Am 14. Juli 2026 habe ich die Prüfung bestanden.'],
  ['2026-08-03', 'Le 5 mai 2024, nous avons acheté la maison à Nantes.'],
  ['2026-09-01', 'In the summer I painted the house.'],
];

interface Node extends Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly name: string;
  readonly type: string;
}

/** Builds a diary, a mail, minutes, a table and notes, and reads what they tell of times: answers and graph. */
export async function checkDatedMemories(baseUrl: string): Promise<void> {
  const wire = createWire(baseUrl);
  const add = async (datasetName: string, name: string, text: string, date?: string) => {
    const form = new FormData();
    form.append('data', new Blob([text], { type: 'text/plain' }), name);
    form.append('datasetName', datasetName);
    if (date !== undefined) form.append('external_metadata', JSON.stringify([{ date }]));
    const added = await fetch(`${baseUrl}/api/v1/add`, { method: 'POST', body: form });
    expect(added.status, await added.text()).to.equal(200);
  };
  await add('diary', 'diary.md', DIARY);
  await add('work', 'launch.eml', MAIL);
  await add('work', 'minutes.md', MINUTES);
  await add('work', 'rows.csv', ROWS);
  for (const [at, [date, text]] of NOTES.entries()) await add('notes', `note-${at}.txt`, text, date);
  const built = await wire.post('/cognify', { datasets: ['diary', 'work', 'notes'] });
  expect(built.status, built.text).to.equal(200);

  const ask = async (dataset: string, query: string, more: object = {}): Promise<string> => {
    const answer = await wire.post('/search', { query, searchType: 'TEMPORAL', datasets: [dataset], ...more });
    expect(answer.status, answer.text).to.equal(200);
    // Without access control a search answers for all datasets at once.
    const [found] = answer.json;
    return String(found.search_result ?? found);
  };
  const graphOf = async (name: string) => {
    const { id } = (await wire.get('/datasets')).json.find((one: { name: string }) => one.name === name);
    const { nodes, links } = (await wire.get(`/visualize/json?dataset_id=${id}`)).json;
    const byId = new Map((nodes as Node[]).map((node) => [node.id, node]));
    const validity = (source: string, relation: string, target: string) => {
      const found = links.find(
        (link: Record<string, string>) =>
          byId.get(link['source'] ?? '')?.name === source &&
          link['relation'] === relation &&
          byId.get(link['target'] ?? '')?.name === target,
      );
      const { validFrom = null, validTo = null } = found?.edge_info ?? {};
      return [validFrom, validTo];
    };
    return {
      times: new Map((nodes as Node[]).flatMap((one) => (one.type === 'Timestamp' ? [[one.name, one]] : []))),
      validity,
    };
  };

  // Dates become timestamps, relative ones too, and edges hold from or at the time of their sentence or heading.
  const diary = await graphOf('diary');
  expect([...diary.times.keys()].sort()).to.deep.equal([
    '2021',
    '2024',
    '2025-03',
    '2025-06-09',
    '2025-06-10',
    '2025-06-17',
    '2025-07-01',
  ]);
  expect(diary.times.get('2025-03')).to.include({
    timestamp_str: '2025-03',
    precision: 'month',
    time_at: Date.UTC(2025, 2, 1),
    time_until: Date.UTC(2025, 3, 1),
    year: 2025,
    month: 3,
    day: 1,
    hour: 0,
  });
  expect(diary.times.get('2021')).to.include({ precision: 'year' });
  expect(diary.validity('Me', 'live_in', 'Lisbon')).to.deep.equal(['2021', '2021']);
  expect(diary.validity('Me', 'sell_to', 'Tom')).to.deep.equal(['2025-06-09', '2025-06-09']);
  const work = await graphOf('work');
  expect([...work.times.keys()].sort()).to.include.members([
    '2024-03/2024-05',
    '2025-04-28',
    '2025-05-06',
    '2025-05-12',
    '2025-05-18',
    '2025-05-19',
    '2025-08-05',
  ]);
  expect(work.times.get('2024-03/2024-05')).to.include({ precision: 'span', time_until: Date.UTC(2024, 5, 1) });
  expect(work.validity('Tom Okoye', 'launch_in', 'Vienna')).to.deep.equal(['2025-05-06', '2025-05-06']);
  expect(work.validity('Me', 'use', 'PostgreSQL')).to.deep.equal(['2025-05-19', null]);

  // The date of a heading is the date of the facts below it.
  for (const searchType of ['TEMPORAL', 'GRAPH_COMPLETION']) {
    const inDiary = (query: string, more: object = {}) => ask('diary', query, { searchType, ...more });
    expect(await inDiary('Where did I live in 2021?')).to.match(/^Lisbon/u);
    expect(await inDiary('Where do I live?')).to.match(/^Berlin \(since 2024; before: Lisbon\)/u);
    expect(await inDiary('Where do I live?', { as_of: '2022-06-01' }))
      .to.match(/^Lisbon/u)
      .and.not.include('Berlin');
    expect(await inDiary('When did I break my arm?')).to.match(/^March 2025: /u);
    expect(await inDiary('When did we move to Kreuzberg?')).to.match(/^1 July 2025: /u);
    expect(await inDiary('When did I sell the car?')).to.match(/^9 June 2025 \(yesterday\): /u);
    expect(await inDiary('What happened in June 2025?')).to.equal(
      [
        '9 June 2025: "Yesterday I sold the old car to Tom." (diary.md › 2025-06-10)',
        '10 June 2025: "Picked up the new bike at Rabe." (diary.md › 2025-06-10)',
        '17 June 2025: "Two weeks ago I quit my job at Zalando." (diary.md › 2025-07-01)',
      ].join('\n'),
    );
    expect(await inDiary('What happened in June 2025?', { as_of: '2025-06-15' })).to.not.include('quit');
    const after = await inDiary('What did I do after I sold the car?');
    expect(after).to.include('new bike').and.include('Kreuzberg').and.not.include('skiing');
  }

  // Relative dates count from the header of a mail, from `Date:`, from the metadata of an item.
  const inWork = (query: string, more: object = {}) => ask('work', query, more);
  expect(await inWork('When did we launch the shop in Vienna?')).to.match(/^6 May 2025 \(last Tuesday\): /u);
  expect(await inWork('When was the audit?')).to.match(/^28 April 2025 \(two weeks ago\): /u);
  expect(await inWork('When was the old server switched off?')).to.match(/^18 May 2025 \(yesterday\): /u);
  expect(await inWork('What did we decide last week?', { as_of: '2025-05-27' })).to.match(
    /^"We decided to use PostgreSQL/u,
  );
  expect(await inWork('What happened in August 2025?')).to.match(/^5 August 2025: .*Ikea.*\n22 August 2025: .*Obi/u);
  expect(await inWork('What happened in spring 2024?')).to.include('900 euros');
  const inNotes = (query: string) => ask('notes', query);
  expect(await inNotes('Wann habe ich Paul getroffen?')).to.match(/^14 June 2026 \(gestern\): /u);
  expect(await inNotes('¿Cuándo compré el coche?')).to.match(/^30 June 2026 \(ayer\): /u);
  expect(await inNotes('Wann habe ich die Prüfung bestanden?')).to.match(/^14\. Juli 2026: "Am 14\. Juli/u);
  expect(await inNotes('Quand avons-nous acheté la maison ?')).to.match(/^5 mai 2024: /u);
  expect(await inNotes('When did I paint the house?')).to.match(/^June 2026 to August 2026 \(summer\): /u);
  expect(await inNotes('Was geschah im Juli 2026?')).to.include('Prüfung');
}

import { expect } from 'chai';
import { quotedRows } from './extractive.ts';
import type { ReadPassage } from './rank-sentences.ts';
import { tablesOf } from './table-rows.ts';
import { tableAnswer } from './tables.ts';

const passage = (documentName: string, text: string) =>
  ({ id: documentName, payload: { text, documentName, headings: [] } }) as unknown as ReadPassage;

const CUSTOMERS = passage(
  'customers',
  [
    'name: Sarah Lee, city: Berlin, plan: Pro, since: 2024-03-01, monthly_fee: 49',
    'name: Tom Okoye, city: Lagos, plan: Basic, since: 2025-01-15, monthly_fee: 9',
    'name: Mia Braun, city: Berlin, plan: Pro, since: 2023-11-30, monthly_fee: 49',
    'name: Luis Ortega, city: Sevilla, plan: Team, since: 2025-06-02, monthly_fee: 199',
  ].join('\n\n'),
);
const SHIPS = passage(
  'fleet',
  '# Ships\n\n| Ship | Home | Crew |\n|---|---|---|\n| Alma | Oslo | 12 |\n| Bora | Kiel | 30 |\n| Cora | Oslo | 8 |\n',
);
const BUDGET = passage(
  'budget',
  [
    'month: 2026-08, category: groceries, amount: 5400',
    'month: 2026-08, category: fuel, amount: 1200',
    'month: 2026-09, category: groceries, amount: 5100',
    'month: 2026-09, category: fuel, amount: 900',
  ].join('\n\n'),
);
const FIELDS = passage(
  'reference',
  [
    '# Settings of improve',
    '',
    '| name | default | meaning |',
    '|---|---|---|',
    ...['HOST | 0.0.0.0', 'PORT | 8000', 'DEBUG_PORT | 5678', 'PEER_PORT | 9000', 'PORT_FILE | port.txt'].map(
      (cells) => `| ${cells} | said of the port in all the stages that improve runs one after another |`,
    ),
  ].join('\n'),
);
const GERMAN_LIST = passage('einkauf', '# Einkaufsliste\n\n- Milch\n- zwölf Eier\n');
const LIST = passage('notes', '# Shopping list\n\n- bread\n- three lemons\n- salt\n');

const PORTS = passage('ports', '# Ports\n\nAtlas API: 3000\nAtlas admin: 3001\nHeron backend: 8000');
const CHORES = passage(
  'chores',
  [
    'task: Tax return, owner: Felix, due: 2026-12-15, status: open, cost: 80 EUR',
    'task: Car inspection, owner: Marta, due: 2026-11-20, status: open, cost: 120 EUR',
    'task: Heating oil, owner: Marta, due: 2026-11-21, status: done, cost: 1450 EUR',
    'task: Kindergarten fee, owner: Marta, due: 2026-11-30, status: open, cost: 310 EUR',
    'task: Boiler service, owner: Felix, due: 2027-03-22, status: open, cost: 180 EUR',
  ].join('\n'),
);
const CALENDAR = passage(
  'calendar',
  [
    'start: 2026-12-03 10:00\nend: 2026-12-03 11:30\nsummary: Atlas review with Jane\nlocation: Room 4.12\norganizer: Jane Doe\nattendee: Priya Raman\nattendee: Tomas Novak',
    'start: 2026-12-12\nsummary: Choir concert\nlocation: St. Albani',
    'name: Jane Doe\nrole: Head of Finance\nphone: +49 551 397712\nbirthday: 1984-07-19',
  ].join('\n\n'),
);
const MINUTES = passage(
  'minutes-2026-11-05',
  '# Steering meeting, 5 November 2026\n\n## Decisions\n- We keep Hetzner.\n- The old importer is switched off.\n\n## Action items\n- Felix: ask for a price\n- Tomas: write the guide\n',
);
const KITCHEN = passage('kitchen', '# Kitchen, 19 November 2026\n\n## Decisions\n- Oak worktop\n- The wall stays\n');
const REPAIRS = passage(
  'repairs',
  'task: Roof\nworker: Ida\n\ntask: Gutter\nworker: Ole\nfinished: 2026-10-02\n\ntask: Fence\nworker: Ole\nfinished: 2026-09-04',
);
const INVOICES = passage(
  'invoices',
  [
    'number: 2025-001, date: 2025-01-31, client: Lind, hours: 22, total: 1870.00, state: paid',
    'number: 2025-004, date: 2025-04-30, client: Museum Hafen, hours: 41, total: 3485.00, state: overdue',
    'number: 2025-006, date: 2025-06-30, client: Dr. Amara Osei, hours: 9, total: 810.00, state: open',
  ].join('\n\n'),
);
const BIRTHDAYS = passage(
  'birthdays',
  'name: Jonas, birthday: 2015-05-09\n\nname: Sofie, birthday: 1999-11-23\n\nname: Birgit, birthday: 1969-05-28',
);
const GARAGE = passage(
  'car',
  '| day | work |\n|---|---|\n| 2024-04-11 | oil change |\n| 2025-04-02 | oil change |\n| 2025-10-20 | battery |\n',
);
const SETTINGS = passage(
  'deploy',
  'service:\n  image: ferry:2.4.0\n  replicas: 3\nredis:\n  host: redis.internal\n  socket: 6380\nalerts:\n  - name: slow-bookings\n    receiver: ciaran\n  - name: failed-sync\n    receiver: noor',
);
const RELEASES = passage(
  'changelog',
  '# Changelog\n\n## 2.4.0 - 2025-02-11\n- Drivers\n- Cabins\n\n## 2.3.0 - 2024-10-01\n- Locks\n- Times\n',
);
const PACKING = passage('shopping', '## Hardware store\n- [x] sandpaper\n- [ ] wood glue\n- [ ] hooks\n');
const LOCKS = passage('locks', '# ADR 7: Locks\n\nStatus: superseded by ADR 11\nDeciders: Noor');
const HOLDS = passage('holds', '# ADR 11: Holds\n\nStatus: accepted\nDeciders: Yuki');
const ORDERS = passage(
  'orders',
  'id: 4712, customer: Ina Vogt, total: 59\n\nid: 4713, customer: Otto Klein, total: 18',
);
const ROTA = passage(
  'on-call',
  '# On-call rota, March 2026\n\n| Week | From | Primary | Secondary |\n|---|---|---|---|\n| 10 | 2 March | Ada Moss | Bo Lind |\n| 11 | 9 March | Cy Ray | Ada Moss |\n| 12 | 16 March | Bo Lind | Cy Ray |\n',
);
const ACTIONS = passage(
  'actions',
  'action: Make the sorter start without Redis, owner: Bo Lind, default: 12, state: on track\n\naction: Renew certificates, owner: Ada Moss, reviewer: Cy Ray, default: 3, state: off track',
);
const VERSIONS = passage(
  'history',
  '# 5.1.0 - 2026-02-17\n\n## Changed\n- Timeout of 15 s\n- Batches of 50\n\n# 5.0.0 - 2025-03-10\n\n## Changed\n- PostgreSQL\n- No XML\n',
);
const NOW = new Date('2026-11-28T09:00:00Z');

const FAMILY = passage(
  'contacts',
  [
    'name: Mara Vik, relation: sister, phone: 0151 44, birthday: 1984-09-30, notes: sings',
    "name: Paul Roca, relation: Jordi's brother, phone: 0171 20, birthday: 1979-01-17, notes: cooks",
    'name: Sol Vik, relation: mother, phone: 0160 31, birthday: 1956-03-08, notes: lives in Bergen',
  ].join('\n'),
);
const LETTER = passage(
  'letter',
  'Fire insurance, policy 88.204\n\nDear Madam,\n\nAnnual premium            214.80 EUR\nDeductible                250.00 EUR\n',
);
const DAYS = passage('days', '# Birthdays\n\nEdda: 3 September 2014\nGriet: 30 October\n');
const PAID = passage(
  'paid',
  ['2026-03-05 | Rent March | 1180', '2026-04-05 | Rent April | 1215', '2026-04-21 | Washing machine | 649']
    .map((line) => line.split(' | '))
    .map(([date, what, amount]) => `date: ${date}, description: ${what}, amount: ${amount}, paid by: Ada`)
    .join('\n'),
);
const CAKE = passage('cake', '# Almond cake\n\n## Ingredients\n- 5 eggs\n- 200 g sugar\n');

const LOANS = passage(
  'loans',
  '| Tool | Lender | Price EUR | Days | Returned | Teacher |\n|---|---|---|---|---|---|\n| Loom | Ida | 30 | 4 | no | Ruta |\n| Small kiln | Olaf Stays | 75 | 2 | no | Jon |\n| Press | Ida | 18 | 9 | yes | Ruta |',
);

describe('tableAnswer', () => {
  it('counts the names that one record lists under the key that is asked for', () => {
    const text = '# Team Sync\n\nAttendees: Anna Kowalska, Ben Ortiz, Chidi Obi\nLocation: Room 4';
    const notes = tablesOf([passage('notes', text)]);
    expect(tableAnswer('How many people attended the team sync?', notes)?.text).to.equal('3');
    const choir = tablesOf([passage('notes', '# Notes\n- choir: we sing the Fauré in April\n- lunch with Petra\n')]);
    expect(tableAnswer('How many people sing in the choir?', choir)).to.equal(null);
  });

  const tables = tablesOf([
    CUSTOMERS,
    SHIPS,
    BUDGET,
    FIELDS,
    LIST,
    GERMAN_LIST,
    CHORES,
    CALENDAR,
    MINUTES,
    KITCHEN,
    REPAIRS,
  ]);
  const others = tablesOf([INVOICES, BIRTHDAYS, GARAGE, SETTINGS, RELEASES, PACKING, LOCKS, HOLDS, ORDERS]);
  const cases: readonly (readonly [string, string | null])[] = [
    ['How many customers live in Berlin?', '2'],
    ['Which customers live in Berlin?', 'Sarah Lee, Mia Braun'],
    ['How many customers do we have?', '4'],
    ['What does Luis Ortega pay per month?', '199'],
    ['Which plan does Tom Okoye have?', 'Basic'],
    ['How many customers pay more than 40 monthly?', '3'],
    ['What is the total monthly fee of the customers in Berlin?', '98'],
    ['Which ship has the largest crew?', 'Bora (30)'],
    ['How many ships are there in Oslo?', '2'],
    ['Where is the home of the ship Bora?', 'Kiel'],
    ['What is on the shopping list?', 'bread, three lemons, salt'],
    ['Was steht auf der Einkaufsliste?', 'Milch, zwölf Eier'],
    ['How much did I spend on groceries in September?', '5100'],
    ['How much did I spend in September 2026?', '6000'],
    ['How much did I spend on fuel?', '2100'],
    ['How much did I spend on fuel in October?', null],
    ['How many customers live in Paris?', null],
    ['Who wrote Moby Dick?', null],
    ['How many stages does improve have?', null],
    ['What is the default port?', null],
    ['What is bread?', null],
    ['What is due in December?', 'Tax return'],
    ['What is due in December besides the tax return?', null],
    ['Which tasks of Marta other than the car inspection are due in November?', 'Heating oil, Kindergarten fee'],
    ['What is due next week?', 'Kindergarten fee'],
    ['What is due this week?', ''],
    ['When did I leave Room 4.12?', null],
    ['What is due before March?', 'Tax return, Car inspection, Heating oil, Kindergarten fee'],
    ['Which tasks are overdue?', 'Car inspection'],
    ['How much is due next month?', '80 EUR'],
    ['How much do the open tasks of Marta cost?', '430 EUR'],
    ['Who is responsible for the boiler service?', 'Felix'],
    ['Where is the Atlas review?', 'Room 4.12'],
    ['When is the Atlas review?', '2026-12-03 10:00'],
    ['When does the Atlas review end?', '2026-12-03 11:30'],
    ['Who attends the Atlas review?', 'Priya Raman, Tomas Novak'],
    ['Who organizes the Atlas review?', 'Jane Doe'],
    ['When was the Atlas review cancelled?', null],
    ['When is the choir review?', null],
    ['When do we start Atlas in Göttingen?', null],
    ['When does Atlas start?', null],
    ["What is Jane Doe's phone number?", '+49 551 397712'],
    ['What is the phone number of Jane Doe?', '+49 551 397712'],
    ["What is Jane Doe's job?", 'Head of Finance'],
    ['When was Jane Doe born?', '1984-07-19'],
    ['What are the decisions?', 'We keep Hetzner, The old importer is switched off, Oak worktop, The wall stays'],
    ['What did we decide about the kitchen?', 'Oak worktop, The wall stays'],
    ['What did we decide on 5 November?', 'We keep Hetzner, The old importer is switched off'],
    ['What does Tomas have to do?', 'Tomas: write the guide'],
    ['What does Priya have to do?', null],
    ['What are the risks?', null],
    ['Which tasks were finished in October?', 'Gutter'],
  ];
  for (const [question, answer] of cases) {
    it(`answers "${question}" with ${answer}`, () => {
      expect(tableAnswer(question, tables, NOW)?.text ?? null).equals(answer);
    });
  }
  const ofWork = tablesOf([ROTA, ACTIONS, VERSIONS]);
  const asked: readonly (readonly [string, string | null])[] = [
    ['Who is on call on 11 March 2026?', 'Cy Ray'],
    ['Who is on call on 11 May 2026?', null],
    ['Who owns the sorter?', null],
    ['Who owns the certificates?', 'Ada Moss'],
    ['Who reviews the certificates?', 'Cy Ray'],
    ['Which actions are off track?', 'Renew certificates'],
    ['How many certificates are there by default?', '3'],
    ['What changed in 5.0.0?', 'PostgreSQL, No XML'],
  ];
  for (const [question, answer] of asked) {
    it(`answers "${question}" with ${answer}, from tables of a company`, () => {
      expect(tableAnswer(question, ofWork, NOW)?.text ?? null).equals(answer);
    });
  }
  const lent = tablesOf([LOANS]);
  for (const [question, answer] of [
    ['How much is the loom?', '30'],
    ['Which tools are not returned?', 'Loom, Small kiln'],
    ['How many tools are not returned?', '2'],
    ['How much does an electric loom cost?', null],
    ['How long did the kiln last?', '2'],
    ['Who checks the loom?', 'Ruta'],
  ] as const) {
    it(`answers "${question}" with ${answer}, from a list of loans`, () => {
      expect(tableAnswer(question, lent, NOW)?.text ?? null).equals(answer);
    });
  }
  const ofFamily: readonly (readonly [string, string | null])[] = [
    ["What is Mum's phone number?", '0160 31'],
    ["What is the phone number of Jordi's brother?", '0171 20'],
    ["What is the name of Jordi's sister?", null],
    ["What is the name of Mara's dog?", null],
    ['When did Paul marry?', null],
    ["When is Edda's birthday?", '3 September 2014'],
    ['Where does Griet live?', null],
    ['How much is the deductible of the fire insurance?', '250.00 EUR'],
    ['How much rent do we pay?', '1215'],
    ['How much did we pay for rent?', '2395'],
    ['When did we sell the washing machine?', null],
    ['How many eggs are in the almond cake?', null],
  ];
  const family = tablesOf([FAMILY, LETTER, DAYS, PAID, CAKE]);
  for (const [question, answer] of ofFamily) {
    it(`answers "${question}" with ${answer}, from what a family keeps`, () => {
      expect(tableAnswer(question, family, NOW)?.text ?? null).equals(answer);
    });
  }
  const ofOthers: readonly (readonly [string, string | null])[] = [
    ['Which invoice is overdue?', '2025-004'],
    ['What is the largest invoice?', '2025-004 (3485.00)'],
    ['How many hours did I work for Museum Hafen?', '41'],
    ["What is Dr. Osei's phone number?", null],
    ['Who attends the Museum Hafen invoice?', null],
    ['Whose birthday is in May?', 'Jonas, Birgit'],
    ['How old is Jonas?', '11 (born 2015-05-09)'],
    ['When was the last oil change?', '2025-04-02'],
    ['When was the first oil change?', '2024-04-11'],
    ['How many replicas run?', '3'],
    ['On which socket does Redis run?', '6380'],
    ['Who gets the alert about slow bookings?', 'ciaran'],
    ['What is the latest version?', '2.4.0 (2025-02-11)'],
    ['When was version 2.3.0 released?', '2024-10-01'],
    ['What do I need from the hardware store?', 'wood glue, hooks'],
    ['Who decided on ADR 11?', 'Yuki'],
    ['What is the total of order 4712?', '59'],
    ['Who is the customer of order 4713?', 'Otto Klein'],
  ];
  for (const [question, answer] of ofOthers) {
    it(`answers "${question}" with ${answer}, from other tables`, () => {
      expect(tableAnswer(question, others, NOW)?.text ?? null).equals(answer);
    });
  }

  it('takes the last or first item of a list of days', () => {
    const log = passage(
      'complaints',
      '# Complaints\n\n- 7 January 2026: a pothole. Filled.\n- 25 June 2026: loud music.\n- 30 March 2026: dog mess.',
    );
    const found = (question: string) => tableAnswer(question, tablesOf([log]), NOW)?.text;
    expect(found('What was the last complaint about?')).to.equal('25 June 2026: loud music');
    expect(found('What was the first complaint?')).to.equal('7 January 2026: a pothole. Filled');
  });

  it('asks no column for a person whose name is like the verb alone', () => {
    const animals = passage(
      'animals',
      '| name | species | breed | status |\n|---|---|---|---|\n| Minka | cat | Maine Coon | adopted |\n| Odin | dog | husky | available |',
    );
    expect(tableAnswer('Who adopted Minka?', tablesOf([animals]), NOW)).to.equal(null);
  });

  it('tells nothing of the last of what a table does not have', () => {
    const members = passage(
      'members',
      '| name | role | since |\n|---|---|---|\n| Ada Moss | chair | 2019 |\n| Paul Bell | vice chair | 2021 |',
    );
    expect(tableAnswer('Who chaired the last meeting?', tablesOf([members]), NOW)).to.equal(null);
  });

  it('quotes before a row what is so since a later day', () => {
    const pills = passage(
      'pills',
      '| medicine | dose |\n|---|---|\n| amlodipine | 5 mg |\n| metformin | 500 mg |\n\nSince 2 April 2026 amlodipine 10 mg.',
    );
    const quoted = (question: string) => quotedRows(question, tablesOf([pills]), { dataset: null, now: NOW })?.text;
    expect(quoted('What dose of amlodipine do I take?')).to.match(/^"Since 2 April 2026 amlodipine 10 mg\."/u);
    expect(quoted('What dose of metformin do I take?')).to.match(/^500 mg: /u);
  });
});

describe('records of single fields', () => {
  it('answer with the field whose name has most of the question', () => {
    const told = (query: string) => tableAnswer(query, tablesOf([PORTS]))?.text;
    expect(told('Which port does the Atlas admin run on?')).to.equal('3001');
    expect(told('Which port does the Atlas API run on?')).to.equal('3000');
  });

  it('counts no rows for a number by default', () => {
    const list = passage(
      'heron',
      '# Variables\n\n- HERON_URL: address of the source\n- HERON_BATCH: rows at once, 500 by default\n',
    );
    expect(tableAnswer('How many rows at once by default?', tablesOf([list]))).to.equal(null);
  });
});

import { expect } from 'chai';
import { quotedRows } from './extractive.ts';
import type { ReadPassage } from './rank-sentences.ts';
import { isRecordWithout } from './table-columns.ts';
import { tablesOf } from './table-rows.ts';
import { tableAnswer, unknownNumber } from './tables.ts';

const passage = (documentName: string, text: string) =>
  ({ id: documentName, payload: { text, documentName, headings: [] } }) as unknown as ReadPassage;

const MEMBERS = passage(
  'members',
  [
    'No: 12, First Name: Ida, Last Name: Brandt, Town: Kiel, Joined: 14/02/2017, Fee (EUR): 58,50, E-mail: ida@example.org',
    'No: 15, First Name: Paul, Last Name: Osei, Town: Kiel, Joined: 03/09/2012, Fee (EUR): 74,00',
    'No: 19, First Name: Rosa, Last Name: Lind, Town: Husum, Joined: 21/05/2020, Fee (EUR): 1.046,25, E-mail: rosa@example.org',
    'No: 23, First Name: Tom, Last Name: Arndt, Town: Kiel, Joined: 11/11/2023, Fee (EUR): 63,90',
  ].join('\n'),
);
const WORKBOOK = passage(
  'repairs',
  [
    'Bicycle repairs',
    'Order No: 2041, Customer: Ida Brandt, Received: 2026-02-27, Due: 2026-03-06, Price (EUR): 1020, Status: paid',
    'Order No: 2042, Customer: Tom Arndt, Received: 2026-03-02, Due: 2026-03-12, Price (EUR): 281, Status: open',
    'Order No: 2043, Customer: Tom Arndt, Received: 2026-03-11, Due: 2026-04-01, Price (EUR): 1340, Status: open',
    'Parking',
    'Month: January, Place: Place A, Rent: 4200',
    'Month: January, Place: Place B, Rent: 2650',
    'Month: March, Place: Place A, Rent: 4350',
  ].join('\n'),
);
const BOOKINGS = passage(
  'bookings',
  [
    'bookingNo: B-1\nguest.name: Ida Brandt\nroom: Lake\nstate: confirmed\nprice: 240',
    'bookingNo: B-2\nguest.name: Rosa Lind\nroom: Lake\nstate: waiting\nprice: 80',
    'bookingNo: B-3\nguest.name: Ida Brandt\nroom: Tower\nstate: waiting\nprice: 410',
  ].join('\n\n'),
);
const WAREN = passage(
  'waren',
  [
    'Artikelnr: K-1, Bezeichnung: Kessel Alba, Farbe: blau, Preis (EUR): 39,90',
    'Artikelnr: K-2, Bezeichnung: Mühle Torino, Farbe: rot, Preis (EUR): 1.149,00',
    'Artikelnr: K-3, Bezeichnung: Sieb fein, Preis (EUR): 8,40',
  ].join('\n'),
);
const PARTS = passage(
  'parts',
  [
    'part: wheel, weight_kg: 1.9, in_stock: 4, First ordered: 2019-02-01',
    'part: chain, weight_kg: 0.3, in_stock: 12, First ordered: 2021-07-30',
    'part: brake pad, weight_kg: 0.1, in_stock: 0, First ordered: 2020-03-11',
  ].join('\n'),
);
const TICKETS = passage(
  'export',
  [
    'tickets.id: T-1\ntickets.title: Login fails\ntickets.reporter: Dana Wills\ntickets.assignee: Leo Brandt',
    'tickets.id: T-2\ntickets.title: Missing button\ntickets.reporter: Mei Tanaka',
    'tickets.id: T-3\ntickets.title: Slow search\ntickets.reporter: Dana Wills\ntickets.assignee: Ines Moreau',
  ].join('\n\n'),
);
const TABLES = tablesOf([MEMBERS, WORKBOOK, BOOKINGS, WAREN, PARTS, TICKETS]);
const NOW = new Date('2026-03-20T10:00:00Z');

describe('operations on tables', () => {
  const cases: readonly (readonly [string, string | null])[] = [
    ['Which town has the most members?', 'Kiel (3)'],
    ['How many members per town?', 'Kiel: 3, Husum: 1'],
    ['Which members have no e-mail address?', 'Paul Osei, Tom Arndt'],
    ['Which member joined most recently?', 'Tom Arndt (2023-11-11)'],
    ['Which members joined before 2018?', 'Ida Brandt, Paul Osei'],
    ['Who has been with the club the longest?', 'Paul Osei (2012-09-03)'],
    ['Who has belonged to it the longest?', 'Paul Osei (2012-09-03)'],
    ['What is the total fee of the members in Kiel?', '196.40 EUR'],
    ['What is the average fee in Kiel?', '65.47 EUR'],
    ['Which is older, Lake or Tower?', null],
    ['Who pays more, Ida Brandt or Tom Arndt?', null],
    ['Whose fee is higher, Ida Brandt or Tom Arndt?', 'Tom Arndt (Ida Brandt: 58,50; Tom Arndt: 63,90)'],
    ['Is order 2042 paid?', 'No (open)'],
    ['Is order 2041 paid?', 'Yes'],
    ['Is order 2099 paid?', null],
    ['Which are the two largest orders?', '2043 (1340), 2041 (1020)'],
    ['Which March orders are above 500 €?', '2043'],
    ['Which orders are above 5000 €?', ''],
    ['How many open orders are due before 20 March 2026?', '1'],
    ['What is the sum of the open orders?', '1621 EUR'],
    ['How much is the rent of Place A in March?', '4350'],
    ['List all waiting bookings.', 'B-2, B-3'],
    ['How many bookings did Ida Brandt make?', '2'],
    ['Which booking has the highest price?', 'B-3 (410)'],
    ['Which guests smoke?', null],
    ['How many confirmed bookings does Rosa Lind have?', '0'],
    ['Which bookings were made by Rosa Lind?', 'B-2'],
    ['Which parts are sold out?', 'brake pad'],
    ['Which parts are in stock?', 'wheel, chain'],
    ['Which part is the heaviest?', 'wheel (1.9)'],
    ['Which rider is the heaviest?', null],
    ['Which tickets are assigned to Leo Brandt?', 'Login fails'],
    ['Which tickets are assigned to Dana Wills?', ''],
    ['Which ticket has nobody assigned?', 'Missing button'],
    ['Who reported the most tickets?', 'Dana Wills (2)'],
    ['Which parts were first ordered before 2010?', ''],
    ['Is the discount included for Mei Tanaka?', null],
    ['When is the meeting with Dana Wills?', null],
    ['Welcher Artikel ist am teuersten?', 'Mühle Torino (1.149,00)'],
  ];
  for (const [question, answer] of cases) {
    it(`answer "${question}" with ${answer === '' ? 'no row' : answer}`, () => {
      expect(tableAnswer(question, TABLES, NOW)?.text ?? null).equals(answer);
    });
  }

  it('know the number of a thing that no row has', () => {
    expect(unknownNumber('Who checked order 2099?', TABLES)).equals('2099');
    for (const question of ['Who checked order 2041?', 'What was ordered in March 2099?', 'Who checked train 2099?'])
      expect(unknownNumber(question, TABLES), question).equals(null);
  });

  it('take no card of another person, or without the field, for an answer', () => {
    const card = 'name: Ida Brandt, phone: 0431 22, role: chair';
    expect(isRecordWithout("What is Ida Brandt's birthday?", card)).equals(true);
    expect(isRecordWithout("What is Paul Osei's phone number?", card)).equals(true);
    expect(isRecordWithout("What is Ida's phone number?", card)).equals(false);
    expect(isRecordWithout("What is Ida's phone number?", 'Ida can be called at 0431 22.')).equals(false);
  });

  it('say that no row fulfils the conditions, and of how many', () => {
    const answer = quotedRows('Which orders are above 5000 €?', TABLES, { dataset: null, now: NOW });
    expect(answer?.text).to.match(/^None: no row of 3: "Order No, Customer, Received/u);
    expect(quotedRows('How many orders are above 5000 €?', TABLES, { dataset: null, now: NOW })?.text).to.match(
      /^0: /u,
    );
  });
});

import { expect } from 'chai';
import type { ReadPassage } from './rank-sentences.ts';
import { tableAnswer, tablesOf } from './tables.ts';

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
const LIST = passage('notes', '# Shopping list\n\n- bread\n- three lemons\n- salt\n');

describe('tableAnswer', () => {
  const tables = tablesOf([CUSTOMERS, SHIPS, BUDGET, FIELDS, LIST]);
  const cases: readonly (readonly [string, string | null])[] = [
    ['How many customers live in Berlin?', '2'],
    ['Which customers live in Berlin?', 'Sarah Lee, Mia Braun'],
    ['How many customers do we have?', '4'],
    ['What does Luis Ortega pay per month?', '199'],
    ['Which plan does Tom Okoye have?', 'Basic'],
    ['How many customers pay more than 40 monthly?', '3'],
    ['What is the total monthly fee of the customers in Berlin?', '98'],
    ['Which ship has the largest crew?', 'Bora'],
    ['How many ships are there in Oslo?', '2'],
    ['Where is the home of the ship Bora?', 'Kiel'],
    ['What is on the shopping list?', 'bread, three lemons, salt'],
    ['How much did I spend on groceries in September?', '5100'],
    ['How much did I spend in September 2026?', '6000'],
    ['How much did I spend on fuel?', '2100'],
    ['How much did I spend on fuel in October?', null],
    ['How many customers live in Paris?', null],
    ['Who wrote Moby Dick?', null],
    ['How many stages does improve have?', null],
    ['What is the default port?', null],
    ['What is bread?', null],
  ];
  for (const [question, answer] of cases) {
    it(`answers "${question}" with ${answer}`, () => {
      expect(tableAnswer(question, tables)?.text ?? null).equals(answer);
    });
  }
});

import { expect } from 'chai';
import { answerInner } from './inner-question.ts';
import type { ReadPassage } from './rank-sentences.ts';

const NOTES = [
  'When I moved to Berlin in 2018, I knew nobody in the city.',
  'I ran my first marathon in Vienna. It took me four hours.',
  'My neighbour Ingrid lent us her spade.',
  'My sister Hannah lives in Bristol.',
  'Nadia Rohde, my niece. Married to Tobias since 2019.',
  'Dear Samuel, my brother Owen is on site.',
  "Priya is Jonas's sister. Her husband Arun sells boats.",
  "Klara: My father Henrik will come, says Jonas's wife.",
];
const passages = NOTES.map(
  (text, at) =>
    ({ id: String(at), payload: { text, documentName: `note ${at}`, headings: [] } }) as unknown as ReadPassage,
);

describe('answerInner', () => {
  const cases: readonly (readonly [string, string | null])[] = [
    ['What did I lose in the year I moved to Berlin?', 'What did I lose in 2018?'],
    ['Which car did I buy in the year before I moved to Berlin?', 'Which car did I buy in 2017?'],
    ['In the year I moved to Berlin, which job did I take?', 'which job did I take in 2018?'],
    ['Which city have I seen besides the one where I ran my first marathon?', 'Which city have I seen besides Vienna?'],
    ['Who lives in the city where I ran my first marathon?', 'Who lives in Vienna?'],
    ['What was the neighbour who lent us a spade elected as?', 'What was Ingrid elected?'],
    ["Where does my sister's husband work?", "Where does my sister Hannah's husband work?"],
    ["Who does Nadia's husband work for?", 'Who does Tobias work for?'],
    ["Who does my niece's husband work for?", 'Who does Tobias work for?'],
    ["What does Priya's husband sell?", 'What does Arun sell?'],
    ["When does Klara's dad come?", 'When does Henrik come?'],
    ["Who is Nadia's husband's boss?", "Who is Tobias's boss?"],
    ["What is Nadia's husband called?", null],
    ["Where does Klara's husband live?", null],
    ['Who is the neighbour who lent us a spade?', null],
    ['When did I move to Berlin?', null],
    ['What did I lose in the year I moved to Paris?', null],
  ];
  for (const [question, outer] of cases) {
    it(`${outer === null ? 'leaves' : 'resolves'} "${question}"`, () => {
      expect(answerInner(question, passages)?.outer ?? null).equals(outer);
    });
  }
});

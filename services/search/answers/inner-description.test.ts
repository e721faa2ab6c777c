import { expect } from 'chai';
import { descriptionOf, isToldAtOnce, nameFor } from './inner-description.ts';
import type { ReadPassage } from './rank-sentences.ts';

describe('what a question describes without the name', () => {
  const cases: readonly (readonly [question: string, asked: string, rest: string])[] = [
    ['Where was the author of Wolf Hall born?', 'Who is the author of Wolf Hall?', 'Where was … born'],
    [
      'What is the population of the city where Ana works?',
      'In which city does Ana work?',
      'What is the population of …',
    ],
    ['Who is the boss of the company Ana works for?', 'Which company does Ana work for?', 'Who is the boss of …'],
    [
      'Who is the CEO of the company that made my dishwasher?',
      'Which company made my dishwasher?',
      'Who is the CEO of …',
    ],
    ['When does the vet of my cat open?', 'Who is the vet of my cat?', 'When does … open'],
    ["Who is the founder of Ana's employer?", 'Who is the employer of Ana?', 'Who is the founder of …'],
    ["When did Inception's director marry?", 'Who is the director of Inception?', 'When did … marry'],
    ["What river crosses Ada's city of birth?", 'Where was Ada born?', 'What river crosses …'],
    [
      'When did the country containing Baure become independent?',
      'In which country is Baure?',
      'When did … become independent',
    ],
    [
      'What is the country where Baure is located named after?',
      'In which country is Baure located?',
      'What is … named after',
    ],
    [
      'What year did the company Novair is part of dissolve?',
      'Which company is Novair part of?',
      'What year did … dissolve',
    ],
    [
      'Who is the mayor of the city where the painter of the picture above the sofa lives?',
      'Who is the painter of the picture above the sofa?',
      'Who is the mayor of the city where … lives',
    ],
  ];
  for (const [question, asked, rest] of cases) {
    it(`is asked for first: "${question}"`, () => {
      const found = descriptionOf(question);
      expect(found?.question).equals(asked);
      expect(found?.around.join('…')).equals(rest);
    });
  }

  for (const question of [
    'Who is the author of Wolf Hall?',
    'What is the capital of Slovenia?',
    'What is the name of the dog?',
    'When did I move to Berlin?',
    'Where is the head office of Norvik?',
    "Where is Norvik's head office?",
    'Which is cheaper, the Bosch or the Miele?',
  ]) {
    it(`is nothing in "${question}"`, () => {
      expect(descriptionOf(question)).equals(null);
    });
  }

  it('is not the place of a thing whose name is asked for', () => {
    const description = descriptionOf('Who guards the vault of Grace Hopper?');
    const sentence = 'Grace Hopper repaired the lamp of the vault in London.';
    for (const short of [null, 'London'])
      expect(description === null ? short : nameFor(description, { short, sentence })).equals(null);
  });

  it('is a country, where one is asked for and the answer names a region first', () => {
    const description = descriptionOf('Who rules the country where Buyende is located?');
    const sentence = 'Buyende is a town in the Eastern Region of Uganda.';
    expect(description && nameFor(description, { short: 'Eastern Region of Uganda', sentence })).equals('Uganda');
  });

  it('has no name when the answer only repeats the question', () => {
    const description = descriptionOf('Where was the author of Wolf Hall born?');
    expect(description && nameFor(description, { short: 'Wolf Hall', sentence: 'I like Wolf Hall.' })).equals(null);
  });

  it('is not resolved when a sentence says what it asks of a person', () => {
    const payload = { text: 'My sister Helen teaches geography in Norwich.', documentName: 'a.txt', headings: [] };
    const passages = [{ id: '1', payload }] as unknown as readonly ReadPassage[];
    expect(isToldAtOnce("What is my sister's job?", passages)).equals(true);
    expect(isToldAtOnce("What is my sister's car?", passages)).equals(false);
  });
});

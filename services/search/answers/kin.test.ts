import { expect } from 'chai';
import { statedKin } from './kin.ts';
import type { ReadPassage } from './rank-sentences.ts';

describe('the children, siblings and pets of somebody', () => {
  const cases: readonly (readonly [question: string, texts: readonly string[], answer: string | null])[] = [
    [
      'What are my children called?',
      ['User: Twins, Milo and Etta, they are four.\nAssistant: Nice.\n'],
      'Milo and Etta',
    ],
    ['What are my children called?', ['User has a son named Theo.', "User's daughter Mia is 3."], 'Theo and Mia'],
    ['What are the names of my kids?', ['My kids Ann, Ben and Cy are at school.'], 'Ann, Ben and Cy'],
    ['What are my children called?', ['My kids are at school with her son Tom.'], null],
    ["What are Ana's cats called?", ['Ana has two cats, Miso and Tofu.', 'Ben has a cat, Rex.'], 'Miso and Tofu'],
    ['How many children do I have?', ['I have two sons and a daughter.'], '3'],
    ['How many children do I have?', ['User has three children, two sons and a daughter.'], 'three'],
    ['How many children do I have?', ['User has a son named Theo.', "User's daughter Mia is 3."], '2'],
    ['How many children do I have?', ['My kids are at school.'], null],
    ['How many children do I have?', ['My sister has two kids, Ana and Leo.'], null],
    ['What are my children called?', ['My kids are Ana and Leo.', 'My neighbour has a son called Max.'], 'Ana and Leo'],
    ['How many dogs do I have?', ['I have a friend with two dogs.'], null],
    ['How many cats do I have?', ['I have a cat.', 'My aunt has four cats.'], '1'],
    ['How many cats do I have?', ['I have a cat, my aunt has four cats.'], '1'],
    [
      'How many siblings does Ana have?',
      ['Ana: I have one brother and two sisters.\nBen: I have five brothers.\n'],
      '3',
    ],
    ['How many pets do I have?', ['User adopted a rescue dog called Pepper.'], '1'],
    ['What are my sons called?', ['User has twin boys, Kiran and Dev, who are in year 3.'], 'Kiran and Dev'],
    ['What is my pet called?', ['User: My cat Lumpi eats leaves.\nAssistant: Oh no.\n'], 'Lumpi'],
    ['How many children does Hannah have?', ['User: Twins, Milo and Etta.\nAssistant: And Hannah?\n'], null],
    ['How many tables do I have?', ['I have two tables.'], null],
  ];
  for (const [question, texts, answer] of cases) {
    it(`are ${answer ?? 'not told'} for "${question}" in "${texts.join(' ').trim()}"`, () => {
      const read = texts.map(
        (text) =>
          ({ id: text, payload: { text, headings: [], documentName: '', chunkIndex: 0 } }) as unknown as ReadPassage,
      );
      expect(statedKin(question, read)?.answer ?? null).equals(answer);
    });
  }
});

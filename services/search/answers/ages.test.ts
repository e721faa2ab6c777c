import { expect } from 'chai';
import { statedAge } from './ages.ts';
import type { ReadPassage } from './rank-sentences.ts';

describe('how old somebody is', () => {
  const cases: readonly (readonly [question: string, text: string, age: string | null])[] = [
    ['How old am I?', "I'm 43 and I've been running for two years.", '43'],
    ['How old am I?', "I'm 10 minutes late.", null],
    ['How old am I?', 'My oven is only two years old.', null],
    ['How old am I?', 'User is 34 years old and lives in Porto.', '34'],
    ['What is my age?', 'I just turned thirty-one.', 'thirty-one'],
    ['How old is Leo?', 'User has a daughter named Bea and a son named Leo who is 4.', '4'],
    ['How old is my son?', "User's son Leo is four.", 'four'],
    ['How old is my mother?', "User's mother, Ingrid, is a retired judge and turns 70 on 9 December.", null],
    ['How old are the twins?', 'User: Twins, Milo and Etta, they just turned four.\nAssistant: Nice.\n', 'four'],
    ['How old is Clara?', 'Owen: Clara (9) plays the cello.\nIvy: I am 40.\n', '9'],
    ['How old is Ivy?', 'Owen: Clara (9) plays the cello.\nIvy: I am 40.\n', '40'],
    ['How old am I?', 'Owen: Clara plays the cello.\nIvy: I am 40.\n', null],
    ['How old is Leo?', 'My kids Bea and Leo are 7 and 4.', '4'],
    ['How old is Bea?', 'My kids Bea and Leo are 7 and 4.', '7'],
    ['How old is Zoe?', 'My kids Bea, Leo and Zoe are ten, 7, and 4 now.', '4'],
    ['How old is Leo?', 'Bea and Leo are 7 and 4 metres away.', null],
    ['How old is Leo?', 'Leo is 4 and Bea is 7.', '4'],
    ['How old is the baby?', 'The baby is 3 months old.', '3 months'],
    ['How old is Leo?', 'Leo is 4 km away.', null],
    ['How old is Leo?', 'Leo is 1.80 m tall.', null],
  ];
  for (const [question, text, age] of cases) {
    it(`is ${age ?? 'not told'} for "${question}" in "${text.trim()}"`, () => {
      const passage = { id: text, payload: { text, headings: [], documentName: '', chunkIndex: 0 } };
      expect(statedAge(question, [passage as unknown as ReadPassage])?.age ?? null).equals(age);
    });
  }
});

import { expect } from 'chai';
import { plainQuestion } from './plain-question.ts';

describe('plainQuestion', () => {
  for (const [asked, plain] of [
    ['Remind me, what did I plant?', 'What did I plant?'],
    ['Hey, so which bay was it?', 'Which bay was it?'],
    ['Do you remember where we camped?', 'Where we camped?'],
    ['Which statue did I like, do you remember?', 'Which statue did I like?'],
    ["When'd I move?", 'When did I move?'],
    ["What've I kept?", 'What have I kept?'],
    ["What's my husband's job?", "What is my husband's job?"],
    ['Name of the landlord?', 'What is the name of the landlord?'],
    ['Our price for oak?', 'What is the price for oak?'],
    ['Which dishwasher did I end up buying?', 'Which dishwasher did I buy?'],
    ['Where did Ana end up getting a flat?', 'Where did Ana get a flat?'],
    ['What colour did we end up choosing?', 'What colour did we choose?'],
    ['What medication am I on?', 'What medication do I take?'],
    ['Which tablets is my mother on now?', 'Which tablets does my mother take?'],
  ] as const) {
    it(`says "${asked}" as "${plain}"`, () => {
      expect(plainQuestion(asked)).to.equal(plain);
    });
  }

  for (const text of [
    'Who wrote "So what"?',
    "Who'd been ill?",
    'Do you remember the flood?',
    'History of computing?',
    'the name of the landlord',
    'So far nobody came.',
  ]) {
    it(`leaves "${text}" as it is`, () => {
      expect(plainQuestion(text)).to.equal(text);
    });
  }
});

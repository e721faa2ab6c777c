import { expect } from 'chai';
import { readQuestion } from './question.ts';
import { type ReadPassage, rankSentences, sentencesOf } from './rank-sentences.ts';
import { shortAnswer } from './short-answer.ts';

const HOTELS = 'Hotels cost at most 120 euros a night; in London, Paris and Zurich 180 euros.';

describe('the short answer in a sentence', () => {
  for (const [question, sentence, answer] of [
    ['What is the maximum price of a hotel in Paris?', HOTELS, '180 euros'],
    ['How much may a hotel cost in London?', HOTELS, '180 euros'],
    ['How much may a hotel cost in Berlin?', HOTELS, '120 euros'],
    ['How much is a table in pine?', 'A table is made in oak for 480 euros, in pine for 310 euros.', '310 euros'],
    ['Who repaired the lift?', 'On Easter the lift was repaired by Priya.', 'Priya'],
  ] as const) {
    it(`is ${answer} for "${question}"`, () => {
      const payload = { text: sentence, documentName: 'notes', headings: [], chunkIndex: 1 };
      const asked = readQuestion(question);
      const ranked = rankSentences(sentencesOf(asked, [{ id: 'a', payload } as unknown as ReadPassage]));
      expect(shortAnswer(asked, ranked)?.text).to.equal(answer);
    });
  }
});

import { expect } from 'chai';
import { readQuestion } from './question.ts';
import { type ReadPassage, rankSentences, sentencesOf } from './rank-sentences.ts';
import { shortAnswer } from './short-answer.ts';

const HOTELS = 'Hotels cost at most 120 euros a night; in London, Paris and Zurich 180 euros.';

const ROOM = 'The reading room opens at 8 am, on Saturdays at 10 am.';

describe('the short answer in a sentence', () => {
  for (const [question, sentence, answer] of [
    ['What is the maximum price of a hotel in Paris?', HOTELS, '180 euros'],
    ['How much may a hotel cost in London?', HOTELS, '180 euros'],
    ['How much may a hotel cost in Berlin?', HOTELS, '120 euros'],
    ['How much is a table in pine?', 'A table is made in oak for 480 euros, in pine for 310 euros.', '310 euros'],
    ['How much do pupils pay?', 'The annual fee is 180 euros, for pupils 60 euros.', '60 euros'],
    ['When does the reading room open on Saturdays?', ROOM, 'Saturdays at 10 am'],
    ['When does the reading room open?', ROOM, '8 am'],
    ['How long did the renovation take?', 'The work took seven weeks and cost 14,500 euros.', 'seven weeks'],
    ['How long can I keep a book?', 'Overdue books cost 20 cents a day.', undefined],
    ['How often can a book be renewed?', 'Books can be borrowed for four weeks and renewed twice.', 'twice'],
    ['How often are backups made?', 'Backups are made every six hours and kept for 35 days.', 'every six hours'],
    ['On which day is the rubbish collected?', 'The rubbish is collected on Tuesdays.', 'Tuesdays'],
    ['On which day is it quiet?', 'It is quiet from 10 pm on.', undefined],
    ['Until when does he work on Saturdays?', 'On Saturdays he works until four, on Wednesdays he rests.', undefined],
    ['Who elects the treasurer?', 'The key of the treasurer is kept at the Café Anker.', undefined],
    ['Who cleans up?', 'Spills of acid are neutralised.', undefined],
    ['Which exit do I take in a fire?', 'In case of fire leave through exit B.', 'exit B'],
    ['What is the weight of the cat?', 'The cat: weight 5.8 kg.', '5.8 kg'],
    ['What does a missing hour cost?', 'Each works ten hours; hours that are missing cost 15 euros each.', '15 euros'],
    ['How much is a licence?', 'They use 60 licences at 18 euros each.', '18 euros'],
    ['What did I pay for the bookcase?', 'Bought a bookcase for 45 euros, Jonas carried it up.', '45 euros'],
    ['How much is a ticket for a child?', 'Tickets cost 85 euros for adults and 40 euros for children.', '40 euros'],
    ['Who repaired the lift?', 'On Easter the lift was repaired by Priya.', 'Priya'],
  ] as const) {
    it(`is ${answer ?? 'left open'} for "${question}"`, () => {
      const payload = { text: sentence, documentName: 'notes', headings: [], chunkIndex: 1 };
      const asked = readQuestion(question);
      const ranked = rankSentences(sentencesOf(asked, [{ id: 'a', payload } as unknown as ReadPassage]));
      expect(shortAnswer(asked, ranked)?.text).to.equal(answer);
    });
  }
});

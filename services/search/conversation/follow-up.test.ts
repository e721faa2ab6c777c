import { expect } from 'chai';
import { PLAIN_QA } from '../../../test/support/session-entries.ts';
import type { QaEntry } from '../../common/domain/session.ts';
import type { RankedPassage } from '../model.ts';
import type { Retrieval } from '../retrieval/retrieval.ts';
import { contextualQuestion, followUpQuery, refersBack } from './follow-up.ts';
import { historyText, relevantTurns } from './history.ts';
import { mergeRetrievals } from './turn-passages.ts';

const turn = (question: string, answer = 'An answer.', number = 1): QaEntry => ({
  id: `q${number}`,
  number,
  time: '2026-01-02T03:04:05.678+00:00',
  ...PLAIN_QA,
  question,
  answer,
  feedbackNumber: null,
  memifyMetadata: null,
});

describe('a question about earlier turns', () => {
  const back = [
    'And what about her?',
    'Why?',
    'Who is she?',
    'Tell me more',
    'Where was she born?',
    'What does that mean?',
  ];
  for (const query of [...back, 'Is it expensive?', 'Who built that?', 'How old is he now?']) {
    it(`"${query}" refers back`, () => expect(refersBack(query)).to.equal(true));
  }

  const alone = [
    'Where does Ada Lovelace live?',
    'Did she marry Charles Babbage?',
    'how do i restart the server if it hangs',
    'capital of norway',
    'What is the boiling point of water?',
    'Is it raining in Oslo?',
    '',
    '?!',
  ];
  for (const query of alone) it(`"${query}" stands alone`, () => expect(refersBack(query)).to.equal(false));

  it('follows the last question that stands alone in the query for quotes, without answers', () => {
    const turns = [turn('Who is Ada Lovelace?', 'A mathematician.'), turn('And where was she born?'), turn('Why?')];
    expect(contextualQuestion('When did she die?', turns)).to.equal('Who is Ada Lovelace?\nWhen did she die?');
    expect(contextualQuestion('Where is Oslo?', turns)).to.equal(null);
    expect(contextualQuestion('Why?', [turn('And that?')])).to.equal(null);
  });

  it('follows the last two turns in the query for a model, in 2,000 characters, answers cut first', () => {
    expect(followUpQuery('Why?', [])).to.equal(null);
    const turns = [turn('First?'), turn('Second?', 'a'.repeat(5000)), turn('Third?', 'b'.repeat(5000))];
    const query = followUpQuery('And why?', turns) ?? '';
    expect(query.length).to.be.within(1900, 2000);
    expect(query).to.match(/^Second\?\na+\nThird\?\nb+\nAnd why\?$/);
    expect(followUpQuery('q'.repeat(3000), turns)).to.equal('q'.repeat(2000));
  });
});

describe('the history in a prompt', () => {
  it('has the last ten turns and three older ones that share words with the question, oldest first', () => {
    const turns = Array.from({ length: 30 }, (_, index) => {
      const about = [3, 5, 7, 9].includes(index + 1) ? 'What of the Nile river?' : 'What of stones?';
      return turn(about, 'Something.', index + 1);
    });
    const numbers = relevantTurns(turns, 'Where does the Nile begin?').map(({ number }) => number);
    expect(numbers).to.deep.equal([5, 7, 9, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30]);
  });

  it('has time, question and answer, and omits the oldest turns when it is too long', () => {
    expect(historyText([], 16_000)).to.equal('');
    const text = historyText([turn('Who?', 'Ada.')], 16_000);
    expect(text).to.match(/\n\n\[2026-01-02T03:04:05\.678\+00:00\]\nQUESTION: Who\?\nANSWER: Ada\.$/);
    const long = historyText(
      Array.from({ length: 13 }, (_, index) => turn(`Question ${index}`, 'x'.repeat(1_000_000))),
      16_000,
    );
    expect(long.length).to.be.below(17_000);
    expect(long).to.include('Question 12').and.not.include('Question 0\n');
  });
});

describe('passages of a question and its follow-up query', () => {
  const retrievalOf = (ids: string) =>
    ({
      passages: [...ids].map((id) => ({ id }) as RankedPassage),
      named: [],
      links: [],
      mentions: [],
    }) as unknown as Retrieval;
  const merged = (own: string, other: string, limit: number) =>
    mergeRetrievals(retrievalOf(own), retrievalOf(other), limit)
      .passages.map(({ id }) => id)
      .join('');

  it('are first those of both, then of the question, with a third reserved for the follow-up query', () => {
    expect(merged('abcdef', 'fxyzb', 6)).to.equal('bfacxy');
    expect(merged('abc', 'abc', 3)).to.equal('abc');
    expect(merged('abc', 'xyz', 3)).to.equal('abx');
  });

  it('are those of the question alone for a limit of two, and fill up missing ones', () => {
    expect(merged('ab', 'xy', 2)).to.equal('ab');
    expect(merged('a', 'xyz', 4)).to.equal('axyz');
    expect(merged('', 'xyz', 2)).to.equal('xy');
  });
});

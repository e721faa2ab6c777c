import { expect } from 'chai';
import type { RankedPassage } from '../model.ts';
import { dateMovedTo, decidedFirst } from './decisions.ts';
import { readQuestion } from './question.ts';
import { rankSentences, sentencesOf } from './rank-sentences.ts';

describe('decisions that change', () => {
  const first = (question: string, ...texts: readonly string[]) => {
    const passages = texts.map(
      (text, at) =>
        ({
          id: String(at),
          score: 1,
          terms: [],
          payload: { text, headings: [], documentName: 'notes', chunkIndex: 0, createdAt: '2026-05-01T10:00:00Z' },
        }) as unknown as RankedPassage,
    );
    const asked = readQuestion(question);
    return decidedFirst(asked, rankSentences(sentencesOf(asked, passages)))[0]?.statement.text;
  };
  const chat =
    'Dele: question about the summer party: still 4 July?\nMira: the hall is taken. I suggest 11 July\nJun: I am away until the 13th\nMira: settled: party on 18 July, at the boathouse\n';

  it('are told by the one who decides and not by the one who suggests', () => {
    expect(first('When is the summer party?', chat)).to.contain('18 July');
    expect(first('What date did Mira suggest for the summer party?', chat)).not.to.contain('18 July');
  });

  it('are told by the date to which something is put off', () => {
    const minutes =
      'Decision: the new search is launched on 2 March.\n\nThe launch of the new search is postponed from 2 March to 16 March.\n';
    expect(first('When is the new search launched?', minutes)).to.contain('16 March');
    const moved = 'The launch is postponed from 2 March to 16 March.';
    expect(dateMovedTo(readQuestion('When is the launch?'), moved)).to.equal('16 March');
    expect(dateMovedTo(readQuestion('When was the launch planned at first?'), moved)).to.equal(null);
    expect(dateMovedTo(readQuestion('When is the launch?'), 'Ada moved to Berlin on 2 March.')).to.equal(null);
  });

  it('leave what is only said in its order', () => {
    const notes =
      'The party is on 4 July.\n\nDecision: the office closes on 1 August for the party of the neighbours.\n';
    expect(first('When is the party?', notes)).to.contain('4 July');
  });
});

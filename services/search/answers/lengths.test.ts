import { expect } from 'chai';
import { asksForLength, lengthIn } from './lengths.ts';
import { readQuestion } from './question.ts';

describe('lengths of time', () => {
  it('are between two times of a day', () => {
    expect(lengthIn('Inspection from 10:15 to 12:40.')).to.equal('2 hours 25 minutes');
    expect(lengthIn('The site was down between 23:50 and 0:20.')).to.equal('30 minutes');
    expect(lengthIn('Meeting, 9:00–10:00')).to.equal('1 hour');
    expect(lengthIn('We rehearsed from 7.30 pm to 9.31 pm.')).to.equal('2 hours 1 minute');
    expect(lengthIn('title: outage, start: 14:05, end: 15:20')).to.equal('1 hour 15 minutes');
  });

  it('are none without two times', () => {
    for (const text of ['It began at 10:15.', 'from 2024-10-15 to 12:40', 'from 25:15 to 26:40', 'The score was 3:10.'])
      expect(lengthIn(text), text).to.equal(null);
  });

  it('are asked for by how long, and not by how long ago', () => {
    expect(asksForLength(readQuestion('How long did the inspection take?'))).to.equal(true);
    expect(asksForLength(readQuestion('How long ago was the inspection?'))).to.equal(false);
  });
});

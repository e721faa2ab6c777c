import { expect } from 'chai';
import { expectQuick, threadCpuTimeMs } from '../../../test/support/cpu-time.ts';
import { analyseQuery } from './query-analysis.ts';

const now = new Date('2026-11-21T10:00:00Z');

describe('analyseQuery', () => {
  it('finds names and terms of the question', () => {
    const { entities, terms } = analyseQuery(
      "How many Publix stores are in the state where Hello Love's performer lived?",
    );
    expect(entities).to.deep.equal(['Publix', 'Hello Love']);
    expect(terms).to.include.members(['publix', 'store', 'state', 'love', 'perform']);
  });

  it('reads the time window with its open sides', () => {
    expect(analyseQuery('Who was president before 1990?').timeWindow).to.deep.equal({
      from: null,
      until: new Date('1990-01-01'),
    });
    expect(analyseQuery('What happened since March 2024?').timeWindow).to.deep.equal({
      from: new Date('2024-03-01'),
      until: null,
    });
    expect(analyseQuery('Trips between 1990 and 1995').timeWindow).to.deep.equal({
      from: new Date('1990-01-01'),
      until: new Date('1996-01-01'),
    });
    expect(analyseQuery('What did I do last month?', { now }).timeWindow).to.deep.equal({
      from: new Date('2026-10-01'),
      until: new Date('2026-11-01'),
    });
    expect(analyseQuery('What did I do last month?').timeWindow).to.equal(null);
    expect(analyseQuery('Who wrote Typee?').timeWindow).to.equal(null);
  });

  it('stays quick and bounded on pasted text', () => {
    const started = threadCpuTimeMs();
    for (const text of ['“'.repeat(50_000), '\n'.repeat(50_000), 'and '.repeat(20_000), '"a" '.repeat(40_000)]) {
      expect(analyseQuery(text).terms.length).to.be.at.most(64);
    }
    expectQuick(threadCpuTimeMs() - started, 1500);
  });

  it('limits a period of more years than the calendar has', () => {
    for (const question of [
      'what happened in the last 99999999999 years',
      'what is due in the next 1000000 decades?',
    ]) {
      const { timeWindow } = analyseQuery(question, { now });
      expect(timeWindow?.until?.getTime(), question).to.be.greaterThan(timeWindow?.from?.getTime() ?? Number.NaN);
    }
    expect(() => analyseQuery('what was said 99999999999 months ago?', { now })).to.not.throw();
  });
});

import { expect } from 'chai';
import { compareValues } from '../statements/compare-values.ts';
import { judge } from '../statements/judge.ts';
import type { Statement, StatementValue } from '../statements/statement.ts';
import { saysSomething, sentenceFingerprint } from './fingerprint.ts';
import { newParts } from './new-parts.ts';

const words = (text: string): StatementValue => ({ kind: 'words', words: text.split(' ') });
const place = (...parts: readonly string[]): StatementValue => ({ kind: 'place', parts });

describe('values of statements', () => {
  it('are the same in other words, unclear when one may be part of the other, else different', () => {
    expect(compareValues(words('initech inc'), words('initech'))).to.equal('same');
    expect(compareValues(words('initech research'), words('initech'))).to.equal('unclear');
    expect(compareValues(words('ibm'), words('international business machines'))).to.equal('unclear');
    expect(compareValues(words('vandelay'), words('vandelai'))).to.equal('unclear');
    expect(compareValues(words('initech'), words('globex'))).to.equal('different');
    expect(compareValues(words('initech'), place('berlin'))).to.equal('unclear');
  });

  it('that are places differ only where neither can lie in the other', () => {
    expect(compareValues(place('berlin'), place('paris'))).to.equal('different');
    expect(compareValues(place('germany'), place('berlin'))).to.equal('unclear');
    expect(compareValues(place('kreuzberg'), place('berlin'))).to.equal('unclear');
    expect(compareValues(place('berlin', 'germany'), place('berlin'))).to.equal('unclear');
    expect(compareValues(place('springfield', 'spain'), place('springfield', 'chile'))).to.equal('different');
    expect(compareValues(place('room 12'), place('room 14'))).to.equal('different');
  });
});

describe('judging statements', () => {
  const said = (value: string, day: number, more: Partial<Statement> = {}): Statement => {
    const at = `2030-01-0${day}T00:00:00.000Z`;
    return {
      id: `${value}-${day}`,
      key: 'k',
      subject: 'Ann',
      predicate: 'works_at',
      value: words(value),
      valueText: value,
      text: `Ann works at ${value}.`,
      item: `${value}-${day}`,
      chunk: 'c',
      ordinal: 0,
      at,
      from: at,
      isDated: false,
      isChange: false,
      isEnd: false,
      ...more,
    };
  };
  const pairs = (...statements: readonly Statement[]) =>
    judge(statements).map(({ older, newer }) => `${older.valueText} → ${newer.valueText}`);

  it('supersedes nothing stated at the same time, unless a later sentence of the item states a change', () => {
    expect(pairs(said('x', 1), said('y', 1))).to.deep.equal([]);
    const item = { item: 'one', at: '2030-01-01T00:00:00.000Z' };
    expect(pairs(said('x', 1, item), said('y', 1, { ...item, ordinal: 1 }))).to.deep.equal([]);
    expect(pairs(said('x', 1, item), said('y', 1, { ...item, ordinal: 1, isChange: true }))).to.deep.equal(['x → y']);
  });

  it('never supersedes a statement with its own date', () => {
    expect(pairs(said('x', 1, { isDated: true }), said('y', 2))).to.deep.equal([]);
  });

  it('counts the supporting statements of both sides', () => {
    const [found] = judge([said('x', 1), said('x', 2), said('y', 3), said('y', 4)]);
    expect(found).to.include({ olderSupport: 2, newerSupport: 2 });
  });

  it('ends only the value that is over', () => {
    const end = said('x', 2, { isEnd: true });
    expect(pairs(said('x', 1), end)).to.deep.equal(['x → x']);
    expect(pairs(said('y', 1), end)).to.deep.equal([]);
  });
});

describe('echoes', () => {
  it('are recognised by every word, ignoring punctuation and introductions', () => {
    const print = sentenceFingerprint('Ann keeps nine hens.');
    expect(print).to.be.a('string');
    for (const echo of [
      '- "Ann keeps nine hens."',
      'Answer: Ann keeps nine hens',
      'I recall that ann keeps nine hens!',
    ]) {
      expect(sentenceFingerprint(echo), echo).to.equal(print);
    }
    for (const other of [
      'Ann keeps ten hens.',
      'Ann keeps no nine hens.',
      'Ann keeps -9 hens.',
      'Ben keeps nine hens.',
    ]) {
      expect(sentenceFingerprint(other), other).to.not.equal(print);
    }
    expect(sentenceFingerprint('It costs 1.5 kg a day.')).to.not.equal(sentenceFingerprint('It costs 15 kg a day.'));
    expect(sentenceFingerprint('Thank you!')).to.equal(null);
  });

  it('leave new sentences, and the sentence that they refer to', () => {
    const read = (...parts: readonly (readonly [text: string, isEcho: boolean])[]) => {
      let start = 0;
      const sentences = parts.map(([text, isEcho]) => {
        const sentence = { text, start, end: start + text.length, isEcho };
        start += text.length + 1;
        return sentence;
      });
      return newParts(parts.map(([text]) => text).join(' '), sentences);
    };
    expect(read(['Ann keeps nine hens.', true], ['Ben keeps bees.', false])).to.equal('Ben keeps bees.');
    const pointing = 'Ann keeps nine hens. They are brown.';
    expect(read(['Ann keeps nine hens.', true], ['They are brown.', false])).to.equal(pointing);
    expect(read(['Who keeps hens?', false], ['Ann keeps nine hens.', true])).to.equal(null);
    expect(read(['Ben keeps bees.', false])).to.equal('Ben keeps bees.');
  });

  it('take questions and the names of sources for nothing said', () => {
    for (const text of ['Who keeps hens?', 'Question: where are the hens', 'Session ID: s1', '(my notes)', 'Answer:']) {
      expect(saysSomething(text), text).to.equal(false);
    }
    expect(saysSomething('Question: I keep hens now.')).to.equal(true);
    expect(saysSomething('"Bob moved to Rome."')).to.equal(true);
  });
});

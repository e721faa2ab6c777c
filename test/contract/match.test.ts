import { expect } from 'chai';
import { differences } from './match.ts';
import { loadCases } from './runner.ts';

describe('contract matchers', () => {
  const holds = (actual: unknown, matcher: unknown) => differences(actual, matcher).length === 0;

  it('compares plain values, lists by length and objects key by key', () => {
    expect(differences({ a: [1, null] }, { a: [1, null] })).to.deep.equal([]);
    expect(differences({ a: 1, b: 2 }, { a: 1 })).to.deep.equal(['$: unexpected keys b']);
    expect(differences({ a: 1, b: 2 }, { $partial: true, a: 1 })).to.deep.equal([]);
    expect(differences({}, { a: null })).to.deep.equal(['$.a: expected null, got nothing']);
    expect(differences([1, 2], [1])).to.have.length(1);
    expect(differences({ a: { b: 'x' } }, { a: { b: 'y' } })).to.deep.equal(['$.a.b: expected "y", got "x"']);
    expect(holds('1', 1)).to.equal(false);
  });

  it('knows its words', () => {
    const rows: readonly [unknown, string, boolean][] = [
      [undefined, '$absent', true],
      [null, '$absent', false],
      [null, '$any', true],
      ['', '$nonempty', false],
      [1.5, '$integer', false],
      ['99a82eec-bb35-5bb5-9ed2-e73fc7a756de', '$uuid', true],
      ['99A82EEC', '$uuid', false],
      ['2026-11-21T10:54:32.513457Z', '$datetime', true],
      ['yesterday', '$datetime', false],
      [[], '$object', false],
      ['x', '$unheard', false],
    ];
    for (const [actual, word, expected] of rows) expect(holds(actual, word), `${actual} ${word}`).to.equal(expected);
  });

  it('knows its operators, and an unknown one never holds', () => {
    const rows: readonly [unknown, unknown, boolean][] = [
      ['abc', { $match: '^a' }, true],
      ['bc', { $match: '^a' }, false],
      [3, { $match: '3' }, false],
      [2, { $oneOf: [1, 2] }, true],
      ['ab', { $all: [{ $match: 'a' }, { $match: 'c' }] }, false],
      ['ab', { $not: { $match: 'c' } }, true],
      [[1, 2], { $each: '$integer' }, true],
      [[1, 'x'], { $each: '$integer' }, false],
      ['x', { $each: '$string' }, false],
      [[1, 2, 3], { $contains: [3, 1] }, true],
      [[1], { $contains: [2] }, false],
      [[1], { $none: 2 }, true],
      [[1, 2], { $none: 2 }, false],
      [undefined, { $none: 2 }, false],
      [[1], { $length: 1 }, true],
      [[1], { $minLength: 2 }, false],
      [undefined, { $optional: 1 }, true],
      [2, { $optional: 1 }, false],
      [1, { $atLeast: 1 }, true],
      [1, { $atMost: 0 }, false],
      [{ a: 1, b: 'x' }, { $values: '$integer' }, false],
      [1, { $unheard: 1 }, false],
    ];
    for (const [actual, matcher, expected] of rows)
      expect(holds(actual, matcher), JSON.stringify([actual, matcher])).to.equal(expected);
  });
});

describe('contract cases', () => {
  it('have a name of their own in their area, and give a reason for every bettering', () => {
    for (const { area, cases } of [...loadCases('required'), ...loadCases('open')]) {
      const names = cases.map(({ name }) => name);
      expect(new Set(names).size, area).to.equal(names.length);
      for (const { name, bettering } of cases) expect(bettering, `${area}: ${name}`).not.to.equal('');
    }
  });
});

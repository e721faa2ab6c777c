import { expect } from 'chai';
import fc from 'fast-check';
import { findJsonFault } from './json-syntax.ts';

describe('findJsonFault', () => {
  // Offsets and words as the reference 1.6.5 answers them.
  const cases: readonly [string, number, string][] = [
    ['{"a":}', 5, 'Expecting value'],
    ['{"a":1}x', 7, 'Extra data'],
    ['[1,]', 3, 'Expecting value'],
    ['{"a"', 4, "Expecting ':' delimiter"],
    ['{a:1}', 1, 'Expecting property name enclosed in double quotes'],
    ['"abc', 0, 'Unterminated string starting at'],
    ['[1 2]', 3, "Expecting ',' delimiter"],
    ['"a\nb"', 2, 'Invalid control character at'],
    ['"\\x"', 1, 'Invalid \\escape'],
    ['', 0, 'Expecting value'],
    ['{"a":1,', 7, 'Expecting property name enclosed in double quotes'],
    ['[[1]', 4, "Expecting ',' delimiter"],
  ];
  for (const [text, offset, reason] of cases) {
    it(`places the fault of ${JSON.stringify(text)} at ${offset}`, () => {
      expect(findJsonFault(text)).to.deep.equal({ offset, reason });
    });
  }

  it('finds a fault in whatever the engine refuses, inside the text, and none in what it accepts', () => {
    const broken = fc
      .tuple(fc.json(), fc.nat(), fc.constantFrom('', '"', '{', ']', ',', '\\', 'x', ' '))
      .map(
        ([text, at, insert]) =>
          text.slice(0, at % (text.length + 1)) + insert + text.slice((at % (text.length + 1)) + 1),
      );
    fc.assert(
      fc.property(broken, (text) => {
        const { offset, reason } = findJsonFault(text);
        let isValid = true;
        try {
          JSON.parse(text);
        } catch {
          isValid = false;
        }
        // A text without a fault ends in the answer of last resort.
        if (isValid) return offset === 0 && reason === 'Expecting value';
        return offset <= text.length;
      }),
      { numRuns: 2000 },
    );
  });
});

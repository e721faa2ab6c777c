import { expect } from 'chai';
import { spansOf } from './spans.ts';

describe('names in sentences', () => {
  for (const [sentence, names] of [
    ['In July 2023 Helen and I took the night train to Nice.', ['Helen', 'Nice']],
    ['June Carter sang in May.', ['June Carter', 'May']],
  ] as const) {
    it(`are ${names.join(' and ')} in "${sentence}"`, () => {
      expect(spansOf(sentence, ['name']).map(({ text }) => text)).to.deep.equal(names);
    });
  }
});

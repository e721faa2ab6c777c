import { expect } from 'chai';
import { porterStem } from './porter-stem.ts';

describe('porterStem', () => {
  it('answers alike the first time, from memory, and after more words than it remembers', () => {
    expect(porterStem('whaling')).to.equal('whale');
    expect(porterStem('whaling')).to.equal('whale');
    for (let number = 0; number < 21_000; number += 1) porterStem(`wordings${number.toString(36).replace(/\d/g, 'q')}`);
    expect(porterStem('whaling')).to.equal('whale');
    expect(porterStem('constructor')).to.equal('constructor');
  });
});

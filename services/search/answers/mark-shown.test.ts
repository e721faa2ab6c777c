import { expect } from 'chai';
import { createRecentlyShown } from './mark-shown.ts';

describe('recently shown passages', () => {
  it('expire after a time limit, the oldest first', () => {
    let nowMs = 0;
    const shown = createRecentlyShown({ monotonicMs: () => nowMs }, { rememberedMs: 100, maxPassages: 2 });
    shown.add(['a', 'b']);
    expect([shown.has('a'), shown.has('b'), shown.has('c')]).to.deep.equal([true, true, false]);
    shown.add(['a', 'c']);
    expect([shown.has('a'), shown.has('b'), shown.has('c')]).to.deep.equal([true, false, true]);
    nowMs = 100;
    expect([shown.has('a'), shown.has('c')]).to.deep.equal([false, false]);
  });
});

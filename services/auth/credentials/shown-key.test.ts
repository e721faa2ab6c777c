import { expect } from 'chai';
import fc from 'fast-check';
import { newKeyIn, shownKey } from './shown-key.ts';

describe('what is shown of a key', () => {
  it('is ten characters and an asterisk for each other one', () => {
    expect(shownKey('sk-123456789012')).to.equal('sk-1234567*****');
    expect(shownKey(`sk-1234567${'x'.repeat(40)}`)).to.equal(`sk-1234567${'*'.repeat(40)}`);
  });

  it('is nothing of a short key', () => {
    expect(shownKey('sk-12345678901')).to.equal('*'.repeat(14));
    expect(shownKey('sk-1234567')).to.equal('*'.repeat(10));
    expect(shownKey('abc')).to.equal('*****');
  });

  it('is never taken for a new key when it comes back', () => {
    fc.assert(fc.property(fc.string({ minLength: 1 }), (key) => newKeyIn(shownKey(key)) === null));
  });

  it('leaves a blank key out, and the blanks around one', () => {
    for (const text of ['', '  ', '\n', '*****', 'sk-1234567*****']) expect(newKeyIn(text)).to.equal(null);
    expect(newKeyIn(' sk-new\n')).to.equal('sk-new');
    expect(newKeyIn('a****b')).to.equal('a****b');
  });
});

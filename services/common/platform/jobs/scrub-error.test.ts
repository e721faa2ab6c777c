import { expect } from 'chai';
import { scrubErrorText } from './run-error.ts';

describe('scrubErrorText', () => {
  it('replaces addresses, names and secrets', () => {
    const scrubbed = scrubErrorText(
      'ada@example.com failed with Bearer abc.def-ghi, key sk-live_12345, hash 0123456789abcdef0123456789abcdef, at /home/ada/notes.txt line 1234567',
    );
    expect(scrubbed).to.equal(
      '[email] failed with [secret], key [secret], hash [secret], at /home/[user]/notes.txt line [number]',
    );
  });

  it('replaces base64 of forty characters and more and keeps ordinary words', () => {
    expect(scrubErrorText(`got ${'Ab9+'.repeat(12)}== from the server`)).to.equal('got [secret] from the server');
    expect(scrubErrorText('the api answered 429 after 5 attempts')).to.equal('the api answered 429 after 5 attempts');
  });

  it('cuts to 512 characters with an ellipsis and never splits a surrogate pair', () => {
    const scrubbed = scrubErrorText('é😀 '.repeat(1000));
    expect(scrubbed).to.have.length(512);
    expect(scrubbed.endsWith('…')).to.equal(true);
    expect(scrubbed.isWellFormed()).to.equal(true);
  });
});

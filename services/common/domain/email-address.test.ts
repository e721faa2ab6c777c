import { expect } from 'chai';
import fc from 'fast-check';
import { checkEmailAddress, emailKey, isAgentAddress } from './email-address.ts';

/** Answers of the reference server for the same addresses. */
const ACCEPTED: readonly (readonly [string, string])[] = [
  ['A.B@EXAMPLE.com ', 'A.B@example.com'],
  ['Foo <x@y.com>', 'x@y.com'],
  ['ü@bücher.de', 'ü@bücher.de'],
  ['q7@xn--bcher-kva.de', 'q7@bücher.de'],
  ['q1@foo.example', 'q1@foo.example'],
  ['q14+x@x.com', 'q14+x@x.com'],
  ['q12@x.c', 'q12@x.c'],
];
const REFUSED: readonly (readonly [string, string])[] = [
  ['no-at', 'must have an @-sign'],
  ['@x.com', 'something before the @-sign'],
  ['q16@', 'something after the @-sign'],
  ['a@b', 'should have a period'],
  ['q@x.1', 'valid top-level domain'],
  ['q@x.com.', 'end with a period'],
  ['a..b@x.com', 'two periods in a row'],
  ['.a@x.com', 'start with a period'],
  ['a b@x.com', 'invalid characters before the @-sign'],
  ['"q q"@x.com', 'Quoting'],
  ['q@[127.0.0.1]', 'bracketed IP address'],
  ['q9@a_b.com', 'invalid characters'],
  ['q8@-a.com', 'invalid characters'],
  ['q@0x7f.1', 'valid top-level domain'],
  ['q@exa%6dple.com', 'invalid characters'],
  ['a\u0000@x.com', 'invalid characters'],
  ['a\r\nBcc: b@x.com', 'invalid characters'],
  [`${'a'.repeat(65)}@x.com`, 'too long before the @-sign'],
  [`a@${'b.'.repeat(140)}com`, 'invalid characters'],
];

describe('e-mail addresses', () => {
  for (const [text, stored] of ACCEPTED) {
    it(`stores ${JSON.stringify(text)} as ${stored}`, () => {
      expect(checkEmailAddress(text)).to.deep.equal({ address: stored });
    });
  }

  for (const [text, reason] of REFUSED) {
    it(`refuses ${JSON.stringify(text.slice(0, 30))}: ${reason}`, () => {
      expect(checkEmailAddress(text).reason).to.contain(reason);
    });
  }

  for (const name of ['test', 'localhost', 'local', 'invalid', 'arpa', 'onion']) {
    it(`refuses the reserved name .${name}`, () => {
      expect(checkEmailAddress(`a@b.${name.toUpperCase()}`).reason).to.contain('special-use');
    });
  }

  it('compares addresses without case and without compatibility look-alikes', () => {
    expect(emailKey('Default_User@Example.com')).to.equal('default_user@example.com');
    expect(emailKey('ｄefault_user@example.com')).to.equal('default_user@example.com');
    expect(isAgentAddress('Bot+1@COGNEE.agent')).to.equal(true);
    expect(isAgentAddress('bot@ｃognee.agent')).to.equal(true);
    expect(isAgentAddress('bot@notcognee.agent')).to.equal(false);
  });

  it('stores an accepted address so that it is accepted as it stands', () => {
    fc.assert(
      fc.property(fc.emailAddress(), (text) => {
        const { address } = checkEmailAddress(text);
        if (address !== undefined) expect(checkEmailAddress(address)).to.deep.equal({ address });
      }),
    );
  });

  it('never throws, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => void checkEmailAddress(`${text}@${text}`)),
    );
  });
});

import { hash } from 'node:crypto';
import { expect } from 'chai';
import { blake2s } from './blake2s.ts';

const bytes = (text: string) => Buffer.from(text, 'utf8');

describe('BLAKE2s', () => {
  it('gives the digest of RFC 7693, appendix B', () => {
    expect(blake2s(bytes('abc'), 32)).to.equal('508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982');
  });

  it('agrees with Python’s hashlib on the inputs of RFC 7693, appendix E, for all its lengths of digest', () => {
    const sequence = (length: number, seed: number): Buffer => {
      let [one, other] = [Math.imul(0xdead4bad, seed) >>> 0, 1];
      return Buffer.from(
        Array.from({ length }, () => {
          [one, other] = [other, (one + other) >>> 0];
          return other >>> 24;
        }),
      );
    };
    const unkeyed = [16, 20, 28, 32].flatMap((length) =>
      [0, 3, 64, 65, 255, 1024].map((size) => blake2s(sequence(size, size), length)),
    );
    expect(hash('sha256', unkeyed.join(''))).to.equal(
      '469bc6c451d175427371e4a2aac47b2309867fc21bc887a8bc7af088888cf6e2',
    );
  });

  it('agrees with Node where both have the length', () => {
    for (let length = 0; length < 300; length += 7) {
      const input = Buffer.alloc(length, length);
      expect(blake2s(input, 32), String(length)).to.equal(hash('blake2s256', input));
    }
  });

  it('makes the length part of the digest, as Python does', () => {
    expect(blake2s(bytes('abc'), 8)).to.equal('972e9d2cd6de6402');
    expect(blake2s(bytes(''), 8)).to.equal('ef2a8b78dd80da9c');
    expect(blake2s(bytes('é'.repeat(100)), 8)).to.equal('f343f983f6a6325d');
  });
});

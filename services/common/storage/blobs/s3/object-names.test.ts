import { expect } from 'chai';
import fc from 'fast-check';
import { asId } from '../../../kernel/ids.ts';
import { datasetScope } from '../../../kernel/scope.ts';
import { compareCodePoints } from '../../documents/rules/ordering.ts';
import { isBlobKey } from '../rules/blob-key.ts';
import { justBefore, keyOf, nameOf, namePrefixOf, placeOf } from './object-names.ts';

const scope = datasetScope(asId('tenant'), asId('dataset'));
const place = placeOf('p/', scope);
const name = (key: string) => nameOf('p/', scope, key);
/** Short keys of what is escaped and what stands around it in the order of characters, so that many pairs are neighbours. */
const character = fc.oneof(
  fc.constantFrom(' ', '!', '"', '-', '.', '/', '0', '1', '_', 'a', '\ufffd', '\ufffe', '\uffff', '\u{10000}', 'é'),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
);
const key = fc
  .array(character, { minLength: 1, maxLength: 8 })
  .map((parts) => parts.join(''))
  .filter(isBlobKey);

describe('names of objects', () => {
  it('are read back as the keys they were made of', () => {
    fc.assert(fc.property(key, (each) => keyOf(place, name(each)) === each));
  });

  it('sort as their keys do, and begin as the prefixes of their keys do', () => {
    fc.assert(
      fc.property(key, key, (left, right) => {
        expect(Math.sign(compareCodePoints(name(left), name(right)))).to.equal(
          Math.sign(compareCodePoints(left, right)),
        );
        expect(compareCodePoints(justBefore(name(left)), name(left))).to.be.lessThan(0);
        if (compareCodePoints(left, right) < 0) {
          expect(compareCodePoints(name(left), justBefore(name(right))), 'the lower one').to.be.lessThan(0);
        }
        for (let end = 0; end <= left.length; end += 1) {
          const prefix = left.slice(0, end);
          if (!prefix.isWellFormed()) continue;
          expect(name(right).startsWith(namePrefixOf('p/', scope, prefix))).to.equal(right.startsWith(prefix));
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('have no dot segments, are no folders of each other and fit into 1024 bytes', () => {
    fc.assert(
      fc.property(key, key, (left, right) => {
        expect(name(left).split('/')).to.not.include.oneOf(['.', '../..', '']);
        expect(name(right).startsWith(`${name(left)}/`)).to.equal(false);
      }),
    );
    const uuid = '00000000-0000-4000-8000-000000000000';
    const longest = nameOf(
      'x'.repeat(100),
      datasetScope(asId(uuid), asId(uuid)),
      `${' '.repeat(200)}/${' '.repeat(199)}`,
    );
    expect(Buffer.byteLength(longest)).to.be.at.most(1024);
  });

  it('of objects that are none of ours are no keys', () => {
    for (const foreign of ['readme', 'a', '!', 'a/!', 'a b!', '.a!', 'x'])
      expect(keyOf(place, place + foreign)).to.equal(null);
    expect(keyOf(place, 'elsewhere/a!')).to.equal(null);
  });
});

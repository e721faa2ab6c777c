import { expect } from 'chai';
import { fromBlob, toBlob } from './vector-blob.ts';

/** A vector with a component at each of some places. */
function vectorOf(dimensions: number, places: readonly number[]): Float32Array {
  const vector = new Float32Array(dimensions);
  for (const [at, place] of places.entries()) vector[place] = (at + 1) * (at % 2 === 0 ? 0.1 : -0.1);
  return vector;
}

describe('a stored vector', () => {
  for (const [what, vector] of [
    ['without zeros', vectorOf(8, [0, 1, 2, 3, 4, 5, 6, 7])],
    ['of zeros alone', new Float32Array(384)],
    ['with few components', vectorOf(384, [0, 7, 8, 31, 32, 200, 383])],
    ['of a number of dimensions that is no multiple of 8', vectorOf(101, [0, 99, 100])],
    ['of as many dimensions as there may be', vectorOf(16_384, [1, 16_383])],
    ['of one dimension', vectorOf(1, [0])],
  ] as const) {
    it(`${what} is read as it was written`, () => {
      expect([...fromBlob(Uint8Array.from(toBlob(vector)))]).to.deep.equal([...vector]);
    });
  }

  it('never takes more bytes than its components', () => {
    for (let kept = 0; kept <= 64; kept++) {
      const vector = vectorOf(
        64,
        Array.from({ length: kept }, (_, at) => at),
      );
      const blob = toBlob(vector);
      expect(blob.byteLength).to.be.at.most(vector.byteLength);
      expect(fromBlob(blob)).to.deep.equal(vector);
    }
  });

  it('takes a tenth of the bytes when it has 17 components of 384', () => {
    const vector = vectorOf(
      384,
      Array.from({ length: 17 }, (_, at) => at * 22),
    );
    expect(toBlob(vector).byteLength).to.be.at.most(vector.byteLength / 10);
  });

  it('of a layout before, with all its components, is read as before', () => {
    const vector = vectorOf(384, [3, 100]);
    expect(fromBlob(new Uint8Array(vector.buffer))).to.deep.equal(vector);
  });
});

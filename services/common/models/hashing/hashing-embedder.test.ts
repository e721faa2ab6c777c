import { expect } from 'chai';
import { asId } from '../../kernel/ids.ts';
import { datasetScope, PERSONAL_TENANT } from '../../kernel/scope.ts';
import type { ModelCallContext } from '../../ports/models.ts';
import { createHashingEmbedder } from './hashing-embedder.ts';

const context: ModelCallContext = { scope: datasetScope(PERSONAL_TENANT, asId('d')), purpose: 'query' };

const cosine = (left: Float32Array | undefined, right: Float32Array | undefined): number =>
  (left ?? new Float32Array()).reduce((sum, value, at) => sum + value * (right?.[at] ?? 0), 0);

describe('hashing embedder', () => {
  it('gives one unit vector per text, in order, and a zero vector for an empty one', async () => {
    const embedder = createHashingEmbedder();
    expect(embedder.space).to.deep.equal({ model: 'builtin/hashing-v1', dimensions: 384 });
    const vectors = await embedder.embed(['a ship on the sea', '', ' ?! ', 'the'], context);
    expect(vectors.map((vector) => vector.length)).to.deep.equal([384, 384, 384, 384]);
    const norms = vectors.map((vector) => Math.round(cosine(vector, vector) * 1e5) / 1e5);
    expect(norms).to.deep.equal([1, 0, 0, norms[3]]);
  });

  it('holds texts with the same words, inflections and misspellings nearer than others', async () => {
    const [query, inflected, misspelt, other] = await createHashingEmbedder().embed(
      [
        'whaling voyages of Herman Melville',
        'Melville went on a whaling voyage',
        'Herman Mellville, whaleing',
        'The Paris stock exchange fell',
      ],
      context,
    );
    expect(cosine(query, inflected)).to.be.greaterThan(0.5);
    expect(cosine(query, misspelt)).to.be.greaterThan(cosine(query, other) + 0.2);
  });

  it('gives the same vector for ever: stored vectors depend on it', async () => {
    const [vector] = await createHashingEmbedder({ dimensions: 16 }).embed(['Call me Ishmael'], context);
    expect([...(vector ?? [])].map((value) => Math.round(value * 1000) / 1000 + 0)).to.deep.equal(EXPECTED);
  });

  it('stops when the call is aborted', async () => {
    const signal = AbortSignal.timeout(15);
    const texts = Array.from({ length: 200_000 }, (_, at) => `text number ${at} about ships and the sea`);
    const error = await createHashingEmbedder()
      .embed(texts, { ...context, signal })
      .catch((reason: unknown) => reason);
    expect(error).to.have.property('name', 'TimeoutError');
  });

  it('refuses a dimension count that makes no sense', () => {
    for (const dimensions of [0, 1.5, -3, Number.NaN])
      expect(() => createHashingEmbedder({ dimensions })).to.throw(RangeError);
  });
});

const EXPECTED = [
  -0.116, -0.122, -0.298, 0, -0.247, -0.475, -0.122, 0.237, 0, -0.237, 0, 0, 0.607, -0.116, 0.237, 0.176,
];

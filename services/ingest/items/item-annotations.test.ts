import { expect } from 'chai';
import { checkCounts, parseExternalMetadata, parseLabels, parseNodeSets } from './item-annotations.ts';

const failing = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    return (error as { wireName?: string }).wireName ?? String(error);
  }
  return 'no error';
};

describe('labels of a request', () => {
  it('reads a JSON array of strings and nulls, and commas otherwise', () => {
    expect(parseLabels('["a", null, ""]')).to.deep.equal(['a', null, null]);
    expect(parseLabels('finance, people,')).to.deep.equal(['finance', 'people', null]);
    expect(parseLabels(['x'])).to.deep.equal(['x']);
  });

  it('treats nothing, blanks and all-empty lists as no labels', () => {
    for (const input of [undefined, null, '', '  ', '["", null]', ',,']) expect(parseLabels(input)).to.deep.equal([]);
  });

  it('refuses entries that are no strings', () => {
    expect(failing(() => parseLabels('[1]'))).to.equal('InvalidLabelsError');
  });

  it('must pair with the items', () => {
    const labels = parseLabels('a,b');
    expect(failing(() => checkCounts({ labels, externalMetadata: [], nodeSets: [] }, 3))).to.equal(
      'LabelCountMismatchError',
    );
    checkCounts({ labels, externalMetadata: [], nodeSets: [] }, 2);
  });
});

describe('external metadata of a request', () => {
  it('is refused when it nests too deeply to be stored', () => {
    const deep = `[{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}]`;
    expect(failing(() => parseExternalMetadata(deep))).to.equal('InvalidExternalMetadataError');
  });

  it('is one JSON array of objects or nulls', () => {
    expect(parseExternalMetadata('[{"k": 1}, null]')).to.deep.equal([{ k: 1 }, null]);
    expect(parseExternalMetadata('')).to.deep.equal([]);
    expect(parseExternalMetadata('[null]')).to.deep.equal([]);
  });

  it('refuses other JSON and no JSON', () => {
    for (const input of ['{"k":1}', '[1]', '[[]]', 'nonsense', '"x"']) {
      expect(
        failing(() => parseExternalMetadata(input)),
        input,
      ).to.equal('InvalidExternalMetadataError');
    }
  });

  it('must pair with the items', () => {
    const externalMetadata = parseExternalMetadata('[{"k": 1}]');
    const annotations = { labels: [], externalMetadata, nodeSets: [] };
    expect(failing(() => checkCounts(annotations, 2))).to.equal('ExternalMetadataCountMismatchError');
  });
});

describe('node sets of a request', () => {
  it('are none when absent or one empty value', () => {
    for (const input of [undefined, null, '', [''], []]) expect(parseNodeSets(input)).to.deep.equal([]);
  });

  it('keep commas and drop repetitions', () => {
    expect(parseNodeSets(['a,b', 'c', 'c'])).to.deep.equal(['a,b', 'c']);
  });

  it('are taken from one value that holds a JSON list', () => {
    expect(parseNodeSets(['["a","b"]'])).to.deep.equal(['a', 'b']);
    expect(parseNodeSets('[not a list')).to.deep.equal(['[not a list']);
  });

  it('refuse blanks beside others', () => {
    for (const input of [['a', ''], ['  '], ['["a",""]'], [1]]) {
      expect(
        failing(() => parseNodeSets(input)),
        JSON.stringify(input),
      ).to.equal('InvalidNodeSetError');
    }
  });
});

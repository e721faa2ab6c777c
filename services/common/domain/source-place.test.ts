import { expect } from 'chai';
import { sourcePlace } from './source-place.ts';

describe('the place of an item in its source', () => {
  const placeOf = (externalMetadata: Parameters<typeof sourcePlace>[0]['externalMetadata']) =>
    sourcePlace({ fileName: 'a b.ts', externalMetadata });
  const at = (uri: string) => placeOf({ _cognee: { source_uri: uri } });

  it('is the path of an upload or an import, the path in a repository, else the name of the file', () => {
    expect(at('file:///src/x/a%20b.ts')).to.deep.equal({ path: 'src/x/a b.ts', repository: null });
    expect(placeOf({ source_path: './src/../lib/a b.ts' })).to.deep.equal({ path: 'lib/a b.ts', repository: null });
    const github = { path: 'src/a b.ts', repository: 'ada/shop' };
    expect(at('https://github.com/ada/shop/blob/main/src/a%20b.ts')).to.deep.equal(github);
    expect(at('https://gitlab.com/ada/shop/-/blob/main/src/a%20b.ts')).to.deep.equal(github);
    for (const other of ['https://example.com/100%', 'file:///elsewhere.ts', 'no address']) {
      expect(at(other), other).to.deep.equal({ path: 'a b.ts', repository: null });
    }
    expect(placeOf({})).to.deep.equal({ path: 'a b.ts', repository: null });
  });
});

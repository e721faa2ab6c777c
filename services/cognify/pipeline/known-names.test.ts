import { expect } from 'chai';
import type { ExtractedEntity } from '../../common/ports/extractor.ts';
import { createKnownNames } from './known-names.ts';

const entity = (name: string, mentions = 1, type = 'Person'): ExtractedEntity => ({
  ...{ name, type, mentions },
  description: '',
  aliases: [],
});

describe('known names of a document', () => {
  it('are the names met so far, most mentioned first, without those that only a heading names', () => {
    const names = createKnownNames();
    expect(names.list()).to.deep.equal([]);
    names.add([entity('Ada'), entity('Grace', 2)], ['Engine']);
    expect(names.list()).to.deep.equal([
      { name: 'Grace', type: 'Person' },
      { name: 'Ada', type: 'Person' },
    ]);
  });

  it('are typed by the chunks that know the type', () => {
    const names = createKnownNames();
    names.add([entity('Queequeg', 91, 'Concept')], []);
    names.add([entity('Queequeg', 8)], []);
    expect(names.list()).to.deep.equal([{ name: 'Queequeg', type: 'Person' }]);
  });

  it('are at most 200, and one that is mentioned often later comes in', () => {
    const names = createKnownNames();
    names.add(
      Array.from({ length: 300 }, (_, at) => entity(`Name ${at}`, 2)),
      [],
    );
    expect(names.list()).to.have.length(200);
    names.add([entity('Name 299', 5)], []);
    expect(names.list()[0]?.name).to.equal('Name 299');
    expect(names.list()).to.have.length(200);
  });
});

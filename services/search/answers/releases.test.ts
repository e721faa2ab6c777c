import { expect } from 'chai';
import type { ReadPassage } from './rank-sentences.ts';
import { releaseAnswer } from './releases.ts';

const passageOf = (text: string, documentName: string, headings: readonly string[] = []) =>
  ({ id: text, payload: { text, headings, documentName, chunkIndex: 0 } }) as unknown as ReadPassage;

const HERON = passageOf(
  `# Changelog

## [2.1.0] - 2024-06-28

### Added

- Pausing of a single queue

### Fixed

- Full load of the processor when no broker answers #1402

## [2.0.0] - 2024-05-06

### Removed

- **BREAKING:** Drop support for Node 10 and 12 #1333

## 1.4.0 / 2023-02-01

- queues can be named
`,
  'heron-CHANGELOG.md',
);
const TERN = passageOf(
  `## Changes

- v6 (Oct 2026): complete rewrite
- v4 (Sep 2024): remove glob support

## Upgrading

Symbolic links were dropped in v5.
`,
  'tern-README.md',
);

type Case = readonly [question: string, short: string | null, quoted: string];

describe('notes of releases', () => {
  const answer = (question: string) => releaseAnswer(question, [HERON, TERN]);
  const cases: readonly Case[] = [
    ['Which version of heron fixed the full load when no broker answers?', '2.1.0 (2024-06-28)', 'Full load'],
    ['In which heron release was the pausing of a queue added?', '2.1.0 (2024-06-28)', 'Pausing'],
    ['When did heron drop Node 10?', '2024-05-06 (2.0.0)', 'Drop support'],
    ['In which tern version were globs removed?', '4 (Sep 2024)', 'remove glob support'],
    ['In which version of tern were symbolic links dropped?', '5', 'Symbolic links'],
    ['What changed in heron 2.1?', null, 'Pausing'],
    ['What was fixed in heron 2.1.0?', null, 'Full load'],
    ['What are the breaking changes in version 2 of heron?', null, 'Drop support'],
    ["What's new in tern 6?", null, 'complete rewrite'],
    ['When was heron 2.1.0 released?', '2024-06-28', '[2.1.0]'],
    ['What is the latest version of heron?', '2.1.0', '[2.1.0]'],
  ];
  for (const [question, short, quoted] of cases) {
    it(`answer "${question}" by ${short ?? 'what they say'}`, () => {
      const found = answer(question);
      if (found === null || found === 'unsaid') expect.fail(`it is ${found}`);
      expect(found.short).to.equal(short);
      expect(found.quotes[0]?.text).to.contain(quoted);
    });
  }

  it('do not answer what the notes of the program that is named do not say', () => {
    expect(answer('Which version of heron added WebAssembly support?')).to.equal('unsaid');
    expect(answer('What changed in heron 7?')).to.equal('unsaid');
    expect(answer('When was heron 9.1 released?')).to.equal('unsaid');
  });

  it('are none of other questions, of years and of programs without any', () => {
    expect(answer('What changed in 2024?')).to.equal(null);
    expect(answer('Which version of Node does heron need?')).not.to.be.an('object');
    expect(answer('What changed in plover 2.1?')).to.equal(null);
    expect(answer('When did Ada change her job?')).to.equal(null);
    expect(answer('Who added the pausing of a queue?')).to.equal(null);
  });

  it('of a patch do not lie in the release before it, whatever the levels of their headings', () => {
    const parser = passageOf(
      '# Changelog\n\n## [21.0.0](https://example.org) (2021-11-15)\n\n### Bug Fixes\n\n- imports of JSON\n\n### [20.2.9](https://example.org) (2021-06-20)\n\n### Bug Fixes\n\n- the pipeline of releases\n',
      'parser-CHANGELOG.md',
    );
    const found = releaseAnswer('What changed in parser 21.0.0?', [parser]);
    expect(found).to.have.property('quotes').with.lengthOf(1);
    expect(releaseAnswer('Which version of parser fixed the pipeline?', [parser])).to.include({
      short: '20.2.9 (2021-06-20)',
    });
  });

  it('are no numbered sections', () => {
    const policy = passageOf('# Policy\n\n## 3.1 Deductible\n\nThe deductible was changed to 300 euros.\n', 'policy');
    expect(releaseAnswer('When was the deductible changed?', [policy])).to.equal(null);
  });
});

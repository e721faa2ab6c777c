import { expect } from 'chai';
import fc from 'fast-check';
import { expectQuick, threadCpuTimeMs } from '../../../../test/support/cpu-time.ts';
import { chunkId } from '../../kernel/ids.ts';
import { sentences } from '../language/sentences.ts';
import { estimateTokens } from '../language/token-count.ts';
import { chunkDocument, chunkIds } from './chunk-document.ts';
import type { ChunkableBlock, ChunkableDocument, ChunkOptions } from './chunk-draft.ts';

const options = (overrides: Partial<ChunkOptions> = {}): ChunkOptions => ({
  maxTokens: 4096,
  countTokens: estimateTokens,
  sentences,
  ...overrides,
});

const documentOf = (blocks: readonly ChunkableBlock[]): ChunkableDocument => ({
  blocks,
  text: blocks.map((block) => block.text).join('\n\n'),
});

const paragraph = (text: string): ChunkableBlock => ({ kind: 'paragraph', text });
const heading = (level: number, text: string): ChunkableBlock => ({ kind: 'heading', level, text });
const prose = (name: string, count: number): string =>
  Array.from(
    { length: count },
    (_, at) => `Sentence ${at} of ${name} says something about the sea and its ships.`,
  ).join(' ');

describe('chunkDocument', () => {
  it('keeps a short document whole', () => {
    const document = documentOf([heading(1, '# Title'), paragraph('One thing.'), paragraph('Another.')]);
    const drafts = chunkDocument(document, options());
    expect(drafts).to.have.length(1);
    expect(drafts[0]).to.deep.include({ text: document.text, start: 0, end: document.text.length, index: 0 });
    expect(drafts[0]?.headings).to.deep.equal(['Title']);
  });

  it('writes the titles of paragraphs as lines of their own, with marks', () => {
    const blocks = [heading(1, 'Problems'), heading(6, 'Port in use'), paragraph('Stop the server.')];
    const document = { text: '# Problems\n\n**Port in use.** Stop the server.', blocks };
    expect(chunkDocument(document, options()).map(({ text }) => text.trim())).to.deep.equal([
      '# Problems\n\n###### Port in use\n\nStop the server.',
    ]);
  });

  it('returns no chunk for an empty document', () => {
    expect(chunkDocument({ text: '', blocks: [] }, options())).to.deep.equal([]);
  });

  it('covers any text without gaps, within the limit', () => {
    const word = fc.oneof(fc.constantFrom('ship', 'Dr.', 'sea.', '東京', '🐋', 'x'.repeat(300), 'a,b;c'), fc.string());
    const block = fc
      .tuple(
        fc.constantFrom<ChunkableBlock['kind']>('heading', 'paragraph', 'list-item', 'table', 'code', 'quote'),
        fc.array(word, { minLength: 1, maxLength: 60 }),
        fc.constantFrom(' ', '\n'),
      )
      .map(([kind, words, glue]): ChunkableBlock => ({ kind, text: `w${words.join(glue)}w` }));
    fc.assert(
      fc.property(
        fc.array(block, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 8, max: 120 }),
        (blocks, maxTokens) => {
          const document = documentOf(blocks);
          const drafts = chunkDocument(document, options({ maxTokens }));
          let cursor = 0;
          for (const draft of drafts) {
            expect(draft.start).to.equal(cursor);
            cursor = draft.end as number;
            const body = document.text.slice(draft.start, draft.end);
            expect(draft.text.endsWith(body), 'text ends with the slice').to.equal(true);
            expect(draft.text.isWellFormed()).to.equal(body.isWellFormed());
            expect(draft.tokenCount).to.be.at.most(maxTokens);
          }
          expect(cursor).to.equal(document.text.length);
          expect(chunkDocument(document, options({ maxTokens }))).to.deep.equal(drafts);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('starts a section in a new chunk, with the headings above it', () => {
    const document = documentOf([
      heading(1, '# Ships'),
      paragraph(prose('ships', 20)),
      heading(2, '## Whalers'),
      paragraph(prose('whalers', 20)),
      heading(1, '# Ports'),
      paragraph(prose('ports', 20)),
    ]);
    const drafts = chunkDocument(document, options());
    expect(drafts.map((draft) => draft.headings)).to.deep.equal([['Ships'], ['Ships', 'Whalers'], ['Ports']]);
    expect(drafts[1]?.text).to.match(/^## Whalers/);
  });

  it('never leaves a heading at the end of a chunk', () => {
    const blocks = Array.from({ length: 12 }, (_, at) => [
      heading(2, `## Part ${at}`),
      paragraph(prose(`part ${at}`, 5 + at * 3)),
    ]).flat();
    for (const draft of chunkDocument(documentOf(blocks), options())) {
      expect(draft.text.trimEnd().split('\n').at(-1)).not.to.match(/^##/);
    }
  });

  it('cuts a long paragraph between sentences, and a long sentence between words', () => {
    const long = chunkDocument(documentOf([paragraph(prose('the sea', 200))]), options());
    expect(long.length).to.be.greaterThan(3);
    for (const draft of long) {
      expect(draft.text.trimEnd()).to.match(/ships\.$/);
      expect(draft.tokenCount).to.be.at.most(400);
    }
    expect(long[0]?.cutType).to.equal('sentence_end');
    const words = chunkDocument(documentOf([paragraph('word '.repeat(3000))]), options());
    expect(words[0]?.cutType).to.equal('sentence_cut');
    expect(words.every((draft) => /^(word )*(word)? ?$/.test(draft.text))).to.equal(true);
  });

  it('repeats the header of a table that is cut between rows', () => {
    const rows = Array.from({ length: 200 }, (_, at) => `| ship ${at} | ${at * 7} tons of cargo |`);
    const table = ['| name | load |', '|---|---|', ...rows].join('\n');
    const drafts = chunkDocument(documentOf([{ kind: 'table', text: table }]), options());
    expect(drafts.length).to.be.greaterThan(3);
    for (const draft of drafts) expect(draft.text).to.match(/^\| name \| load \|\n\|---\|---\|\n\| ship \d+ \|/);
    expect(drafts[0]?.cutType).to.equal('row_end');
    expect(drafts.flatMap((draft) => draft.text.match(/ship \d+/g) ?? [])).to.have.length(200);
  });

  it('puts larger definitions into named chunks of their own', () => {
    const body = (name: string): string => `function ${name}() {\n${'  let value = compute(value);\n'.repeat(40)}}`;
    const drafts = chunkDocument(
      documentOf(['alpha', 'beta'].map((name) => ({ kind: 'code', text: body(name), symbol: name }))),
      options(),
    );
    expect(drafts.map((draft) => draft.symbol)).to.deep.equal(['alpha', 'beta']);
  });

  it('records the page on which a chunk begins', () => {
    const blocks = [1, 2, 3].map(
      (page): ChunkableBlock => ({ kind: 'paragraph', page, text: prose(`page ${page}`, 24) }),
    );
    expect(chunkDocument(documentOf(blocks), options()).map((draft) => draft.page)).to.deep.equal([1, 2, 3]);
  });

  it('gives an unchanged passage the same id and equal passages different ones', () => {
    const text = prose('equal', 24);
    const blocks = [heading(1, '# A'), paragraph(text), heading(1, '# A'), paragraph(text)];
    const drafts = chunkDocument(documentOf(blocks), options());
    const ids = chunkIds('document', drafts);
    expect(new Set(ids).size).to.equal(2);
    expect(drafts[0]?.text.trimEnd()).to.equal(drafts[1]?.text.trimEnd());
    const changed = chunkDocument(documentOf([heading(1, '# New'), paragraph(prose('new', 24)), ...blocks]), options());
    expect(chunkIds('document', changed)).to.include(ids[0]);
    expect(ids[0]).to.equal(chunkId('document', drafts[0]?.contentHash ?? '', 0));
  });

  it('does without offsets when the blocks do not stand in the text', () => {
    const drafts = chunkDocument({ text: 'other', blocks: [paragraph('Hidden text.')] }, options());
    expect(drafts).to.have.length(1);
    expect(drafts[0]).to.include({ text: 'Hidden text.' });
    expect(drafts[0]).not.to.have.property('start');
  });

  it('cuts the text of a novel in linear time', () => {
    const blocks = Array.from({ length: 400 }, (_, at) => paragraph(prose(`chapter ${at}`, 40)));
    const before = threadCpuTimeMs();
    const drafts = chunkDocument(documentOf(blocks), options());
    expect(drafts.length).to.be.at.least(400);
    expectQuick(threadCpuTimeMs() - before, 1500);
  });
});

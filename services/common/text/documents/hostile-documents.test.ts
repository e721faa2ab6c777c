import { expect } from 'chai';
import { partOf } from '../../../../test/support/extent.ts';
import { workerTask } from '../../platform/workers/worker-messages.ts';
import { createWorkerPool, type WorkerPool } from '../../platform/workers/worker-pool.ts';
import type { DocumentLoader } from '../../ports/documents.ts';
import { createDocumentLoader } from './document-loader.ts';
import { hostileDocuments } from './fixtures/hostile-documents.ts';
import type { parseTime } from './fixtures/parse-time.fixture.ts';

const MIB = 1024 * 1024;

/** Extension, what stands before, and what comes over and over. */
const REPEATED: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  [
    'md',
    ['', 'a\n\n', '- a\n'],
    [
      ...[
        '- - - ',
        '> ',
        '* ',
        '1. ',
        '`',
        '*a ',
        '**a',
        '_a_',
        '[',
        '[a](',
        '![',
        '[a][',
        '<',
        '<a ',
        '<!--',
        '|',
        '\n',
      ],
      ...['a\n', '- a\n', '  - a\n', '&', '~~a', '\\', 'http://a', 'a@b.c ', '[a]: b\n', '<div>\n', '- a\n\n', '=\n'],
      ...['> - ', '* * *\n', '- [ ] a\n'],
    ],
  ],
  [
    'html',
    [''],
    '<noscript>|<pre>a|<svg>|<b> </b>|<|<!--|<table><tr><td>|<title>a|<p>a</p>|<script a|<template>'.split('|'),
  ],
  ['txt', [''], ['\n', 'a\n', '\r\n', ' ', '\n ', 'Chapter 1', '- ', 'Title\n===\n\n']],
  ['rtf', ['{\\rtf1 '], ['{', '}', '\\', '\\par ', "\\'e9", '\\toString ', '{\\*\\x ', 'a']],
  ['csv', [''], ['a,', '"', '"a",', 'a\n', ',', 'a,b\n']],
  ['json', ['', '['], ['[', '{"a":', '[1,', '"a",', '{"a":1},', '[[],']],
  ['jsonl', [''], ['{"a":1}\n', '[\n', '\n']],
  ['xml', ['<r>'], ['<a>', '<a/>', '<!--', '<![CDATA[', '&', '<', '<a>b</a>', '<!a>', '<!DOCTYPE ']],
  ['yaml', [''], ['a: b\n', '- a\n', '#\n', '---\n']],
  ['log', [''], ['12:00 ERROR a\n', '    at foo\n', '\n']],
  [
    'eml',
    ['From: a\n', 'From: a\nContent-Type: multipart/mixed; boundary=b\n\n', 'From: a\nContent-Type: text/html\n\n'],
    ['Subject: =?utf-8?q?a?= ', '--b\n', '\n', '=20', ' \n', '=?a?b?', ' ?= =?'],
  ],
  ['js', [''], ['function a(){}\n', '(', '{', '/*', '`', '"', 'if(a)']],
  ['py', [''], ['def a():\n  pass\n', 'class A:\n', '(', '@a\n', '"""']],
];

describe('hostile documents', () => {
  let loader: DocumentLoader;
  before(() => {
    loader = createDocumentLoader({ workers: 1, memoryBytes: 400 * MIB });
  });
  after(() => loader.close());

  // Those that are refused: test/behaviour/hostile-uploads.ts.
  for (const { fileName, content: make } of hostileDocuments().filter(({ refusal }) => refusal === null)) {
    it(`such as ${fileName} are read, each part once`, async () => {
      const content = make();
      const { text, blocks } = await loader.load({ fileName, content, sizeBytes: content.byteLength });
      expect(blocks).not.to.have.length(0);
      expect(text.length).to.be.lessThan(Math.max(content.byteLength * 2, 50_000));
      expect(text).not.to.match(/native code/);
    });
  }

  it('of nothing but line breaks between two words become a short text', async () => {
    const content = Buffer.from(`Ada${'\n'.repeat(5_000_000)}Bob`);
    const { text } = await loader.load({ fileName: 'blank-lines.txt', content, sizeBytes: content.byteLength });
    expect(text).to.match(/^Ada\n+Bob$/);
    expect(text.length).to.be.lessThan(1000);
  });

  describe('of one text over and over take time that grows with their length:', () => {
    // A parser that never ends is told from one on a busy machine by the limit of a test alone.
    const pool = createWorkerPool({ size: 1, timeoutMs: 170_000, idleMs: 30_000, memoryBytes: 400 * MIB });
    after(() => pool.close());

    const all = REPEATED.flatMap(([extension, heads, units]) =>
      heads.flatMap((head) => units.map((unit) => ({ fileName: `a.${extension}`, head, unit }))),
    );
    for (const document of partOf(all, 8)) {
      it(`${document.fileName} of ${JSON.stringify(document.head)} and ${JSON.stringify(document.unit)}`, async () => {
        expect(await growth(pool, document)).to.equal('linear');
      });
    }
  });
});

const PARSE_TIME = workerTask<{ parseTime: typeof parseTime }, 'parseTime'>(
  new URL('./fixtures/parse-time.fixture.ts', import.meta.url),
  'parseTime',
);

const LENGTHS = { short: 5_461, middle: 16_384, long: 49_152 };
/** Less says nothing of how it grows. */
const MATTERS_ABOVE_MS = 180;
/** Three times the length takes three times as long, nine when time grows by the square. */
const MAX_GROWTH = 6;

/** So many rounds have to agree, each with the best times so far: other work on the machine lengthens single times. */
const ROUNDS = 4;

/** How the time of a parser grows, as far as its document takes any; the times in milliseconds when it grows too fast. */
async function growth(
  pool: WorkerPool,
  document: { readonly fileName: string; readonly head: string; readonly unit: string },
): Promise<string> {
  const best = { short: Number.POSITIVE_INFINITY, middle: Number.POSITIVE_INFINITY, long: Number.POSITIVE_INFINITY };
  const measure = async (size: keyof typeof best): Promise<void> => {
    best[size] = Math.min(best[size], await pool.run(PARSE_TIME, { ...document, length: LENGTHS[size] }));
  };
  for (let round = 0; round < ROUNDS; round++) {
    await measure('long');
    if (best.long < MATTERS_ABOVE_MS) return 'linear';
    await measure('middle');
    await measure('short');
    if (best.long <= best.middle * MAX_GROWTH || best.long <= best.short * MAX_GROWTH ** 2) return 'linear';
  }
  return JSON.stringify(best);
}

import { expect } from 'chai';
import { partOf } from '../../../../test/support/extent.ts';
import { workerTask } from '../../platform/workers/worker-messages.ts';
import { createWorkerPool, type WorkerPool } from '../../platform/workers/worker-pool.ts';
import type { DocumentLoader } from '../../ports/documents.ts';
import { createDocumentLoader } from './document-loader.ts';
import { hostileDocuments } from './fixtures/hostile-documents.ts';

const MIB = 1024 * 1024;

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

  it('of one text over and over take time that grows with their length', async () => {
    const pool = createWorkerPool({ size: 1, timeoutMs: 30_000, idleMs: 30_000, memoryBytes: 400 * MIB });
    try {
      const all = REPEATED.flatMap(([extension, heads, units]) =>
        heads.flatMap((head) => units.map((unit) => ({ fileName: `a.${extension}`, head, unit }))),
      );
      const slow: string[] = [];
      for (const document of partOf(all, 2)) {
        if (await growsTooFast(pool, document)) slow.push(JSON.stringify(document));
      }
      expect(slow).to.deep.equal([]);
    } finally {
      await pool.close();
    }
  });
});

const PARSE_TIME = workerTask<typeof import('./fixtures/parse-time.fixture.ts'), 'parseTime'>(
  new URL('./fixtures/parse-time.fixture.ts', import.meta.url),
  'parseTime',
);

const LENGTHS = { short: 5_461, middle: 16_384, long: 49_152 };
/** Less says nothing of how it grows. */
const MATTERS_ABOVE_MS = 180;
/** Three times the length takes three times as long, nine when time grows by the square. */
const MAX_GROWTH = 6;

async function growsTooFast(
  pool: WorkerPool,
  document: { readonly fileName: string; readonly head: string; readonly unit: string },
): Promise<boolean> {
  const timeOf = (length: number) => pool.run(PARSE_TIME, { ...document, length });
  const long = await timeOf(LENGTHS.long);
  if (long < MATTERS_ABOVE_MS) return false;
  const middle = await timeOf(LENGTHS.middle);
  const short = await timeOf(LENGTHS.short);
  return long > middle * MAX_GROWTH && long > short * MAX_GROWTH ** 2;
}

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

import { Readable } from 'node:stream';
import { expect } from 'chai';
import { expectShortTurns, longestTurn } from '../../../test/support/cpu-time.ts';
import { textWorkers } from '../../../test/support/text-workers.ts';
import type { DataItem } from '../../common/domain/data-item.ts';
import { dataItemId } from '../../common/kernel/ids.ts';
import { extractByRules } from '../../common/text/extraction/rules/extract-by-rules.ts';
import { createTextWorkers } from '../../common/text/extraction/rules/extraction-pool.ts';
import { createTagger } from '../../common/text/extraction/rules/tagger.ts';
import { createDocumentEntities } from './document-entities.ts';
import { itemSource } from './model.ts';
import { chunkItem, itemStatements, readChunkLine } from './text-tasks.ts';
import { createTextWork } from './text-work.ts';

const ITEM = {
  id: dataItemId('00000000-0000-4000-8000-000000000001'),
  name: 'notes',
  ownerId: 'u',
  externalMetadata: {},
  fileName: 'notes.txt',
  nodeSets: [],
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: null,
} as unknown as DataItem;
const SIZES = { maxTokens: 1000, targetTokens: 400 };
const SIGNAL = new AbortController().signal;

function documentOf(text: string) {
  const blocks = text.split('\n\n').map((part) => ({ kind: 'paragraph' as const, text: part }));
  return { text, blocks, title: 'Notes', format: 'text', metadata: {} };
}

function stored(text: string): Buffer {
  return Buffer.from(JSON.stringify(documentOf(text)));
}

/** In slices, as a store gives it. */
function streamOf(content: Buffer): Readable {
  const size = 10_000;
  const parts = Array.from({ length: Math.ceil(content.length / size) }, (_, at) =>
    content.subarray(at * size, (at + 1) * size),
  );
  return Readable.from(parts);
}

describe('processing whole documents', () => {
  const work = createTextWork(textWorkers);
  const tag = createTagger();

  for (const paragraphs of [3, 600]) {
    it(`closes a stored document of ${paragraphs} paragraphs when cutting it is withdrawn`, async () => {
      const content = streamOf(stored('Ada Lovelace lives in London.\n\n'.repeat(paragraphs)));
      const withdrawn = AbortSignal.abort(new Error('withdrawn'));
      await work.cut(ITEM, content, SIZES, withdrawn).catch(() => null);
      expect(content.destroyed).to.equal(true);
    });

    it(`cuts and resolves ${paragraphs} paragraphs as one would in this thread`, async () => {
      const text = Array.from(
        { length: paragraphs },
        (_, at) => `Ada Lovelace lives in London. She met Charles Babbage, who built engine ${at}. Ada moved to Paris.`,
      ).join('\n\n');
      const document = documentOf(text);
      const expected = chunkItem(ITEM.id, document, SIZES);
      const cut = await work.cut(ITEM, streamOf(stored(text)), SIZES, SIGNAL);
      expect(cut).to.deep.equal({ title: 'Notes', author: null, writtenAt: null, code: null, chunks: expected });
      const source = itemSource(ITEM, 1, { title: 'Notes', speaker: null, writtenAt: null, code: null, beginning: '' });
      const entities = createDocumentEntities();
      const lines = expected.map((chunk) => {
        const extraction = extractByRules(
          { text: chunk.text, documentName: 'notes', headings: [], knownNames: [] },
          tag,
        );
        entities.add(chunk.id, extraction, ['Notes']);
        return readChunkLine({ ...chunk, extraction, subjects: ['Notes'] });
      });
      const resolved = entities.resolve();
      const { statements, ...found } = await work.resolve(source, lines, SIGNAL);
      expect(found.resolved).to.deep.equal(resolved);
      expect(statements).to.deep.equal(itemStatements(source, expected, resolved));
      expect(statements).to.not.be.empty;
    });
  }

  it('returns null for a truncated stored text of any size', async () => {
    const whole = stored('Ada met Grace. '.repeat(5_000));
    expect(await work.cut(ITEM, streamOf(whole.subarray(0, whole.length - 5)), SIZES, SIGNAL)).to.equal(null);
    expect(await work.cut(ITEM, streamOf(whole.subarray(0, 50)), SIZES, SIGNAL)).to.equal(null);
    expect(await work.cut(ITEM, Buffer.from('[]'), SIZES, SIGNAL)).to.equal(null);
  });

  it('never blocks the calling thread for long', async () => {
    const content = stored('Ada met Grace in London. '.repeat(60_000));
    await work.cut(ITEM, stored('Ada met Grace. '.repeat(5_000)), SIZES, SIGNAL);
    const turns: number[] = [];
    for (let time = 0; time < 3; time++) {
      turns.push(
        await longestTurn(async () => {
          expect((await work.cut(ITEM, content, SIZES, SIGNAL))?.chunks.length).to.be.greaterThan(500);
        }),
      );
    }
    expectShortTurns(...turns);
  });

  it('fails only the document that exceeds the limits of a worker process', async () => {
    const pool = createTextWorkers({ timeoutMs: 50 });
    try {
      const limited = createTextWork(pool);
      const failure = await limited
        .cut(ITEM, stored('Ada met Grace in London. '.repeat(400_000)), SIZES, SIGNAL)
        .catch((error: unknown) => error);
      expect(failure).to.include({ wireName: 'DocumentParsingError' });
      expect(String(failure)).to.match(
        /The text of 'notes' could not be cut into chunks: it took longer than 0.05 seconds/,
      );
    } finally {
      await pool.close();
    }
  });
});

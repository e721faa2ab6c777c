import { expect } from 'chai';
import type { DocumentBlock } from '../../../ports/documents.ts';
import { makePdf, type PdfTextLine } from '../fixtures/make-pdf.ts';
import { defaultDocumentLimits, type ParseContext } from './limits.ts';
import { readPdf } from './pdf.ts';

const context: ParseContext = { fileName: 'a.pdf', declaredMimeType: undefined, limits: defaultDocumentLimits };

async function read(...pages: readonly (readonly PdfTextLine[])[]): Promise<readonly DocumentBlock[]> {
  return (await readPdf(makePdf(pages), context)).blocks;
}

/** Lines of 14 points below each other. */
function lines(texts: readonly string[], { top = 700, x = 72 } = {}): PdfTextLine[] {
  return texts.map((text, index) => ({ text, x, y: top - index * 14 }));
}

describe('PDF', () => {
  it('builds paragraphs from lines and breaks them at gaps, indents and short last lines', async () => {
    const blocks = await read([
      ...lines([
        'The first paragraph runs over the whole width of the page',
        'and ends in its third line, which is',
        'short.',
        'The second begins at the margin, as many books have it, and',
        'goes on.',
      ]),
      ...lines(['A gap is above this one.'], { top: 600 }),
      ...lines(['  '], { top: 586 }),
    ]);
    expect(blocks.map(({ text }) => text)).to.deep.equal([
      'The first paragraph runs over the whole width of the page and ends in its third line, which is short.',
      'The second begins at the margin, as many books have it, and goes on.',
      'A gap is above this one.',
    ]);
  });

  it('puts words together that were cut at the end of a line, and keeps hyphens that belong', async () => {
    const [block] = await read(
      lines([
        'It is well-known that har-',
        'bours need depth, a well-',
        'known fact, and 1914-',
        'Berlin is not one word.',
      ]),
    );
    expect(block?.text).to.equal(
      'It is well-known that harbours need depth, a well-known fact, and 1914-Berlin is not one word.',
    );
  });

  it('keeps the hyphen between two words of the document', async () => {
    const [block] = await read(
      lines([
        'A machine that can do some learning is called a machine-',
        'learning system, and harbours are har-',
        'bours.',
      ]),
    );
    expect(block?.text).to.match(/called a machine-learning system, and harbours are harbours\.$/);
  });

  it('reads larger letters as headings, by size', async () => {
    const blocks = await read([
      { text: 'The Book', y: 740, size: 24 },
      { text: 'Chapter one', y: 700, size: 16 },
      ...lines(['Some text that stands in the size of the body of the book.'], { top: 670 }),
      { text: 'Chapter two', y: 600, size: 16 },
      ...lines(['More text in the size of the body.'], { top: 570 }),
    ]);
    expect(blocks.map(({ kind, level, text }) => [kind, level, text])).to.deep.equal([
      ['heading', 1, 'The Book'],
      ['heading', 2, 'Chapter one'],
      ['paragraph', undefined, 'Some text that stands in the size of the body of the book.'],
      ['heading', 2, 'Chapter two'],
      ['paragraph', undefined, 'More text in the size of the body.'],
    ]);
  });

  it('finds list items and tables', async () => {
    const blocks = await read([
      ...lines(['- fish from the north', '- salt that was brought', '1. first step', '2. second step']),
      ...[
        ['ship', 'tons'],
        ['Fram', '402'],
        ['Gjoa', '47'],
      ].flatMap(([left = '', right = ''], index) => [
        { text: left, x: 72, y: 600 - index * 14 },
        { text: right, x: 300, y: 600 - index * 14 },
      ]),
    ]);
    expect(blocks.map(({ kind, text }) => `${kind} ${text}`)).to.deep.equal([
      'list-item fish from the north',
      'list-item salt that was brought',
      'list-item 1. first step',
      'list-item 2. second step',
      'table | ship | tons |\n| --- | --- |\n| Fram | 402 |\n| Gjoa | 47 |',
    ]);
  });

  it('drops running heads and page numbers, and joins a sentence over the page', async () => {
    const page = (number: number, ...texts: string[]): PdfTextLine[] => [
      { text: `History of Ports ${number}`, y: 770 },
      ...lines(texts),
      { text: String(number), x: 300, y: 30 },
    ];
    const blocks = await read(
      page(1, 'Page one ends in the middle of'),
      page(2, 'a sentence. And more.'),
      page(3, 'Page three stands alone.'),
    );
    expect(blocks).to.deep.equal([
      { kind: 'paragraph', text: 'Page one ends in the middle of a sentence. And more.', page: 1 },
      { kind: 'paragraph', text: 'Page three stands alone.', page: 3 },
    ]);
  });

  it('reads columns one after the other when they were written so', async () => {
    const blocks = await read([
      ...lines(['Left column begins and', 'goes on to the'], { x: 72 }),
      ...lines(['right column here.', 'Then a new sentence.'], { x: 320 }),
    ]);
    expect(blocks[0]?.text).to.match(/^Left column begins and goes on to the right column here\./);
  });

  it('takes the title from the properties, but not a file name', async () => {
    const page = [
      { text: 'Real heading', y: 700, size: 20 },
      ...lines(['Body text of the document that is long enough.'], { top: 600 }),
    ];
    expect((await readPdf(makePdf([page], { title: 'Harbours' }), context)).title).to.equal('Harbours');
    expect((await readPdf(makePdf([page], { title: 'Microsoft Word - x.docx' }), context)).title).to.equal(
      'Real heading',
    );
  });
});

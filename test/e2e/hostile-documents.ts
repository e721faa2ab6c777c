import {
  docxParagraph,
  makeDocx,
  makeXlsx,
  makeZip,
} from '../../services/common/text/documents/fixtures/make-office.ts';
import { makePdf } from '../../services/common/text/documents/fixtures/make-pdf.ts';
import type { Upload } from '../support/wire.ts';

/** An upload that must be refused, and how. */
interface HostileDocument {
  readonly what: string;
  readonly upload: () => Upload;
  readonly status: number;
  readonly detail: RegExp;
}

const MIB = 1024 * 1024;

/** Nine levels of ten references each: a thousand million words when expanded. */
const ENTITY_BOMB = `<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol">${Array.from(
  { length: 9 },
  (_, level) => `<!ENTITY lol${level + 1} "${`&lol${level === 0 ? '' : level};`.repeat(10)}">`,
).join('')}]><lolz>&lol9;</lolz>`;

const OUTSIDE_ENTITY =
  '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY secret SYSTEM "file:///etc/passwd">]><a>&secret; and more</a>';

const page = (text: string) => [[{ text, y: 700 }]];

function bytes(...parts: readonly (string | readonly number[])[]): Uint8Array {
  return Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))),
  );
}

/** One part that unpacks to 24 MB, from 24 kB. */
function docxBomb(): Uint8Array {
  return makeDocx(docxParagraph('A'.repeat(24 * MIB)));
}

function xlsxBomb(): Uint8Array {
  return makeXlsx(`<row>${'<c><v>0</v></c>'.repeat(2 * MIB)}</row>`, []);
}

export const HOSTILE_DOCUMENTS: readonly HostileDocument[] = [
  refused('an empty text', { name: 'empty.txt', content: '' }, 415, /it is empty \[UnreadableFileContentError\]$/),
  refused('an empty PDF', { name: 'empty.pdf', content: '' }, 415, /it is empty \[UnreadableFileContentError\]$/),
  {
    what: 'a DOCX that unpacks to a thousand times its size',
    upload: () => ({ name: 'bomb.docx', content: docxBomb() }),
    status: 413,
    detail: /^'bomb\.docx' unpacks to too much: .+ \[PayloadTooLargeError\]$/,
  },
  {
    what: 'an XLSX that unpacks to a thousand times its size',
    upload: () => ({ name: 'bomb.xlsx', content: xlsxBomb() }),
    status: 413,
    detail: /^'bomb\.xlsx' unpacks to too much: .+ \[PayloadTooLargeError\]$/,
  },
  refused('an entity bomb', { name: 'lol.xml', content: ENTITY_BOMB }, 415, /declares entities, .+not expanded/),
  refused('an entity bomb inside a DOCX', part('word/document.xml', ENTITY_BOMB), 415, /UnreadableFileContentError\]$/),
  refused('an entity that reads a file', { name: 'x.xml', content: OUTSIDE_ENTITY }, 415, /declares entities/),
  refused(
    'an encrypted PDF',
    { name: 'secret.pdf', content: makePdf(page('Secret'), { encrypted: true }) },
    415,
    /^'secret\.pdf' cannot be read: it is encrypted with a password \[UnreadableFileContentError\]$/,
  ),
  refused(
    'a broken PDF',
    { name: 'broken.pdf', content: bytes('%PDF-1.4\n', 'garbage '.repeat(100)) },
    415,
    /^'broken\.pdf' cannot be read: the PDF is damaged \[UnreadableFileContentError\]$/,
  ),
  refused(
    'a truncated PDF',
    { name: 'half.pdf', content: makePdf(page('Half of it')).subarray(0, 200) },
    415,
    /the PDF is damaged \[UnreadableFileContentError\]$/,
  ),
  refused(
    'a truncated DOCX',
    { name: 'half.docx', content: makeDocx(docxParagraph('Half of it')).subarray(0, 400) },
    415,
    /its archive is damaged .+\[UnreadableFileContentError\]$/,
  ),
  refused(
    'Latin-1 that says it is UTF-8',
    { name: 'latin.txt', content: bytes('caf\u00e9 cr\u00e8me'), type: 'text/plain; charset=utf-8' },
    415,
    /^'latin\.txt' cannot be read as text: .+ \[UnreadableFileContentError\]$/,
  ),
  unknown('an ELF program', 'prog', bytes('\x7fELF\x02\x01\x01', Array(3000).fill(7)), 'application/x-elf'),
  unknown('a Windows program', 'a.exe', bytes('MZ', Array(500).fill(1)), 'application/x-msdownload'),
  unknown(
    'a picture',
    'a.png',
    bytes([0x89], 'PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0'),
    'image/png',
  ),
  unknown('a picture under the name of a text', 'a.txt', bytes([0xff, 0xd8, 0xff, 0xe0], '\0\x10JFIF\0'), 'image/jpeg'),
  unknown('a zip of files without the name of one', 'files.bin', makeZip({ 'a.txt': 'hello' }), 'application/zip'),
  unknown(
    'an old Word document',
    'a.doc',
    bytes([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1], Array(600).fill(0)),
    'application/x-cfb',
  ),
  unknown('noise', 'a.bin', noise(5000), 'application/octet-stream'),
];

function refused(what: string, upload: Upload, status: number, detail: RegExp): HostileDocument {
  return { what, upload: () => upload, status, detail };
}

/** What nothing can read is refused by the name of its type. */
function unknown(what: string, name: string, content: Uint8Array, type: string): HostileDocument {
  return refused(what, { name, content }, 415, new RegExp(`${type}.+\\[UnsupportedFileTypeError\\]$`));
}

function part(name: string, content: string): Upload {
  return { name: 'part.docx', content: makeDocx(docxParagraph('x'), { [name]: content }) };
}

/** The same every time, and neither text nor any known type. */
function noise(length: number): Uint8Array {
  let state = 7;
  return Uint8Array.from({ length }, () => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return state >>> 24;
  });
}

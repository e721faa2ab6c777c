import { expect } from 'chai';
import { expectQuick, threadCpuTimeMs } from '../../../../test/support/cpu-time.ts';
import { faultOf } from '../../../../test/support/refusal-of.ts';
import type { DocumentBlock, DocumentLoader, ParsedDocument } from '../../ports/documents.ts';
import { createDocumentLoader } from './document-loader.ts';
import {
  docxParagraph,
  makeDocx,
  makeEpub,
  makeOpenDocument,
  makePptx,
  makeXlsx,
  makeZip,
  pptxShape,
} from './fixtures/make-office.ts';
import { makePdf } from './fixtures/make-pdf.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

describe('document loader', () => {
  let loader: DocumentLoader;

  before(() => {
    loader = createDocumentLoader({ workers: 1 });
  });

  after(() => loader.close());

  function load(fileName: string, content: string | Uint8Array, declaredMimeType?: string): Promise<ParsedDocument> {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    return loader.load({
      fileName,
      content: bytes,
      sizeBytes: bytes.byteLength,
      ...(declaredMimeType === undefined ? {} : { declaredMimeType }),
    });
  }

  const outline = (blocks: readonly DocumentBlock[]): string[] =>
    blocks.map(({ kind, level, page, text }) => `${kind}${level ?? ''}${page === undefined ? '' : `@${page}`} ${text}`);

  describe('text formats', () => {
    it('reads the export of a chat as turns below their days', async () => {
      const lines = [
        '12/03/2025, 18:02 - Messages are end-to-end encrypted.',
        '12/03/2025, 18:04 - Marit: Who picks up Jonas?',
        'Judo ends at 17:45.',
        '13/03/2025, 7:05 PM - Oma Trude: I do.',
        '13/03/2025, 7:06 PM - Marit: <Media omitted>',
      ];
      const document = await load('chat.txt', lines.join('\n'));
      const turns = ['[18:04] Marit: Who picks up Jonas?\nJudo ends at 17:45.', '[19:05] Oma Trude: I do.'];
      expect(outline(document.blocks)).to.deep.equal([
        'heading2 2025-03-12',
        `paragraph ${turns[0]}`,
        'heading2 2025-03-13',
        `paragraph ${turns[1]}`,
      ]);
      expect(document.text).to.equal(`## 2025-03-12\n\n${turns[0]}\n\n## 2025-03-13\n\n${turns[1]}`);
      const american = [
        '[3/12/25, 6:04:22 PM] Ann: Hi.',
        '[4/1/25, 6:05:00 PM] Bo: Hello.',
        '[4/2/25, 8:00:00 AM] Bo: Up?',
      ];
      const days = (await load('chat.txt', american.join('\n'))).blocks.filter(({ kind }) => kind === 'heading');
      expect(days.map(({ text }) => text)).to.deep.equal(['2025-03-12', '2025-04-01', '2025-04-02']);
    });

    it('reads the messages of a chat that are added as a text of JSON, as a list or one per line', async () => {
      const messages = [
        { speaker: 'Ida', content: 'Where were you?', timestamp: '2026-05-03T18:04:00Z' },
        { speaker: 'Olaf', content: 'In Bergen.', timestamp: '2026-05-03T18:05:00Z' },
        { speaker: 'Ida', content: 'Nice!', timestamp: '2026-05-04T08:00:00Z' },
      ];
      const turns = [
        'heading2 2026-05-03',
        'paragraph [18:04] Ida: Where were you?',
        'paragraph [18:05] Olaf: In Bergen.',
      ];
      const all = [...turns, 'heading2 2026-05-04', 'paragraph [08:00] Ida: Nice!'];
      const lines = messages.map((message) => JSON.stringify(message)).join('\n');
      for (const text of [JSON.stringify(messages), JSON.stringify({ messages }, null, 2), lines])
        expect(outline((await load('text_1.txt', text)).blocks)).to.deep.equal(all);
      expect(outline((await load('chat.jsonl', lines)).blocks)).to.deep.equal(all);
      const log = messages.map((message) => JSON.stringify({ level: 'info', ...message })).join('\n');
      expect((await load('log.jsonl', log)).blocks[0]?.kind).to.equal('record');
    });

    it('reads a conversation that was copied from the page of an assistant as turns below its title', async () => {
      const text = (user: string, assistant: string) =>
        `# Sore knee\n\n${user}\n\nMy knee hurts.\n\n${assistant}\n\nRest.\n\n- Two weeks\n\n${user}\n\nThanks!\n`;
      for (const [user, assistant] of [
        ['You said:', 'ChatGPT said:'],
        ['**You said:**', '**Claude responded:**'],
        ['**User**', '**Assistant**'],
      ] as const)
        expect(outline((await load('text.txt', text(user, assistant))).blocks)).to.deep.equal([
          'heading1 Sore knee',
          'paragraph User: My knee hurts.',
          'paragraph Assistant: Rest.\n\n- Two weeks',
          'paragraph User: Thanks!',
        ]);
      const form = '**User**\n\nAda\n\n**Password**\n\nsecret\n';
      expect(outline((await load('text.txt', form)).blocks)).not.to.include('paragraph User: Ada');
    });

    it('reads lines of a conversation that only name a day as headings of what was said then', async () => {
      const turns = ['Ida: Where were you?', 'Olaf: In Bergen, as I said.', 'Ida: Nice!', 'Olaf: It rained.'];
      for (const day of [
        'Sunday, 3 May 2026',
        '--- 3 May 2026 ---',
        'Session 2 - 1:56 pm on 3 May, 2026',
        'Date: 2026-05-03',
      ]) {
        const { blocks } = await load('chat.txt', `${day}\n${turns.join('\n')}\n\n4 May 2026\n\n${turns.join('\n')}`);
        const paragraphs = turns.map((turn) => `paragraph ${turn}`);
        const heading = day.replaceAll(/^-+ | -+$/gu, '');
        expect(outline(blocks)).to.deep.equal([
          `heading2 ${heading}`,
          ...paragraphs,
          'heading2 4 May 2026',
          ...paragraphs,
        ]);
      }
    });

    it('takes days above notes and numbered titles of minutes as headings', async () => {
      const notes = 'Mon 6 Apr\n- dentist 8:30\nslept badly\nTue 7 Apr\nwfh';
      expect(outline((await load('notes.txt', notes)).blocks)).to.deep.equal([
        'heading2 Mon 6 Apr',
        'paragraph - dentist 8:30\nslept badly',
        'heading2 Tue 7 Apr',
        'paragraph wfh',
      ]);
      const minutes =
        'Present: Ada, Bo\n\n1. Minutes approved.\n\n2. Water\nThe pump failed.\n\n3. Open day\nMoved to 20 June.';
      expect(outline((await load('minutes.txt', minutes)).blocks)).to.deep.equal([
        'paragraph Present: Ada, Bo',
        'paragraph 1. Minutes approved.',
        'heading2 2. Water',
        'paragraph The pump failed.',
        'heading2 3. Open day',
        'paragraph Moved to 20 June.',
      ]);
      expect(outline((await load('letter.txt', 'Dear Ada\n\n12 May 2026\nsee you')).blocks)).to.have.length(2);
    });

    it('keeps plain text as it is and finds paragraphs and chapters', async () => {
      const text =
        'CHAPTER I. Loomings\r\n\r\nCall me Ishmael.\r\nSome years ago.\r\n\r\n\r\nChapter 2 was hard to write.\n';
      const document = await load('moby.txt', text);
      expect(document.text).to.equal(text);
      expect(document.format).to.equal('text');
      expect(outline(document.blocks)).to.deep.equal([
        'heading2 CHAPTER I. Loomings',
        'paragraph Call me Ishmael.\nSome years ago.',
        'paragraph Chapter 2 was hard to write.',
      ]);
    });

    it('reads a text without a format that is written as Markdown like a Markdown file', async () => {
      const text = '# Bakery\n\n| name | city |\n|---|---|\n| Mia | Berlin |\n\n## Hours\n\n- **Monday** 7:00';
      expect(outline((await load('text_1.txt', text)).blocks)).to.deep.equal(
        outline((await load('a.md', text)).blocks),
      );
      for (const plain of [
        '# Copyright 2020\n\nimport os\n\ndef __init__(self):\n    pass',
        '# Where mails go\n\nMAIL_HOST=localhost',
        'See ticket 1.\n\n# is a number sign, not a heading.',
      ]) {
        expect((await load('a.txt', plain)).blocks.map(({ kind }) => kind)).to.not.include('heading');
        expect((await load('a.txt', plain)).text).to.equal(plain);
      }
    });

    it('reads a conversation as one when a message has headings or a table', async () => {
      const reply = 'Assistant: Here it is.\n\n## Steps\n\nOpen the lid.\n\n| a | b |\n|---|---|\n| 1 | 2 |';
      const talk = `User: How do I start it?\n\n${reply}\n\nUser: Thank you, I will.`;
      const { blocks, text } = await load('text_1.txt', talk);
      expect(text).to.equal(talk);
      expect(new Set(blocks.map(({ kind }) => kind))).to.deep.equal(new Set(['paragraph']));
    });

    it('takes a first line that is written like a title as a heading, and no other first line', async () => {
      const below = 'I installed Debian in 2015. It ran Apache.';
      const first = async (line: string) => (await load('a.txt', `${line}\n\n${below}`)).blocks[0];
      expect(await first('Setting Up My First Server')).to.include({ kind: 'heading', level: 1 });
      for (const line of ['Anna lives in Berlin', 'Dear Anna', 'Date: Monday', 'He Left Early.']) {
        expect(await first(line), line).to.include({ kind: 'paragraph', text: line });
      }
      expect((await load('a.txt', 'Ben\n\nAnna and Cleo')).blocks[0]).to.include({ kind: 'paragraph' });
    });

    it('reads a conversation turn by turn, and lines with labels as they are', async () => {
      const talk = 'Ada: Shall we start?\nBo: Yes.\nI have the list.\nAda: Go on.\nBo: First, the buttons.';
      expect(outline((await load('talk.txt', talk)).blocks)).to.deep.equal([
        'paragraph Ada: Shall we start?',
        'paragraph Bo: Yes.\nI have the list.',
        'paragraph Ada: Go on.',
        'paragraph Bo: First, the buttons.',
      ]);
      const labels = 'Name: Ada\nCity: Berlin\nPhone: 12\nStatus: active';
      expect(outline((await load('card.txt', labels)).blocks)).to.have.length(1);
    });

    it('reads Markdown with its structure and without its marks', async () => {
      const text = [
        '---\ntitle: Field notes\n---\n# The *great* harbour\n\nA **bold** [link](https://a.example/x) & `code`. ![logo](l.png)',
        '- fish\n- salt\n  - coarse\n\n3. third\n4. fourth',
        '```ts\nconst a = 1;\n```\n\n| city | ships |\n|---|---|\n| Oslo | 3 |\n\n> said she',
      ].join('\n\n');
      const document = await load('notes.md', text);
      expect(document.text).to.equal(text);
      expect(document.title).to.equal('Field notes');
      expect(outline(document.blocks)).to.deep.equal([
        'record title: Field notes',
        'heading1 The great harbour',
        'paragraph A bold link (https://a.example/x) & code. logo',
        'list-item fish',
        'list-item salt',
        'list-item2 coarse',
        'list-item 3. third',
        'list-item 4. fourth',
        'code ```ts\nconst a = 1;\n```',
        'table | city | ships |\n| --- | --- |\n| Oslo | 3 |',
        'quote said she',
      ]);
      expect(document.blocks.find((block) => block.kind === 'code')?.language).to.equal('ts');
    });

    it('reads the titles of paragraphs in Markdown as headings, where there are several', async () => {
      const text =
        '# Problems\n\n**Port in use.** Stop the `other` server.\n\n**Why so slow?** The cache is cold.\n\n**Owner:** Ada';
      const document = await load('problems.md', text);
      expect(document.text).to.equal(text);
      expect(outline(document.blocks)).to.deep.equal([
        'heading1 Problems',
        'heading6 Port in use',
        'paragraph Stop the other server.',
        'heading6 Why so slow?',
        'paragraph The cache is cold.',
        'paragraph Owner: Ada',
      ]);
      const one = await load('one.md', '# Problems\n\n**Be careful.** It is hot.\n\nIt burns.');
      expect(outline(one.blocks)).to.include('paragraph Be careful. It is hot.');
    });

    it('reads long lists of Markdown without their marks', async () => {
      const items = Array.from({ length: 900 }, (_, at) => `  * change number ${at} of the library`);
      const { blocks } = await load('history.md', `2.0.0\n=====\n\n${items.join('\n')}\n`);
      expect(blocks.filter(({ kind }) => kind === 'list-item')).to.have.length(900);
      expect(blocks.some(({ text }) => text.includes('* change'))).to.equal(false);
    });

    it('leaves the entries of a table of contents out of Markdown', async () => {
      const contents =
        '- [Install](#install)\n  - [From source](#from-source)\n- [Licence](#licence) and more\n- [Site](https://a.example)';
      const document = await load('tern.md', `# Tern\n\n${contents}\n\n## Install\n\nRun it.`);
      expect(outline(document.blocks)).to.deep.equal([
        'heading1 Tern',
        'list-item Licence and more',
        'list-item Site (https://a.example)',
        'heading2 Install',
        'paragraph Run it.',
      ]);
    });

    it('reads each row of a CSV with the names of its columns', async () => {
      const document = await load('people.csv', '\ufeffname;born;note\nAda;1815;"wrote; thought"\n\nGrace;1906;\n');
      expect(outline(document.blocks)).to.deep.equal([
        'table name: Ada, born: 1815, note: wrote; thought',
        'table name: Grace, born: 1906',
      ]);
      expect(document.metadata).to.include({ columns: 'name, born, note', rows: '2' });
      expect(outline((await load('numbers.csv', '1,2\n3,4\n')).blocks)).to.deep.equal([
        'table column 1: 1, column 2: 2',
        'table column 1: 3, column 2: 4',
      ]);
    });

    it('finds the header of a table below its title, and takes totals for no rows', async () => {
      const rows =
        'Club fees 2026,,\nas of,31.03.2026,\n\nMember,Paid on,Fee\nIda,2026-01-04,58\nPaul,2026-02-11,74\n,Total,132\n';
      const { blocks, metadata } = await load('fees.csv', rows);
      expect(outline(blocks)).to.deep.equal([
        'paragraph Club fees 2026',
        'paragraph as of: 31.03.2026',
        'table Member: Ida, Paid on: 2026-01-04, Fee: 58',
        'table Member: Paul, Paid on: 2026-02-11, Fee: 74',
        'table Total of Fee: 132',
      ]);
      expect(metadata).to.include({ columns: 'Member, Paid on, Fee' });
    });

    it('keeps JSON as text and reads its records', async () => {
      const text = JSON.stringify({
        title: 'Crew',
        ship: { name: 'Pequod', port: { city: 'Nantucket' } },
        crew: [
          { name: 'Ahab', rank: 'captain' },
          { name: 'Ishmael', skills: ['rowing', 'telling'] },
        ],
      });
      const document = await load('crew.json', text);
      expect(document.text).to.equal(text);
      expect(document.title).to.equal('Crew');
      expect(outline(document.blocks)).to.deep.equal([
        'record title: Crew\nship.name: Pequod\nship.port.city: Nantucket',
        'record crew.name: Ahab\ncrew.rank: captain',
        'record crew.name: Ishmael\ncrew.skills: rowing, telling',
      ]);
      expect(outline((await load('broken.json', '{"a": 1,')).blocks)).to.deep.equal(['paragraph {"a": 1,']);
      expect(outline((await load('lines.jsonl', '{"a":1}\n{"a":2}\n')).blocks)).to.deep.equal([
        'record a: 1',
        'record a: 2',
      ]);
    });

    it('reads XML, YAML and logs by their records', async () => {
      const xml =
        '<?xml version="1.0"?><library><book id="7"><title>Tides &amp; Winds</title><year>1999</year></book><note>see <b>there</b></note></library>';
      const document = await load('books.xml', xml);
      expect(document.text).to.equal(xml);
      expect(outline(document.blocks)).to.deep.equal([
        'record id: 7\ntitle: Tides & Winds\nyear: 1999',
        'paragraph note: see there',
      ]);
      expect(outline((await load('a.yaml', '# who\nname: Ada\nlives:\n  city: London\n')).blocks)).to.deep.equal([
        'record # who\nname: Ada',
        'record lives:\n  city: London',
      ]);
      expect(outline((await load('a.log', '12:00 ERROR broke\n    at foo\n12:01 fine\n')).blocks)).to.deep.equal([
        'paragraph 12:00 ERROR broke\n    at foo',
        'paragraph 12:01 fine',
      ]);
    });

    it('says how the events of a calendar repeat', async () => {
      const rules = [
        'FREQ=DAILY;COUNT=5',
        'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR;UNTIL=20261231T235959Z',
        'FREQ=MONTHLY;BYDAY=-1TU',
        'FREQ=HOURLY',
      ];
      const events = rules.map((rule) => `BEGIN:VEVENT\r\nSUMMARY:Stand-up\r\nRRULE:${rule}\r\nEND:VEVENT\r\n`);
      expect((await load('a.ics', events.join(''))).blocks.map(({ text }) => text)).to.deep.equal([
        'summary: Stand-up\nrepeats: every day 5 times',
        'summary: Stand-up\nrepeats: every 2 weeks on Monday and Friday until 2026-12-31',
        'summary: Stand-up\nrepeats: every month on the last Tuesday',
        'summary: Stand-up\nrepeats: FREQ=HOURLY',
      ]);
    });

    it('reads mails, notebooks and RTF', async () => {
      const mail =
        'From: =?utf-8?Q?J=C3=BCrg?= <j@x.example>\r\nSubject: Boats\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nGr=FC=DFe von der=\r\n See\r\n--b\r\nContent-Type: application/pdf; name="plan.pdf"\r\n\r\nxx\r\n--b--\r\n';
      expect(outline((await load('a.eml', mail)).blocks)).to.deep.equal([
        'record From: Jürg <j@x.example>\nSubject: Boats',
        'paragraph Grüße von der See',
        'paragraph Attachments: plan.pdf',
      ]);
      const notebook = JSON.stringify({
        cells: [
          { cell_type: 'markdown', source: ['# Study\n', 'text'] },
          { cell_type: 'code', source: 'print(1)' },
        ],
        metadata: {},
      });
      expect(outline((await load('a.ipynb', notebook)).blocks)).to.deep.equal([
        'heading1 Study',
        'paragraph text',
        'code ```python\nprint(1)\n```',
      ]);
      expect(
        outline(
          (await load('a.rtf', "{\\rtf1\\ansi{\\fonttbl{\\f0 Arial;}}Hello \\b sea\\b0\\par \\u252?ber \\'e9t\\'e9}"))
            .blocks,
        ),
      ).to.deep.equal(['paragraph Hello sea', 'paragraph über été']);
    });
  });

  describe('office formats', () => {
    it('reads DOCX: headings, paragraphs, lists, tables, title', async () => {
      const cell = (text: string): string => `<w:tc>${docxParagraph(text)}</w:tc>`;
      const body = [
        docxParagraph('Arrivals', '<w:pStyle w:val="Heading1"/>'),
        docxParagraph('Ships came &amp; went.'),
        docxParagraph('Fish', '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'),
        `<w:tbl><w:tr>${cell('ship')}${cell('tons')}</w:tr><w:tr>${cell('Fram')}${cell('402')}</w:tr></w:tbl>`,
      ].join('');
      const document = await load('report.docx', makeDocx(body));
      expect(outline(document.blocks)).to.deep.equal([
        'heading1 Arrivals',
        'paragraph Ships came & went.',
        'list-item Fish',
        'table | ship | tons |\n| --- | --- |\n| Fram | 402 |',
      ]);
      expect(document.text).to.equal(
        '# Arrivals\n\nShips came & went.\n\n- Fish\n\n| ship | tons |\n| --- | --- |\n| Fram | 402 |',
      );
      expect(document.title).to.equal('Harbour report');
      expect(document.metadata).to.include({ author: 'Ada Berg', extension: 'docx' });
    });

    it('reads PPTX in the order of the presentation, with tables and notes', async () => {
      const table =
        '<p:graphicFrame><a:graphic><a:tbl><a:tr><a:tc><a:txBody><a:p><a:r><a:t>year</a:t></a:r></a:p></a:txBody></a:tc><a:tc><a:txBody><a:p><a:r><a:t>ships</a:t></a:r></a:p></a:txBody></a:tc></a:tr></a:tbl></a:graphic></p:graphicFrame>';
      const slides = [
        pptxShape('ctrTitle', ['Harbours']),
        pptxShape('title', ['Plan']) + pptxShape('body', ['build', 'open']) + pptxShape('sldNum', ['2']) + table,
      ];
      const document = await load('talk.pptx', makePptx(slides, { 1: 'Mind the tide.' }));
      expect(outline(document.blocks)).to.deep.equal([
        'heading1@1 Harbours',
        'heading2@2 Plan',
        'list-item@2 build',
        'list-item@2 open',
        'table@2 | year | ships |',
        'paragraph@2 Mind the tide.',
      ]);
    });

    it('reads XLSX: visible sheets, dates, shared and inline strings, results of formulas', async () => {
      const rows =
        '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="D1" t="inlineStr"><is><t>sum</t></is></c></row><row r="2"><c r="A2" t="s"><v>2</v></c><c r="B2" s="1"><v>45000.5</v></c><c r="D2"><f>1+2</f><v>0.30000000000000004</v></c><c r="E2" t="b"><v>1</v></c></row>';
      const document = await load('book.xlsx', makeXlsx(rows, ['name', 'since', 'Ada &amp; Co']));
      expect(outline(document.blocks)).to.deep.equal([
        'heading1@1 People',
        'table@1 name: Ada & Co, since: 2023-03-15 12:00:00, sum: 0.3, column 5: true',
      ]);
    });

    it('reads ODT, ODS and ODP with any repetition counts', async () => {
      const odt =
        '<text:h text:outline-level="2">Tides</text:h><text:p>Spring<text:s text:c="2"/>tide<text:note><text:note-body><text:p>at full moon</text:p></text:note-body></text:note></text:p><text:tracked-changes><text:p>deleted</text:p></text:tracked-changes><text:list><text:list-item><text:p>ebb</text:p></text:list-item></text:list>';
      const text = await load('a.odt', makeOpenDocument('text', odt));
      expect(outline(text.blocks)).to.deep.equal([
        'heading2 Tides',
        'paragraph Spring  tide [at full moon]',
        'list-item ebb',
      ]);
      expect(text.title).to.equal('Tide tables');
      const row = (...cells: string[]): string =>
        `<table:table-row>${cells.map((cell) => `<table:table-cell><text:p>${cell}</text:p></table:table-cell>`).join('')}</table:table-row>`;
      const filling =
        '<table:table-row table:number-rows-repeated="1048570"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>';
      const ods = await load(
        'a.ods',
        makeOpenDocument(
          'spreadsheet',
          `<table:table table:name="Ports">${row('port', 'depth')}${row('Oslo', '12')}${filling}</table:table>`,
        ),
      );
      expect(outline(ods.blocks)).to.deep.equal(['heading1@1 Ports', 'table@1 port: Oslo, depth: 12']);
      const frame = (role: string, words: string): string =>
        `<draw:frame presentation:class="${role}"><draw:text-box><text:p>${words}</text:p></draw:text-box></draw:frame>`;
      const odp = await load(
        'a.odp',
        makeOpenDocument(
          'presentation',
          `<draw:page>${frame('title', 'Ebb')}${frame('outline', 'low')}</draw:page><draw:page>${frame('title', 'Flow')}</draw:page>`,
        ),
      );
      expect(outline(odp.blocks)).to.deep.equal(['heading2@1 Ebb', 'paragraph@1 low', 'heading2@2 Flow']);
    });

    it('reads EPUB in reading order, without its table of contents', async () => {
      const document = await load(
        'book.epub',
        makeEpub(['<h1>One</h1><p>It was <i>dark</i>.</p>', '<h1>Two</h1><p>Light.</p>']),
      );
      expect(outline(document.blocks)).to.deep.equal([
        'heading1 One',
        'paragraph It was dark.',
        'heading1 Two',
        'paragraph Light.',
      ]);
      expect(document.title).to.equal('The Lighthouse');
      expect(document.metadata['author']).to.equal('Iris Vale');
    });
  });

  describe('format detection', () => {
    it('uses the content when the name is wrong', async () => {
      expect((await load('notes.txt', makePdf([[{ text: 'Really a PDF', y: 700 }]]))).format).to.equal('pdf');
      expect((await load('paper.pdf', 'just a text')).format).to.equal('text');
      expect((await load('sheet.docx', makeXlsx('<row><c><v>1</v></c></row>', []))).format).to.equal('xlsx');
      expect((await load('text.txt', '%PDF-1.7 is how such files begin')).format).to.equal('text');
      expect((await load('noname', '<!doctype html><p>hi</p>')).format).to.equal('html');
      expect((await load('script', '#!/usr/bin/env python3\nprint(1)\n')).blocks[0]?.language).to.equal('python');
      expect((await load('download', 'a,b\n1,2', 'text/csv; charset=utf-8')).format).to.equal('csv');
    });

    it('detects from the first bytes', async () => {
      const head = (content: string | Uint8Array): Uint8Array => Buffer.from(content).subarray(0, 4_100);
      expect(await loader.detect('a.txt', head(makePdf([[]])))).to.include({
        format: 'pdf',
        mimeType: 'application/pdf',
        extension: 'pdf',
      });
      expect(await loader.detect('a.docx', head(makeDocx(docxParagraph('x'))))).to.include({ format: 'docx' });
      expect(await loader.detect('a', head(makeEpub(['x'])))).to.include({ format: 'epub' });
      expect(await loader.detect('a.py', head('x = 1'))).to.include({ format: 'code', extension: 'py' });
      expect(await loader.detect('cut.txt', head(`${'x'.repeat(4_099)}é`))).to.include({ format: 'text' });
      expect(await loader.detect('a.png', PNG)).to.equal(null);
      expect(await loader.detect('a.zip', head(makeZip({ 'a.bin': 'x' })))).to.equal(null);
    });

    it('names an unsupported type', async () => {
      expect(await faultOf(load('cat.png', PNG))).to.deep.equal({
        name: 'UnsupportedFileTypeError',
        status: 415,
        message: "'cat.png' is image/png: this server reads no image files; add a text that tells what is in it",
      });
      expect((await faultOf(load('a.zip', makeZip({ 'a.bin': 'x' })))).message).to.match(/'a.zip' is application\/zip/);
      expect((await faultOf(load('a.doc', Buffer.from('d0cf11e0a1b11ae1000000', 'hex')))).message).to.match(
        /old Office document/,
      );
      expect(
        (await faultOf(load('a.bin', Buffer.from(Array.from({ length: 500 }, (_, index) => (index * 7919) % 256)))))
          .name,
      ).to.equal('UnsupportedFileTypeError');
      expect(await faultOf(load('latin.txt', Buffer.from('caf\xe9', 'latin1')))).to.include({
        name: 'UnreadableFileContentError',
        status: 415,
      });
    });
  });

  describe('bad input', () => {
    it('reports empty files and documents without text', async () => {
      expect((await faultOf(load('folder/empty.txt', ''))).message).to.equal("'empty.txt' cannot be read: it is empty");
      expect((await faultOf(load('blank.txt', ' \n\t\n'))).message).to.equal(
        "'blank.txt' cannot be read: it contains no text",
      );
      expect((await faultOf(load('scan.pdf', makePdf([[], []])))).message).to.match(
        /its 2 pages hold no text, as in a scan/,
      );
    });

    it('distinguishes damaged from encrypted files', async () => {
      expect(await faultOf(load('a.pdf', makePdf([[{ text: 'x', y: 1 }]], { encrypted: true })))).to.deep.equal({
        name: 'UnreadableFileContentError',
        status: 415,
        message: "'a.pdf' cannot be read: it is encrypted with a password",
      });
      expect((await faultOf(load('a.pdf', '%PDF-1.4\ngarbage'))).message).to.equal(
        "'a.pdf' cannot be read: the PDF is damaged",
      );
      const docx = makeDocx(docxParagraph('x'));
      expect((await faultOf(load('a.docx', docx.subarray(0, docx.length - 40)))).message).to.match(
        /archive is damaged/,
      );
      expect(
        (await faultOf(load('b.docx', makeZip({ 'word/document.xml': '<w:document><w:body>' })))).message,
      ).to.match(/damaged/);
      const locked = Buffer.from(docx);
      for (let at = locked.indexOf('PK\u0001\u0002'); at !== -1; at = locked.indexOf('PK\u0001\u0002', at + 4))
        locked.writeUInt16LE(1, at + 8);
      expect((await faultOf(load('c.docx', locked))).message).to.match(/encrypted with a password/);
      const drm = {
        'META-INF/encryption.xml':
          '<encryption><EncryptedData><CipherData><CipherReference URI="OEBPS/text%200.xhtml"/></CipherData></EncryptedData></encryption>',
      };
      expect((await faultOf(load('d.epub', makeEpub(['x'], drm)))).message).to.match(/copy protection/);
    });

    it('stops archives that unpack to too much, lie about it, or have too many entries', async () => {
      const bomb = makeZip({ 'xl/workbook.xml': Buffer.alloc(12_000_000, 0x20) });
      expect(await faultOf(load('bomb.xlsx', bomb))).to.include({ name: 'PayloadTooLargeError', status: 413 });
      const liar = Buffer.from(bomb);
      liar.writeUInt32LE(10, liar.indexOf('PK\u0001\u0002') + 24);
      expect((await faultOf(load('liar.xlsx', liar))).name).to.equal('PayloadTooLargeError');
      const many = Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`word/${index}`, '']));
      expect((await faultOf(load('many.docx', makeZip(many)))).message).to.match(
        /10001 archive entries; the limit is 10000/,
      );
    });

    it('never expands entities', async () => {
      const bomb = '<!DOCTYPE l [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;">]>';
      expect((await faultOf(load('bomb.xml', `${bomb}<l>&b;</l>`))).message).to.match(/declares entities/);
      expect(
        (
          await faultOf(
            load(
              'bomb.odt',
              makeZip({ mimetype: 'application/vnd.oasis.opendocument.text', 'content.xml': `${bomb}<l>&b;</l>` }),
            ),
          )
        ).message,
      ).to.match(/declares entities/);
      expect(
        (await faultOf(load('bomb.docx', makeDocx('', { 'word/document.xml': `${bomb}<w:document/>` })))).name,
      ).to.equal('UnreadableFileContentError');
    });

    it('returns well-formed text for any content', async () => {
      expect((await load('nul.txt', 'a\0b in a text')).text).to.equal('a\ufffdb in a text');
      const json = await load('half.json', '{"a":"\\ud800x","b":"\\u0000"}');
      expect(json.text).to.equal('{"a":"\\ud800x","b":"\\u0000"}');
      for (const { text } of [json, ...json.blocks]) expect(text.isWellFormed() && !text.includes('\0')).to.equal(true);
    });

    it('reads a line of a megabyte of every text format in time that grows with its length', async () => {
      const line = 'word '.repeat(200_000);
      const code = 'var f=function(){return 1};'.repeat(37_000);
      const files = {
        'a.txt': line,
        'a.md': `**x** ${line}`,
        'a.json': JSON.stringify({ line }),
        'a.csv': `a,b\n${line},1`,
        'a.html': `<p>${line}`,
        'a.xml': `<a>${line}</a>`,
        'a.log': line,
        'a.yaml': line,
        'a.js': code,
      };
      for (const [name, content] of Object.entries(files)) {
        const start = performance.now();
        const { blocks } = await load(name, content);
        // A quadratic reader takes minutes; a busy machine a few seconds.
        expect(performance.now() - start, name).to.be.below(30_000);
        expect(blocks.length, name).to.be.greaterThan(0);
      }
    });

    it('reads markup nested without end', async () => {
      expect((await load('deep.html', `${'<div>'.repeat(5_000)}bottom`)).text).to.contain('bottom');
      expect(
        (
          await load('deep.json', '['.repeat(50_000) + ']'.repeat(50_000)).catch((error: Error) => ({
            text: error.message,
          }))
        ).text,
      ).to.be.a('string');
      expect((await load('deep.md', `${'> '.repeat(30_000)}bottom`)).text).to.contain('bottom');
      expect((await faultOf(load('deep.xml', `${'<a>'.repeat(50_000)}${'</a>'.repeat(50_000)}`))).message).to.match(
        /nested more than 200/,
      );
    });

    it('limits pages and cells', async () => {
      const strict = createDocumentLoader({ workers: 1, limits: { maxPages: 2, maxCells: 3 } });
      const give = (fileName: string, content: Uint8Array): Promise<unknown> =>
        strict.load({ fileName, content, sizeBytes: content.byteLength });
      try {
        expect((await faultOf(give('a.pdf', makePdf([[], [], []])))).message).to.equal(
          "'a.pdf' has 3 pages; the limit is 2",
        );
        expect((await faultOf(give('a.csv', Buffer.from('a,b\n1,2\n3,4')))).message).to.equal(
          "'a.csv' has 6 cells; the limit is 3",
        );
      } finally {
        await strict.close();
      }
    });
  });

  it('fails only the document that exceeds its time or memory', async () => {
    const tight = createDocumentLoader({ workers: 1, memoryBytes: 192 * 1024 * 1024 });
    const hasty = createDocumentLoader({ workers: 1, timeoutMs: 1 });
    const csv = Buffer.from('a,b\n1,2');
    const big = Buffer.from(`[${'{"a":1},'.repeat(1_500_000)}{}]`);
    try {
      expect(await faultOf(tight.load({ fileName: 'big.json', content: big, sizeBytes: big.length }))).to.deep.equal({
        name: 'DocumentParsingError',
        status: 422,
        message: "'big.json' cannot be read: it needs more than 192 MiB of memory (ENGRAM_WORKER_MEMORY)",
      });
      expect((await tight.load({ fileName: 'a.csv', content: csv, sizeBytes: csv.length })).text).to.equal(
        'a: 1, b: 2',
      );
      expect((await faultOf(hasty.load({ fileName: 'a.csv', content: csv, sizeBytes: csv.length }))).message).to.equal(
        "'a.csv' cannot be read: it took longer than 0.001 seconds (ENGRAM_DOCUMENT_TIMEOUT)",
      );
    } finally {
      await Promise.all([tight.close(), hasty.close()]);
    }
  });

  it('encodes a document for storing as it reads it', async () => {
    const long = `# Ada\n\n${'She wrote \u{1f600} notes. '.repeat(20_000)}\n\n${'Bob \ud83d met Cy.\n\n'.repeat(5_000)}`;
    for (const [fileName, text] of [
      ['short.txt', 'Ada met Bob.'],
      ['long.md', long],
      ['a.csv', 'a,b\n1,2'],
    ] as const) {
      const content = Buffer.from(text);
      const input = { fileName, content, sizeBytes: content.length };
      const { json, ...facts } = await loader.loadEncoded(input);
      const { text: _, blocks: __, ...expected } = await loader.load(input);
      expect(facts).to.deep.equal(expected);
      expect(JSON.parse(Buffer.concat(json).toString())).to.deep.equal(await loader.load(input));
      for (const piece of json) expect(piece.byteLength).to.be.lessThan(1024 * 1024);
    }
  });

  it('stops when the caller aborts', async () => {
    const controller = new AbortController();
    const loading = loader.load(
      { fileName: 'a.csv', content: Buffer.from('a,b\n1,2'), sizeBytes: 7 },
      controller.signal,
    );
    controller.abort(new Error('not needed'));
    expect(await loading.catch((error: Error) => error.message)).to.equal('not needed');
  });

  it('parses a short text without another process, in under a millisecond', async () => {
    await load('warm.txt', 'warm');
    const start = threadCpuTimeMs();
    for (let index = 0; index < 100; index += 1) await load('memory.txt', `Ada lives in Oslo. Memory ${index}.`);
    expectQuick((threadCpuTimeMs() - start) / 100, 1);
  });
});

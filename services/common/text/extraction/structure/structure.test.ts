import { expect } from 'chai';
import type { ExtractionInput, TextPart } from '../../../ports/extractor.ts';
import { readStructure } from './structure.ts';

function factsOf(
  text: string,
  kind: TextPart['kind'],
  title = 'Product sync, 14 October 2025',
  { headings = [], format }: { headings?: readonly string[]; format?: string } = {},
): string[] {
  const parts: TextPart[] = [{ kind, start: 0, end: text.length, headings }];
  const own = format === undefined ? {} : { format };
  const { facts } = readStructure({ text, documentName: 'note', title, headings: [], knownNames: [], parts, ...own });
  return facts.map(({ subject, relation, value }) => `${subject.name} ${relation} ${value.name} [${value.type}]`);
}

describe('structure of texts', () => {
  it('reads every name of a list behind a key, for a document with a long title', () => {
    const text = '**Present:** Priya Patel, Lena Fischer (minutes)\n**Severity:** high';
    expect(factsOf(text, 'paragraph', 'Incident report: checkout outage on 9 June 2025')).to.deep.equal([
      'Incident report: checkout outage on 9 June 2025 present Priya Patel [Person]',
      'Incident report: checkout outage on 9 June 2025 present Lena Fischer [Person]',
      'Incident report: checkout outage on 9 June 2025 minutes Lena Fischer [Person]',
      'Incident report: checkout outage on 9 June 2025 severity high [Concept]',
    ]);
    expect(factsOf('Place: Lisbon, Portugal\nHost: Tom Hill', 'paragraph')).to.include(
      'Product sync, 14 October 2025 place Lisbon, Portugal [Place]',
    );
    expect(factsOf('Status: accepted', 'paragraph', 'ADR 3: Queue jobs')).to.deep.equal([
      'ADR 3: Queue jobs status accepted [Concept]',
    ]);
    expect(factsOf('Remark: accepted', 'paragraph')).to.deep.equal([]);
  });

  it('takes the headings of sections for no subjects, and a name without its address', () => {
    const lines = '- Maintainer: Femke Visser femke@tidepool.example\n- Design: Ruben de Boer\n';
    for (const section of ['Stack', 'Contacts', 'Tech stack'])
      expect(factsOf(lines, 'list-item', 'tidepool', { headings: ['tidepool', section] }), section).to.deep.equal([
        'tidepool maintainer Femke Visser [Person]',
        'tidepool design Ruben de Boer [Person]',
      ]);
    expect(
      factsOf('Phone: 030 12345\nCity: Oslo', 'paragraph', 'Team', { headings: ['Contacts', 'Sarah Lee'] }),
    ).to.include('Sarah Lee city Oslo [Place]');
  });

  it('knows persons by keys of duties when the value is a full name', () => {
    expect(factsOf('On-call: Dmitri Volkov\nEscalation: Platform', 'paragraph', 'Lanternfish')).to.deep.equal([
      'Lanternfish on_call Dmitri Volkov [Person]',
      'Lanternfish escalation Platform [Concept]',
    ]);
  });

  it('takes each record of a list for a thing of its own, by its number or its first words', () => {
    const bookings =
      'bookingNo: B-1\nguest.name: Ida Brandt\nprice: 240\n\nbookingNo: B-2\nguest.name: Boats, The\nprice: 80';
    expect(factsOf(bookings, 'record', 'bookings')).to.deep.equal([
      'B-1 guest_name Ida Brandt [Person]',
      'B-1 price 240 [Quantity]',
      'B-2 guest_name Boats, The [Concept]',
      'B-2 price 80 [Quantity]',
    ]);
    const events =
      'ts: 2026-03-02T06:14:09Z\ndevice: pump-3\nlevel: high\n\nts: 2026-03-02T07:14:09Z\ndevice: pump-4\nlevel: low';
    expect(factsOf(events, 'record', 'events')).to.include.members([
      'pump-3 level high [Concept]',
      'pump-4 level low [Concept]',
    ]);
    expect(factsOf('port: 80\nlevel: low', 'record', 'flat')).to.include('flat level low [Concept]');
  });

  it('joins the two names of a person, and reads days in figures by the custom of their column', () => {
    const rows =
      'No: 12, First Name: Ida, Last Name: Brandt, Joined: 14/02/2017\nNo: 15, First Name: Paul, Last Name: Osei, Joined: 03/09/2012';
    expect(factsOf(rows, 'table')).to.include.members([
      'Ida Brandt joined 2017-02-14 [Date]',
      'Paul Osei joined 2012-09-03 [Date]',
      'Paul Osei no 15 [Concept]',
    ]);
  });

  it('names rows by the number of their table, also above totals, and firms by their trade', () => {
    const rows = 'Order No: 2041, Customer: Café Lindner\nOrder No: 2042, Customer: Café Lindner\nTotal of Price: 1301';
    expect(factsOf(rows, 'table')).to.deep.equal([
      'order 2041 customer Café Lindner [Organisation]',
      'order 2042 customer Café Lindner [Organisation]',
    ]);
  });

  it('relates settings to each member of a collection', () => {
    const settings =
      'home:\n  owner: Camille Roche\nservices:\n  mqtt:\n    port: 1883\n  assistant:\n    depends_on: [mqtt]\n';
    const found = factsOf(settings, 'record', 'flat', { format: 'yaml' });
    expect(found).to.include.members([
      'flat has home [Concept]',
      'home owner Camille Roche [Person]',
      'flat services mqtt [Concept]',
      'mqtt port 1883 [Concept]',
      'assistant depends_on mqtt [Concept]',
    ]);
  });

  it('relates the cells of a row to the order, not to the customer who has several', () => {
    const orders =
      'order_id: 1001, customer: Globex, status: shipped\norder_id: 1002, customer: Globex, status: open\n';
    expect(factsOf(orders, 'table')).to.deep.equal([
      'order 1001 customer Globex [Concept]',
      'order 1001 status shipped [Concept]',
      'order 1002 customer Globex [Concept]',
      'order 1002 status open [Concept]',
    ]);
    expect(factsOf('id: 1, name: Anna, city: Oslo\nid: 2, name: Tom, city: Rome\n', 'table')).to.include(
      'Anna city Oslo [Place]',
    );
  });

  it('relates the cells of a timetable to the lesson, and a person with a title to the name alone', () => {
    const rows = 'Tag: Montag, Uhrzeit: 10:00, Fach: Statistik II, Dozent: Dr. Kemal Aydin';
    expect(factsOf(`${rows}\n${rows.replace('Montag', 'Freitag')}`, 'table')).to.include(
      'Statistik II dozent Kemal Aydin [Person]',
    );
  });

  it('reads the lines above a letter or a curriculum apart from its prose', () => {
    const mail =
      'From: Ines Prado <ines@a.example>\nTo: Olu Bright <olu@b.example>\nSubject: Tiles\n\nHi Olu,\n\nthe tiles came.';
    expect(factsOf(mail, 'paragraph')).to.include('Ines Prado write_to Olu Bright [Person]');
    const resume =
      'Lebenslauf\n\nName: Henrike Paulsen\nGeboren am: 4. Mai 1990 in Kiel\n\nKenntnisse: Revit, AutoCAD\nSprachen: Deutsch';
    expect(factsOf(resume, 'paragraph')).to.include.members([
      'Henrike Paulsen born_on 1990-05-04 [Date]',
      'Henrike Paulsen born_in Kiel [Place]',
      'Henrike Paulsen kenntnisse Revit [Product]',
    ]);
  });

  it('takes a customer with a full name for a person, unless a word of it is an ordinary one', () => {
    const about = (name: string) => factsOf(`Customer: ${name}\nOpened: 9 March 2026`, 'paragraph', 'Ticket 12')[0];
    expect(about('Wiebke Aalders')).to.equal('Ticket 12 customer Wiebke Aalders [Person]');
    expect(about('Northern Light')).to.equal('Ticket 12 customer Northern Light [Concept]');
  });

  it('makes no school of a note from the school, and no entity of the mark of a reply', () => {
    const mail = 'From: Amara Osei <a@example.org>\nTo: lotte@example.org\nSubject: Re: Logo';
    expect(factsOf(mail, 'record').filter((fact) => fact.startsWith('Re'))).to.deep.equal([]);
    const parts = [{ kind: 'record', start: 0, end: 30, headings: [] } as unknown as TextPart];
    const text = 'author: Marit\nroom: Canteen 12';
    const title = 'Note from the school';
    const { facts } = readStructure({ text, documentName: 'note', title, headings: [], knownNames: [], parts });
    expect(facts.map(({ subject }) => `${subject.name} [${subject.type}]`)).to.include(`${title} [Concept]`);
  });

  it('makes no entity of a description in a cell', () => {
    const table = '| Variable | Default | Meaning |\n|---|---|---|\n| PORT | 8080 | port that it listens on |\n';
    expect(factsOf(table, 'table')).to.deep.equal(['PORT default 8080 [Quantity]']);
  });

  it('gives each of several settings in one row its own value', () => {
    const table = '| Variable | Default |\n|---|---|\n| `API_PORT`, `API_HOST` | 8000, `127.0.0.1` |\n';
    expect(factsOf(table, 'table')).to.deep.equal([
      'API_PORT default 8000 [Quantity]',
      'API_HOST default 127.0.0.1 [Concept]',
    ]);
    const meaning = '| Variable | Meaning |\n|---|---|\n| `API_PORT`, `API_HOST` | address (`--port`, `--host`) |\n';
    expect(factsOf(meaning, 'table').join()).not.to.match(/meaning address \(--port \[/u);
  });

  it('takes what a file exports apart from its definition for defined, and a helper for none', () => {
    const text = 'const helper = () => 1;\nconst total = () => helper();\nexport { total as totalOf };\n';
    const definitions = definedIn('web/money.ts', text, ['helper', 'total']);
    expect(definitions).to.deep.equal(['web/money.ts define total']);
  });

  it('calls what CommonJS exports by its own name', () => {
    const text = 'exports.create = function () {\n  return 1;\n};\nmodule.exports = {\n  a,\n  b,\n};\n';
    expect(definedIn('web/orders.js', text, ['exports.create', 'module.exports'])).to.deep.equal([
      'web/orders.js define create',
    ]);
  });

  it('calls the modules of a repository by their paths, wherever they are imported', () => {
    const imported = (fileName: string, text: string) =>
      codeFacts({ fileName, text, parts: [{ kind: 'code', start: 0, end: text.length }] });
    expect(
      imported('web/a.ts', "import { b } from './b';\nimport c from '../c.js';\nimport koa from 'koa';\n"),
    ).to.deep.equal(['web/a.ts import web/b.ts', 'web/a.ts import c.ts', 'web/a.ts import koa']);
    expect(imported('py/shop/api.py', 'from .tax import vat\nfrom shop.mail import send\nimport os\n')).to.deep.equal([
      'py/shop/api.py import py/shop/tax.py',
      'py/shop/api.py import py/shop/mail.py',
      'py/shop/api.py import os',
    ]);
    expect(imported('src/org/acme/web/A.java', 'import org.acme.stock.B;\nimport java.util.List;\n')).to.deep.equal([
      'src/org/acme/web/A.java import src/org/acme/stock/B.java',
      'src/org/acme/web/A.java import java.util.List',
    ]);
  });
});

/** The facts of a file in which each statement that begins with a name of `symbols` is a part. */
function definedIn(fileName: string, text: string, symbols: readonly string[]) {
  const starts = symbols.map((symbol) => text.lastIndexOf('\n', text.indexOf(symbol)) + 1);
  const parts = symbols.map((symbol, at): TextPart => {
    return { kind: 'code', start: starts[at] ?? 0, end: starts[at + 1] ?? text.length, symbol };
  });
  return codeFacts({ fileName, text, parts, exported: ['total'] });
}

function codeFacts(input: Pick<ExtractionInput, 'fileName' | 'text' | 'parts' | 'exported'>) {
  const { facts } = readStructure({ ...input, format: 'code', documentName: 'note', headings: [], knownNames: [] });
  return facts.map(({ subject, relation, value }) => `${subject.name} ${relation} ${value.name}`);
}

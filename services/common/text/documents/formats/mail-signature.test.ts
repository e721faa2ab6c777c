import { expect } from 'chai';
import type { TextPart } from '../../../ports/extractor.ts';
import { extractByRules } from '../../extraction/rules/extract-by-rules.ts';
import { createTagger } from '../../extraction/rules/tagger.ts';
import { readEmail } from './email.ts';

const tag = createTagger();

/** What a mail gives to the graph, and what of it is read as sentences. */
function read(from: string, body: string) {
  const mail = `From: ${from}\r\nTo: tom.hill@globex.example\r\nSubject: Pumps\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n`;
  const { blocks } = readEmail(Buffer.from(`${mail}${body}`), { signal: undefined } as never);
  const parts: TextPart[] = [];
  let text = '';
  for (const block of blocks) {
    parts.push({ kind: block.kind, start: text.length, end: text.length + block.text.length });
    text += `${block.text}\n\n`;
  }
  const speaker = from.replace(/ <.*/u, '');
  const input = { text, parts, documentName: 'mail', format: 'email' as const, speaker, headings: [], knownNames: [] };
  const { relations, sentences } = extractByRules(input, tag);
  return {
    relations: relations.map(({ source, relation, target }) => `${source} ${relation} ${target}`),
    sentences: sentences.map((sentence) => sentence.text),
  };
}

describe('signature of a mail', () => {
  it('says where the sender works, in which role, and how to reach them; it is no sentence of the mail', () => {
    const body =
      'Hi Tom,\n\nI live in Leeds.\n\n-- \nJane Doe\nHead of Sales, Acme GmbH\n+49 30 1234567\njane.doe@acme.example\n';
    const { relations, sentences } = read('Jane Doe <jane.doe@acme.example>', body);
    expect(relations).to.include.members([
      'Jane Doe live_in Leeds',
      'Jane Doe role Head of Sales',
      'Jane Doe work_at Acme GmbH',
      'Jane Doe phone +49 30 1234567',
      'Jane Doe email jane.doe@acme.example',
    ]);
    expect(sentences.join('\n')).to.equal('Hi Tom,\nI live in Leeds.');
  });

  it('says a name once that stands above its delimiter and below', () => {
    const body = 'Fine.\n\nBest regards\nJane\n\n-- \nJane Doe\nHead of Sales, Acme GmbH\n+49 30 1234567\n';
    const mail = `From: Jane Doe <jane.doe@acme.example>\r\nSubject: Pumps\r\n\r\n${body}`;
    const { blocks } = readEmail(Buffer.from(mail), { signal: undefined } as never);
    expect(blocks.at(-1)?.text).to.equal(
      'name: Jane Doe\nrole: Head of Sales\norganisation: Acme GmbH\nphone: +49 30 1234567',
    );
  });

  it('is found below a German greeting, with titles, columns and the imprint of the company', () => {
    const body =
      'Guten Tag,\nich wohne in Dresden.\n\nMit freundlichen Grüßen\n\nDr. Anna Schmidt\nLeiterin Vertrieb\nMüller Maschinenbau GmbH\nHauptstraße 5, 10115 Berlin\nTel.: 030 9876543 | Fax: 030 9876544\nGeschäftsführer: Hans Müller, HRB 12345\n';
    const { relations } = read('Anna Schmidt <schmidt@mueller.example>', body);
    expect(relations).to.include.members([
      'Anna Schmidt role Leiterin Vertrieb',
      'Anna Schmidt work_at Müller Maschinenbau GmbH',
      'Anna Schmidt phone 030 9876543',
      'Anna Schmidt fax 030 9876544',
    ]);
    expect(relations.join('\n')).not.to.match(/work_at.*Hans|role.*Geschäftsführer/u);
  });

  it('of a quoted mail is that of its writer', () => {
    const body =
      'Fine.\n\nOn 3 March 2026, Bob Miller wrote:\n> Yes.\n> -- \n> Bob Miller\n> CTO\n> Globex\n> T +1 555 123 4567\n';
    const { relations } = read('Jane Doe <jane.doe@acme.example>', body);
    expect(relations).to.include.members(['Bob Miller role CTO', 'Bob Miller work_at Globex']);
    expect(relations.filter((one) => /^Jane Doe (?:role|work_at|phone)/u.test(one))).to.deep.equal([]);
  });

  it('is not seen in a greeting with a name, a list or a Markdown rule', () => {
    const body = 'We have three options.\n\nBest\nMiddle\nWorst\n\n--\n\nSee you in Rome,\n\nBest,\nTom\n';
    expect(read('Jane Doe <jane.doe@acme.example>', body).relations).to.deep.equal([
      'Pumps from Jane Doe',
      'Pumps to Tom Hill',
      'Jane Doe write_to Tom Hill',
    ]);
  });
});

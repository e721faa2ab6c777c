import { expect } from 'chai';
import { statementsOf } from './statements.ts';

function texts(text: string): readonly string[] {
  const payload = { text, headings: [], documentName: 'notes', chunkIndex: 0 };
  return statementsOf({ payload } as never).map((statement) => statement.text);
}

describe('the statements of a passage', () => {
  it('are sentences and values, never other lines of code', () => {
    const code =
      "/** Starts the server. */\nexport function start(port) {\n  const url = 'x';\n  listen(port);\n}\n\n// It stops at once.\n";
    expect(texts(code)).to.deep.equal(['Starts the server.', "url = 'x'", 'It stops at once.']);
    expect(texts('Install it so.\n\n```js\nnpm(1)\nlisten()\n```\n\nThen it runs.')).to.deep.equal([
      'Install it so.',
      'Then it runs.',
    ]);
  });

  it('are no conditions of a licence, and no words of lost links', () => {
    const licence =
      'Permission is hereby granted, free of charge, to any person.\n\nIN NO EVENT SHALL THE AUTHORS BE LIABLE.\n\nTern parses files.';
    expect(texts(licence)).to.deep.equal(['Tern parses files.']);
  });

  it('have the headings above them, without those whose sections have ended', () => {
    const payload = {
      text: 'One.\n\n## 2.1.0\n\n### Fixed\n\nTwo.\n',
      headings: ['Changes', '2.2.0', 'Added'],
      documentName: 'changes.md',
      chunkIndex: 1,
    };
    const read = statementsOf({ payload } as never).map(({ heading, above }) => [...(above ?? []), heading]);
    expect(read).to.deep.equal([
      ['Changes', '2.2.0', 'Added', ''],
      ['Changes', '2.1.0', 'Fixed'],
    ]);
  });

  it('stand below headings that are underlined, and parts that are named at the beginning of a paragraph', () => {
    const payload = {
      text: '1.3.0 / 2022-02-02\n===\n\nIt is faster.\n\nWhy. It was slow.\n\nTern\n---\n\nIt flies.\n',
      headings: [],
      documentName: 'changes.md',
      chunkIndex: 1,
    };
    const read = statementsOf({ payload } as never).map(({ heading, text }) => [heading, text]);
    expect(read).to.deep.equal([
      ['1.3.0 / 2022-02-02', 'It is faster.'],
      ['Why', 'It was slow.'],
      ['Tern', 'It flies.'],
    ]);
  });

  it('of a section below a question as its heading reply to it', () => {
    const payload = {
      text: '# FAQ\n\n## Is it free?\n\nNot yet.\n',
      headings: [],
      documentName: 'faq.md',
      chunkIndex: 1,
    };
    const [reply, ...others] = statementsOf({ payload } as never);
    expect(others).to.deep.equal([]);
    expect(reply).to.include({ text: 'Not yet.', heading: 'Is it free?', asked: 'Is it free?' });
  });

  it('are no entries of a table of contents', () => {
    expect(
      texts('# Tern\n\nTern parses files.\n\n## Table of Contents\n\n- Install\n- License\n\n## License\n\nMIT\n'),
    ).to.deep.equal(['Tern parses files.', 'MIT']);
  });

  it('are the commands of a shell, which are marked, and what stands behind a prompt', () => {
    const payload = (text: string) => ({ payload: { text, headings: [], documentName: 'notes', chunkIndex: 0 } });
    const of = (text: string) => statementsOf(payload(text) as never).map((one) => [one.text, one.isCommand === true]);
    expect(
      of('Invite people.\n\n```bash\n# by mail\nmill invite bob  # or a link\n```\n\nThey sign in.'),
    ).to.deep.equal([
      ['Invite people.', false],
      ['mill invite bob # or a link', true],
      ['They sign in.', false],
    ]);
    expect(of('```text\n$ mill list\none mill\n```\n\nThere it is.')).to.deep.equal([
      ['mill list', true],
      ['There it is.', false],
    ]);
  });

  it('are rows of a table, each with the heads of its columns', () => {
    const table = '| name | tons | port |\n| --- | --- | --- |\n| Fram | 402. Gross. | – |\n| Ulk | 7 | Kiel |';
    expect(texts(`Ships of the line.\n\n${table}\n\nNo other is left.`)).to.deep.equal([
      'Ships of the line.',
      'name: Fram, tons: 402. Gross.',
      'name: Ulk, tons: 7, port: Kiel',
      'No other is left.',
    ]);
  });

  it('are of the subject of their mail, without what marks a reply', () => {
    const text =
      'From: Jane Doe <jane@acme.example>\nTo: Tom Berg <tom@northwind.example>\nDate: Tue, 3 Nov 2026 09:12:00 +0100\nSubject: AW: Re: Kick-off of Atlas\n\nThe budget is 48,000 EUR.';
    const of = (mail: string) =>
      statementsOf({ payload: { text: mail, headings: [], documentName: 'mail', chunkIndex: 0 } } as never).at(-1);
    expect(of(text)).to.include({ text: 'The budget is 48,000 EUR.', heading: 'Kick-off of Atlas' });
    expect(of(`I wrote:\n\n${text}`)).to.include({ text: 'The budget is 48,000 EUR.', heading: 'I wrote:' });
  });

  it('of a chat reply to a question with what each of the others says next', () => {
    const chat =
      '17:05 - Jo: Who has the key?\n17:06 - Ed: not me\n17:11 - Ti: It hangs in the cellar\n17:12 - Ti: behind the door\n17:30 - Ed: I am hungry\n17:41 - Ti: We eat at seven\n17:50 - Ed: why\n17:51 - Jo: Because I cook';
    const read = statementsOf({ payload: { text: chat, headings: [], documentName: 'chat', chunkIndex: 0 } } as never);
    const replies = read.filter((one) => one.asked !== undefined).map((one) => one.text.replace(/^.*: /u, ''));
    expect(replies).to.deep.equal(['not me', 'It hangs in the cellar', 'behind the door', 'Because I cook']);
  });

  it('keep prose with the signs of code', () => {
    const lines = ['Let me know (by mail) when it ends.', 'The sea was calm;', 'Call `start()` first.'];
    expect(texts(lines.join('\n\n'))).to.deep.equal(lines);
  });

  it('are no boilerplate, and no list of links', () => {
    const page = 'Skip to content\n\n[Home](/) | [About](/about)\n\nThe mill was built in 1710.\n\n© 2026 Mill Ltd.';
    expect(texts(page)).to.deep.equal(['The mill was built in 1710.']);
  });

  it('have no bullet, and keep the first words of an item that say nothing alone', () => {
    const items = [
      '- Ada Moss – Engineer. Based in Leeds.',
      '- Bo Lind – Sales. Owns the shop.',
      '3. Fee. We pay 90 EUR.',
    ];
    expect(texts(`# Team\n\n${items.join('\n')}`)).to.deep.equal(items.map((item) => item.replace('- ', '')));
    expect(texts('# Plants\n\n- Oaks grow slowly.\n- Birches grow fast.')).to.deep.equal([
      'Oaks grow slowly.',
      'Birches grow fast.',
    ]);
  });
});

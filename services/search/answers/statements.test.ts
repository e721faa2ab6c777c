import { expect } from 'chai';
import { statementsOf } from './statements.ts';

function texts(text: string): readonly string[] {
  const payload = { text, headings: [], documentName: 'notes', chunkIndex: 0 };
  return statementsOf({ payload } as never).map((statement) => statement.text);
}

describe('the statements of a passage', () => {
  it('are sentences, never lines of code', () => {
    const code =
      "/** Starts the server. */\nexport function start(port) {\n  const url = 'x';\n  listen(port);\n}\n\n// It stops at once.\n";
    expect(texts(code)).to.deep.equal(['Starts the server.', 'It stops at once.']);
    expect(texts('Install it so.\n\n```sh\nnpm ci\nnpm start\n```\n\nThen it runs.')).to.deep.equal([
      'Install it so.',
      'Then it runs.',
    ]);
  });

  it('keep prose with the signs of code', () => {
    const lines = ['Let me know (by mail) when it ends.', 'The sea was calm;', 'Call `start()` first.'];
    expect(texts(lines.join('\n\n'))).to.deep.equal(lines);
  });

  it('are no boilerplate, and no list of links', () => {
    const page = 'Skip to content\n\n[Home](/) | [About](/about)\n\nThe mill was built in 1710.\n\n© 2026 Mill Ltd.';
    expect(texts(page)).to.deep.equal(['The mill was built in 1710.']);
  });

  it('have no bullet', () => {
    expect(texts('# Plants\n\n- Oaks grow slowly.\n- Birches grow fast.')).to.deep.equal([
      'Oaks grow slowly.',
      'Birches grow fast.',
    ]);
  });
});

import { expect } from 'chai';
import { exampleBehind, shownExample } from './examples.ts';
import { readQuestion } from './question.ts';
import type { ReadPassage } from './rank-sentences.ts';
import { statementsOf } from './statements.ts';

const passageOf = (text: string, documentName: string) =>
  ({ id: text, payload: { text, headings: [], documentName, chunkIndex: 1 } }) as unknown as ReadPassage;

const README = `## Usage

### Simple server

\`\`\`js
new Server({ port: 80 });
\`\`\`

### Sending data

Open the connection first.

\`\`\`js
socket.send('hello');
\`\`\`

### Release

1. Tag it.
2. Push it.

\`\`\`sh
git push --tags
\`\`\`
`;

describe('the code that shows how something is done', () => {
  const passages = [passageOf(README, 'ws.md')];
  const shown = (question: string) => shownExample(readQuestion(question), passages)?.example;

  it('is that of the section whose heading names it, with the sentence before', () => {
    expect(shown('How do I send data?')).to.include({ code: "```js\nsocket.send('hello');\n```" });
    expect(shown('How do I send data?')?.sentence?.text).to.equal('Open the connection first.');
  });

  it('needs no sentence in its section', () => {
    expect(shown('How do I create a server with ws?')).to.deep.include({
      code: '```js\nnew Server({ port: 80 });\n```',
      heading: 'Simple server',
      sentence: null,
    });
  });

  it('is none for what no heading names, for numbered steps, and for other questions', () => {
    expect(shown('How do I compress data with brotli?')).to.equal(undefined);
    expect(shown('How do I send data with express?')).to.equal(undefined);
    expect(shown('How do I make a release?')).to.equal(undefined);
    expect(shown('Who sends data?')).to.equal(undefined);
  });

  it('is none that ends in another passage', () => {
    const cut = passageOf('## Sending data\n\n```js\nsocket.send(', 'ws.md');
    expect(shownExample(readQuestion('How do I send data?'), [cut])).to.equal(null);
  });

  it('is that of the document with the fewest other words in its name', () => {
    const other = passageOf('## Installation\n\n```sh\nnpm install koa-router\n```\n', 'koa-router.md');
    const koa = passageOf('## Installation\n\n```sh\nnpm install koa\n```\n', 'koa.md');
    const found = shownExample(readQuestion('How do I install koa?'), [other, koa]);
    expect(found?.example.code).to.equal('```sh\nnpm install koa\n```');
  });

  it('stands behind a sentence of its section', () => {
    const [passage] = passages as [ReadPassage];
    const behind = (start: string, question: string) => {
      const statement = statementsOf(passage).find(({ text }) => text.startsWith(start));
      return statement === undefined ? undefined : exampleBehind(readQuestion(question), { passage, statement });
    };
    expect(behind('Open', 'How do I open it?')).to.equal("```js\nsocket.send('hello');\n```");
    expect(behind('Open', 'What is opened?')).to.equal(null);
    expect(behind('git push', 'How do I push it?')).to.equal(null);
  });
});

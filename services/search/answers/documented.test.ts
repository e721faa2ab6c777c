import { expect } from 'chai';
import { documented, isDefaultUnsaid } from './documented.ts';
import type { ReadPassage } from './rank-sentences.ts';

type Case = readonly [question: string, text: string, value: string | null, documentName?: string];

function itSays(cases: readonly Case[]): void {
  for (const [question, text, value, documentName = 'server.md'] of cases) {
    it(`is ${value ?? 'not told'} for "${question}" in "${text.replace(/\s+/gu, ' ').trim()}" of ${documentName}`, () => {
      const passage = { id: text, payload: { text, headings: [], documentName, chunkIndex: 1 } };
      expect(documented(question, [passage as unknown as ReadPassage])?.value ?? null).equals(value);
    });
  }
}

describe('a default that documentation gives', () => {
  itSays([
    ['What is the default log level?', "## level (String)\n\nDefault: 'info'\n\nThe lowest level to log.", 'info'],
    ['What is the default value of the port option?', '- port (Number): Where it listens. Default: 8000\n', '8000'],
    ['What is the default port of the server?', 'The port defaults to 8000.', '8000'],
    ['Which port does the server use by default?', '| Option | Default |\n| --- | --- |\n| port | 8000 |\n', '8000'],
    ['What does maxRetries default to?', '`maxRetries` (default: 5) limits how often it tries.', '5'],
    ['Which format is used by default?', 'The format is `json` by default.', 'json'],
    ['What is the default port?', '* **port** - integer - Where it listens. **Default:** `22`\n', '22'],
    ['What is the default of HERON_BATCH?', '- `HERON_BATCH`: rows at once, 500 by default\n', '500'],
    [
      'What is the default of statusCode in the heron middleware?',
      'The default configuration is:\n\n```json\n{\n  "methods": "GET,HEAD",\n  "statusCode": 204\n}\n```\n',
      '204',
      'heron.md',
    ],
    [
      'What is the default line width?',
      'Options:\n\n--indent-width=N  The width of the indentation. Defaults to `2`.\n--line-width=N  The greatest width of a line. Defaults to `80`.\n',
      '80',
    ],
    [
      'How often does heron poll by default?',
      '- `pollingInterval` (default: `100`): periods in milliseconds.\n',
      '100',
      'heron.md',
    ],
    [
      'How long does heron keep events by default?',
      '### `storage.retention`\n\nType: duration. Default: `30d`.\n\nHow long events are kept.\n',
      '30d',
      'heron.md',
    ],
    ['How often does heron poll by default?', '- `retries` (default: `100`): how often it tries.\n', null, 'heron.md'],
    ['What is the default port of Redis?', '## port\n\nDefault: 8000\n', null],
    ['What is the default timeout?', '## port\n\nDefault: 8000\n', null],
    ['What is the default host?', 'By default, the host writes a log.', null],
    ['What is the port?', '## port\n\nDefault: 8000\n', null],
  ]);
});

describe('a default of a program whose documents have no such setting', () => {
  const passage = { id: '1', payload: { text: 'The port defaults to 80.', headings: [], documentName: 'heron.md' } };
  const isUnsaid = (question: string) => isDefaultUnsaid(question, [passage as unknown as ReadPassage]);

  it('is not told, whatever other documents say', () => {
    expect(isUnsaid('What is the default timeout of the heron server?')).to.equal(true);
    expect(isUnsaid('What is the default port of heron?')).to.equal(false);
    expect(isUnsaid('What is the default timeout of tern?')).to.equal(false);
    expect(isUnsaid('What is the timeout of heron?')).to.equal(false);
  });
});

describe('a version that documentation asks for', () => {
  itSays([
    ['Which version of Node does Koa require?', 'Koa requires node v18.0.0 or higher.', 'v18.0.0 or higher'],
    ['What Node version is required for Koa?', 'Needs Node.js >= 20 and npm.', '>= 20', 'koa.md'],
    ['Which version of Node does Express need?', 'Koa requires node v18.0.0 or higher.', null, 'koa.md'],
    ['Which version of Python does Koa require?', 'Koa requires node v18.0.0 or higher.', null],
    ['Which Node versions does Koa support?', 'For example, koa@legacy is compatible with Node.js 8.', null, 'koa.md'],
    ['Which version of Node do we run?', 'We run Node 24 since May.', null],
  ]);
});

describe('a licence that documentation names', () => {
  itSays([
    ['What licence is ws under?', '## License\n\nMIT\n', 'MIT', 'ws-README.md'],
    [
      'Under which license is Tern published?',
      'Tern is released under the Mozilla Public License 2.0.',
      'Mozilla Public License 2.0',
    ],
    ['What is pino licensed under?', 'Licensed under Apache 2.0.', 'Apache 2.0', 'pino.md'],
    ['What licence is heron under?', '## License\n\nBlueOak-1.0.0\n', 'BlueOak-1.0.0', 'heron.md'],
    [
      'What licence does heron have?',
      'It is licensed under the Blue Oak Model License 1.0.0.',
      'Blue Oak Model License 1.0.0',
      'heron.md',
    ],
    ['What licence is heron under?', '## License\n\nSee the file LICENSE.\n', null, 'heron.md'],
    ['What licence is Heron under?', 'Tern is released under the MIT License.', null, 'tern.md'],
    ['What licence does my brother have?', 'My brother got his driving licence at MIT.', null],
  ]);
});

describe('a status code that documentation gives', () => {
  const text =
    'Status codes: 200, 404 if the number is unknown, 410 if the parcel was deleted.\n\nA parcel on its way cannot be cancelled. The call is answered with 409.\n';
  itSays([
    ['What status code do I get when I cancel a parcel on its way?', text, '409'],
    ['Which code is returned if the number is unknown?', text, '404'],
    ['Which status code is returned for a parcel that was deleted?', text, '410'],
    ['What status code do I get when the server is full?', text, null],
  ]);
});

describe('an address that documentation links to', () => {
  itSays([
    [
      'What is the URL of the handbook?',
      'The handbook (https://example.org/handbook) explains it.',
      'https://example.org/handbook',
    ],
    [
      'Where can I find the changelog?',
      'See the changelog (https://example.org/changes).',
      'https://example.org/changes',
    ],
    ['What is the URL of the wiki?', 'The handbook (https://example.org/handbook) explains it.', null],
  ]);
});

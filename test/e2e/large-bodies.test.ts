import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { expectShortTurns, longestTurn, SHORT_TURN_MS } from '../support/cpu-time.ts';
import { type StartedApp, startApp } from '../support/start-app.ts';

interface Sent {
  readonly status: number;
  readonly length: number;
  readonly text: string;
}

/** Makes and sends the bodies in a thread of its own: what they cost there is not the server's. */
const SENDER = `
  const { parentPort } = require('node:worker_threads');
  parentPort.on('message', async ({ url, type, script }) => {
    const body = new Function('return ' + script)();
    const response = await fetch(url, { method: 'POST', headers: { 'content-type': type }, body });
    const text = await response.text();
    parentPort.postMessage({ status: response.status, length: text.length, text: text.slice(0, 500) });
  });
`;

describe('a server that is sent large bodies', () => {
  let app: StartedApp;
  let sender: Worker;
  before(async () => {
    app = await startApp();
    sender = new Worker(SENDER, { eval: true });
  });
  after(async () => {
    await sender.terminate();
    await app.stop();
  });

  const send = (path: string, script: string, type = 'application/json') =>
    new Promise<Sent>((resolve) => {
      sender.once('message', resolve);
      sender.postMessage({ url: `${app.baseUrl}/api/v1${path}`, type, script });
    });

  const numbered = (count: number, each: string) => `Array.from({ length: ${count} }, (_, i) => ${each}).join()`;
  const cases = [
    {
      title: '300,000 dataset names',
      path: '/cognify',
      script: `'{"datasets":[' + ${numbered(300_000, `'"n' + i + '"'`)} + ']}'`,
      status: 400,
      says: /The body should have at most 50000 values/,
    },
    {
      title: '40,000 dataset names',
      path: '/cognify',
      script: `'{"datasets":[' + ${numbered(40_000, `'"n' + i + '"'`)} + ']}'`,
      status: 400,
      says: /List should have at most 1000 items after validation, not 40000/,
    },
    {
      title: '9,000 ids that are none',
      path: '/cognify',
      script: `'{"dataset_ids":[' + ${numbered(9_000, `'"n' + i + '"'`)} + ']}'`,
      status: 400,
      says: /uuid_parsing/,
    },
    {
      title: '20,000 node sets',
      path: '/add',
      script: `'{"datasetName":"a","data":"x","nodeSet":[' + ${numbered(20_000, `'"n' + i + '"'`)} + ']}'`,
      status: 400,
      says: /List should have at most 10000 items after validation, not 20000/,
    },
    {
      title: 'a million unknown names',
      path: '/remember/entry',
      script: `'{' + ${numbered(1_000_000, `'"n' + i + '":' + i`)} + '}'`,
      status: 400,
      says: /The body should have at most 50000 values/,
    },
    {
      title: '40,000 unknown names and a missing field',
      path: '/search',
      script: `'{' + ${numbered(40_000, `'"n' + i + '":' + i`)} + '}'`,
      status: 400,
      says: /missing/,
    },
    {
      title: 'a million objects',
      path: '/add',
      script: `'{"datasetName":"a","data":[' + ${numbered(1_000_000, `'{}'`)} + ']}'`,
      status: 400,
      says: /The body should have at most 50000 values/,
    },
    {
      title: '9,000 objects in the place of texts',
      path: '/add',
      script: `'{"datasetName":"a","data":[' + ${numbered(9_000, `'{}'`)} + ']}'`,
      status: 400,
      says: /string_type/,
    },
    {
      title: 'a graph model of 5 MB',
      path: '/cognify',
      script: `'{"datasets":["a"],"graph_model":{"title":"T","properties":{' + ${numbered(100_000, `'"property_number_' + i + '":{"type":"string","title":"x"}'`)} + '}}}'`,
      status: 413,
    },
    {
      title: 'a graph model of 3 MB',
      path: '/cognify',
      script: `'{"datasets":["a"],"graph_model":{"title":"T","properties":{' + ${numbered(10_000, `'"property_number_' + i + '":{"type":"string","title":"' + 'x'.repeat(250) + '"}'`)} + '}}}'`,
      status: 200,
    },
    {
      title: 'a text of 16 MB in the place of an object',
      path: '/add',
      script: `'"' + 'a word '.repeat(2_400_000) + '"'`,
      status: 400,
      says: /model_attributes_type/,
    },
    {
      title: 'a form of a million fields',
      path: '/add',
      script: `'a=b&'.repeat(1_000_000)`,
      type: 'application/x-www-form-urlencoded',
      status: 400,
      says: /Too many fields/,
    },
  ];

  for (const { title, path, script, type, status, says } of cases) {
    it(`answers ${title} shortly and without a long pause for others`, async () => {
      const turns: number[] = [];
      for (let time = 0; time < 8 && Math.min(...turns) >= SHORT_TURN_MS; time += 1) {
        turns.push(
          await longestTurn(async () => {
            const answer = await send(path, script, type);
            expect(answer.status, answer.text).to.equal(status);
            expect(answer.length).to.be.lessThan(200_000);
            if (says !== undefined) expect(answer.text).to.match(says);
          }),
        );
      }
      expectShortTurns(...turns);
    });
  }

  it('creates no dataset for a request that names too many', async () => {
    const datasets = (await (await fetch(`${app.baseUrl}/api/v1/datasets`)).json()) as { name: string }[];
    expect(datasets.map(({ name }) => name)).to.deep.equal(['a']);
  });
});

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Connector } from '../../../services/integrations/providers/connector.ts';
import type { BackfillFigures } from '../../bench/backfill.ts';
import { itWhenWhole } from '../../support/extent.ts';
import { startTwoReplicas } from '../../support/two-replicas.ts';
import { until } from '../../support/until.ts';

const BENCH = fileURLToPath(new URL('../../bench/backfill.ts', import.meta.url));

/** test/soak/backfill.test.ts does the same with 100,000. */
describe('a back-fill of many documents', function () {
  this.timeout(300_000);

  itWhenWhole('keeps no content in memory, and stores every document once', async () => {
    const [documents, bytes] = [1500, 40_000];
    const { stdout } = await promisify(execFile)(process.execPath, [BENCH, `${documents}`, `${bytes}`]);
    const { stored, steps, again } = JSON.parse(stdout) as BackfillFigures;
    expect(stored).to.equal(documents);
    const least = (some: typeof steps) => Math.min(...some.map(({ keptMb }) => keptMb));
    // Some contents are under way at any moment. Those of the documents in between are 30 MB.
    const [early, late] = [least(steps.slice(0, 3)), least(steps.slice(-3))];
    expect(late - early, JSON.stringify(steps)).to.be.lessThan(21);
    expect(again.keptMb - early, 'after a listing of all that is stored').to.be.lessThan(21);
  });
});

describe('a change that no webhook told', () => {
  it('is found by the next periodic import, of one of two replicas at a time', async () => {
    const texts = new Map([['lamp', 'The lamp flickers.']]);
    let [imports, underWay, most] = [0, 0, 0];
    const source: Connector = {
      provider: 'folder',
      capabilities: { title: 'Made', feeds: ['all'], selection: 'none', accounts: 'of each user', everyMs: 300 },
      datasetName: () => 'made',
      connect: async () => ({ accountId: 'made', label: 'made', authType: 'none', scopes: [], metadata: {} }),
      list: async () => [{ id: 'one', name: 'one', description: null, attributes: {} }],
      async *changesSince() {
        imports += 1;
        underWay += 1;
        most = Math.max(most, underWay);
        await new Promise((resolve) => setTimeout(resolve, 50));
        yield {
          present: [...texts].map(([key, version]) => ({ key, version })),
          gone: [],
          cursor: null,
          isWhole: true,
        };
        underWay -= 1;
      },
      async fetch(_access, { key }) {
        const text = texts.get(key) ?? '';
        const content = Buffer.from(text);
        return { fileName: `${key}.txt`, mimeType: 'text/plain', content, version: text, uri: null };
      },
    };
    await using world = await startTwoReplicas({ connectors: [source], sync: { lookEveryMs: 50 } });
    const { wire } = world.two;
    await world.one.wire.post('/integrations/folder/connect', { address: 'made' });
    const connection = async () => (await wire.get('/integrations/folder/connection')).json;
    const names = async (): Promise<readonly string[]> => {
      const items = (await wire.get(`/datasets/${(await connection()).datasetId}/data`)).json;
      return Array.isArray(items) ? items.map(({ name }) => name).toSorted() : [];
    };
    await until('the first import', async () => (await connection()).syncStatus === 'ok');
    expect(await names()).to.deep.equal(['lamp']);
    texts.delete('lamp');
    texts.set('mill', 'The mill turns.');
    await until('the new document alone', async () => (await names()).join() === 'mill');
    const before = imports;
    await until('further imports', () => imports > before + 4);
    expect(most, 'imports at a time').to.equal(1);
  });
});

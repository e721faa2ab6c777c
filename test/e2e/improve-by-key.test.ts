import { expect } from 'chai';
import { logIn } from '../support/accounts.ts';
import { type ModelProvider, startModelProvider } from '../support/model-provider.ts';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { until } from '../support/until.ts';
import { createWire, type Wire } from '../support/wire.ts';

const PASSWORD = 'correct horse battery';
const EMAIL = 'default_user@example.com';

interface RunRow {
  readonly operation_name: string;
  readonly status: string;
}

/** What agents remember in sessions by an API key, and what the service makes of it later of its own accord. */
describe('automatic improve', () => {
  let provider: ModelProvider;
  let app: StartedApp;
  let owner: Wire;
  let authorization: Record<string, string>;

  before(async () => {
    provider = await startModelProvider();
    app = await startApp({
      REQUIRE_AUTHENTICATION: 'true',
      DEFAULT_USER_PASSWORD: PASSWORD,
      ...provider.variables,
    });
    const token = await logIn(app.baseUrl, EMAIL, PASSWORD);
    authorization = { authorization: `Bearer ${token}` };
    owner = createWire(app.baseUrl, authorization);
  });
  after(async () => {
    await app.stop();
    await provider.close();
  });

  async function newKey(limits: object): Promise<{ readonly id: string; readonly wire: Wire }> {
    const { json } = await owner.post('/auth/api-keys', { name: null, ...limits });
    return { id: json.id, wire: createWire(app.baseUrl, { 'x-api-key': json.key }) };
  }
  async function remember(wire: Wire, session: string, text: string): Promise<void> {
    const form = new FormData();
    for (const [name, value] of Object.entries({ data: text, datasetName: 'notes', session_id: session })) {
      form.append(name, value);
    }
    const { status, text: said } = await wire.form('/remember', form);
    expect(status, said).to.equal(200);
  }
  const improves = async (): Promise<readonly RunRow[]> => {
    const { json } = await owner.get('/activity/pipeline-runs?pipeline_name=improve');
    return (json as RunRow[]).filter(({ status }) => status !== 'DATASET_PROCESSING_STARTED');
  };
  const untilImproved = (count: number): Promise<readonly RunRow[]> => {
    const ended = async () => {
      const rows = await improves();
      return rows.length >= count ? rows : null;
    };
    return until(`${count} improves have ended`, ended, { everyMs: 20 });
  };
  const tokens = async (wire: Wire, account: 'key' | 'space'): Promise<number> =>
    (await wire.get('/activity/usage')).json[account].limits.llmTokensPerDay.used;

  it('is charged to the API key of the newest entry, and to none when it has none', async () => {
    const { json: dataset } = await owner.post('/datasets', { name: 'notes' });
    const { wire: agent } = await newKey({ permissions: ['read', 'write'], datasets: [dataset.id] });
    await remember(agent, 's1', 'Ada Lovelace wrote notes about the engine of Charles Babbage.');
    await untilImproved(1);
    const [ofKey, ofOwner] = [await tokens(agent, 'key'), await tokens(owner, 'space')];
    expect(ofKey).to.be.above(0);
    expect(ofOwner).to.equal(ofKey);
    await remember(owner, 's2', 'Grace Hopper found a moth in a relay of the Mark II.');
    await untilImproved(2);
    expect(await tokens(agent, 'key')).to.equal(ofKey);
    expect(await tokens(owner, 'space')).to.be.above(ofOwner);
  });

  it('stops at the budget of the key, and leaves its entries to the next improve', async () => {
    const { json: dataset } = await owner.post('/datasets', { name: 'notes' });
    const { id, wire: agent } = await newKey({ datasets: [dataset.id] });
    const limited = await fetch(`${app.baseUrl}/api/v1/budgets/keys/${id}`, {
      method: 'PUT',
      headers: { ...authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ llmTokensPerDay: 0 }),
    });
    expect(limited.status).to.equal(200);
    const before = (await improves()).length;
    await remember(agent, 's3', 'Mary Anning found the skeleton of a plesiosaur at Lyme Regis.');
    const [newest] = await untilImproved(before + 1);
    expect(newest).to.include({ status: 'DATASET_PROCESSING_ERRORED' });
    expect(await tokens(agent, 'key')).to.equal(0);
    await remember(owner, 's3', 'She sold it to a museum.');
    await untilImproved(before + 2);
    const { json: items } = await owner.get(`/datasets/${dataset.id}/data`);
    const texts = await Promise.all(
      (items as { readonly id: string }[]).map(
        async (item) => (await owner.get(`/datasets/${dataset.id}/data/${item.id}/raw`)).text,
      ),
    );
    expect(texts.some((one) => one.includes('plesiosaur'))).to.equal(true);
  });
});

import { expect } from 'chai';
import { WebSocket } from 'ws';
import { signUp } from '../support/accounts.ts';
import { type StartedApp, startApp } from '../support/start-app.ts';
import type { Wire } from '../support/wire.ts';

interface Frame {
  readonly status: string;
  readonly pipeline_run_id: string;
  readonly payload?: { readonly nodes: readonly unknown[]; readonly edges: readonly unknown[] };
}

interface Subscription {
  readonly opened: Promise<void>;
  readonly closed: Promise<{ readonly code: number; readonly reason: string; readonly frames: readonly Frame[] }>;
}

/** Enough items that a run lasts long enough to be subscribed to. */
const LETTERS = Array.from({ length: 60 }, (_, index) => ({
  name: `letter-${index}.txt`,
  content: `Ada Lovelace wrote letter ${index} to Charles Babbage from London in ${1800 + index}. `.repeat(20),
}));

describe('the WebSocket of a run', () => {
  let app: StartedApp;
  let wire: Wire;
  let token: string;

  before(async () => {
    app = await startApp({ REQUIRE_AUTHENTICATION: 'true' });
    ({ token, wire } = await signUp(app.baseUrl, 'ada'));
  });
  after(() => app.stop());

  function subscribe(runId: string, credential: { readonly header?: string; readonly query?: string }): Subscription {
    const query = credential.query === undefined ? '' : `?token=${credential.query}`;
    const headers = credential.header === undefined ? {} : { authorization: `Bearer ${credential.header}` };
    const url = `${app.baseUrl.replace('http', 'ws')}/api/v1/cognify/subscribe/${runId}${query}`;
    const socket = new WebSocket(url, { headers });
    const frames: Frame[] = [];
    socket.on('message', (data) => frames.push(JSON.parse(String(data))));
    return {
      opened: new Promise((resolve, reject) => {
        socket.once('open', () => resolve());
        socket.once('error', reject);
      }),
      closed: new Promise((resolve, reject) => {
        socket.once('close', (code, reason) => resolve({ code, reason: String(reason), frames }));
        socket.once('error', reject);
      }),
    };
  }

  async function startRun(dataset: string): Promise<string> {
    expect((await wire.upload(dataset, ...LETTERS)).status).to.equal(200);
    const started = await wire.post('/cognify', { datasets: [dataset], runInBackground: true });
    const [run] = Object.values(started.json) as { pipeline_run_id: string; status: string }[];
    expect(run?.status).to.equal('PipelineRunStarted');
    return run?.pipeline_run_id ?? '';
  }

  it('sends two clients every later frame of a background run, the graph last, and closes with 1000', async () => {
    const runId = await startRun('followed');
    const both = [subscribe(runId, { header: token }), subscribe(runId, { query: token })];
    await Promise.all(both.map(({ opened }) => opened));
    const [one, two] = await Promise.all(both.map(({ closed }) => closed));
    for (const seen of [one, two]) {
      expect(seen?.code).to.equal(1000);
      const statuses = seen?.frames.map(({ status }) => status) ?? [];
      expect(statuses.slice(0, -1).filter((status) => status !== 'PipelineRunProgress')).to.deep.equal([]);
      expect(statuses.at(-1)).to.equal('PipelineRunCompleted');
      expect(statuses.length).to.be.greaterThan(1);
      expect(new Set(seen?.frames.map((frame) => frame.pipeline_run_id))).to.deep.equal(new Set([runId]));
      expect(seen?.frames.at(-1)?.payload?.nodes.length).to.be.greaterThan(LETTERS.length);
    }
    // They came at slightly different moments: the later one saw the end of what the other saw.
    const [longer, shorter] = [one?.frames ?? [], two?.frames ?? []].sort((a, b) => b.length - a.length);
    expect(longer?.slice(-(shorter?.length ?? 0))).to.deep.equal(shorter);
  });
});

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { expectQuick, threadCpuTimeMs } from '../../../../test/support/cpu-time.ts';
import { engramError } from '../../kernel/errors.ts';
import { createLogger, createSilentLogger } from './logger.ts';
import { measured } from './measured.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { isSecretName, redact, redactText } from './redact.ts';

function capture() {
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger({
    level: 'info',
    name: 'engram',
    destination: { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  });
  return { lines, logger };
}

describe('createLogger', () => {
  it('writes one line per event with level, time, name and fields', () => {
    const { lines, logger } = capture();
    logger.info('run.completed', { runId: 'r', items: 3 });
    logger.debug('unheard');
    logger.child({ requestId: 'q' }).warn('run.slow');
    expect(lines).to.have.length(2);
    expect(lines[0]).to.include({ level: 'info', event: 'run.completed', name: 'engram', runId: 'r', items: 3 });
    expect(lines[0]?.['time']).to.match(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(lines[1]).to.include({ level: 'warn', event: 'run.slow', requestId: 'q' });
  });

  it('prints an error with its class and causes, and masks secrets wherever they stand', () => {
    const { lines, logger } = capture();
    const cause = new Error('Authorization: Bearer abcdefghijkl');
    logger.error('model.failed', {
      error: engramError('ServiceUnavailableError', 'refused: api_key="geheim-1"', { cause }),
      settings: { llmApiKey: 'geheim-2', nested: [{ password: 'geheim-3' }], maxTokens: 5 },
    });
    const text = JSON.stringify(lines);
    expect(text).to.not.include('geheim').and.not.include('abcdefghijkl');
    expect(lines[0]).to.deep.include({
      settings: { llmApiKey: '**********', nested: [{ password: '**********' }], maxTokens: 5 },
    });
    expect(lines[0]?.['error']).to.include({ type: 'ServiceUnavailableError', wireName: 'ServiceUnavailableError' });
  });

  it('survives fields that cannot be printed as they are', () => {
    const { lines, logger } = capture();
    const circle: Record<string, unknown> = { big: 10n, bytes: new Uint8Array(3), text: 'x'.repeat(9_000) };
    circle['self'] = circle;
    logger.info('odd', circle);
    expect(lines[0]).to.include({ big: '10', bytes: '<3 bytes>' });
    expect(JSON.stringify(lines[0]).length).to.be.lessThan(40_000);
  });

  it('has a silent form', () => {
    const logger = createSilentLogger();
    logger.child({ a: 1 }).error('nothing', { error: new Error('x') });
  });
});

describe('redact', () => {
  it('knows secrets by name and leaves look-alikes alone', () => {
    for (const name of [
      'password',
      'LLM_API_KEY',
      'x-api-key',
      'apiKey',
      'accessToken',
      'Authorization',
      'client_secret',
      'cookie',
    ]) {
      expect(isSecretName(name), name).to.equal(true);
    }
    for (const name of ['max_tokens', 'tokenCount', 'secretary', 'key', 'api_key_id', 'tokens']) {
      expect(isSecretName(name), name).to.equal(false);
    }
  });

  it('masks pairs inside text in many spellings, in linear time', () => {
    for (const text of [
      'password=geheim',
      '"api_key": "geheim \\" geheim"',
      "token: 'geheim'",
      'Error: secret=geheim',
      'X-Api-Key: geheim',
      'sk-geheimgeheim',
    ]) {
      expect(redactText(text), text).to.not.include('geheim');
    }
    const start = threadCpuTimeMs();
    redactText('a-'.repeat(100_000));
    redactText('"'.repeat(100_000));
    expectQuick(threadCpuTimeMs() - start, 1_000);
    expect(redact({ password: '', token: null })).to.deep.equal({ password: '', token: null });
  });
});

describe('measured', () => {
  type Call = Parameters<Metrics['store']>[0];

  class Store {
    readonly capabilities = { cypher: true };
    #rows = ['a', 'b'];
    async get(name: string): Promise<string> {
      await sleep(5);
      if (name === 'x') throw new Error('missing');
      return `${name}${this.#rows.length}`;
    }
    size(): number {
      return this.#rows.length;
    }
    get first(): string | undefined {
      return this.#rows[0];
    }
    async *scan(): AsyncGenerator<string> {
      for (const row of this.#rows) {
        await sleep(5);
        yield row;
      }
    }
  }

  it('times every method of a class, passes values and errors through, and keeps its data', async () => {
    const calls: Call[] = [];
    const store = measured(new Store(), 'graph', { store: (call) => void calls.push(call) });
    expect(await store.get('a')).to.equal('a2');
    expect(await store.get('x').catch((error: Error) => error.message)).to.equal('missing');
    expect(store.size()).to.equal(2);
    expect(store.capabilities).to.deep.equal({ cypher: true });
    expect(store.first).to.equal('a');
    const rows: string[] = [];
    for await (const row of store.scan()) rows.push(row);
    expect(rows).to.deep.equal(['a', 'b']);
    for await (const _ of store.scan()) break;
    expect(calls.map(({ port, method, outcome }) => `${port}.${method} ${outcome}`)).to.deep.equal([
      'graph.get ok',
      'graph.get error',
      'graph.size ok',
      'graph.scan ok',
      'graph.scan ok',
    ]);
    expect(calls[0]?.durationMs).to.be.greaterThan(3);
    expect(calls[3]?.durationMs).to.be.greaterThan(8);
  });

  it('times a port made of closures', async () => {
    const calls: Call[] = [];
    const port = measured({ read: async (value: number) => value + 1 }, 'blobs', {
      store: (call) => void calls.push(call),
    });
    expect(await port.read(1)).to.equal(2);
    expect(calls).to.have.length(1);
  });
});

describe('createMetrics', () => {
  it('prints what was counted, and reads the queue at the scrape', async () => {
    const metrics = createMetrics();
    let depth: Record<string, number> = { cognify: 2 };
    metrics.watchQueue(async () => depth);
    metrics.runState('cognify_pipeline', 'DATASET_PROCESSING_COMPLETED');
    metrics.modelTokens({ model: 'm', purpose: 'query', inputTokens: 10, outputTokens: 4 });
    metrics.modelCall({ model: 'm', kind: 'language', purpose: 'query', outcome: 'ok', durationMs: 20 });
    metrics.store({ port: 'graph', method: 'upsert', outcome: 'ok', durationMs: 3 });
    const first = await metrics.render();
    expect(first)
      .to.include('engram_queue_depth{kind="cognify"} 2')
      .and.include('engram_run_states_total{pipeline="cognify_pipeline",status="DATASET_PROCESSING_COMPLETED"} 1')
      .and.include('engram_model_tokens_total{model="m",purpose="query",direction="output"} 4')
      .and.include('engram_store_duration_seconds_count{port="graph",method="upsert",outcome="ok"} 1')
      .and.include('nodejs_eventloop_lag_p99_seconds');
    depth = { improve: 1 };
    expect(await metrics.render())
      .to.include('engram_queue_depth{kind="improve"} 1')
      .and.not.include('kind="cognify"');
    metrics.close();
  });

  it('tells how far the relay of events is behind, and nothing when that cannot be read', async () => {
    const metrics = createMetrics();
    let lag = Promise.resolve({ events: 7, seconds: 1.5 });
    metrics.watchRelay(() => lag);
    metrics.eventsRelayed('item.added', 3);
    expect(await metrics.render())
      .to.include('engram_event_relay_lag_events 7')
      .and.include('engram_event_relay_lag_seconds 1.5')
      .and.include('engram_events_relayed_total{type="item.added"} 3');
    lag = Promise.reject(new Error('down'));
    expect(await metrics.render()).to.not.match(/^engram_event_relay_lag_\w+ /m);
    metrics.close();
  });

  it('survives a queue that cannot be read', async () => {
    const metrics = createMetrics();
    metrics.watchQueue(async () => Promise.reject(new Error('down')));
    expect(await metrics.render()).to.include('engram_queue_depth');
    metrics.close();
  });
});

import { AsyncResource } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Span, SpanOwner } from '../../../domain/span.ts';
import { asId } from '../../../kernel/ids.ts';
import type { Bus, BusHandler, BusMessage } from '../../../storage/ports/bus.ts';
import { createMetrics } from '../metrics.ts';
import { createRecentTraces } from './recent-traces.ts';
import { createTracer, readCarried, tracedBus, tracedMetrics, writeCarried } from './tracer.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const OWNER: SpanOwner = { user: asId('u'), tenant: asId('t') };

function world(options: { readonly maxSpans?: number } = {}) {
  const spans: Span[] = [];
  const time = { ms: 0 };
  const clock = { now: () => new Date(1_700_000_000_000 + time.ms), monotonicMs: () => time.ms };
  const tracer = createTracer({ clock, record: (span) => void spans.push(span), ...options });
  const named = (name: string): Span => {
    const span = spans.find((each) => each.name === name);
    if (span === undefined) throw new Error(`no span ${name} in ${spans.map((each) => each.name).join(', ')}`);
    return span;
  };
  return { spans, time, tracer, named };
}

async function caught(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => null,
    (error: unknown) => error,
  );
}

describe('a tracer', () => {
  it('makes a tree of what a request did, with times', async () => {
    const { tracer, time, named, spans } = world();
    const answer = await tracer.root({ name: 'request', owner: OWNER }, async (describe) => {
      time.ms = 10;
      await tracer.step('step', { items: 2 }, async () => {
        await sleep(1);
        time.ms = 30;
        tracer.ended('documents.get', 5, { failed: true });
      });
      time.ms = 40;
      describe({ name: 'GET /things', attributes: { status: 200 } });
      return 'done';
    });
    expect(answer).to.equal('done');
    const root = named('GET /things');
    const step = named('step');
    const call = named('documents.get');
    expect(spans).to.have.length(3);
    expect(root).to.include({ parentId: null, rootId: root.id, startMs: 1_700_000_000_000, status: 'OK' });
    expect(root).to.deep.include({ endMs: 1_700_000_000_040, owner: OWNER, attributes: { status: 200 } });
    expect(root.traceId).to.match(/^[0-9a-f]{32}$/);
    expect(root.id).to.match(/^[0-9a-f]{16}$/);
    expect(step).to.deep.include({ parentId: root.id, rootId: root.id, owner: null, attributes: { items: 2 } });
    expect(call).to.include({ parentId: step.id, startMs: 1_700_000_000_025, status: 'ERROR', traceId: root.traceId });
  });

  it('keeps requests that go on side by side apart', async () => {
    const { tracer, spans } = world();
    const request = (name: string) =>
      tracer.root({ name }, async () => {
        await sleep(1);
        await tracer.step(`${name}/step`, {}, async () => {
          await sleep(1);
          tracer.ended(`${name}/call`, 0, {});
        });
      });
    await Promise.all([request('a'), request('b')]);
    for (const name of ['a', 'b']) {
      const own = spans.filter((span) => span.name.startsWith(name));
      expect(own).to.have.length(3);
      expect(new Set(own.map(({ traceId }) => traceId)).size).to.equal(1);
    }
    expect(new Set(spans.map(({ rootId }) => rootId)).size).to.equal(2);
  });

  it('tells of an error by its class, never by its words, and passes it on', async () => {
    const { tracer, named } = world();
    const error = new TypeError('a secret');
    const work = tracer.root({ name: 'request' }, () => tracer.step('step', {}, () => Promise.reject(error)));
    expect(await caught(work)).to.equal(error);
    expect(named('step')).to.deep.include({ status: 'ERROR', attributes: { error: 'TypeError' } });
    expect(named('request').status).to.equal('ERROR');
  });

  it('records nothing where nothing is under way, nor long after it ended', async () => {
    const { tracer, spans, time } = world();
    expect(await tracer.step('step', {}, async () => tracer.carried() ?? 'nothing')).to.equal('nothing');
    tracer.ended('call', 1, {});
    expect(spans).to.deep.equal([]);
    let late: (() => void) | undefined;
    await tracer.root({ name: 'request' }, async () => {
      // A timer that was started by the request keeps its place.
      late = bound(() => tracer.ended('late', 0, {}));
    });
    late?.();
    time.ms = 100_000;
    late?.();
    expect(spans.map(({ name }) => name)).to.deep.equal(['request', 'late']);
  });

  it('goes on with the trace of a client, a job or another process, and with nothing else', async () => {
    const { tracer, named } = world();
    const traceparent = `00-${TRACE}-${PARENT}-01`;
    let carried: string | undefined;
    await tracer.root({ name: 'request', continues: traceparent, owner: OWNER }, async () => {
      carried = tracer.carried();
    });
    const root = named('request');
    expect(root).to.include({ traceId: TRACE, parentId: PARENT });
    expect(carried).to.equal(`${root.id};00-${TRACE}-${root.id}-01`);
    await tracer.root({ name: 'run', continues: carried }, async () => {});
    expect(named('run')).to.include({ traceId: TRACE, parentId: root.id }).and.not.include({ rootId: root.id });
    await tracer.root({ name: 'other', continues: 'garbage' }, async () => {});
    expect(named('other')).to.include({ parentId: null }).and.not.include({ traceId: TRACE });
  });

  it('ends with a bound of spans, and says how many it left out', async () => {
    const { tracer, spans, named } = world({ maxSpans: 3 });
    await tracer.root({ name: 'request' }, async () => {
      for (let call = 0; call < 10; call += 1) tracer.ended('call', 0, {});
    });
    expect(spans).to.have.length(4);
    expect(named('request').attributes).to.deep.equal({ dropped_spans: 7 });
  });
});

/** As a timer does: called later, in the context of now. */
function bound(work: () => void): () => void {
  return AsyncResource.bind(work);
}

describe('what carries a trace', () => {
  it('is read when it is right', () => {
    const place = { traceId: TRACE, spanId: PARENT, rootId: '00f067aa0ba902b7' };
    expect(readCarried(writeCarried(place))).to.deep.equal(place);
    expect(readCarried(`00-${TRACE}-${PARENT}-00`)).to.deep.equal({ traceId: TRACE, spanId: PARENT });
    expect(readCarried(`cc-${TRACE}-${PARENT}-01-what-the-future-will-be-like`)).to.include({ traceId: TRACE });
    for (const wrong of [
      undefined,
      '',
      `ff-${TRACE}-${PARENT}-01`,
      `00-${TRACE}-${PARENT}-01-more`,
      `00-${'0'.repeat(32)}-${PARENT}-01`,
      `00-${TRACE}-${'0'.repeat(16)}-01`,
      `00-${TRACE.toUpperCase()}-${PARENT}-01`,
      `00-${TRACE}-${PARENT}`,
      `cc-${TRACE}-${PARENT}-01-${'x'.repeat(300)}`,
    ]) {
      expect(readCarried(wrong), String(wrong)).to.equal(null);
    }
  });
});

describe('recent traces', () => {
  const span = (id: string, more: Partial<Span> = {}): Span => ({
    traceId: TRACE,
    id,
    parentId: null,
    rootId: id,
    name: id,
    startMs: 1,
    endMs: 2,
    status: 'OK' as const,
    attributes: {},
    owner: OWNER,
    ...more,
  });
  const all = () => true;

  it('show what has ended, each span once, in order', () => {
    const traces = createRecentTraces();
    traces.add(span('call', { rootId: 'root', parentId: 'root', owner: null, startMs: 5 }));
    expect(traces.list(all)).to.deep.equal([]);
    traces.add(span('root'));
    traces.add(span('root'));
    traces.add(span('older', { traceId: 'other', startMs: 0 }));
    const [older, trace] = traces.list(all);
    expect(older?.root.name).to.equal('older');
    expect(trace).to.include({ id: TRACE });
    expect(trace?.spans.map(({ id }) => id)).to.deep.equal(['root', 'call']);
  });

  it('show nothing before what it was done for, whatever the clocks of processes say', () => {
    const traces = createRecentTraces();
    traces.add(span('root', { startMs: 2 }));
    traces.add(span('answer', { rootId: 'root', parentId: 'ask', owner: null, startMs: 1.2 }));
    traces.add(span('inside', { rootId: 'root', parentId: 'answer', owner: null, startMs: 1.1 }));
    traces.add(span('ask', { rootId: 'root', parentId: 'root', owner: null, startMs: 2 }));
    expect(traces.list(all)[0]?.spans.map(({ id }) => id)).to.deep.equal(['root', 'ask', 'answer', 'inside']);
  });

  it('keep apart whose requests have the same trace id', () => {
    const traces = createRecentTraces();
    traces.add(span('mine'));
    traces.add(span('also mine', { startMs: 3 }));
    traces.add(span('hers', { owner: { ...OWNER, user: asId('v') } }));
    traces.add(span('hers/call', { rootId: 'hers', owner: null }));
    const [trace, ...others] = traces.list((owner) => owner?.user === OWNER.user);
    expect(others).to.deep.equal([]);
    expect(trace?.spans.map(({ id }) => id)).to.deep.equal(['mine', 'also mine']);
    expect(trace?.root.id).to.equal('mine');
  });

  it('let the oldest go, and leave out what is too much of one', () => {
    const traces = createRecentTraces({ maxRoots: 2, maxSpans: 2 });
    for (const id of ['a', 'b', 'c']) traces.add(span(id, { traceId: id }));
    expect(traces.list(all).map(({ id }) => id)).to.deep.equal(['b', 'c']);
    for (const id of ['c1', 'c2', 'c3']) traces.add(span(id, { traceId: 'c', rootId: 'c' }));
    expect(traces.list(all).at(-1)?.spans).to.have.length(2);
  });
});

describe('a traced bus', () => {
  /** Hands a request to the handler of its subject, and keeps what it carried. */
  function createBus() {
    const handlers = new Map<string, BusHandler>();
    const messages: BusMessage[] = [];
    const bus = {
      async request(subject, payload, { headers = {} }) {
        const message = { subject, payload, headers };
        messages.push(message);
        return (await handlers.get(subject)?.(message, new AbortController().signal)) ?? payload;
      },
      async respond(subject, handler) {
        handlers.set(subject, handler);
        return { stop: async () => {} };
      },
    } satisfies Partial<Bus> as unknown as Bus;
    return { bus, messages };
  }
  const bytes = new Uint8Array();

  it('joins what another process does for a request to it', async () => {
    const { bus, messages } = createBus();
    const [asking, answering] = [world(), world()];
    await tracedBus(bus, answering.tracer).respond('engram.auth.Authenticate', async ({ payload }) => {
      answering.tracer.ended('documents.get', 0, {});
      return payload;
    });
    const asker = tracedBus(bus, asking.tracer);
    await asking.tracer.root({ name: 'request' }, () =>
      asker.request('engram.auth.Authenticate', bytes, { deadlineMs: 1, headers: { 'request-id': 'r' } }),
    );
    const ask = asking.named('ask auth.Authenticate');
    const answer = answering.named('answer auth.Authenticate');
    expect(answer).to.include({ parentId: ask.id, rootId: asking.named('request').id, traceId: ask.traceId });
    expect(answering.named('documents.get').parentId).to.equal(answer.id);
    expect(messages[0]?.headers['request-id']).to.equal('r');
  });

  it('tells of an answer inside the process once', async () => {
    const { bus } = createBus();
    const { tracer, named, spans } = world();
    const traced = tracedBus(bus, tracer);
    await traced.respond('engram.auth.Authenticate', async ({ payload }) => {
      tracer.ended('documents.get', 0, {});
      return payload;
    });
    await tracer.root({ name: 'request' }, () => traced.request('engram.auth.Authenticate', bytes, { deadlineMs: 1 }));
    expect(spans).to.have.length(3);
    expect(named('documents.get').parentId).to.equal(named('ask auth.Authenticate').id);
  });

  it('leaves a message alone that nothing is under way for', async () => {
    const { bus, messages } = createBus();
    const { tracer, spans } = world();
    await tracedBus(bus, tracer).request('engram.auth.Authenticate', bytes, { deadlineMs: 1 });
    expect(messages[0]?.headers).to.deep.equal({});
    expect(spans).to.deep.equal([]);
  });
});

describe('traced metrics', () => {
  it('make steps of the calls that are counted', async () => {
    const { tracer, named } = world();
    const plain = createMetrics();
    const metrics = tracedMetrics(plain, tracer);
    await tracer.root({ name: 'request' }, async () => {
      metrics.store({ port: 'graph', method: 'upsert', outcome: 'error', durationMs: 0 });
      const usage = { inputTokens: 7, outputTokens: 3 };
      metrics.modelCall({ model: 'm', kind: 'language', purpose: 'query', outcome: 'ok', durationMs: 0, usage });
    });
    expect(named('graph.upsert')).to.include({ status: 'ERROR', parentId: named('request').id });
    expect(named('model language').attributes).to.deep.equal({
      model: 'm',
      purpose: 'query',
      input_tokens: 7,
      output_tokens: 3,
    });
    expect(await metrics.render())
      .to.include('engram_model_call_duration_seconds_count{model="m",purpose="query",outcome="ok"} 1')
      .and.include('engram_store_duration_seconds_count{port="graph",method="upsert",outcome="error"} 1');
    plain.close();
  });
});

import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { CALL } from '../../../test/support/call-route.ts';
import {
  capitalsExtractor,
  createWorld,
  startCognify,
  type TestCognify,
  type TestWorld,
} from '../../../test/support/cognify-service.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import type { Extractor } from '../../common/ports/extractor.ts';

interface Frame {
  readonly status: string;
  readonly pipeline_run_id: string;
  readonly payload?: { readonly nodes: readonly unknown[]; readonly edges: readonly unknown[] };
}

function subscribe(cognify: TestCognify, runId: string, principal: Principal | null) {
  const frames: Frame[] = [];
  const closes: [number, string | undefined][] = [];
  const aborter = new AbortController();
  const [socket] = cognify.service.sockets;
  if (socket === undefined) throw new Error('no socket');
  const served = socket.serve({
    principal,
    params: { runId },
    query: {},
    context: CALL,
    signal: aborter.signal,
    async send(frame) {
      frames.push(frame as Frame);
    },
    close: (code, reason) => {
      closes.push([code, reason]);
    },
  });
  return { frames, closes, served, leave: () => aborter.abort() };
}

/** Waits at the first text until it is released. */
function heldExtractor() {
  const gate = Promise.withResolvers<void>();
  const entered = Promise.withResolvers<void>();
  const extractor: Extractor = {
    version: 'held/1',
    async extract(input, context) {
      entered.resolve();
      await gate.promise;
      if (input.text.includes('broken')) throw engramError('CogneeValidationError', 'broken');
      return capitalsExtractor.extract(input, context);
    },
  };
  return { extractor, entered: entered.promise, letGo: gate.resolve };
}

async function underWay(world: TestWorld) {
  const { extractor, entered, letGo } = heldExtractor();
  const cognify = await startCognify(world, { extractor });
  const { id } = await cognify.start();
  await entered;
  return { cognify, id, letGo };
}

describe('WebSocket /api/v1/cognify/subscribe/:runId', () => {
  it('sends no frame a second after the permission was revoked', async () => {
    const world = await createWorld();
    await world.addText('one', 'Ada met Grace.');
    const { cognify, id, letGo } = await underWay(world);
    await using _ = cognify;
    const { frames, closes, served } = subscribe(cognify, id, world.principal);
    await new Promise((resolve) => setTimeout(resolve, 1050));
    world.permitted.clear();
    letGo();
    await served;
    expect(frames).to.deep.equal([]);
    expect(closes).to.deep.equal([[1008, 'Not authorized to read this pipeline run']]);
  });

  it('closes after the frame of a failed run too', async () => {
    const world = await createWorld();
    await world.addText('one', 'this is broken');
    const { cognify, id, letGo } = await underWay(world);
    await using _ = cognify;
    const { frames, closes, served } = subscribe(cognify, id, world.principal);
    letGo();
    await served;
    expect(frames.at(-1)).to.deep.include({ status: 'PipelineRunErrored', payload: { nodes: [], edges: [] } });
    expect(closes).to.deep.equal([[1000, undefined]]);
  });

  it('refuses with 1008 and the reason', async () => {
    const world = await createWorld();
    await using cognify = await startCognify(world);
    const run = await cognify.run();
    const reasonFor = async (runId: string, principal: Principal | null) => {
      const { closes, served } = subscribe(cognify, runId, principal);
      await served;
      return closes;
    };
    expect(await reasonFor(run.id, null)).to.deep.equal([[1008, 'Unauthorized']]);
    expect(await reasonFor('not-an-id', world.principal)).to.deep.equal([[1008, 'Invalid pipeline run id']]);
    expect(await reasonFor(randomUUID(), world.principal)).to.deep.equal([[1008, 'Pipeline run not found']]);
    world.permitted.clear();
    expect(await reasonFor(run.id, world.principal), 'not readable').to.deep.equal([[1008, 'Pipeline run not found']]);
  });

  it('ends without an error when the client disconnects', async () => {
    const world = await createWorld();
    await world.addText('one', 'Ada met Grace.');
    const { cognify, id, letGo } = await underWay(world);
    await using _ = cognify;
    const { frames, closes, served, leave } = subscribe(cognify, id, world.principal);
    await new Promise((resolve) => setTimeout(resolve, 10));
    leave();
    await served;
    expect([frames, closes]).to.deep.equal([[], []]);
    letGo();
  });
});

import { expect } from 'chai';
import { CALL } from '../../../test/support/call-route.ts';
import { capitalsExtractor, createWorld, parsedText, startCognify } from '../../../test/support/cognify-service.ts';
import { graphOf } from '../../../test/support/visible-graph.ts';
import { itemBlobs } from '../../common/domain/data-item.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { awaitRun } from '../../common/platform/jobs/await-run.ts';
import type { Extractor } from '../../common/ports/extractor.ts';
import { ledgerCollection } from '../../common/records/cognify/ledger.ts';
import { statementsCollection } from '../../common/records/cognify/statements.ts';

/** Fails on texts that hold the word. */
function failingOn(word: string, error: Error): Extractor {
  return {
    version: 'failing/1',
    async extract(input, context) {
      if (input.text.includes(word)) throw error;
      return capitalsExtractor.extract(input, context);
    },
  };
}

describe('cognify run', () => {
  it('builds all added items into one graph', async () => {
    const world = await createWorld();
    await using cognify = await startCognify(world);
    const item = await world.addText('people', 'Ada met Grace. Grace liked Ada.', { nodeSets: ['friends'] });
    const run = await cognify.run();
    expect(run.status).to.equal('DATASET_PROCESSING_COMPLETED');
    expect(run.items).to.deep.equal([{ item: item.id, status: 'completed' }]);
    expect(run.counts).to.include({ documents: 1, chunks: 1, entities: 2, relationships: 2 });
    const { nodes, edges } = await graphOf(world);
    const named = nodes.filter(({ type }) => type === 'Entity').map(({ name, mentions }) => [name, mentions]);
    expect(named).to.have.deep.members([
      ['Ada', 2],
      ['Grace', 2],
    ]);
    expect(nodes.map(({ type }) => type)).to.include.members([
      'TextDocument',
      'DocumentChunk',
      'TextSummary',
      'NodeSet',
    ]);
    expect(new Set(edges.map(({ relation }) => relation))).to.deep.equal(
      new Set(['knows', 'contains', 'is_part_of', 'made_from', 'is_a', 'belongs_to_set']),
    );
    const ids = new Set(nodes.map(({ id }) => id));
    expect(edges.every(({ source, target }) => ids.has(source) && ids.has(target))).to.equal(true);
  });

  it('begins, writes and commits the items of a batch together', async () => {
    const world = await createWorld();
    const calls = { commit: 0, upsert: 0 };
    const { text } = world.indexes;
    const upsert = text.upsert.bind(text);
    text.upsert = async (...rows) => {
      calls.upsert += 1;
      await upsert(...rows);
    };
    const commit = world.store.commit.bind(world.store);
    const areAllExtracted = Promise.withResolvers<void>();
    let extracted = 0;
    world.store.commit = async (scope, writes) => {
      const isOf = ({ name }: { readonly name: string }) => writes.some(({ collection }) => collection.name === name);
      if (isOf(ledgerCollection)) calls.commit += 1;
      // The last step before an item's rows are written: how soon the items get there depends on the machine.
      if (isOf(statementsCollection)) {
        extracted += 1;
        if (extracted === 20) areAllExtracted.resolve();
        await areAllExtracted.promise;
      }
      return commit(scope, writes);
    };
    await using cognify = await startCognify(world, { runs: { leaseMs: 60_000 } });
    for (let number = 0; number < 20; number++) await world.addText(`note ${number}`, `Ada met Grace ${number} times.`);
    await cognify.run();
    expect(calls.upsert).to.equal(1);
    expect(calls.commit).to.be.at.most(8);
  });

  it('gives every chunk, summary, entity and edge a text row and a vector', async () => {
    const world = await createWorld();
    await using cognify = await startCognify(world);
    await world.addText('people', 'Ada met Grace. Grace liked Ada.');
    await cognify.run();
    const scope = scopeOf(world.dataset);
    for (const [kind, rows] of Object.entries({ chunk: 1, summary: 1, entity: 3, edge: 2 } as const)) {
      const filter = { kind: kind as 'chunk' };
      expect(await world.indexes.text.count(scope, filter), `${kind} texts`).to.equal(rows);
      expect(await world.indexes.vectors.count(scope, filter), `${kind} vectors`).to.equal(rows);
    }
  });

  it('skips built items, builds changed ones and removes the rows of the old content', async () => {
    const world = await createWorld();
    await using cognify = await startCognify(world);
    const kept = await world.addText('kept', 'Ada met Grace.');
    const changed = await world.addText('changed', 'Alan met Kurt.');
    await cognify.run();
    await world.addText('changed', 'Emmy met David.', { id: changed.id });
    const run = await cognify.run();
    expect(run.items).to.deep.equal([
      { item: kept.id, status: 'already_completed' },
      { item: changed.id, status: 'completed' },
    ]);
    expect(run.counts).to.include({ documents: 1 });
    const names = (await graphOf(world)).nodes.map(({ name }) => name);
    expect(names).to.include.members(['Emmy', 'Ada']);
    expect(names).to.not.include('Alan');
    const scope = scopeOf(world.dataset);
    expect((await world.indexes.graph.count(scope, { item: changed.id })).nodes).to.be.below(10);
    expect(await world.indexes.text.count(scope, { kind: 'chunk' })).to.equal(2);
  });

  it('ends with the error of a failing item, and keeps committed items', async () => {
    const world = await createWorld();
    const extractor = failingOn('Kurt', engramError('LLMPaymentRequiredError', 'LLM budget exhausted: no more'));
    await using cognify = await startCognify(world, { extractor });
    const good = await world.addText('good', 'Ada met Grace.');
    const bad = await world.addText('bad', 'Alan met Kurt.');
    const run = await cognify.run({ dataPerBatch: 1 });
    expect(run).to.include({
      status: 'DATASET_PROCESSING_ERRORED',
      errorClass: 'LLMPaymentRequiredError',
      errorStatus: 402,
      errorMessage: 'LLM budget exhausted: no more',
    });
    expect([...(await world.ledger.committed(scopeOf(world.dataset), [good.id, bad.id])).keys()]).to.deep.equal([
      good.id,
    ]);
    expect((await world.indexes.graph.count(scopeOf(world.dataset), { item: bad.id })).nodeRows).to.equal(0);
  });

  it('builds all other items when one fails, and reports its name and error', async () => {
    const world = await createWorld();
    const extractor = failingOn('Kurt', engramError('CogneeValidationError', 'broken'));
    await using cognify = await startCognify(world, { extractor });
    const bad = await world.addText('bad', 'Alan met Kurt.');
    const good = await world.addText('good', 'Ada met Grace.');
    const run = await cognify.run({ dataPerBatch: 1 });
    expect(run).to.include({
      status: 'DATASET_PROCESSING_COMPLETED',
      errorClass: 'PipelineRunFailedError',
      errorMessage: "1 item could not be built. 'bad': broken",
    });
    expect(run.counts).to.include({ documents: 1, failed_items: 1 });
    const failure = { name: 'bad', errorClass: 'CogneeValidationError', message: 'broken', isSetAside: false };
    expect(run.items).to.deep.equal([
      { item: bad.id, status: 'errored', failure },
      { item: good.id, status: 'completed' },
    ]);
    const logged = cognify.log.find(({ event }) => event === 'cognify.item.failed');
    expect(logged?.fields).to.include({ itemId: bad.id, name: 'bad', reason: 'broken' });
    expect((await graphOf(world)).nodes.map(({ name }) => name))
      .to.include('Grace')
      .and.not.include('Kurt');
  });

  it('ends at the first failing item with raiseItemErrors', async () => {
    const world = await createWorld();
    const extractor = failingOn('Kurt', engramError('CogneeValidationError', 'broken'));
    await using cognify = await startCognify(world, { extractor, settings: { raiseItemErrors: true } });
    await world.addText('bad', 'Alan met Kurt.');
    await world.addText('good', 'Ada met Grace.');
    const run = await cognify.run({ dataPerBatch: 1 });
    expect(run).to.include({ status: 'DATASET_PROCESSING_ERRORED', errorMessage: 'broken' });
    expect((await graphOf(world)).nodes).to.deep.equal([]);
  });

  it('ends with the error of an item and its name when no item could be built', async () => {
    const world = await createWorld();
    const extractor = failingOn('Kurt', engramError('CogneeValidationError', 'broken'));
    await using cognify = await startCognify(world, { extractor });
    await world.addText('bad', 'Alan met Kurt.');
    const run = await cognify.run();
    expect(run).to.include({
      status: 'DATASET_PROCESSING_ERRORED',
      errorClass: 'CogneeValidationError',
      errorMessage: "'bad' could not be built: broken",
      errorStatus: 422,
    });
  });

  it('builds an item without the entities of a chunk whose extraction fails', async () => {
    const world = await createWorld();
    const extractor = failingOn('Kurt', new Error('broken'));
    await using cognify = await startCognify(world, { extractor });
    const filler = 'Ada met Grace in the house by the river. '.repeat(12);
    await world.addText('long', [filler, `Alan met Kurt. ${filler}`, `Emmy met David. ${filler}`].join('\n\n'));
    const run = await cognify.run({ chunkSize: 160 });
    expect(run).to.include({ status: 'DATASET_PROCESSING_COMPLETED', errorClass: null });
    expect(run.counts).to.include({ documents: 1, failed_chunks: 1 });
    expect((await graphOf(world)).nodes.map(({ name }) => name))
      .to.include.members(['Ada', 'Emmy'])
      .and.not.include('Kurt');
    expect(cognify.log.filter(({ event }) => event === 'cognify.chunk.failed')).to.have.length(1);
  });

  it('retries a failed item in later runs, sets it aside after the third, and builds changed content', async () => {
    const world = await createWorld();
    let asked = 0;
    const extractor: Extractor = {
      version: 'counting/1',
      async extract(input, context) {
        if (input.text.includes('Kurt')) asked += 1;
        return failingOn('Kurt', engramError('CogneeValidationError', 'broken')).extract(input, context);
      },
    };
    await using cognify = await startCognify(world, { extractor });
    await world.addText('good', 'Ada met Grace.');
    const bad = await world.addText('bad', 'Alan met Kurt.');
    const setAside: boolean[] = [];
    for (let run = 1; run <= 5; run++) {
      const { status, items } = await cognify.run();
      expect(status).to.equal('DATASET_PROCESSING_COMPLETED');
      setAside.push(items.find(({ item }) => item === bad.id)?.failure?.isSetAside ?? false);
    }
    expect(asked).to.equal(3);
    expect(setAside).to.deep.equal([false, false, true, true, true]);
    await world.ledger.forgive(scopeOf(world.dataset), [bad.id]);
    await cognify.run();
    expect(asked).to.equal(4);
    await world.addText('bad', 'Alan met Emmy.', { id: bad.id });
    const { items } = await cognify.run();
    expect(items.map(({ status }) => status)).to.deep.equal(['already_completed', 'completed']);
  });

  it('does not count a provider failure against an item, and resumes it where runs are resumed', async () => {
    for (const onStoreFailure of ['retry', 'end'] as const) {
      const world = await createWorld();
      let isAway = true;
      const extractor: Extractor = {
        version: 'away/1',
        async extract(input, context) {
          const error = engramError('ServiceUnavailableError', 'no answer', { retryable: true });
          if (isAway && input.text.includes('Kurt')) {
            isAway = false;
            throw error;
          }
          return capitalsExtractor.extract(input, context);
        },
      };
      await using cognify = await startCognify(world, { extractor, runs: { onStoreFailure } });
      await world.addText('good', 'Ada met Grace.');
      const late = await world.addText('late', 'Alan met Kurt.');
      const { id } = await cognify.start();
      const end = () => awaitRun(cognify.messenger, id, CALL).catch(() => null);
      const run = (await end()) ?? (await end());
      expect(run?.status).to.equal('DATASET_PROCESSING_COMPLETED');
      const isBuilt = run?.items.find(({ item }) => item === late.id)?.status !== 'errored';
      expect(isBuilt, onStoreFailure).to.equal(onStoreFailure === 'retry');
      const entry = (await world.ledger.entries(scopeOf(world.dataset), [late.id])).get(late.id);
      expect(entry?.tries).to.equal(0);
    }
  });

  it('parses the original again when the stored text is truncated or missing', async () => {
    const world = await createWorld();
    const scope = scopeOf(world.dataset);
    const documents = {
      async loadEncoded({ content }: { readonly content: Uint8Array }) {
        const { text, blocks, ...facts } = parsedText(Buffer.from(content).toString());
        return { ...facts, json: [Buffer.from(JSON.stringify({ ...facts, text, blocks }))] };
      },
    };
    await using cognify = await startCognify(world, { documents });
    const cut = await world.addText('cut', 'Ada met Grace.');
    const missing = await world.addText('missing', 'Alan met Kurt.');
    for (const [item, text] of [
      [cut, 'Ada met Grace.'],
      [missing, 'Alan met Kurt.'],
    ] as const)
      await world.blobs.put(scope, itemBlobs.original(item), Buffer.from(text));
    await world.blobs.put(scope, itemBlobs.parsed(cut), Buffer.from('{"text":"Ada m'));
    await world.blobs.remove(scope, [itemBlobs.parsed(missing)]);
    const run = await cognify.run();
    expect(run.items.map(({ status }) => status)).to.deep.equal(['completed', 'completed']);
    expect((await graphOf(world)).nodes.map(({ name }) => name)).to.include.members(['Ada', 'Kurt']);
    expect(await world.blobs.get(scope, itemBlobs.parsed(missing))).to.not.equal(null);
  });

  it('calls a model once per passage, however often the item is built', async () => {
    const world = await createWorld();
    let calls = 0;
    const extractor: Extractor = {
      version: 'model/test',
      async extract(input, context) {
        calls += 1;
        const usage = { inputTokens: 7, outputTokens: 3 };
        context.onUsage?.(usage, 'language');
        return { ...(await capitalsExtractor.extract(input, context)), usage };
      },
    };
    await using cognify = await startCognify(world, {
      extractor,
      models: { keepExtractions: true },
      runs: { leaseMs: 60_000 },
    });
    const item = await world.addText('one', 'Ada met Grace.');
    await cognify.run();
    await world.ledger.reset(scopeOf(world.dataset), [item.id], new Date().toISOString());
    const again = await cognify.run();
    expect(again.items).to.deep.equal([{ item: item.id, status: 'completed' }]);
    expect(calls).to.equal(1);
    const rows = (await cognify.call('GET', '/api/v1/activity/pipeline-runs')).json as { tokens_in: number }[];
    expect(rows.map((row) => row.tokens_in)).to.deep.equal([0, null, 7, null]);
  });

  it('leaves out a removed item, and reports lost content of an existing one', async () => {
    const world = await createWorld();
    await using cognify = await startCognify(world);
    const lost = await world.addText('lost', 'Ada met Grace.');
    const kept = await world.addText('kept', 'Alan met Kurt.');
    await world.blobs.removeAll(scopeOf(world.dataset), itemBlobs.prefix(lost.id));
    const withLoss = await cognify.run();
    expect(withLoss.items[0]?.failure).to.include({ name: 'lost', errorClass: 'ContentMissingError' });
    expect(withLoss.items[0]?.failure?.message).to.contain('missing');
    world.vanished.add(lost.id);
    const run = await cognify.run();
    expect(run.status).to.equal('DATASET_PROCESSING_COMPLETED');
    expect(run.items.map(({ item }) => item)).to.deep.equal([kept.id]);
  });

  it('extracts a long document in waves with the names of earlier waves', async () => {
    const world = await createWorld();
    const known: number[] = [];
    const extractor: Extractor = {
      version: 'watching/1',
      extract(input, context) {
        known.push(input.knownNames.length);
        return capitalsExtractor.extract(input, context);
      },
    };
    await using cognify = await startCognify(world, { extractor, settings: { chunksPerBatch: 16 } });
    const paragraph = (index: number) => `${'Ada met Grace in the house by the river. '.repeat(12)}Number ${index}.`;
    await world.addText('long', Array.from({ length: 40 }, (_, index) => paragraph(index)).join('\n\n'));
    const run = await cognify.run({ chunkSize: 160 });
    expect(run.status).to.equal('DATASET_PROCESSING_COMPLETED');
    expect(known.length).to.be.above(32);
    expect(known.slice(0, 16).every((count) => count === 0)).to.equal(true);
    expect(known.slice(16).every((count) => count > 0)).to.equal(true);
    expect(run.counts?.['chunks']).to.equal(known.length);
    expect(cognify.log.filter(({ event }) => event === 'cognify.chunks').length).to.be.above(1);
  });
});

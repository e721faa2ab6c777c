import { expect } from 'chai';
import { CALL } from '../../../test/support/call-route.ts';
import { createWorld, startCognify, type TestCognify, type TestWorld } from '../../../test/support/cognify-service.ts';
import { dyingProcess } from '../../../test/support/dying-ports.ts';
import { createTestJobs } from '../../../test/support/job-worker.ts';
import { until } from '../../../test/support/until.ts';
import type { DataItem } from '../../common/domain/data-item.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { type DatasetScope, SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { createHashingEmbedder } from '../../common/models/hashing/hashing-embedder.ts';
import type { EmbeddingState } from '../../common/platform/messaging/messages.ts';
import { createSystemClock } from '../../common/platform/system/clock.ts';
import { createIdSource } from '../../common/platform/system/id-source.ts';
import type { EmbedderSource } from '../../common/ports/embedders.ts';
import type { Embedder } from '../../common/ports/models.ts';
import { createLedger } from '../../common/records/cognify/ledger.ts';
import {
  createVectorIndexVersions,
  reembeddedItemsCollection,
} from '../../common/records/cognify/vector-index-versions.ts';
import { type IndexKind, VECTOR_KINDS } from '../../common/storage/ports/index-entry.ts';
import { isSameSpace } from '../../common/storage/ports/vector-index.ts';
import { DEFAULT_COGNIFY_SETTINGS } from '../settings.ts';
import { followRequest } from './migrate-embedding.ts';
import { createMigrationWorker, followMigration, MIGRATION_JOB } from './migration-jobs.ts';

const OLD = createHashingEmbedder({ dimensions: 64 });
/** As many dimensions, and no vector like those of the other. */
const NEW = backwards(OLD, 'test/backwards');

function backwards(inner: Embedder, model: string): Embedder {
  return {
    ...inner,
    space: { ...inner.space, model },
    embed: async (texts, context) => (await inner.embed(texts, context)).map((vector) => vector.toReversed()),
  };
}

/** Stores of a process that dies at its nth call: before the call takes effect, or after, its answer lost. */
function dyingStores({ store, indexes }: TestWorld, dieAt: number, mode: 'before' | 'after') {
  const { dying, isDead } = dyingProcess(dieAt, mode);
  const { text, vectors, graph } = indexes;
  const dyingStore = dying(store);
  return {
    isDead,
    parts: { store: dyingStore, ledger: createLedger(dyingStore), indexes: { text, vectors: dying(vectors), graph } },
  };
}

/** Embedding models that are configured, of which one is wanted. */
interface Configured extends EmbedderSource {
  known: Embedder[];
  requested: Embedder;
}

function configured(): Configured {
  const source: Configured = {
    known: [OLD],
    requested: OLD,
    wanted: async () => source.requested,
    of: async (_, space) => source.known.find((embedder) => isSameSpace(embedder.space, space)) ?? null,
  };
  return source;
}

describe('migration of a dataset to another embedding model', () => {
  let world: TestWorld;
  let cognify: TestCognify;
  let models: Configured;
  let scope: DatasetScope;
  let passedMs: number;
  beforeEach(async () => {
    world = await createWorld();
    models = configured();
    passedMs = 0;
    scope = scopeOf(world.dataset);
    cognify = await startCognify(world, { embedder: OLD, embedders: models });
  });
  afterEach(() => cognify[Symbol.asyncDispose]());

  const vectorVersions = () => createVectorIndexVersions({ store: world.store, vectors: world.indexes.vectors, clock });
  const clock = { ...createSystemClock(), now: () => new Date(Date.now() + passedMs) };
  const go = (
    options: Parameters<typeof followRequest>[2] = {},
    {
      store,
      indexes,
      ledger,
    }: Pick<TestWorld, 'store' | 'ledger'> & { readonly indexes: Omit<TestWorld['indexes'], 'close'> } = world,
  ): Promise<EmbeddingState> => {
    const { text, graph, vectors } = indexes;
    const logger = { debug() {}, info() {}, warn() {}, error() {} };
    const own = createVectorIndexVersions({ store, vectors, clock });
    return followRequest(
      {
        text,
        graph,
        vectors: own.vectors,
        vectorVersions: own,
        embedders: models,
        ledger,
        clock,
        logger,
        settings: { ...DEFAULT_COGNIFY_SETTINGS, embeddingBatchSize: 2, embeddingConcurrency: 1 },
      },
      scope,
      options,
    );
  };
  const want = (embedder: Embedder) => {
    models.known = [...new Set([...models.known, embedder])];
    models.requested = embedder;
  };
  const tell = async (...names: readonly string[]): Promise<DataItem[]> => {
    const items: DataItem[] = [];
    for (const name of names) items.push(await world.addText(name, `${name} knows Babbage. ${name} lives in Oslo.`));
    await cognify.run();
    return items;
  };
  const forget = (items: readonly DataItem[]) =>
    cognify.messenger.call(
      'cognify.Erase',
      { dataset: world.dataset, items: items.map(({ id }) => id), memoryOnly: false },
      { ...CALL, principal: world.principal },
    );
  /** As the service does it, at the time of this test. */
  const eraseRows = async ({ id }: DataItem) => {
    await world.ledger.tombstone(scope, [id]);
    await Promise.all(
      [world.indexes.text, vectorVersions().vectors, world.indexes.graph].map((of) => of.remove(scope, { item: id })),
    );
  };
  const finish = async (): Promise<EmbeddingState> => {
    passedMs += 60_000;
    return go();
  };
  /** Vectors of committed generations in an index version, by kind and id. */
  const vectorsIn = async (home: DatasetScope): Promise<ReadonlyMap<string, Float32Array>> => {
    const found = new Map<string, Float32Array>();
    const committed = await world.ledger.allCommitted(scope);
    for (const [item, generation] of committed) {
      for (const kind of VECTOR_KINDS) {
        const rows = await world.indexes.text.list(scope, { kind, provenance: { item, generation }, limit: 1000 });
        const ids = rows.map(({ id }) => id);
        for (const row of await world.indexes.vectors.fetch(home, kind, ids)) {
          if (row.item === item && row.generation === generation) found.set(`${item} ${kind} ${row.id}`, row.vector);
        }
      }
    }
    return found;
  };
  const textCount = async () => {
    const counts = await Promise.all(VECTOR_KINDS.map((kind: IndexKind) => world.indexes.text.count(scope, { kind })));
    return counts.reduce((sum, count) => sum + count, 0);
  };
  const newest = async () => vectorVersions().active(scope);

  it('does nothing without vectors, or when they are of the requested model', async () => {
    expect(await go()).to.deep.equal({ embedding: null, migration: null, failure: null });
    await tell('Ada');
    expect(await go()).to.deep.equal({ embedding: OLD.space, migration: null, failure: null });
  });

  it('makes every vector as cognify does, activates them, and removes the former ones', async () => {
    await tell('Ada', 'Grace', 'Alan');
    const former = await vectorsIn(scope);
    want(NEW);
    const swapped = await go();
    expect(swapped.embedding).to.deep.equal(NEW.space);
    expect(swapped.migration).to.include({ phase: 'settling', done: 3, total: 3 });
    const { scope: home, number } = await newest();
    const made = await vectorsIn(home);
    expect(number).to.equal(1);
    expect([...made.keys()].sort()).to.deep.equal([...former.keys()].sort());
    for (const [key, vector] of made) {
      const before = former.get(key)?.toReversed() ?? [];
      expect(Math.max(...vector.map((value, at) => Math.abs(value - (before[at] ?? 9)))), key).to.be.lessThan(1e-3);
    }
    // Searches that are under way may still read the former ones.
    expect(await world.indexes.vectors.count(scope, {})).to.equal(made.size);
    expect(await finish()).to.deep.equal({ embedding: NEW.space, migration: null, failure: null });
    expect(await world.indexes.vectors.count(scope, {})).to.equal(0);
    expect(await world.store.count(scope, reembeddedItemsCollection, {})).to.equal(0);
    expect(await vectorVersions().vectors.count(scope, {})).to.equal(made.size);
  });

  /** The service's jobs, at the time of this test. */
  const jobs = () => {
    const { text, graph, vectors } = world.indexes;
    const logger = { debug() {}, info() {}, warn() {}, error() {} };
    const deps = {
      text,
      graph,
      vectors,
      vectorVersions: vectorVersions(),
      embedders: models,
      ledger: world.ledger,
      clock,
      logger,
      store: world.store,
      workQueue: createTestJobs(world.store, clock).workQueue,
      ids: createIdSource(),
      settings: DEFAULT_COGNIFY_SETTINGS,
    };
    const worker = createMigrationWorker(deps, { drainMs: 10_000, pollMs: 20 });
    const queued = async () => (await deps.workQueue.depth(SYSTEM_SCOPE))[MIGRATION_JOB] ?? 0;
    return { worker, deps, queued, follow: () => followMigration(deps, scope) };
  };

  it('runs as a job, with and without calls that ask for progress', async () => {
    await tell('Ada', 'Grace');
    const gate = Promise.withResolvers<void>();
    want({ ...NEW, embed: async (...call) => gate.promise.then(() => NEW.embed(...call)) });
    const { worker, follow, queued } = jobs();
    // None of these waits for the model.
    for (const _ of [1, 2]) expect((await follow()).migration).to.include({ phase: 'copying', done: 0 });
    expect(await queued()).to.equal(1);
    await worker.start();
    gate.resolve();
    await until('the new vectors are searched', async () => (await newest()).space?.model === NEW.space.model);
    passedMs += 60_000;
    await until('it is over', async () => (await queued()) === 0);
    expect((await vectorVersions().state(scope)).migration).to.equal(null);
    await worker.stop();
  });

  it('becomes a dead letter after many failures, and is replayed by the next call', async () => {
    await tell('Ada');
    want({ ...NEW, embed: () => Promise.reject(new Error('no such model')) });
    const { worker, follow, deps } = jobs();
    await follow();
    await worker.start();
    const dead = async () => (await deps.workQueue.deadLetters.list(SYSTEM_SCOPE, { limit: 9 })).items;
    await until('it is given up', async () => {
      passedMs += 600_000;
      return (await dead()).length === 1;
    });
    expect((await dead())[0]).to.include({ kind: MIGRATION_JOB, attempts: 20 });
    expect((await newest()).space).to.deep.equal(OLD.space);
    want(NEW);
    passedMs += 600_000;
    await follow();
    await until('the new vectors are searched', async () => (await newest()).space?.model === NEW.space.model);
    await worker.stop();
  });

  it('stops with its service, and is continued by the next one', async () => {
    await tell('Ada');
    const begun = Promise.withResolvers<void>();
    const aborted = (signal?: AbortSignal) =>
      new Promise<never>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason), { once: true }));
    want({
      ...NEW,
      embed: (_texts, context) => {
        begun.resolve();
        return aborted(context.signal);
      },
    });
    const { worker, follow, queued } = jobs();
    await worker.start();
    await follow();
    await begun.promise;
    await worker.stop();
    expect(await queued()).to.equal(1);
    want(NEW);
    expect((await go()).migration).to.include({ phase: 'settling' });
  });

  it('migrates to another model and back', async () => {
    await tell('Ada');
    want(NEW);
    await go();
    await finish();
    want(OLD);
    await go();
    expect((await finish()).embedding).to.deep.equal(OLD.space);
    expect((await newest()).number).to.equal(2);
    expect((await vectorsIn((await newest()).scope)).size).to.equal(await textCount());
  });

  it('includes items that are added, changed and forgotten during the migration', async () => {
    const [ada, grace, alan] = (await tell('Ada', 'Grace', 'Alan')) as [DataItem, DataItem, DataItem];
    let calls = 0;
    let forgetting: Promise<unknown> | null = null;
    const busy: Embedder = {
      ...NEW,
      async embed(texts, context) {
        calls += 1;
        if (calls === 2) await tell('Konrad');
        // It waits until the rows that are in hand are written, and removes them.
        if (calls === 3) forgetting = forget([grace]);
        if (calls === 4) {
          await world.addText('Alan', 'Alan knows Church. Alan lives in Bern.', { id: alan.id, contentHash: 'anew' });
          await cognify.run();
        }
        return NEW.embed(texts, context);
      },
    };
    want(busy);
    expect((await go()).embedding).to.deep.equal(NEW.space);
    await forgetting;
    await finish();
    const { scope: home } = await newest();
    expect([...(await world.ledger.allCommitted(scope)).keys()]).to.include.members([ada.id, alan.id]);
    expect((await vectorsIn(home)).size).to.equal(await textCount());
    expect(await vectorVersions().vectors.count(scope, {})).to.equal(await textCount());
    expect(await world.indexes.vectors.count(home, { items: [grace.id] })).to.equal(0);
  });

  /** Builds an item whose first vectors are made with the old model before that happens, and written after it. */
  const buildLate = async (meanwhile: () => Promise<void>) => {
    let hasHappened = false;
    const late: Embedder = {
      ...OLD,
      async embed(texts, context) {
        const made = await OLD.embed(texts, context);
        if (hasHappened) return made;
        hasHappened = true;
        await meanwhile();
        return made;
      },
    };
    models.known = [late, NEW];
    await world.addText('Grace', 'Grace knows Babbage. Grace lives in Oslo.');
    expect((await cognify.run()).status).to.equal('DATASET_PROCESSING_COMPLETED');
    expect(hasHappened).to.equal(true);
  };

  it('completes the vectors of a build that began before the switch and ended after it', async () => {
    await tell('Ada');
    want(NEW);
    await buildLate(async () => void (await go()));
    const { scope: home, space } = await newest();
    expect(space).to.deep.equal(NEW.space);
    expect((await vectorsIn(home)).size).to.equal(await textCount());
    await finish();
    expect(await vectorVersions().vectors.count(scope, {})).to.equal(await textCount());
  });

  it('removes vectors that a build wrote to a removed index version', async () => {
    await tell('Ada');
    want(NEW);
    await buildLate(async () => {
      await go();
      expect((await finish()).migration).to.equal(null);
    });
    expect(await world.indexes.vectors.count(scope, {})).to.equal(0);
    expect((await vectorsIn((await newest()).scope)).size).to.equal(await textCount());
  });

  it('removes vectors that a worker wrote after the dataset was erased', async () => {
    await tell('Ada');
    let goOn: () => void = () => {};
    const isAwake = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const slow: Embedder = {
      ...NEW,
      async embed(texts, context) {
        await isAwake;
        return NEW.embed(texts, context);
      },
    };
    want(slow);
    const working = go();
    await until('an item is in hand', async () => (await vectorVersions().state(scope)).migration?.inHand.length === 1);
    passedMs += 20_000;
    await vectorVersions().vectors.drop(scope);
    want(OLD);
    goOn();
    await working;
    expect(await world.indexes.vectors.count(vectorVersions().scopeOf(scope, 1), {})).to.equal(0);
  });

  it('logs that a dataset keeps its former model, and uses the new one after its memory is forgotten', async () => {
    const told = () => cognify.log.filter(({ event }) => event === 'cognify.embedding.former');
    await tell('Ada');
    expect(told()).to.have.length(0);
    want(NEW);
    await tell('Grace');
    expect((await newest()).space).to.deep.equal(OLD.space);
    expect(told()[0]?.fields).to.deep.include({ embedding: OLD.space, configured: NEW.space });
    const everything = { dataset: world.dataset, memoryOnly: true };
    await cognify.messenger.call('cognify.Erase', everything, { ...CALL, principal: world.principal });
    await cognify.run();
    expect((await newest()).space).to.deep.equal(NEW.space);
    expect((await vectorsIn((await newest()).scope)).size).to.equal(await textCount());
    expect(told()).to.have.length(1);
  });

  it('continues after the lease of a killed worker', async () => {
    await tell('Ada', 'Grace');
    let isKilled = false;
    const dying: Embedder = {
      ...NEW,
      embed: (texts, context) => (isKilled ? NEW.embed(texts, context) : new Promise(() => {})),
    };
    want(dying);
    void go();
    await until(
      'two items are in hand',
      async () => (await vectorVersions().state(scope)).migration?.inHand.length === 2,
    );
    isKilled = true;
    expect((await go({ workMs: 300 })).embedding).to.deep.equal(OLD.space);
    passedMs += 20_000;
    expect((await go()).embedding).to.deep.equal(NEW.space);
    expect((await vectorsIn((await newest()).scope)).size).to.equal(await textCount());
  });

  it('is completed wherever its worker is killed, without leftovers', async () => {
    const [ada] = await tell('Ada', 'Grace');
    let kills = 0;
    // Every third moment: those in between are of the same kinds.
    for (let dieAt = 1, isOver = false; !isOver; dieAt += 3) {
      const mode = dieAt % 2 === 0 ? 'after' : 'before';
      const target = models.requested === OLD ? NEW : OLD;
      want(target);
      const { parts, isDead } = dyingStores(world, dieAt, mode);
      await go({}, parts).catch(() => {});
      // The dying one may be at the settling, which has a while to go.
      passedMs += 20_000;
      if (!isDead()) await go({}, parts).catch(() => {});
      isOver = !isDead();
      if (!isOver) kills += 1;
      if (dieAt === 31 && ada !== undefined) await eraseRows(ada);
      passedMs += 20_000;
      await go();
      expect((await finish()).embedding, `${mode} ${dieAt}`).to.deep.equal(target.space);
      const { scope: home, number } = await newest();
      expect(await world.indexes.vectors.count(home, {}), `${mode} ${dieAt}`).to.equal(await textCount());
      for (const other of [number - 2, number - 1, number + 1].filter((each) => each >= 0)) {
        expect(await world.indexes.vectors.count(vectorVersions().scopeOf(scope, other), {})).to.equal(0);
      }
      expect(await world.store.count(scope, reembeddedItemsCollection, {})).to.equal(0);
    }
    expect(kills).to.be.greaterThan(20);
  });

  it('removes the new vectors when the request is withdrawn', async () => {
    await tell('Ada', 'Grace');
    const stuck: Embedder = {
      ...NEW,
      embed: (texts, context) =>
        calls++ > 0 ? Promise.reject(engramError('EmbeddingException', 'enough')) : NEW.embed(texts, context),
    };
    let calls = 0;
    want(stuck);
    expect((await go()).migration).to.include({ phase: 'copying' });
    const shadow = vectorVersions().scopeOf(scope, 1);
    expect(await world.indexes.vectors.count(shadow, {})).to.be.greaterThan(0);
    want(OLD);
    expect(await go()).to.deep.equal({ embedding: OLD.space, migration: null, failure: null });
    expect(await world.indexes.vectors.count(shadow, {})).to.equal(0);
    expect(await world.store.count(scope, reembeddedItemsCollection, {})).to.equal(0);
  });

  it('keeps the former vectors in use while the provider fails, reports the failure, and retries', async () => {
    await tell('Ada');
    let isAway = true;
    const failing: Embedder = {
      ...NEW,
      async embed(texts, context) {
        if (isAway) throw engramError('LLMPaymentRequiredError', 'The account has no credit.');
        return NEW.embed(texts, context);
      },
    };
    want(failing);
    const failure = { name: 'LLMPaymentRequiredError', message: 'The account has no credit.' };
    expect(await go()).to.deep.include({ embedding: OLD.space, failure });
    isAway = false;
    // Not before a while has passed.
    expect((await go()).failure).to.deep.equal(failure);
    await tell('Grace');
    passedMs += 10_000;
    expect(await go()).to.deep.include({ embedding: NEW.space, failure: null });
  });

  it('reports a model with other dimensions than declared, or with vectors that find nothing', async () => {
    await tell('Ada');
    want({ ...NEW, space: { model: 'test/short', dimensions: 32 } });
    const short = await go();
    expect(short.embedding).to.deep.equal(OLD.space);
    expect(short.failure?.name).to.equal('EmbeddingDimensionMismatchError');
    await tell('Grace', 'Alan', 'Konrad', 'Edith', 'Karen', 'Radia', 'Barbara', 'Donald', 'Edsger', 'Tony', 'Niklaus');
    await tell(...Array.from({ length: 12 }, (_, at) => `Person${'abcdefghijkl'.charAt(at)}`));
    let turn = 0;
    const dice: Embedder = {
      space: { model: 'test/dice', dimensions: 64 },
      maxInputTokens: 1000,
      embed: async (texts) =>
        texts.map(() => Float32Array.from({ length: 64 }, (_, at) => Math.sin(++turn * (at + 1)))),
    };
    want(dice);
    const random = await go();
    expect(random.embedding).to.deep.equal(OLD.space);
    expect(random.failure?.message).to.include('do not find their own texts');
  });

  it('reports an error of the requested model, and keeps the vectors', async () => {
    await tell('Ada');
    models.wanted = async () => {
      throw engramError('EmbeddingException', 'The key cannot be opened.');
    };
    const failure = { name: 'EmbeddingException', message: 'The key cannot be opened.' };
    expect(await go()).to.deep.equal({ embedding: OLD.space, migration: null, failure });
  });

  it('leaves nothing of a dataset that is erased during the migration', async () => {
    await tell('Ada', 'Grace');
    let erased: Promise<{ readonly residue: number }> | null = null;
    const slow: Embedder = {
      ...NEW,
      async embed(texts, context) {
        erased ??= cognify.messenger.call(
          'cognify.Erase',
          { dataset: world.dataset, memoryOnly: false },
          { ...CALL, principal: world.principal },
        );
        await until(
          'the migration is stopping',
          async () => (await vectorVersions().state(scope)).migration?.isStopping !== false,
        );
        return NEW.embed(texts, context);
      },
    };
    want(slow);
    await go();
    const result = await (erased as Promise<{ readonly residue: number }> | null);
    expect(result?.residue).to.equal(0);
    for (const home of [0, 1]) {
      expect(await world.indexes.vectors.count(vectorVersions().scopeOf(scope, home), {})).to.equal(0);
    }
    expect(await vectorVersions().state(scope)).to.deep.include({ active: 0, migration: null, version: 0 });
  });
});

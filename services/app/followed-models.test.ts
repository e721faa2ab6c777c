import { expect } from 'chai';
import type { StoredModelSettings } from '../auth/repositories/model-settings.ts';
import { createSilentLogger } from '../common/platform/observability/logger.ts';
import type { ActiveModels } from '../common/ports/active-models.ts';
import { createFollowedModels } from './followed-models.ts';

const REREAD_MS = 2_000;

function stored(revision: string): StoredModelSettings {
  return { revision, version: 1, languageModel: null, vectorDatabase: null, changedAt: '2026-01-02T03:04:05Z' };
}

/** The settings are what `now` says; what is opened of them is told by its revision. */
function world(options: { readonly read?: () => Promise<StoredModelSettings | null> } = {}) {
  const counts = { reads: 0, opens: 0 };
  const state: { now: StoredModelSettings | null; atMs: number } = { now: null, atMs: 0 };
  const revisions = new Map<ActiveModels, string | null>();
  const followed = createFollowedModels({
    read() {
      counts.reads += 1;
      return options.read?.() ?? Promise.resolve(state.now);
    },
    async open(settings) {
      counts.opens += 1;
      const extractor = { version: 'none', extract: () => Promise.reject(new Error('not asked')) };
      const models: ActiveModels = { languageModel: null, missingModelKey: null, extractor };
      revisions.set(models, settings?.revision ?? null);
      return models;
    },
    rereadMs: REREAD_MS,
    clock: { monotonicMs: () => state.atMs },
    logger: createSilentLogger(),
  });
  const revision = async () => revisions.get(await followed.current());
  return { counts, state, followed, revision };
}

describe('models that follow the settings', () => {
  it('are opened with the first question, once for all who ask at the same time', async () => {
    const { counts, followed } = world();
    expect(followed.last()).to.equal(null);
    expect(counts).to.deep.equal({ reads: 0, opens: 0 });
    const answers = await Promise.all([followed.current(), followed.current(), followed.current()]);
    expect(new Set(answers).size).to.equal(1);
    expect(counts).to.deep.equal({ reads: 1, opens: 1 });
  });

  it('are others for whoever asks after the news, and stay what they were for whoever asked before', async () => {
    const { state, followed, revision } = world();
    const before = await followed.current();
    state.now = stored('1');
    expect(await followed.current()).to.equal(before);
    followed.outdated();
    expect(await revision()).to.equal('1');
    expect(followed.last()).to.not.equal(before);
  });

  it('are found out without news after a while, and kept open when nothing changed', async () => {
    const { counts, state, revision } = world();
    state.now = stored('1');
    expect(await revision()).to.equal('1');
    state.atMs += REREAD_MS;
    expect(await revision()).to.equal('1');
    expect(counts).to.deep.equal({ reads: 2, opens: 1 });
    state.now = stored('2');
    state.atMs += REREAD_MS - 1;
    expect(await revision()).to.equal('1');
    state.atMs += 1;
    expect(await revision()).to.equal('2');
    state.now = null;
    state.atMs += REREAD_MS;
    expect(await revision()).to.equal(null);
  });

  it('are never older than the news, although a reading before it ends after the one that followed', async () => {
    const slow = Promise.withResolvers<StoredModelSettings | null>();
    const readings = [slow.promise, Promise.resolve(stored('2'))];
    const { followed, revision } = world({ read: () => readings.shift() ?? Promise.resolve(stored('3')) });
    const early = followed.current();
    followed.outdated();
    expect(await revision()).to.equal('2');
    slow.resolve(stored('1'));
    await early;
    expect(await revision()).to.equal('2');
  });

  it('stay in force while the settings cannot be read, and are looked for again later', async () => {
    const faults = [null, new Error('the store is away')];
    const { state, counts, revision } = world({
      read: async () => {
        const fault = faults.shift();
        if (fault instanceof Error) throw fault;
        return stored(String(faults.length));
      },
    });
    expect(await revision()).to.equal('1');
    state.atMs += REREAD_MS;
    expect(await revision()).to.equal('1');
    expect(await revision()).to.equal('1');
    expect(counts.reads).to.equal(2);
    state.atMs += REREAD_MS;
    expect(await revision()).to.equal('0');
  });

  it('fail the question when the settings could never be read, and only that one', async () => {
    const readings = [Promise.reject(new Error('the store is away')), Promise.resolve(stored('1'))];
    const { followed, revision } = world({ read: () => readings.shift() ?? Promise.resolve(null) });
    expect(String(await followed.current().catch((error: unknown) => error))).to.contain('the store is away');
    expect(await revision()).to.equal('1');
  });
});

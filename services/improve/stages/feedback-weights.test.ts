import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createMemoryDatasetIndexes } from '../../../test/support/memory/dataset-indexes.ts';
import { createMemoryDocumentStore } from '../../../test/support/memory/document-store.ts';
import { unsignedPrincipals } from '../../../test/support/unsigned-principals.ts';
import { collections } from '../../app/collections.ts';
import { asId } from '../../common/kernel/ids.ts';
import { datasetScope, PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import type { CompletedRun, RequestOf } from '../../common/platform/messaging/messages.ts';
import { callerOf, createMessenger } from '../../common/platform/messaging/messenger.ts';
import { createSystemClock } from '../../common/platform/system/clock.ts';
import { createIdSource } from '../../common/platform/system/id-source.ts';
import { createLedger } from '../../common/records/cognify/ledger.ts';
import {
  createElementWeights,
  type ElementWeights,
  weightVotesCollection,
} from '../../common/records/improve/element-weights.ts';
import { createWatermarks } from '../../common/records/improve/watermarks.ts';
import { createSessionContexts } from '../../common/records/sessions/session-context.ts';
import { createSessionEntries } from '../../common/records/sessions/session-entries.ts';
import { createSessions } from '../../common/records/sessions/sessions.ts';
import { createInProcessBus } from '../../common/storage/bus/in-process/bus.ts';
import { createPassReads, defaultOptions, type ImprovePass } from '../model.ts';
import { createFeedbackWeights } from './feedback-weights.ts';

const AT = '2026-01-02T03:04:05.678Z';
const KEY = { user: asId<never>('00000000-0000-4000-8000-000000000001'), session: 's1' };
const TENANT = { tenant: PERSONAL_TENANT };

/** The stage over a memory store, with ingest's answers to what it notes. */
async function world() {
  const store = createMemoryDocumentStore();
  await store.prepare(collections);
  const sessions = createSessions(store);
  const entries = createSessionEntries(store, sessions);
  const contexts = createSessionContexts(store);
  const indexes = createMemoryDatasetIndexes();
  const ledger = createLedger(store);
  const messenger = createMessenger(createInProcessBus(), unsignedPrincipals);
  const recorded: RequestOf<'cognify.RecordRun'>[] = [];
  await messenger.serve('cognify.RecordRun', async (request) => {
    recorded.push(request);
    return {};
  });
  await messenger.serve('ingest.NoteOnSession', async ({ session, notes }, context) => {
    const key = { user: callerOf(context).id, session };
    return {
      noted: await entries.note(
        TENANT,
        key,
        notes.map(({ qaId: id, ...note }) => ({ id, ...note })),
      ),
    };
  });
  const inner = createElementWeights(store);
  let meanwhile: () => Promise<unknown> = async () => {};
  const weights: ElementWeights = {
    ...inner,
    async vote(...asked) {
      const work = meanwhile;
      meanwhile = async () => {};
      await work();
      return inner.vote(...asked);
    },
  };
  const clock = createSystemClock();
  const deps = {
    store,
    sessions,
    entries,
    contexts,
    indexes,
    ledger,
    messenger,
    weights,
    clock,
    ids: createIdSource(),
  };
  const stage = createFeedbackWeights({ ...deps, watermarks: createWatermarks(store) });
  const principal = {
    id: KEY.user,
    email: 'a@example.com',
    tenant: PERSONAL_TENANT,
    isSuperuser: false,
    parentId: null,
  };
  const later: CompletedRun[] = [];
  const passOn = (dataset: string, alpha = 0.1): ImprovePass => ({
    dataset: { id: asId(dataset), name: dataset, ownerId: KEY.user, ...TENANT, createdAt: AT, updatedAt: null },
    sessions: [KEY],
    options: defaultOptions(alpha),
    leaseToken: 'test/0',
    principal,
    context: { requestId: 'test', principal },
    signal: new AbortController().signal,
    reads: createPassReads(),
    idleRuns: later,
  });
  return {
    entries,
    contexts,
    recorded,
    later,
    /** Once, when ratings were read, and no vote is cast yet. */
    meanwhile(work: () => Promise<unknown>) {
      meanwhile = work;
    },
    votes: async () => (await store.find(TENANT, weightVotesCollection, { limit: 10 })).items.map(({ id }) => id),
    /** Puts nodes into the graph of a dataset, as a committed item. */
    async build(dataset: string, ...ids: readonly string[]) {
      const scope = datasetScope(PERSONAL_TENANT, asId(dataset));
      const item = asId<never>(randomUUID());
      const generation = await ledger.begin(scope, item);
      const node = { item, generation, type: 'Entity', mentions: 1, nodeSets: [], properties: {} };
      await indexes.graph.upsert(scope, { nodes: ids.map((id) => ({ ...node, id, name: id })), edges: [] });
      await store.commit(scope, ledger.commitWrites(item, generation, 'hash', AT));
    },
    async ask(nodeIds: readonly string[]) {
      const id = randomUUID();
      const qa = { question: 'q', context: '', answer: 'a', feedbackText: null, feedbackScore: null };
      const used = { usedGraphElements: { nodeIds, edgeIds: [] }, usedContextIds: null };
      await entries.appendQa(TENANT, KEY, id, { ...qa, ...used }, { lastActivityAt: AT });
      return id;
    },
    rate: (id: string, score: number) => entries.giveFeedback(TENANT, KEY, id, { text: null, score, at: AT }),
    remark: (id: string, rating: number, at: string) =>
      contexts.addFeedback(TENANT, KEY, {
        id: randomUUID(),
        createdAt: at,
        rawText: 'well',
        referencedQaIds: [id],
        referencedQaRating: rating,
        influencingContextIds: [],
      }),
    run: (dataset = 'notes', alpha = 0.1) => stage.run(passOn(dataset, alpha)),
    async weights(dataset: string, ...ids: readonly string[]) {
      const found = await weights.of(datasetScope(PERSONAL_TENANT, asId(dataset)), ids);
      return ids.map((id) => found.get(id) ?? null);
    },
    noted: async (id: string) => (await entries.qa(TENANT, KEY, id))?.memifyMetadata,
  };
}

describe('feedback_weights', () => {
  it('moves weights from 0.5 by one rating, once', async () => {
    const { build, ask, rate, run, weights, noted } = await world();
    await build('notes', 'n1', 'n2');
    const id = await ask(['n1', 'n1']);
    await rate(id, 5);
    expect(await run()).to.deep.include({ status: 'completed', counts: { sessions: 1 } });
    expect(await weights('notes', 'n1', 'n2')).to.deep.equal([0.55, null]);
    expect(await noted(id)).to.deep.equal({
      feedback_weights_applied: true,
      feedback_weights_applied_node_ids: ['n1'],
      feedback_weights_applied_edge_ids: [],
      feedback_weights_applied_score: 5,
      feedback_weights_applied_source: 'explicit',
      feedback_weights_attempts: 1,
      feedback_weights_pruned_ids: [],
    });
    await run();
    await rate(id, 5);
    await run();
    expect(await weights('notes', 'n1'), 'the same score again').to.deep.equal([0.55]);
    await rate(id, 1);
    await run();
    expect(await weights('notes', 'n1'), 'another score, on top').to.deep.equal([0.495]);
  });

  it('records its run at once when weights moved, else with the end of the improve', async () => {
    const { build, ask, rate, run, recorded, later } = await world();
    await build('notes', 'n1');
    await rate(await ask(['n1']), 5);
    const { run: first } = await run();
    expect(recorded.map(({ runId, status }) => [runId, status])).to.deep.equal([
      [first?.id, 'DATASET_PROCESSING_COMPLETED'],
    ]);
    expect(later).to.deep.equal([]);
    const { run: second, isUnchanged } = await run();
    expect(later).to.deep.equal([{ pipeline: 'memify_pipeline', runId: second?.id }]);
    expect(recorded).to.have.length(1);
    expect(isUnchanged).to.equal(true);
  });

  it('moves weights half as far by the last remark, unless there is a score', async () => {
    const { build, ask, rate, remark, run, weights, noted } = await world();
    await build('notes', 'n1', 'n2');
    const [said, scored] = [await ask(['n1']), await ask(['n2'])];
    await remark(said, 1, '2026-01-02T03:04:06Z');
    await remark(said, 5, '2026-01-02T03:04:07Z');
    await remark(scored, 5, '2026-01-02T03:04:07Z');
    await rate(scored, 1);
    await run();
    expect(await weights('notes', 'n1', 'n2')).to.deep.equal([0.525, 0.45]);
    expect(await noted(said)).to.include({ feedback_weights_applied_source: 'implicit' });
    await run();
    expect(await weights('notes', 'n1', 'n2')).to.deep.equal([0.525, 0.45]);
    await remark(said, 1, '2026-01-02T03:04:08Z');
    await run();
    expect(await weights('notes', 'n1'), 'said otherwise later').to.deep.equal([0.4988]);
  });

  it('retries missing elements three times, and moves the others once', async () => {
    const { build, ask, rate, run, weights, noted } = await world();
    await build('notes', 'n1');
    const id = await ask(['n1', 'late', 'never']);
    await rate(id, 5);
    await run();
    expect(await noted(id)).to.deep.include({
      feedback_weights_applied: false,
      feedback_weights_attempts: 1,
      feedback_weights_pruned_ids: ['late', 'never'],
    });
    await build('notes', 'late');
    await run();
    expect(await weights('notes', 'n1', 'late', 'never')).to.deep.equal([0.55, 0.55, null]);
    await run();
    expect(await noted(id)).to.deep.include({
      feedback_weights_applied: true,
      feedback_weights_attempts: 3,
      feedback_weights_pruned_ids: ['never'],
    });
    await build('notes', 'never');
    await run();
    expect(await weights('notes', 'never')).to.deep.equal([null]);
  });

  it('ignores invisible elements and other datasets', async () => {
    const { build, ask, rate, run, weights } = await world();
    await build('others', 'n1');
    const id = await ask(['n1']);
    await rate(id, 5);
    await run('notes');
    expect(await weights('notes', 'n1')).to.deep.equal([null]);
    expect(await weights('others', 'n1')).to.deep.equal([null]);
  });

  it('notes an answer without elements at once, and ignores one without a rating', async () => {
    const { ask, rate, run, noted } = await world();
    const [rated, unrated] = [await ask([]), await ask(['n1'])];
    await rate(rated, 4);
    await run();
    expect(await noted(rated)).to.deep.equal({ feedback_weights_applied: true });
    expect(await noted(unrated)).to.equal(null);
  });

  it('moves weights by the requested alpha, within 0 and 1', async () => {
    const { build, ask, rate, run, weights } = await world();
    await build('notes', 'n1');
    for (const score of [5, 5, 1]) {
      const id = await ask(['n1']);
      await rate(id, score);
      await run('notes', 1);
      expect(await weights('notes', 'n1')).to.deep.equal([(score - 1) / 4]);
    }
  });

  it('removes the vote of an answer that is forgotten or removed meanwhile', async () => {
    const { build, ask, rate, run, votes, entries, meanwhile } = await world();
    await build('notes', 'n1');
    const ids = [await ask(['n1']), await ask(['n1']), await ask(['n1'])];
    for (const id of ids) await rate(id, 5);
    meanwhile(async () => {
      await entries.removeEntries(TENANT, KEY, { qas: 1, traces: 0 });
      await entries.forget(TENANT, KEY, ids.slice(1, 2));
    });
    await run();
    expect(await votes()).to.deep.equal(ids.slice(2));
  });

  it('applies hundreds of ratings, each once', async () => {
    const { build, ask, rate, run, weights } = await world();
    await build('notes', ...Array.from({ length: 250 }, (_, index) => `n${index}`));
    for (let index = 0; index < 250; index += 1) await rate(await ask([`n${index}`]), 5);
    await run();
    await run();
    const all = await weights('notes', ...Array.from({ length: 250 }, (_, index) => `n${index}`));
    expect(new Set(all)).to.deep.equal(new Set([0.55]));
  });
});

import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { NewContextRow } from '../../services/common/domain/session-context.ts';
import type { DatasetId, TenantId, UserId } from '../../services/common/kernel/brand.ts';
import { asId } from '../../services/common/kernel/ids.ts';
import { datasetScope, SYSTEM_SCOPE } from '../../services/common/kernel/scope.ts';
import { recordCollections } from '../../services/common/records/collections.ts';
import { createDistillations } from '../../services/common/records/improve/distillations.ts';
import { createElementWeights, weightVotesCollection } from '../../services/common/records/improve/element-weights.ts';
import { createPreferences } from '../../services/common/records/improve/preferences.ts';
import {
  createSessionRemoval,
  createUserLearnings,
  userLearningCollections,
} from '../../services/common/records/session-removal.ts';
import { createSessionContexts } from '../../services/common/records/sessions/session-context.ts';
import { createSessionEntries } from '../../services/common/records/sessions/session-entries.ts';
import { createSessions } from '../../services/common/records/sessions/sessions.ts';
import { VersionConflictError } from '../../services/common/storage/ports/document-store.ts';
import type { SharedDocuments } from '../support/document-stores.ts';

/** What was learned in sessions and of users, over any document store, with two processes at it. */
export function learnedBehaviour(name: string, open: () => Promise<SharedDocuments>): void {
  describe(`learned data over ${name}`, () => {
    let subject: SharedDocuments;
    before(async () => {
      subject = await open();
      for (const store of subject.stores) await store.prepare(recordCollections);
    });
    after(() => subject.dispose());

    const AT = '2026-01-02T03:04:05.000Z';
    const tenant = asId<TenantId>(randomUUID());
    const scope = datasetScope(tenant, asId<DatasetId>(randomUUID()));
    const someone = () => ({ user: asId<UserId>(randomUUID()), session: 'ein, zwei/drei' });
    const rule = (content: string): NewContextRow => ({ profile: 'qa', section: 'rules', content, confidence: 0.9 });

    it('adds each statement once when two processes learn concurrently, and loses none', async () => {
      const key = someone();
      const both = subject.stores.map(createSessionContexts);
      const noting = { newId: () => randomUUID(), at: AT, progress: { name: 'x', state: { done: 1 } } };
      const lessons = Array.from({ length: 10 }, (_, at) => [rule('Be brief.'), rule(`Rule ${at}.`)]);
      await Promise.all(
        lessons.map((rows, at) => both[at % 2]?.learn({ tenant }, key, rows, noting) ?? Promise.reject(new Error())),
      );
      const rows = (await both[0]?.rows({ tenant }, key)) ?? [];
      expect(rows.map(({ content }) => content).toSorted()).to.deep.equal(
        ['Be brief.', ...lessons.map((_, at) => `Rule ${at}.`)].toSorted(),
      );
      const [first] = rows;
      const ratings = new Map([[first?.id ?? '', 'helpful' as const]]);
      await Promise.all([0, 1, 0, 1].map((at) => both[at]?.rate({ tenant }, key, ratings)));
      const rated = (await both[1]?.rows({ tenant }, key))?.find(({ id }) => id === first?.id);
      expect(rated?.helpfulCount).to.equal(4);
      await subject.stores[0].commit(SYSTEM_SCOPE, [
        createSessionContexts(subject.stores[0]).removeOfUserWrite(key.user),
      ]);
      expect(await both[1]?.rows({ tenant }, key)).to.deep.equal([]);
      expect(await both[1]?.progress({ tenant }, key, 'x')).to.equal(null);
    });

    it('returns feedback once each, in the order of arrival, even when the clock went back', async () => {
      const key = someone();
      const contexts = createSessionContexts(subject.stores[0]);
      for (const second of [3, 1, 2, 3]) {
        const feedback = { id: `f${second}`, createdAt: `2026-01-02T03:04:0${second}.000Z`, rawText: 'x' };
        await contexts.addFeedback({ tenant }, key, {
          ...feedback,
          referencedQaIds: [],
          referencedQaRating: null,
          influencingContextIds: [],
        });
      }
      const found = await contexts.feedback({ tenant }, key);
      expect(found.map(({ id }) => id)).to.deep.equal(['f3', 'f1', 'f2']);
      const later = await contexts.feedback({ tenant }, key, found[0]?.createdAt);
      expect(later.map(({ id }) => id)).to.deep.equal(['f1', 'f2']);
    });

    it('lets one of two processes change a preference that both have read, and finds expired ones', async () => {
      const { user } = someone();
      const [one, two] = subject.stores;
      const [mine, theirs] = [createPreferences(one), createPreferences(two)];
      const known = [await mine.of(scope, user), await theirs.of(scope, user)] as const;
      const weight = (nodeId: string, forgottenAtTurn: number | null) => ({
        nodeId,
        weight: 0.7,
        updatedAtTurn: 1,
        forgottenAtTurn,
      });
      await one.commit(scope, [
        mine.preferenceWrite(user, { ...known[0], turns: 1 }),
        ...[weight('a', 5), weight('b', 90), weight('c', null)].map((each) => mine.weightWrite(user, each, 0)),
      ]);
      const late = two.commit(scope, [theirs.preferenceWrite(user, { ...known[1], turns: 1 })]);
      expect(await late.catch((error: unknown) => error)).to.be.instanceOf(Error);
      const again = await theirs.of(scope, user);
      await one.commit(scope, [mine.preferenceWrite(user, { ...again, turns: 2 })]);
      const later = two.commit(scope, [theirs.preferenceWrite(user, { ...again, turns: 2 })]);
      expect(await later.catch((error: unknown) => error)).to.be.instanceOf(VersionConflictError);
      expect((await theirs.forgotten(scope, user, 50, 10)).map(({ nodeId }) => nodeId)).to.deep.equal(['a']);
      const ids = Array.from({ length: 2500 }, (_, at) => `n${at}`);
      const found = await theirs.weights(scope, user, [...ids, 'c', 'b', 'c']);
      expect(found.map(({ nodeId }) => nodeId).toSorted()).to.deep.equal(['b', 'c']);
    });

    it('starts empty in a session with the name of a deleted one, and is erased with the user', async () => {
      const key = someone();
      const [store] = subject.stores;
      const [distillations, preferences] = [createDistillations(store), createPreferences(store)];
      const session = { ...key, startedAt: AT };
      const later = { ...key, startedAt: '2026-02-02T03:04:05.000Z' };
      const done = { turns: 3, feedback: 1, rows: ['b', 'a', 'b'], version: 0 };
      await store.commit(scope, [
        distillations.write(session, done),
        preferences.progressWrite(session, { ...(await preferences.progress(scope, session)), turns: 3 }),
      ]);
      expect(await distillations.of(scope, session)).to.include({ turns: 3 });
      expect((await distillations.of(scope, session)).rows).to.deep.equal(['a', 'b']);
      const anew = await distillations.of(scope, later);
      expect(anew).to.deep.include({ turns: 0, rows: [] });
      expect((await preferences.progress(scope, later)).turns).to.equal(0);
      await store.commit(scope, [distillations.write(later, { ...anew, turns: 1 })]);
      const learnings = createUserLearnings(store);
      await learnings.removeOfSession({ tenant }, key);
      expect(await distillations.of(scope, later)).to.include({ turns: 0, version: 0 });
      await learnings.removeOfUser(SYSTEM_SCOPE, key.user);
      for (const collection of userLearningCollections) {
        expect(await store.count(scope, collection, { userId: key.user })).to.equal(0);
      }
    });

    describe('votes', () => {
      const weights = () => createElementWeights(subject.stores[0]);
      const entries = () => createSessionEntries(subject.stores[1], createSessions(subject.stores[1]));
      /** As many rated answers of a session, each of which moved an element of its own and one of all. */
      async function rated(key: ReturnType<typeof someone>, count: number): Promise<readonly string[]> {
        const ids: string[] = [];
        for (let at = 1; at <= count; at += 1) {
          const qa = { question: 'q', context: '', answer: 'a', feedbackText: null, feedbackScore: 5 };
          const used = { usedGraphElements: { nodeIds: ['n'] }, usedContextIds: null };
          const change = { lastActivityAt: AT };
          const answer = await entries().appendQa({ tenant }, key, randomUUID(), { ...qa, ...used }, change);
          const applied = [`own ${answer.id}`, `all of ${key.user}`];
          await weights().cast(scope, {
            session: key,
            answer,
            ids: applied,
            move: () => 0.6,
            at: AT,
            vote: { score: 5, source: 'explicit', applied, attempts: 1, version: null },
          });
          ids.push(answer.id);
        }
        return ids;
      }
      const voted = async (ids: readonly string[]) =>
        (await Promise.all(ids.map((id) => weights().vote(scope, id)))).map((vote) => (vote === null ? 0 : 1)).join('');

      it('are erased with their answers, with the retention of their session, with it, and with the user', async () => {
        const [key, other] = [someone(), someone()];
        const [ids, others] = [await rated(key, 4), await rated(other, 2)];
        await entries().forget({ tenant }, key, ids.slice(3));
        expect(await voted(ids), 'forgotten').to.equal('1110');
        await entries().removeEntries({ tenant }, key, { qas: 2, traces: 0 });
        expect(await voted(ids), 'expired').to.equal('0010');
        await createSessionRemoval(subject.stores[1]).session({ tenant }, key);
        expect(await voted(ids), 'removed').to.equal('0000');
        expect(await voted(others), 'of somebody else').to.equal('11');
        await createUserLearnings(subject.stores[0]).removeOfUser(SYSTEM_SCOPE, other.user);
        expect(await voted(others), 'of a deleted user').to.equal('00');
        expect(await subject.stores[0].count({ tenant }, weightVotesCollection, {})).to.equal(0);
      });

      it('lose erased elements, which lose their weights', async () => {
        const key = someone();
        const [first = '', second = ''] = await rated(key, 2);
        expect(await weights().forget(scope, [`own ${first}`, 'never rated'])).to.equal(1);
        const votes = await Promise.all([first, second].map((id) => weights().vote(scope, id)));
        const all = `all of ${key.user}`;
        expect(votes.map((vote) => vote?.applied)).to.deep.equal([[all], [`own ${second}`, all]]);
        const found = await weights().of(scope, [`own ${first}`, `own ${second}`, all]);
        expect([...found.keys()].toSorted()).to.deep.equal([all, `own ${second}`].toSorted());
        const seen = (await Array.fromAsync(weights().rated(scope))).flat();
        expect(seen)
          .to.include.members([...found.keys()])
          .and.not.include(`own ${first}`);
      });
    });
  });
}

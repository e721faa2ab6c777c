import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { asId } from '../../services/common/kernel/ids.ts';
import { PERSONAL_TENANT } from '../../services/common/kernel/scope.ts';
import {
  claimKeys,
  createImproveClaims,
  eraserOf,
  type ImproveClaims,
  improveClaimsCollection,
  ownerOf,
} from '../../services/common/records/improve/improve-claims.ts';
import type { SharedDocuments } from '../support/document-stores.ts';

const LEASE_MS = 1000;

/** What claims of improve promise over any document store, with two processes at it. */
export function improveClaimsBehaviour(name: string, open: () => Promise<SharedDocuments>): void {
  describe(`claims of improve over ${name}`, () => {
    let subject: SharedDocuments;
    let one: ImproveClaims;
    let two: ImproveClaims;
    before(async () => {
      subject = await open();
      for (const store of subject.stores) await store.prepare([improveClaimsCollection]);
      [one, two] = [createImproveClaims(subject.stores[0]), createImproveClaims(subject.stores[1])];
    });
    after(() => subject.dispose());

    const user = asId<never>(randomUUID());
    const keys = (dataset: string, ...sessions: readonly string[]) =>
      claimKeys(
        PERSONAL_TENANT,
        asId<never>(dataset),
        sessions.map((session) => ({ user, session })),
      );
    const owner = () => ownerOf(randomUUID(), 0);
    const at = (nowMs: number) => ({ nowMs, leaseMs: LEASE_MS });

    it('are for all keys or for none', async () => {
      const [first, second] = [eraserOf(randomUUID()), eraserOf(randomUUID())];
      expect(await one.claim(keys('a1', 's1', 's2'), first, at(0))).to.equal(true);
      expect(await two.claim(keys('a2', 's3', 's2'), second, at(0)), 'one session is held').to.equal(false);
      expect(await two.claim(keys('a2', 's3'), second, at(0)), 'the others stayed free').to.equal(true);
      expect(await one.claim(keys('a1'), owner(), at(0)), 'the dataset is held').to.equal(false);
      await one.release(keys('a1', 's1', 's2'), first);
      await two.release(keys('a2', 's3'), second);
    });

    it('give each key to one of many who come for overlapping keys at the same time', async () => {
      const rushes = Array.from({ length: 12 }, (_, index) => ({
        claims: index % 2 === 0 ? one : two,
        owner: owner(),
        keys: keys(`rush-${index % 5}`, `r${index % 3}`, `r${(index + 1) % 4}`),
      }));
      const won = await Promise.all(rushes.map((rush) => rush.claims.claim(rush.keys, rush.owner, at(0))));
      const winners = rushes.filter((_, index) => won[index]);
      const held = winners.flatMap((rush) => [rush.keys.dataset, ...rush.keys.sessions]);
      expect(winners.length).to.be.greaterThan(0);
      expect(new Set(held).size, 'no key has two holders').to.equal(held.length);
      for (const rush of winners) await rush.claims.release(rush.keys, rush.owner);
    });

    it('tell whoever writes for a holder whether it holds the dataset still, in every process', async () => {
      const [first, second] = [owner(), owner()];
      const dataset = asId<never>('told');
      const holders = async (nowMs: number) =>
        (await Promise.all([first, second].flatMap((who) => [one, two].map((each) => each.holds(dataset, who, nowMs)))))
          .map(Number)
          .join('');
      expect(await holders(0)).to.equal('0000');
      await one.claim(keys('told'), first, at(0));
      expect([await holders(LEASE_MS - 1), await holders(LEASE_MS)]).to.deep.equal(['1100', '0000']);
      await two.claim(keys('told'), second, at(LEASE_MS));
      expect(await holders(LEASE_MS)).to.equal('0011');
      await one.seize(dataset, eraserOf(randomUUID()), at(LEASE_MS));
      expect(await holders(LEASE_MS)).to.equal('0000');
      await two.release(keys('told'), second);
    });

    it('lapse when their holder shows no sign of life, and it may write nothing more', async () => {
      const [dead, heir] = [owner(), owner()];
      expect(await one.claim(keys('b', 't'), dead, at(0))).to.equal(true);
      expect(await one.extend(keys('b', 't'), dead, at(LEASE_MS - 1))).to.equal(true);
      expect(await two.claim(keys('b', 't'), heir, at(LEASE_MS + 1)), 'it beat meanwhile').to.equal(false);
      expect(await two.claim(keys('b', 't'), heir, at(2 * LEASE_MS))).to.equal(true);
      expect(await one.extend(keys('b', 't'), dead, at(2 * LEASE_MS))).to.equal(false);
      await one.release(keys('b', 't'), dead);
      expect(await one.claim(keys('b', 't'), owner(), at(2 * LEASE_MS)), 'only the holder releases').to.equal(false);
      await two.release(keys('b', 't'), heir);
    });

    it('pass to the next worker of the same improve at once, and leave the one before behind', async () => {
      const improve = randomUUID();
      expect(await one.claim(keys('c', 'u'), ownerOf(improve, 0), at(0))).to.equal(true);
      expect(await two.wantRerun(keys('c2', 'u'), 0)).to.equal(1);
      expect(await two.claim(keys('c', 'u'), ownerOf(improve, 1), at(1))).to.equal(true);
      expect(await one.extend(keys('c', 'u'), ownerOf(improve, 0), at(1))).to.equal(false);
      expect(await two.rerunOrRelease(keys('c', 'u'), ownerOf(improve, 1)), 'the mark came along').to.equal('rerun');
      expect(await two.rerunOrRelease(keys('c', 'u'), ownerOf(improve, 1))).to.equal('released');
    });

    it('mark only sessions that are held, and forget the mark with the holder', async () => {
      expect(await one.wantRerun(keys('d', 'v'), 0)).to.equal(0);
      const holder = owner();
      await one.claim(keys('d', 'v'), holder, at(0));
      expect(await two.wantRerun(keys('d', 'w'), 0), 'the dataset alone is no reason').to.equal(0);
      expect(await two.wantRerun(keys('d', 'v'), 0)).to.equal(1);
      await one.release(keys('d', 'v'), holder);
      const next = owner();
      await two.claim(keys('d', 'v'), next, at(0));
      expect(await two.rerunOrRelease(keys('d', 'v'), next)).to.equal('released');
    });

    it('lose no mark that comes while they are released: it is consumed, or it found nobody', async () => {
      for (let round = 0; round < 10; round += 1) {
        const holder = owner();
        await one.claim(keys('e', 'x'), holder, at(0));
        const [marked, decision] = await Promise.all([
          two.wantRerun(keys('e', 'x'), 0),
          one.rerunOrRelease(keys('e', 'x'), holder),
        ]);
        const later = decision === 'released' ? decision : await one.rerunOrRelease(keys('e', 'x'), holder);
        expect(later).to.equal('released');
        if (marked === 1) expect(decision, `round ${round}`).to.equal('rerun');
      }
    });

    it('can be seized by who erases the dataset, who hears when the holder has stopped', async () => {
      const [holder, eraser] = [owner(), eraserOf(randomUUID())];
      const dataset = asId<never>('g');
      await one.claim(keys('g', 'z'), holder, at(0));
      await two.seize(dataset, eraser, at(0));
      expect(await one.extend(keys('g', 'z'), holder, at(0)), 'it finds out').to.equal(false);
      expect(await two.hasLeft(dataset, eraser, 0)).to.equal(false);
      await one.release(keys('g', 'z'), holder);
      expect(await two.hasLeft(dataset, eraser, 0)).to.equal(true);
      expect(await one.claim(keys('g'), owner(), at(0)), 'nobody begins meanwhile').to.equal(false);
      await two.release(keys('g'), eraser);
      const next = owner();
      expect(await one.claim(keys('g', 'z'), next, at(0))).to.equal(true);
      await one.release(keys('g', 'z'), next);
    });

    it('are seized from the dead when their lease ends, and from nobody at once', async () => {
      const dataset = asId<never>('h');
      await one.claim(keys('h'), owner(), at(0));
      const [first, second] = [eraserOf(randomUUID()), eraserOf(randomUUID())];
      await two.seize(dataset, first, at(0));
      await two.seize(dataset, second, at(0));
      expect(await two.hasLeft(dataset, second, LEASE_MS - 1)).to.equal(false);
      expect(await two.hasLeft(dataset, second, LEASE_MS)).to.equal(true);
      const nobodys = asId<never>('i');
      await one.seize(nobodys, second, at(0));
      expect(await one.hasLeft(nobodys, second, 0)).to.equal(true);
    });

    it('are all free after a process that has the store alone has started', async () => {
      await one.claim(keys('f', 'y'), owner(), at(0));
      await one.releaseAll();
      const holder = owner();
      expect(await two.claim(keys('f', 'y'), holder, at(0))).to.equal(true);
      await two.release(keys('f', 'y'), holder);
    });
  });
}

import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { type CredentialSlot, isRealmName, type Realm } from '../../operator/stores/realm.ts';
import type { Provision, RealmCredentials, StoreAdministrator } from '../../operator/stores/store-administrator.ts';
import { isEngramError } from '../../services/common/kernel/errors.ts';

/** Works in a store as a service does that has the settings of a provision. */
export interface RealmAccess {
  write(id: string): Promise<void>;
  has(id: string): Promise<boolean>;
  /**
   * The same with this access's login in the place of another realm. Must reject where the store has users; null where
   * services share theirs.
   */
  readonly trespass: {
    write(there: Provision, id: string): Promise<void>;
    read(there: Provision): Promise<unknown>;
  } | null;
  close(): Promise<void>;
}

export interface AdministratorSubject {
  readonly administrator: StoreAdministrator;
  /** The same, looking for its server where there is none; with a password that must not be told. */
  readonly away: StoreAdministrator;
  readonly awayPassword: string;
  /** The same, with credentials that the server does not take, and the setting that is to be named; null where it asks for none. */
  readonly refused: { readonly administrator: StoreAdministrator; readonly setting: string } | null;
  /** What `ensure` has to mend, by name: each takes away a part of what it made. */
  readonly damages: Readonly<Record<string, (realm: Realm) => Promise<void>>>;
  /** Whether the store can hold the owner's mark. */
  readonly holdsMarks: boolean;
  connect(provision: Provision): Promise<RealmAccess>;
  dispose(): Promise<void>;
}

const NEVER = new AbortController().signal;

export function newRealm(name = `x${randomBytes(4).toString('hex')}`): Realm {
  return { name, ownerUid: `uid-of-${name}` };
}

export function newCredentials(slot: CredentialSlot = 'a'): RealmCredentials {
  return { current: { slot, password: randomBytes(18).toString('base64url') }, previous: null };
}

/** The port's promises. The subject may be slow to open: it is opened once. */
export function describeStoreAdministrator(name: string, open: () => Promise<AdministratorSubject>): void {
  describe(`administrator of ${name}`, () => {
    let subject: AdministratorSubject;
    let administrator: StoreAdministrator;
    const made: Realm[] = [];
    const opened: RealmAccess[] = [];
    const realmOf = (realmName?: string) => {
      const realm = newRealm(realmName);
      made.push(realm);
      return realm;
    };
    const ensure = (realm: Realm, credentials: RealmCredentials) => administrator.ensure(realm, credentials, NEVER);
    const connect = async (provision: Provision) => {
      const access = await subject.connect(provision);
      opened.push(access);
      return access;
    };
    before(async () => {
      subject = await open();
      ({ administrator } = subject);
    });
    afterEach(async () => {
      for (const access of opened.splice(0)) await access.close();
      for (const realm of made.splice(0)) await administrator.remove(realm, NEVER);
    });
    after(() => subject.dispose());

    it('gives settings with which services read and write, and marks secrets', async () => {
      const credentials = newCredentials();
      const provision = await ensure(realmOf(), credentials);
      const access = await connect(provision);
      await access.write('one');
      expect(await access.has('one')).to.equal(true);
      expect(await access.has('two')).to.equal(false);
      expect(provision.stores.map(({ role }) => role)).to.have.members([...administrator.roles]);
      expect(provision.stores.every((store) => administrator.makesUsers || !store.ownCredentials)).to.equal(true);
      expect(JSON.stringify(provision.settings) + JSON.stringify(provision.stores)).to.not.contain(
        credentials.current.password,
      );
      for (const variable of Object.keys({ ...provision.settings, ...provision.secrets, ...provision.files })) {
        expect(variable).to.match(/^ENGRAM_[A-Z0-9_]+$/);
      }
    });

    it('changes nothing when it is asked again, and agrees with itself when asked twice at once', async () => {
      const realm = realmOf();
      const credentials = newCredentials();
      const [first, second] = await Promise.all([ensure(realm, credentials), ensure(realm, credentials)]);
      expect(second).to.deep.equal(first);
      await (await connect(first)).write('one');
      const third = await ensure(realm, credentials);
      expect(third).to.deep.equal(first);
      expect(await (await connect(third)).has('one')).to.equal(true);
    });

    it('keeps the data of two realms apart, also where one name begins with the other', async () => {
      const near = realmOf();
      const far = realmOf(`${near.name}0`);
      const [here, there] = [await ensure(near, newCredentials()), await ensure(far, newCredentials())];
      const [ours, theirs] = [await connect(here), await connect(there)];
      await ours.write('ours');
      await theirs.write('theirs');
      expect(await theirs.has('ours')).to.equal(false);
      expect(await ours.has('theirs')).to.equal(false);
    });

    it('lets no realm’s user read or write in another realm', async function () {
      const near = realmOf();
      const far = realmOf(`${near.name}0`);
      const [here, there] = [await ensure(near, newCredentials()), await ensure(far, newCredentials())];
      const [ours, theirs] = [await connect(here), await connect(there)];
      if (ours.trespass === null || theirs.trespass === null) return this.skip();
      await ours.write('ours');
      await theirs.write('theirs');
      for (const attempt of [
        () => ours.trespass?.write(there, 'planted'),
        () => ours.trespass?.read(there),
        () => theirs.trespass?.write(here, 'planted'),
        () => theirs.trespass?.read(here),
      ]) {
        expect(await failure(attempt)).to.be.instanceOf(Error);
      }
      expect(await theirs.has('planted')).to.equal(false);
      expect(await ours.has('planted')).to.equal(false);
    });

    it('removes all of a realm, which residue counts, and nothing of its neighbours', async () => {
      const realm = realmOf();
      const longer = realmOf(`${realm.name}0`);
      const shorter = realmOf(realm.name.slice(0, -1));
      for (const each of [realm, longer, shorter]) {
        await (await connect(await ensure(each, newCredentials()))).write('one');
        expect(await administrator.residue(each, NEVER)).to.be.greaterThan(0);
      }
      await administrator.remove(realm, NEVER);
      expect(await administrator.residue(realm, NEVER)).to.equal(0);
      for (const each of [longer, shorter]) {
        expect(await administrator.residue(each, NEVER)).to.be.greaterThan(0);
        expect(await (await connect(await ensure(each, newCredentials()))).has('one')).to.equal(true);
      }
      await administrator.remove(realm, NEVER);
      const again = await connect(await ensure(realm, newCredentials()));
      expect(await again.has('one')).to.equal(false);
    });

    it('finds nothing of a realm that was never made, and removes it', async () => {
      const realm = newRealm();
      expect(await administrator.residue(realm, NEVER)).to.equal(0);
      await administrator.remove(realm, NEVER);
      expect(await administrator.residue(realm, NEVER)).to.equal(0);
    });

    it('changes a password with the data where they are, and refuses the old one', async function () {
      if (!administrator.makesUsers) return this.skip();
      const realm = realmOf();
      const old = await ensure(realm, newCredentials());
      await (await connect(old)).write('one');
      const next = await ensure(realm, newCredentials());
      expect(await (await connect(next)).has('one')).to.equal(true);
      expect(await failure(() => useOf(old))).to.be.instanceOf(Error);
    });

    it('takes two users by turns while services change over', async function () {
      if (!administrator.makesUsers) return this.skip();
      const realm = realmOf();
      const first = newCredentials('a');
      const second = newCredentials('b');
      const old = await ensure(realm, first);
      await useOf(old);
      const next = await ensure(realm, { current: second.current, previous: first.current });
      await useOf(old);
      await useOf(next);
      await ensure(realm, second);
      await useOf(next);
      expect(await failure(() => useOf(old))).to.be.instanceOf(Error);
    });

    it('leaves what another owner has', async function () {
      if (!subject.holdsMarks) return this.skip();
      const realm = realmOf();
      const stranger = { ...realm, ownerUid: 'uid-of-a-stranger' };
      const credentials = newCredentials();
      const provision = await ensure(realm, credentials);
      await (await connect(provision)).write('one');
      const before = await administrator.residue(realm, NEVER);
      expect(await failure(() => ensure(stranger, newCredentials()))).to.include({ wireName: 'OwnedByAnother' });
      expect(await failure(() => administrator.remove(stranger, NEVER))).to.include({ wireName: 'OwnedByAnother' });
      expect(await administrator.residue(realm, NEVER)).to.equal(before);
      expect(await (await connect(provision)).has('one')).to.equal(true);
    });

    it('restores missing parts, and removes the rest', async () => {
      for (const damage of Object.values(subject.damages)) {
        const realm = realmOf();
        const credentials = newCredentials();
        await (await connect(await ensure(realm, credentials))).write('one');
        await damage(realm);
        expect(await (await connect(await ensure(realm, credentials))).has('one')).to.equal(true);
        await damage(realm);
        await administrator.remove(realm, NEVER);
        expect(await administrator.residue(realm, NEVER)).to.equal(0);
      }
    });

    it('says that its store is away, as something that passes, and no secret', async () => {
      const realm = newRealm();
      const credentials = newCredentials();
      for (const attempt of [
        () => subject.away.ensure(realm, credentials, NEVER),
        () => subject.away.remove(realm, NEVER),
        () => subject.away.residue(realm, NEVER),
      ]) {
        const error = await failure(attempt);
        expect(isEngramError(error) && error.retryable, String(error)).to.equal(true);
        const text = String(error);
        expect(text.toLowerCase()).to.contain(administrator.driver);
        expect(text).to.not.contain(subject.awayPassword);
        expect(text).to.not.contain(credentials.current.password);
      }
    });

    it('says which setting is wrong when the store refuses the administrator', async function () {
      if (subject.refused === null) return this.skip();
      const { administrator: stranger, setting } = subject.refused;
      const error = await failure(() => stranger.ensure(newRealm(), newCredentials(), NEVER));
      expect(isEngramError(error) && !error.retryable, String(error)).to.equal(true);
      expect(String(error)).to.contain(setting);
    });

    it('stops at an abort', async () => {
      const stopped = AbortSignal.abort(new Error('stopped'));
      for (const attempt of [
        () => administrator.ensure(newRealm(), newCredentials(), stopped),
        () => administrator.remove(newRealm(), stopped),
        () => administrator.residue(newRealm(), stopped),
      ]) {
        expect(await failure(attempt)).to.include({ message: 'stopped' });
      }
    });

    it('takes no name that a store could read otherwise', async () => {
      for (const bad of ['', 'T1', '1t', 't-1', 't_1', 't.1', 't*', 't/1', `t${'1'.repeat(40)}`]) {
        expect(isRealmName(bad)).to.equal(false);
        const error = await failure(() => administrator.residue(newRealm(bad), NEVER));
        expect(error, bad).to.include({ wireName: 'InvalidRequestError' });
      }
    });

    async function useOf(provision: Provision): Promise<void> {
      const access = await subject.connect(provision);
      try {
        await access.write(`w${randomBytes(4).toString('hex')}`);
      } finally {
        await access.close();
      }
    }
  });
}

async function failure(work: () => Promise<unknown> | undefined): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return error;
  }
  return null;
}

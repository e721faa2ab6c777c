import { expect } from 'chai';
import { isRealmName, namesOf, realmOf } from './realm.ts';

describe('realm', () => {
  it('derives one stable name for each Tenant', () => {
    const uid = '6f1c0d5e-0000-4000-8000-000000000001';
    expect(realmOf(uid)).to.deep.equal({ name: 't2966d372ccf9c7ec', ownerUid: uid });
    expect(realmOf(`${uid}0`).name).to.not.equal(realmOf(uid).name);
  });

  it('derives names that every store accepts', () => {
    for (const realm of [realmOf('a'), { name: `x${'9'.repeat(23)}`, ownerUid: 'a' }]) {
      expect(isRealmName(realm.name)).to.equal(true);
      const names = namesOf(realm);
      // A bucket: 3 to 63, as a host name; a Neo4j database besides with a letter first.
      expect(names.dashed).to.match(/^[a-z][a-z0-9-]{1,61}[a-z0-9]$/);
      // An index: lower case, not `-`, `_` or `+` first. A user in Neo4j: letters, digits and `_`.
      expect(names.user('a')).to.match(/^[a-z][a-z0-9_]+$/);
      // A MongoDB database: below 64 bytes without any of `/\. "$*<>:|?`.
      expect(names.underscored).to.match(/^\w{1,63}$/);
    }
  });

  it('derives no name that is a prefix of another or of Shared tenants', () => {
    const [near, far] = ['t1', 't10'].map((name) => namesOf({ name }));
    if (near === undefined || far === undefined) throw new Error('No names.');
    for (const names of [near, far]) {
      for (const shared of ['engram-text.x', 'engram.item.added', 'engram.auth']) {
        expect(shared.startsWith(`${names.underscored}-`)).to.equal(false);
        expect(shared.startsWith(`${names.dashed}.`)).to.equal(false);
        expect(shared.startsWith(`${names.subject}.`)).to.equal(false);
      }
    }
    expect(`${far.underscored}-`.startsWith(`${near.underscored}-`)).to.equal(false);
    expect(`${far.dashed}.`.startsWith(`${near.dashed}.`)).to.equal(false);
    expect(`${far.subject}.`.startsWith(`${near.subject}.`)).to.equal(false);
    expect(far.folder.startsWith(near.folder)).to.equal(false);
  });
});

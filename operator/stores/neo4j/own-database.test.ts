import { expect } from 'chai';
import type { Realm } from '../realm.ts';
import { ownDatabase, STATEMENTS } from './own-database.ts';
import type { Ask } from './realm-graph.ts';

const REALM: Realm = { name: 't1', ownerUid: 'uid-1' };

/**
 * Effect of the administration statements on a server that has several databases, which no test can start. That a server
 * reads them as they are written is proven by `test/integration/stores/neo4j.test.ts`.
 */
function serverWithDatabases() {
  /** Database → owner in its mark. */
  const databases = new Map<string, string | null>();
  const roles = new Map<string, string[]>();
  const strangers = new Set<string>();
  const ask = (async (database: string | null, statement: string, parameters: Record<string, string> = {}) => {
    const { database: named = '', role = '', user = '', ownerUid = '' } = parameters;
    const administration: Readonly<Record<string, () => unknown>> = {
      [STATEMENTS.createDatabase]: () => databases.set(named, databases.get(named) ?? null),
      [STATEMENTS.dropDatabase]: () => databases.delete(named),
      [STATEMENTS.createRole]: () => roles.set(role, roles.get(role) ?? []),
      [STATEMENTS.dropRole]: () => roles.delete(role),
      [STATEMENTS.grantRole]: () => roles.get(role)?.push(user),
      ...Object.fromEntries(STATEMENTS.grants.map((grant) => [grant, () => roles.get(role)?.push(named)])),
    };
    if (database === 'system') {
      if (statement === STATEMENTS.showDatabase) return databases.has(named) ? [{ name: named }] : [];
      if (statement === STATEMENTS.showRole) return roles.has(role) ? [{ role }] : [];
      const act = administration[statement] ?? expect.fail(`unknown: ${statement}`);
      act();
      return [];
    }
    if (database === null || !databases.has(database)) throw new Error(`no database ${database}`);
    const owner = databases.get(database) ?? null;
    if (statement.startsWith('MERGE')) databases.set(database, owner ?? ownerUid);
    if (statement.startsWith('MATCH (r:EngramRealm)')) return owner === null ? [] : [{ owner }];
    if (statement.startsWith('MATCH (n)')) return owner === null && !strangers.has(database) ? [] : [{ one: 1 }];
    return [];
  }) as unknown as Ask;
  return { ask, databases, roles, strangers };
}

describe('Neo4j with a database of each realm', () => {
  it('creates and marks a database, and a role for it', async () => {
    const { ask, databases, roles } = serverWithDatabases();
    const home = ownDatabase(ask, 'Neo4j');
    await home.claim(REALM);
    await home.claim(REALM);
    await home.admit(REALM, 'engram_t1_a');
    expect([...databases]).to.deep.equal([['engram-t1', 'uid-1']]);
    expect([...roles.keys()]).to.deep.equal(['engram_t1']);
    expect(new Set(roles.get('engram_t1'))).to.deep.equal(new Set(['engram-t1', 'engram_t1_a']));
    expect(home.settings(REALM)).to.deep.equal({ ENGRAM_NEO4J_DATABASE: 'engram-t1' });
  });

  it('removes database and role, and counts the residue', async () => {
    const { ask, databases } = serverWithDatabases();
    const home = ownDatabase(ask, 'Neo4j');
    const neighbour = { name: 't10', ownerUid: 'uid-10' };
    for (const realm of [REALM, neighbour]) await home.claim(realm);
    expect(await home.residue(REALM)).to.equal(2);
    await home.remove(REALM);
    await home.remove(REALM);
    expect(await home.residue(REALM)).to.equal(0);
    expect([...databases.keys()]).to.deep.equal(['engram-t10']);
  });

  it('refuses a database of another owner, or with data and no mark', async () => {
    const { ask, databases, strangers } = serverWithDatabases();
    const home = ownDatabase(ask, 'Neo4j');
    await home.claim(REALM);
    const stranger = { ...REALM, ownerUid: 'uid-2' };
    databases.set('engram-t2', null);
    strangers.add('engram-t2');
    for (const attempt of [
      home.claim(stranger),
      home.requireOurs(stranger),
      home.requireOurs({ name: 't2', ownerUid: 'uid-2' }),
    ]) {
      expect(await attempt.catch((thrown: unknown) => thrown)).to.include({ wireName: 'OwnedByAnother' });
    }
    expect([...databases.keys()]).to.deep.equal(['engram-t1', 'engram-t2']);
  });

  it('completes a database whose mark was not written', async () => {
    const { ask, databases } = serverWithDatabases();
    databases.set('engram-t1', null);
    const home = ownDatabase(ask, 'Neo4j');
    await home.requireOurs(REALM);
    await home.claim(REALM);
    expect(databases.get('engram-t1')).to.equal('uid-1');
  });
});

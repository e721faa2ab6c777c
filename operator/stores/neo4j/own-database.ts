import { ownedByAnother, requireOwner } from '../administrator-errors.ts';
import { namesOf, type Realm } from '../realm.ts';
import type { Ask, RealmGraph } from './realm-graph.ts';

/**
 * Gives each realm a database, a role that reaches only this one, and a node with its owner. For editions with several
 * databases; Community parses these statements before it refuses them, so a test can check their syntax.
 */
export function ownDatabase(ask: Ask, store: string): RealmGraph {
  const nameOf = (realm: Realm) => namesOf(realm).dashed;
  const roleOf = (realm: Realm) => namesOf(realm).underscored;

  async function isThere(realm: Realm): Promise<boolean> {
    const found = await ask('system', STATEMENTS.showDatabase, { database: nameOf(realm) });
    return found.length > 0;
  }

  /** False when the database does not exist or is empty. */
  async function requireOurs(realm: Realm): Promise<boolean> {
    if (!(await isThere(realm))) return false;
    const rows = await ask<{ owner: string }>(
      nameOf(realm),
      'MATCH (r:EngramRealm) RETURN r.ownerUid AS owner LIMIT 1',
    );
    const what = `The database ${nameOf(realm)}`;
    const [mark] = rows;
    if (mark !== undefined) {
      requireOwner(realm, mark.owner, store, what);
      return true;
    }
    const [first] = await ask(nameOf(realm), 'MATCH (n) RETURN 1 AS one LIMIT 1');
    if (first !== undefined) throw ownedByAnother(store, what, null);
    return false;
  }

  return {
    isolation: 'Database',
    async claim(realm) {
      const [database, role] = [nameOf(realm), roleOf(realm)];
      await ask('system', STATEMENTS.createDatabase, { database });
      await ask(
        database,
        'CREATE CONSTRAINT engram_realm_name IF NOT EXISTS FOR (n:EngramRealm) REQUIRE (n.name) IS UNIQUE',
      );
      await requireOurs(realm);
      const { name, ownerUid } = realm;
      await ask(database, 'MERGE (r:EngramRealm {name: $name}) ON CREATE SET r.ownerUid = $ownerUid', {
        name,
        ownerUid,
      });
      await requireOurs(realm);
      await ask('system', STATEMENTS.createRole, { role });
      for (const grant of STATEMENTS.grants) await ask('system', grant, { database, role });
    },
    requireOurs: async (realm) => void (await requireOurs(realm)),
    async admit(realm, user) {
      await ask('system', STATEMENTS.grantRole, { role: roleOf(realm), user });
    },
    async remove(realm) {
      await ask('system', STATEMENTS.dropRole, { role: roleOf(realm) });
      await ask('system', STATEMENTS.dropDatabase, { database: nameOf(realm) });
    },
    async residue(realm) {
      const roles = await ask('system', STATEMENTS.showRole, { role: roleOf(realm) });
      return ((await isThere(realm)) ? 1 : 0) + roles.length;
    },
    settings: (realm) => ({ ENGRAM_NEO4J_DATABASE: nameOf(realm) }),
  };
}

export const STATEMENTS = {
  showDatabase: 'SHOW DATABASES YIELD name WHERE name = $database RETURN DISTINCT name',
  createDatabase: 'CREATE DATABASE $database IF NOT EXISTS WAIT',
  dropDatabase: 'DROP DATABASE $database IF EXISTS DESTROY DATA WAIT',
  createRole: 'CREATE ROLE $role IF NOT EXISTS',
  dropRole: 'DROP ROLE $role IF EXISTS',
  showRole: 'SHOW ROLES YIELD role WHERE role = $role RETURN role',
  grantRole: 'GRANT ROLE $role TO $user',
  grants: [
    'GRANT ACCESS ON DATABASE $database TO $role',
    'GRANT ALL DATABASE PRIVILEGES ON DATABASE $database TO $role',
    'GRANT ALL GRAPH PRIVILEGES ON GRAPH $database TO $role',
  ],
} as const;

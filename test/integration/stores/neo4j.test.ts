import { expect } from 'chai';
import neo4j from 'neo4j-driver';
import { createNeo4jAdministrator } from '../../../operator/stores/neo4j/neo4j-administrator.ts';
import { STATEMENTS } from '../../../operator/stores/neo4j/own-database.ts';
import { namesOf } from '../../../operator/stores/realm.ts';
import type { Provision } from '../../../operator/stores/store-administrator.ts';
import { asId } from '../../../services/common/kernel/ids.ts';
import { datasetScope } from '../../../services/common/kernel/scope.ts';
import { openNeo4jGraphStore } from '../../../services/common/storage/graph/neo4j/neo4j-graph-store.ts';
import type { NodeEvidence } from '../../../services/common/storage/ports/graph-store.ts';
import {
  type AdministratorSubject,
  describeStoreAdministrator,
  newCredentials,
  newRealm,
  type RealmAccess,
} from '../../conformance/store-administrator.ts';
import { withBackend } from '../backend.ts';

const NEVER = new AbortController().signal;
/** The same in every installation, as the personal space is. */
const SCOPE = datasetScope(asId('00000000-0000-4000-8000-00000000a001'), asId('00000000-0000-4000-8000-00000000a002'));

withBackend('neo4j', (address) => {
  const options = {
    url: address.ENGRAM_TEST_NEO4J_URL,
    user: address.ENGRAM_TEST_NEO4J_USER,
    password: address.ENGRAM_TEST_NEO4J_PASSWORD,
  };
  const driver = () => neo4j.driver(options.url, neo4j.auth.basic(options.user, options.password));

  describeStoreAdministrator('Neo4j Community', async (): Promise<AdministratorSubject> => {
    const administrator = createNeo4jAdministrator(options);
    const away = createNeo4jAdministrator({ ...options, url: 'bolt://127.0.0.1:9', password: 'away-password' });
    const client = driver();
    const ask = async (database: string, statement: string, parameters: object) =>
      void (await client.executeQuery(statement, parameters, { database }));
    return {
      administrator,
      away,
      awayPassword: 'away-password',
      // A wrong password would have the server refuse its own for a while: the user is one that there is not.
      refused: {
        administrator: createNeo4jAdministrator({ ...options, user: 'nobody' }),
        setting: 'ENGRAM_OPERATOR_NEO4J_PASSWORD',
      },
      damages: {
        'the user': (realm) => ask('system', 'DROP USER $name', { name: namesOf(realm).user('a') }),
      },
      holdsMarks: true,
      connect,
      async dispose() {
        await administrator.close();
        await away.close();
        await client.close();
      },
    };
  });

  it('removes from Neo4j what Cypher was shown too', async () => {
    const administrator = createNeo4jAdministrator(options);
    const realm = newRealm();
    const graph = await openGraph(await administrator.ensure(realm, newCredentials(), NEVER));
    await graph.upsert(SCOPE, { nodes: [nodeOf('shown')], edges: [] });
    const withoutView = await administrator.residue(realm, NEVER);
    const committed = async <T>(origins: readonly T[]) => origins;
    const { rows } = await graph.cypher(SCOPE, { text: 'MATCH (n) RETURN n.name', committed });
    expect(rows).to.deep.equal([['shown']]);
    expect(await administrator.residue(realm, NEVER)).to.equal(withoutView + 1);
    await graph.close();
    await administrator.remove(realm, NEVER);
    expect(await administrator.residue(realm, NEVER)).to.equal(0);
    await administrator.close();
  });

  it('works in the database of Neo4j that its services are told, and in no other', async () => {
    const graph = await openNeo4jGraphStore({ ...options, database: 'neo4j', namespace: newRealm().name });
    await graph.upsert(SCOPE, { nodes: [nodeOf('here')], edges: [] });
    expect(await graph.nodes(SCOPE, ['here'])).to.have.length(1);
    await graph.drop(SCOPE);
    await graph.close();
    const error = await openNeo4jGraphStore({ ...options, database: 'nowhere' }).catch((thrown: unknown) => thrown);
    expect(String(error)).to.contain('lacks a database');
  });

  it('has statements for other editions of Neo4j that the server can read', async () => {
    const client = driver();
    const parameters = { database: 'engram-none', role: 'engram_none', user: 'engram_none_a' };
    const { showDatabase, grants, ...others } = STATEMENTS;
    const refusalOf = (statement: string) =>
      client.executeQuery(statement, parameters, { database: 'system' }).then(
        () => 'taken',
        (error: Error) => error.message.slice(0, 35),
      );
    for (const statement of [...grants, ...Object.values(others)]) {
      // The words of a server that has understood, and only lacks what is asked for.
      expect(await refusalOf(statement), statement).to.equal('Unsupported administration command:');
    }
    expect(await refusalOf(showDatabase)).to.equal('taken');
    expect(await refusalOf('GRANT NONSENSE ON GRAPH $database TO $role')).to.contain('Invalid input');
    await client.close();
  });
});

function openGraph({ settings, secrets }: Provision) {
  return openNeo4jGraphStore({
    url: settings['ENGRAM_NEO4J_URL'] ?? '',
    user: settings['ENGRAM_NEO4J_USER'] ?? '',
    password: secrets['ENGRAM_NEO4J_PASSWORD'] ?? '',
    namespace: settings['ENGRAM_NEO4J_NAMESPACE'] ?? '',
  });
}

function nodeOf(id: string): NodeEvidence {
  const item = asId<NodeEvidence['item']>('00000000-0000-4000-8000-00000000a003');
  return { id, item, generation: 1, type: 'Entity', name: id, mentions: 1, nodeSets: [], properties: {} };
}

/** The services' own graph store. Users of this edition may do everything: nothing is refused to them. */
async function connect(provision: Provision): Promise<RealmAccess> {
  const graph = await openGraph(provision);
  return {
    write: (id) => graph.upsert(SCOPE, { nodes: [nodeOf(id)], edges: [] }),
    has: async (id) => (await graph.nodes(SCOPE, [id])).length > 0,
    trespass: null,
    close: () => graph.close(),
  };
}

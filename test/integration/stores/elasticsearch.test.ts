import { Client } from '@elastic/elasticsearch';
import { expect } from 'chai';
import { createElasticsearchAdministrator } from '../../../operator/stores/elasticsearch/elasticsearch-administrator.ts';
import { namesOf } from '../../../operator/stores/realm.ts';
import type { Provision } from '../../../operator/stores/store-administrator.ts';
import {
  type AdministratorSubject,
  describeStoreAdministrator,
  newCredentials,
  newRealm,
  type RealmAccess,
} from '../../conformance/store-administrator.ts';
import { withBackend } from '../backend.ts';

const NEVER = new AbortController().signal;

withBackend('elasticsearch', ({ ENGRAM_TEST_ELASTICSEARCH_URL: url }) => {
  if (new URL(url).username === '') {
    it('refuses an Elasticsearch without security', async () => {
      const administrator = createElasticsearchAdministrator({ url, replicas: 0 });
      const realm = newRealm();
      for (const attempt of [
        administrator.ensure(realm, newCredentials(), NEVER),
        administrator.remove(realm, NEVER),
        administrator.residue(realm, NEVER),
      ]) {
        expect(await attempt.catch((thrown: unknown) => thrown)).to.include({ wireName: 'UnsupportedOperationError' });
      }
      await administrator.close();
    });
    return;
  }
  describeStoreAdministrator('Elasticsearch', async (): Promise<AdministratorSubject> => {
    const administrator = createElasticsearchAdministrator({ url, replicas: 0 });
    const awayPassword = 'away-password';
    const away = createElasticsearchAdministrator({ url: `http://elastic:${awayPassword}@127.0.0.1:9`, replicas: 0 });
    const wrong = new URL(url);
    wrong.password = 'wrong';
    const refused = createElasticsearchAdministrator({ url: wrong.href, replicas: 0 });
    const client = new Client({ node: url });
    return {
      administrator,
      away,
      awayPassword,
      refused: { administrator: refused, setting: 'ENGRAM_OPERATOR_ELASTICSEARCH_URL' },
      damages: {
        'the role': async (realm) => void (await client.security.deleteRole({ name: namesOf(realm).underscored })),
        'the user': async (realm) => void (await client.security.deleteUser({ username: namesOf(realm).user('a') })),
      },
      holdsMarks: true,
      connect,
      async dispose() {
        await Promise.all([administrator, away, refused, client].map((each) => each.close()));
      },
    };
  });
});

async function connect({ settings, secrets }: Provision): Promise<RealmAccess> {
  const client = new Client({
    node: secrets['ENGRAM_ELASTICSEARCH_URL'] ?? '',
    auth: {
      username: settings['ENGRAM_ELASTICSEARCH_USER'] ?? '',
      password: secrets['ENGRAM_ELASTICSEARCH_PASSWORD'] ?? '',
    },
  });
  const indexOf = (place: Provision['settings']) => `${place['ENGRAM_ELASTICSEARCH_INDEX_PREFIX']}-text.t`;
  const write = async (place: Provision['settings'], id: string) => {
    const index = indexOf(place);
    if (!(await client.indices.exists({ index }))) {
      const settings = { number_of_replicas: 0 };
      await client.indices.create({ index, settings, aliases: { [`${index}-alias`]: {} } });
    }
    await client.index({ index, id, document: {} });
  };
  return {
    write: (id) => write(settings, id),
    has: (id) => client.exists({ index: indexOf(settings), id }),
    trespass: {
      write: (there, id) => write(there.settings, id),
      read: (there) => client.search({ index: indexOf(there.settings) }),
    },
    close: () => client.close(),
  };
}

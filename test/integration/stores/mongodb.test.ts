import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { createMongodbAdministrator } from '../../../operator/stores/mongodb/mongodb-administrator.ts';
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
import { canStartMongod, startMongodWithUsers } from './mongod-with-users.ts';

const NEVER = new AbortController().signal;

withBackend('mongodb', ({ ENGRAM_TEST_MONGODB_URL: openUrl }) => {
  const suite = canStartMongod ? describe : describe.skip;
  suite('MongoDB with users', () => describeStoreAdministrator('MongoDB', openSubject));

  it('refuses a MongoDB that asks nobody who they are', async () => {
    const administrator = createMongodbAdministrator({ url: openUrl, holdsBlobs: true });
    const realm = newRealm();
    const error = await administrator.ensure(realm, newCredentials(), NEVER).catch((thrown: unknown) => thrown);
    expect(error).to.include({ wireName: 'UnsupportedOperationError' });
    expect(String(error)).to.contain('authorization');
    expect(await administrator.residue(realm, NEVER)).to.equal(0);
    await administrator.close();
  });

  it('leaves a database alone that says of no owner', async () => {
    const realm = newRealm();
    const client = new MongoClient(openUrl);
    const administrator = createMongodbAdministrator({ url: openUrl, holdsBlobs: true });
    const db = client.db(namesOf(realm).underscored);
    await db.collection('things').insertOne({});
    const error = await administrator.remove(realm, NEVER).catch((thrown: unknown) => thrown);
    expect(error).to.include({ wireName: 'OwnedByAnother' });
    expect(await db.collection('things').countDocuments()).to.equal(1);
    await db.dropDatabase();
    await administrator.close();
    await client.close();
  });
});

async function openSubject(): Promise<AdministratorSubject> {
  const server = await startMongodWithUsers();
  const administrator = createMongodbAdministrator({ url: server.url, holdsBlobs: true });
  const awayPassword = 'away-password';
  const away = createMongodbAdministrator({
    url: `mongodb://root:${awayPassword}@127.0.0.1:9/`,
    holdsBlobs: true,
    connectTimeoutMs: 100,
  });
  const refused = createMongodbAdministrator({ url: server.url.replace(server.password, 'wrong'), holdsBlobs: true });
  const client = new MongoClient(server.url);
  return {
    administrator,
    away,
    awayPassword,
    refused: { administrator: refused, setting: 'ENGRAM_OPERATOR_MONGODB_URL' },
    damages: {
      'the user': async (realm) => {
        await client.db(namesOf(realm).underscored).command({ dropAllUsersFromDatabase: 1 });
      },
      'its role': async (realm) => {
        const { underscored, user } = namesOf(realm);
        await client.db(underscored).command({ updateUser: user('a'), roles: [] });
      },
    },
    holdsMarks: true,
    connect,
    async dispose() {
      await Promise.all([administrator, away, refused, client].map((each) => each.close()));
      await server[Symbol.asyncDispose]();
    },
  };
}

async function connect({ settings, secrets }: Provision): Promise<RealmAccess> {
  const client = new MongoClient(secrets['ENGRAM_MONGODB_URL'] ?? '', { serverSelectionTimeoutMS: 5_000 });
  const thingsOf = (place: Provision['settings']) =>
    client.db(place['ENGRAM_MONGODB_DATABASE'] ?? '').collection<{ _id: string }>('things');
  return {
    write: async (id) => void (await thingsOf(settings).insertOne({ _id: id })),
    has: async (id) => (await thingsOf(settings).findOne({ _id: id })) !== null,
    trespass: {
      write: (there, id) =>
        thingsOf(there.settings)
          .insertOne({ _id: id })
          .then(() => undefined),
      read: (there) => thingsOf(there.settings).findOne({}),
    },
    close: () => client.close(),
  };
}
